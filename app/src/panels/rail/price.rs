//! What a GPU-hour costs, and who says so.

use leptos::prelude::*;

use super::Group;
use crate::controls::{Choice, NumberField, Select, TextField};
use crate::format;
use crate::state::edit::{Edit, PoolEdit};
use crate::state::field::{Field, PoolField};
use crate::state::workbench;
use crate::view_model::fleet as words;

/// Currencies to choose from, beside the USD of the books.
const CURRENCIES: [&str; 9] = ["EUR", "GBP", "CHF", "JPY", "CNY", "INR", "KRW", "CAD", "AUD"];

/// The price of the pool's GPUs.
#[component]
pub fn Price() -> impl IntoView {
    let bench = workbench();
    let usd = bench.about(|doc| doc.fleet.pools.first().and_then(|pool| pool.price_per_gpu_hour));
    let currency = bench.about(|doc| {
        let foreign = doc.fleet.pools.first().and_then(|pool| pool.price_in_currency.as_ref());
        foreign.map(|price| price.currency.clone()).unwrap_or_default()
    });
    let source = bench.about(|doc| {
        doc.fleet.pools.first().map(|pool| pool.price_source.clone()).unwrap_or_default()
    });
    let summary = Memo::new(move |_| match usd.get() {
        Some(usd) => format!("{} per GPU-hour", format::usd(usd)),
        None if currency.with(String::is_empty) => "No price: no cost shown".to_owned(),
        None => format!("in {}", currency.get()),
    });
    let say = Callback::new(move |text: String| {
        bench.edit(&Edit::Pool(PoolEdit::Price(usd.get_untracked(), text)));
    });
    view! {
        <Group id="price" title="Price" summary>
            <Sheet/>
            <Currency currency/>
            {move || {
                if currency.with(String::is_empty) {
                    return view! { <NumberField field=Field::Pool(PoolField::Price)/> }.into_any();
                }
                view! { <Foreign/> }.into_any()
            }}
            <TextField id="price-source" label="Whose price, when" value=source path="fleet.pools[0].price_source" on_input=say/>
        </Group>
    }
    .into_any()
}

/// The public price sheet: a choice fills in the middle of its range and says whose it is.
#[component]
fn Sheet() -> impl IntoView {
    let bench = workbench();
    let rows = bench.about(words::price_sheet);
    let range = bench.about(words::price_range);
    let chosen = bench.about(|doc| {
        let pool = doc.fleet.pools.first()?;
        let rows = words::price_sheet(doc);
        let at = rows.iter().position(|row| {
            row.source == pool.price_source && pool.price_per_gpu_hour == Some(row.usd)
        });
        at.map(|at| at.to_string())
    });
    let value = Signal::derive(move || chosen.get().unwrap_or_default());
    let choose = Callback::new(move |at: String| {
        let row = rows.with_untracked(|rows| rows.get(at.parse::<usize>().ok()?).cloned());
        if let Some(row) = row {
            bench.edit(&Edit::Pool(PoolEdit::Price(Some(row.usd), row.source)));
            bench.seal();
        }
    });
    view! {
        {move || {
            let rows = rows.get();
            let choices = rows.into_iter().enumerate();
            let choices: Vec<Choice> = std::iter::once(Choice::new("", "as typed"))
                .chain(choices.map(|(at, row)| Choice::new(at.to_string(), row.label)))
                .collect();
            (choices.len() > 1)
                .then(|| {
                    view! { <Select id="price-sheet" label="Public price" choices value on_choose=choose/> }
                })
        }}
        <p class="echo"><super::super::Defined id="price-sheet" word="Price sheet"/> ": " {move || range.get()}</p>
    }
    .into_any()
}

/// The currency of the price that is typed.
#[component]
fn Currency(currency: Memo<String>) -> impl IntoView {
    let bench = workbench();
    let choices = move || {
        let known = CURRENCIES.map(|code| Choice::new(code, code));
        let own = currency.get_untracked();
        let other = (!own.is_empty() && !CURRENCIES.contains(&own.as_str()))
            .then(|| Choice::new(own.clone(), own));
        std::iter::once(Choice::new("", "USD")).chain(known).chain(other).collect::<Vec<_>>()
    };
    let choose = Callback::new(move |code: String| {
        let code = (!code.is_empty()).then_some(code);
        bench.edit(&Edit::Pool(PoolEdit::Currency(code)));
        bench.seal();
    });
    view! {
        <Select id="price-currency" label="Currency" choices=choices() value=currency on_choose=choose quiet=true/>
    }
    .into_any()
}

/// A price in another currency.
#[component]
fn Foreign() -> impl IntoView {
    let bench = workbench();
    let date = bench.about(|doc| {
        let foreign = doc.fleet.pools.first().and_then(|pool| pool.price_in_currency.as_ref());
        foreign.map(|price| price.rate_as_of.clone()).unwrap_or_default()
    });
    let say = Callback::new(move |date| bench.edit(&Edit::Pool(PoolEdit::RateDate(date))));
    view! {
        <NumberField field=Field::Pool(PoolField::CurrencyPrice)/>
        <NumberField field=Field::Pool(PoolField::CurrencyRate)/>
        <TextField id="rate-date" label="Rate of (date, source)" value=date path="fleet.pools[0].price_in_currency.rate_as_of" on_input=say/>
        <p class="echo">"Costs are in USD by this rate: none is known here, and none is guessed"</p>
    }
    .into_any()
}

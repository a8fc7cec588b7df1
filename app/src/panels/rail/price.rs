//! What a GPU-hour costs, and who says so.

use leptos::prelude::*;

use super::{Group, about_pool, change_pool, of_chosen_pool};
use crate::controls::{Choice, NumberField, Select, TextField};
use crate::state::edit::PoolEdit;
use crate::state::field::{Field, PoolField};
use crate::state::workbench;
use crate::view_model::fleet as words;

/// Currencies to choose from, beside the USD of the books.
const CURRENCIES: [&str; 9] = ["EUR", "GBP", "CHF", "JPY", "CNY", "INR", "KRW", "CAD", "AUD"];

/// The price of the chosen pool's GPUs.
#[component]
pub fn Price() -> impl IntoView {
    let summary = workbench().about(words::prices_line);
    view! {
        <Group id="price" title="Price" summary>
            {of_chosen_pool(editor)}
        </Group>
    }
    .into_any()
}

fn editor(pool: usize) -> AnyView {
    let bench = workbench();
    let currency = about_pool(pool, |pool| {
        pool.price_in_currency.as_ref().map(|price| price.currency.clone()).unwrap_or_default()
    });
    let source = about_pool(pool, |pool| pool.price_source.clone());
    // One of several is named.
    let of = bench.about(move |doc| {
        let pool = doc.fleet.pools.get(pool).filter(|_| doc.fleet.pools.len() > 1);
        pool.map(|pool| pool.name.clone())
    });
    let say = Callback::new(move |text: String| {
        let doc = bench.doc_untracked();
        let usd = doc.fleet.pools.get(pool).and_then(|pool| pool.price_per_gpu_hour);
        change_pool(pool, PoolEdit::Price(usd, text));
    });
    view! {
        {move || of.get().map(|name| view! { <p class="sum">"of pool " <b>{name}</b></p> })}
        {sheet(pool)}
        {currency_of(pool, currency)}
        {move || {
            if currency.with(String::is_empty) {
                return view! { <NumberField field=Field::Pool(pool, PoolField::Price)/> }.into_any();
            }
            foreign(pool)
        }}
        <TextField
            id="price-source"
            label="Whose price, when"
            value=source
            path=format!("fleet.pools[{pool}].price_source")
            on_input=say
        />
    }
    .into_any()
}

/// The public price sheet: a choice fills in the middle of its range and says whose it is.
fn sheet(pool: usize) -> AnyView {
    let rows = about_pool(pool, words::price_sheet);
    let range = about_pool(pool, words::price_range);
    let chosen = about_pool(pool, |pool| {
        let rows = words::price_sheet(pool);
        let at = rows.iter().position(|row| {
            row.source == pool.price_source && pool.price_per_gpu_hour == Some(row.usd)
        });
        at.map(|at| at.to_string())
    });
    let value = Signal::derive(move || chosen.get().unwrap_or_default());
    let choose = Callback::new(move |at: String| {
        let row = rows.with_untracked(|rows| rows.get(at.parse::<usize>().ok()?).cloned());
        if let Some(row) = row {
            change_pool(pool, PoolEdit::Price(Some(row.usd), row.source));
            workbench().seal();
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
fn currency_of(pool: usize, currency: Memo<String>) -> AnyView {
    let choices = move || {
        let known = CURRENCIES.map(|code| Choice::new(code, code));
        let own = currency.get_untracked();
        let other = (!own.is_empty() && !CURRENCIES.contains(&own.as_str()))
            .then(|| Choice::new(own.clone(), own));
        std::iter::once(Choice::new("", "USD")).chain(known).chain(other).collect::<Vec<_>>()
    };
    let choose = Callback::new(move |code: String| {
        let code = (!code.is_empty()).then_some(code);
        change_pool(pool, PoolEdit::Currency(code));
        workbench().seal();
    });
    view! {
        <Select id="price-currency" label="Currency" choices=choices() value=currency on_choose=choose quiet=true/>
    }
    .into_any()
}

/// A price in another currency.
fn foreign(pool: usize) -> AnyView {
    let date = about_pool(pool, |pool| {
        pool.price_in_currency.as_ref().map(|price| price.rate_as_of.clone()).unwrap_or_default()
    });
    let say = Callback::new(move |date| change_pool(pool, PoolEdit::RateDate(date)));
    let path = format!("fleet.pools[{pool}].price_in_currency.rate_as_of");
    view! {
        <NumberField field=Field::Pool(pool, PoolField::CurrencyPrice)/>
        <NumberField field=Field::Pool(pool, PoolField::CurrencyRate)/>
        <TextField id="rate-date" label="Rate of (date, source)" value=date path on_input=say/>
        <p class="echo">"Costs are in USD by this rate: none is known here, and none is guessed"</p>
    }
    .into_any()
}

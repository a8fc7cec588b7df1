//! What a GPU-hour costs, and who says so.

use leptos::prelude::*;

use super::Group;
use crate::controls::{NumberField, TextField};
use crate::format;
use crate::state::edit::{Edit, PoolEdit};
use crate::state::field::{Field, PoolField};
use crate::state::workbench;
use crate::view_model::fleet as words;

/// The price of the pool's GPUs.
#[component]
pub fn Price() -> impl IntoView {
    let bench = workbench();
    let price = bench.about(|doc| doc.fleet.pools.first().and_then(|pool| pool.price_per_gpu_hour));
    let source = bench.about(|doc| {
        doc.fleet.pools.first().map(|pool| pool.price_source.clone()).unwrap_or_default()
    });
    let summary = Memo::new(move |_| match price.get() {
        Some(usd) => format!("{} per GPU-hour", format::usd(usd)),
        None => "No price: no cost shown".to_owned(),
    });
    let say = Callback::new(move |text: String| {
        bench.edit(&Edit::Pool(PoolEdit::Price(price.get_untracked(), text)));
    });
    let quotes = bench.about(words::price_range);
    view! {
        <Group id="price" title="Price" summary>
            <NumberField field=Field::Pool(PoolField::Price)/>
            <TextField id="price-source" label="Whose price, when" value=source path="fleet.pools[0].price_source" on_input=say/>
            <p class="echo">{move || quotes.get()}</p>
        </Group>
    }
    .into_any()
}

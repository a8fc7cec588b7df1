//! Who asks: the classes, and the editor of the one that is chosen.

use leptos::prelude::*;

use super::{Group, arrivals, classes, clients, lengths, output, route, sharing};
use crate::controls::TextField;
use crate::state::edit::{ClassEdit, Edit};
use crate::state::field::Side;
use crate::state::workbench;

/// Classes, arrivals and lengths.
#[component]
pub fn Workload() -> impl IntoView {
    let bench = workbench();
    let class = bench.class;
    let count = bench.about(|doc| doc.workload.classes.len());
    let summary = bench.about(|doc| {
        let names: Vec<&str> = doc.workload.classes.iter().map(|c| c.name.as_str()).collect();
        names.join(", ")
    });
    view! {
        <Group id="workload" title="Workload" summary open=true>
            {classes::table()}
            {move || {
                let index = class.get();
                (index < count.get()).then(|| editor(index))
            }}
        </Group>
    }
    .into_any()
}

fn editor(index: usize) -> AnyView {
    let bench = workbench();
    let about = move |read: fn(&goodput_engine::scenario::doc::ClassDoc) -> &String| {
        bench.about(move |doc| {
            doc.workload.classes.get(index).map(|class| read(class).clone()).unwrap_or_default()
        })
    };
    let change = move |edit: fn(String) -> ClassEdit| {
        Callback::new(move |text: String| bench.edit(&Edit::Class(index, edit(text))))
    };
    let path = |field: &str| format!("workload.classes[{index}].{field}");
    view! {
        <div id="class-panel">
            <div class="two">
                <TextField
                    id=format!("class-name-{index}")
                    label="Class"
                    value=about(|class| &class.name)
                    path=path("name")
                    on_input=change(ClassEdit::Name)
                />
                <TextField
                    id=format!("class-tenant-{index}")
                    label="Tenant"
                    value=about(|class| &class.tenant)
                    path=path("tenant")
                    on_input=change(ClassEdit::Tenant)
                />
            </div>
            {route::editor(index)}
            {arrivals::editor(index)}
            {lengths::editor(index, Side::Input)}
            {lengths::editor(index, Side::Output)}
            {output::pairing(index)}
            {output::hidden(index)}
            {output::budget(index)}
            {sharing::editor(index)}
            {clients::editor(index)}
        </div>
    }
    .into_any()
}

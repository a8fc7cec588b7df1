//! How a request finds its replica among those of its pool.

use leptos::prelude::*;

use super::{folded, listed};
use crate::controls::{Choice, Select};
use crate::state::edit::Edit;
use crate::state::field::{Field, of_routing};
use crate::state::workbench;
use crate::view_model::life::{ROUTINGS, routing_line, routing_name};

/// The editor, folded.
pub fn editor() -> AnyView {
    let bench = workbench();
    let name = bench.about(|doc| routing_name(&doc.fleet).to_owned());
    let line = bench.about(|doc| routing_line(&doc.fleet).to_owned());
    let fields = bench
        .about(|doc| of_routing(&doc.fleet).into_iter().map(Field::Routing).collect::<Vec<_>>());
    let choose = Callback::new(move |chosen: String| {
        if let Some((policy, ..)) = ROUTINGS.into_iter().find(|(_, name, _)| *name == chosen) {
            bench.edit(&Edit::Routing(policy));
        }
    });
    let choices = ROUTINGS.map(|(_, name, _)| Choice::new(name, name)).to_vec();
    folded(
        "routing",
        "Routing",
        name,
        view! {
            <Select id="routing-policy" label="Within a pool" choices value=name on_choose=choose quiet=true/>
            <p class="echo" data-testid="routing-line">{move || line.get()}</p>
            {listed(fields)}
        }
        .into_any(),
    )
}

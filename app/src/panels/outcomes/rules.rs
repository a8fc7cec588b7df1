//! The same requests over other denominators and by other tools' rules.

use leptos::prelude::*;

use crate::controls::{Choice, Select};
use crate::panels::figure::Previous;
use crate::state::workbench;
use crate::view_model::rules::{self, RuleRow};

/// The panel.
#[component]
pub fn Rules() -> impl IntoView {
    let bench = workbench();
    let stale = Signal::derive(move || !bench.current.get());
    let rules = Callback::new(move |()| {
        bench.screen.with(|screen| {
            let shown = screen.simulated();
            shown.map_or_else(Vec::new, |shown| rules::rules(&shown.report.accounting))
        })
    });
    view! {
        <section class="panel outcomes" data-testid="rules" aria-labelledby="rules-head">
            <h3 id="rules-head">"The same requests by other rules" <Previous stale/></h3>
            {by_rules("rule", "", rules)}
        </section>
    }
    .into_any()
}

/// All rules over the requests `of` some run, and how one of them compares.
pub fn by_rules(id: &'static str, of: &'static str, rules: Callback<(), Vec<RuleRow>>) -> AnyView {
    let chosen = RwSignal::new("completed".to_owned());
    view! {
        <p class="cap" data-testid=format!("{id}-says")>
            {move || rules::compared(&rules.run(()), &chosen.get())}
        </p>
        <div class="row">
            {move || {
                let choices = rules.run(()).into_iter().map(|rule| Choice::new(rule.id, rule.name));
                view! {
                    <Select
                        id
                        label="Compare attainment with"
                        choices=choices.collect()
                        value=chosen
                        on_choose=Callback::new(move |id| chosen.set(id))
                        quiet=true
                    />
                }
            }}
        </div>
        <div class="scroll" tabindex="0" role="region" aria-label=format!("Table of rules{of}")>
            <table class="rules">
                <thead>
                    <tr>
                        <th scope="col">"Rule and formula"</th>
                        <th scope="col">"Share"</th>
                        <th scope="col">"Counted"</th>
                    </tr>
                </thead>
                <tbody>
                    {move || {
                        rules.run(()).into_iter().map(|rule| row(id, rule, chosen)).collect_view()
                    }}
                </tbody>
            </table>
        </div>
    }
    .into_any()
}

fn row(prefix: &'static str, rule: RuleRow, chosen: RwSignal<String>) -> AnyView {
    let RuleRow { id, name, share, exact, counts, formula, leaves_out } = rule;
    let testid = format!("{prefix}-{id}");
    let left_out = (!leaves_out.is_empty()).then(|| format!("Leaves out {leaves_out}"));
    view! {
        <tr class:on=move || chosen.with(|chosen| *chosen == id) data-testid=testid>
            <th scope="row">
                {name} <span class="why">{formula}</span>
                {left_out.map(|text| view! { <span class="why">{text}</span> })}
            </th>
            <td data-value=exact>{share}</td>
            <td class="q">{counts}</td>
        </tr>
    }
    .into_any()
}

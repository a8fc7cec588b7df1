//! Percentile targets of a class, beside the share of its requests that must be good.

use goodput_engine::scenario::doc::PercentileTargetDoc;
use goodput_engine::slo::Limit;
use leptos::prelude::*;

use super::text::problem_note;
use super::{about_class, change, folded};
use crate::controls::{Choice, NumberField, Select};
use crate::state::edit::ClassEdit;
use crate::state::field::{ClassField, Field};
use crate::state::workbench;
use crate::view_model::percentiles;

/// The targets of a class, closed while there are none.
pub fn targets(index: usize) -> AnyView {
    let line = about_class(index, |class| percentiles::asked(&class.slo));
    let count = about_class(index, |class| class.slo.percentile_targets.len());
    let add = move |_| {
        change_targets(index, |targets, first| {
            targets.push(targets.last().copied().unwrap_or(first));
        });
    };
    let body = view! {
        <p class="echo">
            "Over all offered requests: one that never got a first token ranks last, so that turning the slow ones away meets no target"
        </p>
        {move || (0..count.get()).map(|at| target(index, at)).collect_view()}
        <button class="link" type="button" on:click=add>"Add a percentile target"</button>
    };
    folded("percentile-targets-edit", "Percentile targets", line, body.into_any())
}

/// The targets with something done to them; the other is one to begin with.
fn change_targets(
    index: usize,
    edit: impl FnOnce(&mut Vec<PercentileTargetDoc>, PercentileTargetDoc),
) {
    let doc = workbench().doc_untracked();
    let Some(class) = doc.workload.classes.get(index) else { return };
    let mut targets = class.slo.percentile_targets.clone();
    edit(&mut targets, percentiles::first_target(&class.slo));
    change(index, ClassEdit::PercentileTargets(targets));
}

fn target(index: usize, at: usize) -> AnyView {
    let of = workbench().about(move |doc| {
        let class = doc.workload.classes.get(index);
        let target = class.and_then(|class| class.slo.percentile_targets.get(at));
        target.map(|target| target.of.name().to_owned()).unwrap_or_default()
    });
    let choices = Limit::RANKED.map(|of| Choice::new(of.name(), of.name())).to_vec();
    let choose = Callback::new(move |name: String| {
        let Some(of) = Limit::RANKED.into_iter().find(|of| of.name() == name) else { return };
        change_targets(index, |targets, _| {
            if let Some(target) = targets.get_mut(at) {
                target.of = of;
            }
        });
    });
    let remove = move |_| {
        change_targets(index, |targets, _| {
            if at < targets.len() {
                targets.remove(at);
            }
        });
    };
    let path = format!("workload.classes[{index}].slo.percentile_targets[{at}]");
    let fields = [ClassField::TargetPercentile(at), ClassField::TargetLimit(at)];
    view! {
        <div class="part" role="group" aria-label=format!("Percentile target {}", at + 1)>
            <Select id=format!("target-of-{index}-{at}") label="Percentile of" choices value=of on_choose=choose quiet=true/>
            {problem_note(format!("{path}.of"))}
            <div class="two">
                {fields.map(|field| view! { <NumberField field=Field::Class(index, field)/> })}
            </div>
            <button class="link" type="button" on:click=remove>
                "Remove" <span class="vh">{format!(" percentile target {}", at + 1)}</span>
            </button>
        </div>
    }
    .into_any()
}

//! Which pools serve a class, in which shares, and what is known of their answers.

use goodput_engine::scenario::doc::{ClassDoc, LegDoc, QualityDoc, ScenarioDoc};
use leptos::prelude::*;

use super::contract::{QUALITIES, quality_named};
use super::text::problem_note;
use super::{about_class, change, number_fields, when};
use crate::controls::{Choice, NumberField, Select, TextField};
use crate::state::edit::ClassEdit;
use crate::state::field::{ClassField, Field};
use crate::state::workbench;
use crate::view_model::route;

/// The editor; nothing where there is one pool and nobody says otherwise.
pub fn editor(index: usize) -> AnyView {
    let bench = workbench();
    let there = bench.about(move |doc| {
        let routed = |class: &ClassDoc| !class.route.is_empty();
        doc.fleet.pools.len() > 1 || doc.workload.classes.get(index).is_some_and(routed)
    });
    when(there, move || served_by(index))
}

/// The pools by name, each by its index.
fn pools() -> Memo<Vec<String>> {
    workbench().about(|doc| doc.fleet.pools.iter().map(|p| p.name.trim().to_owned()).collect())
}

fn served_by(index: usize) -> AnyView {
    let bench = workbench();
    let pools = pools();
    let value = bench.about(move |doc| route::served_by(doc, index));
    let choose = Callback::new(move |choice: String| {
        if let Some(route) = route::to(&bench.doc_untracked(), &choice) {
            change(index, ClassEdit::Route(route));
        }
    });
    let select = move || {
        let named = pools.get().into_iter().enumerate();
        let mut choices: Vec<Choice> =
            named.map(|(at, name)| Choice::new(at.to_string(), name)).collect();
        choices.push(Choice::new(route::SPLIT, "several, in shares"));
        let id = format!("served-by-{index}");
        view! { <Select id label="Served by" choices value on_choose=choose quiet=true/> }
    };
    let split = Memo::new(move |_| value.with(|value| value == route::SPLIT));
    let path = format!("workload.classes[{index}].route");
    view! {
        <div class="block">
            {select}
            {problem_note(format!("{path}[0].pool"))}
            {when(split, move || legs(index))}
            {problem_note(path)}
        </div>
    }
    .into_any()
}

fn legs(index: usize) -> AnyView {
    let bench = workbench();
    let count = about_class(index, |class| class.route.len());
    let more = move |doc: &ScenarioDoc| {
        doc.workload.classes.get(index).and_then(|class| route::with_one_more(doc, class))
    };
    let add = move || {
        let add = move |_| {
            if let Some(route) = more(&bench.doc_untracked()) {
                change(index, ClassEdit::Route(route));
            }
        };
        view! { <button class="link" type="button" on:click=add>"Add a pool to the route"</button> }
            .into_any()
    };
    view! {
        {move || (0..count.get()).map(|at| leg(index, at, count)).collect_view()}
        {when(bench.about(move |doc| more(doc).is_some()), add)}
    }
    .into_any()
}

/// The legs with one of them changed.
fn change_leg(index: usize, at: usize, edit: impl FnOnce(&mut LegDoc)) {
    let doc = workbench().doc_untracked();
    let Some(class) = doc.workload.classes.get(index) else { return };
    let mut route = class.route.clone();
    if let Some(leg) = route.get_mut(at) {
        edit(leg);
        change(index, ClassEdit::Route(route));
    }
}

fn leg(index: usize, at: usize, count: Memo<usize>) -> AnyView {
    let pool = of_leg(index, at, |leg| leg.pool.trim().to_owned());
    let quality = of_leg(index, at, |leg| route::quality_name(leg).to_owned());
    let choose_quality = Callback::new(move |name: String| {
        change_leg(index, at, |leg| {
            let before = leg.quality.take();
            leg.quality = (!name.is_empty()).then(|| quality_named(before.as_ref(), &name));
        });
    });
    let known = QUALITIES.map(|(name, label)| Choice::new(name, label));
    let qualities = std::iter::once(Choice::new("", "as of the class")).chain(known).collect();
    let several = Memo::new(move |_| count.get() > 1);
    let path = format!("workload.classes[{index}].route[{at}]");
    view! {
        <div class="part" role="group" aria-label=move || format!("Part of the route to {}", pool.get())>
            <div class="two">
                {leg_pool(index, at, pool)}
                <NumberField field=Field::Class(index, ClassField::LegShare(at))/>
            </div>
            {problem_note(format!("{path}.pool"))}
            <Select
                id=format!("leg-quality-{index}-{at}")
                label="Its answers"
                choices=qualities
                value=quality
                on_choose=choose_quality
                quiet=true
            />
            {move || quality_fields(index, at, &quality.get())}
            {problem_note(format!("{path}.quality"))}
            {when(several, move || take_out(index, at, pool))}
        </div>
    }
    .into_any()
}

/// Something about a part of a route.
fn of_leg(index: usize, at: usize, read: fn(&LegDoc) -> String) -> Memo<String> {
    workbench().about(move |doc| {
        let class = doc.workload.classes.get(index);
        class.and_then(|class| class.route.get(at)).map(read).unwrap_or_default()
    })
}

/// Where it leads.
fn leg_pool(index: usize, at: usize, pool: Memo<String>) -> AnyView {
    let pools = pools();
    let choose = Callback::new(move |name: String| change_leg(index, at, |leg| leg.pool = name));
    let select = move || {
        let choices = pools.get().into_iter().map(|name| Choice::new(name.clone(), name));
        let (id, choices) = (format!("leg-pool-{index}-{at}"), choices.collect());
        view! { <Select id label="Pool" choices value=pool on_choose=choose/> }
    };
    view! { {select} }.into_any()
}

/// What takes it out of the route; an only one that is left serves all.
fn take_out(index: usize, at: usize, pool: Memo<String>) -> AnyView {
    let remove = move |_| {
        let doc = workbench().doc_untracked();
        let Some(class) = doc.workload.classes.get(index) else { return };
        let left = class.route.iter().enumerate().filter(|(i, _)| *i != at);
        let mut left: Vec<LegDoc> = left.map(|(_, leg)| leg.clone()).collect();
        if let [only] = left.as_mut_slice() {
            only.share = 1.0;
        }
        change(index, ClassEdit::Route(left));
    };
    view! {
        <button class="link" type="button" on:click=remove>
            "Remove"
            <span class="vh">{move || format!(" pool {} from the route", pool.get())}</span>
        </button>
    }
    .into_any()
}

/// How many pass, and who says so.
fn quality_fields(index: usize, at: usize, quality: &str) -> AnyView {
    let (label, part) = match quality {
        "assumed" => ("Assumed by", "by"),
        "verified" => ("Evaluation and threshold", "source"),
        _ => return ().into_any(),
    };
    let who = workbench().about(move |doc| {
        let class = doc.workload.classes.get(index);
        match class.and_then(|class| class.route.get(at)).and_then(|leg| leg.quality.as_ref()) {
            Some(QualityDoc::Assumed { by, .. }) => by.clone(),
            Some(QualityDoc::Verified { source, .. }) => source.clone(),
            _ => String::new(),
        }
    });
    let say = Callback::new(move |text| change(index, ClassEdit::LegQualityBy(at, text)));
    view! {
        {number_fields(vec![Field::Class(index, ClassField::LegPassRate(at))])}
        <TextField
            id=format!("leg-quality-by-{index}-{at}")
            label
            value=who
            path=format!("workload.classes[{index}].route[{at}].quality.{part}")
            on_input=say
        />
    }
    .into_any()
}

//! The result of a fit: its factor, the points over the curve, what is left over, and the edit.

use std::sync::Arc;

use leptos::prelude::*;

use crate::charts::Chart;
use crate::controls::{Choice, Select};
use crate::panels::figure::{Figure, Picture, Previous};
use crate::state::uploads::{Desk, Fitted, applies, desk};
use crate::view_model::uploads::sentence;
use crate::view_model::uploads_fit::{
    RESIDUAL_HEADS, View, excluded_rows, fit_sentence, picture, residual_rows, trust, views,
};

/// The last result; nothing before the first.
#[component]
pub fn FitResult() -> impl IntoView {
    let desk = desk();
    let fitted =
        Memo::new(move |_| desk.fit.with(|slot| slot.last.as_ref().map(|last| last.value.clone())));
    move || fitted.get().map(|fitted| view! { <Details fitted/> }.into_any())
}

#[component]
fn Details(fitted: Arc<Fitted>) -> impl IntoView {
    let (report, used) = (&fitted.report, !fitted.report.points.is_empty());
    let range =
        report.range_of_trust.as_ref().map(|range| view! { <p class="cap">{trust(range)}</p> });
    let sentence_ = fit_sentence(report);
    let desk = desk();
    let stale = Signal::derive(move || is_outdated(desk));
    let assumed = report.assumptions.iter().map(|text| view! { <li>{sentence(text)}</li> });
    let assumed = assumed.collect_view();
    view! {
        <p class="sum" class:stale=stale data-testid="fit-sentence">
            <strong>{sentence_}</strong>
            <Previous stale/>
        </p>
        {used.then(|| view! { <Apply/> })}
        {used.then(|| view! { <Drawn fitted=fitted.clone()/> })}
        {range}
        {used.then(|| view! { <Residuals fitted=fitted.clone()/> })}
        <Excluded fitted=fitted.clone()/>
        <details>
            <summary>"What was supposed, and how it was predicted"</summary>
            <ul class="lines">{assumed}</ul>
            <p class="cap">{sentence(&fitted.report.method)}</p>
        </details>
    }
    .into_any()
}

/// Whether the result still is about pool and points as they are now.
fn is_outdated(desk: Desk) -> bool {
    let doc = desk.bench.doc();
    let ready = desk.ready.get().and_then(Result::ok);
    desk.fit.with(|slot| {
        slot.last.as_ref().is_some_and(|last| {
            !applies(&last.doc, &doc, last.value.request.pool)
                || ready.as_ref() != Some(&last.value.request)
        })
    })
}

#[component]
fn Apply() -> impl IntoView {
    let desk = desk();
    let outdated = Memo::new(move |_| is_outdated(desk));
    let applied = Memo::new(move |_| {
        let doc = desk.bench.doc();
        desk.fit.with(|slot| {
            slot.last.as_ref().is_some_and(|last| {
                let pool = doc.fleet.pools.get(last.value.request.pool);
                let now = pool.and_then(|pool| pool.step_time.fitted.as_ref());
                now.is_some() && last.value.report.fitted.as_ref() == now
            })
        })
    });
    let blocked = move || outdated.get() || applied.get();
    let note = move || match (applied.get(), outdated.get()) {
        (true, true) => "Applied; pool or points are other ones now: fit again",
        (true, false) => "Applied: the answer follows, tagged measured. Undo takes it back",
        (false, true) => "Pool or points are other ones now: fit again",
        (false, false) => "One edit; the answer follows, tagged measured. Undo takes it back",
    };
    // Of several pools, the one that it was made for is named.
    let whose = move || {
        let doc = desk.bench.doc();
        let fitted = desk.fit.with(|slot| slot.last.as_ref().map(|last| last.value.request.pool));
        let pool = fitted.and_then(|at| doc.fleet.pools.get(at));
        match pool.filter(|_| doc.fleet.pools.len() > 1) {
            Some(pool) => format!("Apply to pool {}", pool.name.trim()),
            None => "Apply to the pool".to_owned(),
        }
    };
    let apply = move |_| {
        if !(outdated.get_untracked() || applied.get_untracked()) {
            desk.apply_fit();
        }
    };
    view! {
        <div class="row">
            <button
                type="button"
                class="primary"
                data-testid="apply-fit"
                aria-disabled=move || blocked().then_some("true")
                aria-describedby="apply-note"
                on:click=apply
            >
                {whose}
            </button>
            <p class="echo" id="apply-note" data-testid="apply-note">
                {note}
            </p>
        </div>
    }
    .into_any()
}

/// The points over the curve, one statistic at a time.
#[component]
fn Drawn(fitted: Arc<Fitted>) -> impl IntoView {
    let desk = desk();
    let all = views(&fitted.report);
    let Some(first) = all.first().cloned() else { return ().into_any() };
    let choices = all.iter().map(|view| Choice::new(view.key(), sentence(&view.label())));
    let choices: Vec<Choice> = choices.collect();
    let several = choices.len() > 1;
    let chosen: RwSignal<View> = RwSignal::new(first);
    let value = Signal::derive(move || chosen.with(View::key));
    let on_choose = Callback::new(move |key: String| {
        if let Some(view) = all.iter().find(|view| view.key() == key) {
            chosen.set(view.clone());
        }
    });
    let picture = Memo::new(move |_| {
        let (chart, caption) = picture(&fitted, &chosen.get());
        Some(Picture { chart: Arc::new(Chart::Benchmark(chart)), caption, readings: Vec::new() })
    });
    let stale = Signal::derive(move || is_outdated(desk));
    view! {
        {several
            .then(|| view! { <Select id="fit-statistic" label="Statistic" choices value on_choose quiet=true/> })}
        <Figure id="benchmark" title="Measured and simulated" picture stale/>
    }
    .into_any()
}

#[component]
fn Residuals(fitted: Arc<Fitted>) -> impl IntoView {
    let heads = RESIDUAL_HEADS.map(|head| view! { <th scope="col">{head}</th> });
    let rows = residual_rows(&fitted.report).into_iter().map(|row| {
        let cells = row.map(|cell| view! { <td>{cell}</td> });
        view! { <tr>{cells.into_iter().collect_view()}</tr> }
    });
    view! {
        <details>
            <summary data-testid="show-residuals">"What is left over, point by point"</summary>
            <div class="scroll" tabindex="0" role="region" aria-label="What is left over">
                <table class="data" data-testid="residuals">
                    <caption class="vh">"What is left over of each statistic after the fit"</caption>
                    <thead>
                        <tr>{heads.into_iter().collect_view()}</tr>
                    </thead>
                    <tbody>{rows.collect_view()}</tbody>
                </table>
            </div>
        </details>
    }
    .into_any()
}

#[component]
fn Excluded(fitted: Arc<Fitted>) -> impl IntoView {
    let rows = excluded_rows(&fitted);
    if rows.is_empty() {
        return ().into_any();
    }
    let rows = rows.into_iter().map(|(place, reason)| {
        view! {
            <li>
                <code>{place}</code>
                " "
                {reason}
            </li>
        }
    });
    view! {
        <p class="sum">"Points that are not in the fit"</p>
        <ul class="lines" data-testid="fit-excluded">{rows.collect_view()}</ul>
    }
    .into_any()
}

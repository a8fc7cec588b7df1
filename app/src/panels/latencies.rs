//! Latency distributions; their limits are dragged with the pointer or moved with the arrow keys,
//! and what that makes of the run is counted on the way.

use std::sync::Arc;

use goodput_engine::slo::Limit;
use leptos::ev::{KeyboardEvent, PointerEvent};
use leptos::prelude::*;

use super::figure::{Figure, Picture};
use crate::charts::{Chart, LatencyChart};
use crate::controls::{Grasp, push_of};
use crate::format;
use crate::state::{Workbench, workbench};
use crate::view_model::figures;
use crate::view_model::handles::Push;
use crate::view_model::latencies::{self, KINDS, Kind, LimitLine};

/// The figures: of the first token and of the pace always, of others where there is a limit.
#[component]
pub fn Latencies(simulated: Memo<bool>) -> impl IntoView {
    let bench = workbench();
    bench.recount_while_dragging();
    let panels = KINDS.iter().map(|kind| {
        let there = Memo::new(move |_| {
            let always = matches!(kind.limit, Limit::Ttft | Limit::Tpot);
            always || hides(bench, kind) || limits_of(bench, kind).is_some_and(|l| !l.is_empty())
        });
        view! {
            {move || there.get().then(|| view! { <div class="panel"><Latency kind/></div> })}
        }
    });
    view! {
        <div class="lat" hidden=move || !simulated.get()>
            {panels.collect_view()}
        </div>
    }
    .into_any()
}

/// Whether the kind is the first visible token, and some are hidden before it.
fn hides(bench: Workbench, kind: &Kind) -> bool {
    let there = bench.screen.with(|screen| {
        screen.simulated().is_some_and(|shown| kind.percentiles(&shown.report).is_some())
    });
    kind.limit == Limit::Ttfvt && there
}

fn limits_of(bench: Workbench, kind: &Kind) -> Option<Vec<LimitLine>> {
    bench
        .screen
        .with(|screen| screen.simulated().map(|shown| latencies::lines(&shown.doc, kind.limit)))
}

#[component]
fn Latency(kind: &'static Kind) -> impl IntoView {
    let bench = workbench();
    let stale = Signal::derive(move || !bench.current.get());
    let dragged = bench.dragged();
    let own = move || dragged.get().filter(|drag| drag.limit == kind.limit);
    let recount = move || bench.recounted(&own()?);
    let picture = Memo::new(move |_| {
        let (own, recount) = (own(), recount());
        bench.screen.with(|screen| {
            let shown = screen.simulated()?;
            let source = latencies::Source {
                doc: &shown.doc,
                report: &shown.report,
                before: shown.before.as_ref().and_then(|before| before.report.as_deref()),
                drag: own.as_ref().map(|drag| (drag, recount.as_ref())),
            };
            let (chart, caption) = latencies::chart(kind, &source)?;
            let readings = figures::readings(kind.percentiles(&shown.report)?);
            Some(Picture { chart: Arc::new(Chart::Latency(chart)), caption, readings })
        })
    });
    // Handles stay the same elements while they are dragged: only whose they are makes them anew.
    let whose = Memo::new(move |_| {
        let lines = limits_of(bench, kind).unwrap_or_default();
        lines
            .iter()
            .fold(String::new(), |all, line| format!("{all}{:?}{}\n", line.class, line.name))
    });
    let attainment = Memo::new(move |_| recount().map(|found| found.attainment));
    let handles = move || {
        // Reading it is what keeps it up to date: a memo that is only tracked never runs.
        whose.with(|_| ());
        let lines = untrack(|| limits_of(bench, kind)).unwrap_or_default();
        let handle = |LimitLine { class, name, .. }| {
            view! { <Handle kind class name picture attainment/> }
        };
        lines.into_iter().map(handle).collect_view()
    };
    view! {
        <Figure
            id=kind.id
            title=kind.title
            term=kind.id
            picture
            stale
            over=view! { {handles} }.into_any()
        />
    }
    .into_any()
}

/// The pointer that took a limit, and where that was, milliseconds.
type Taken = (Grasp, f64);

/// A limit to take hold of.
#[component]
fn Handle(
    kind: &'static Kind,
    class: Option<usize>,
    name: String,
    picture: Memo<Option<Picture>>,
    /// The share of good requests with the limit where it is dragged to.
    attainment: Memo<Option<f64>>,
) -> impl IntoView {
    let bench = workbench();
    let of_chart = move |read: fn(&LatencyChart) -> f64| chart_of(&picture.get()?).map(read);
    let ms = Memo::new(move |_| {
        let index = class.map_or(0, |class| place_of(bench, kind, class));
        chart_of(&picture.get()?)?.limit_at(index)
    });
    let place = move || picture.with(|p| Some(chart_of(p.as_ref()?)?.css_place(ms.get()?)));
    let grasp = StoredValue::new(None::<Taken>);
    let text = move || {
        let good = attainment.get().map(|share| format!(", {} good", format::percent(share)));
        ms.get().map(|ms| format!("{}{}", format::millis(ms), good.unwrap_or_default()))
    };
    let of = if name.is_empty() { String::new() } else { format!(" of {name}") };
    let testid = class.map_or(format!("limit-{}", kind.id), |i| format!("limit-{}-{i}", kind.id));
    view! {
        <div
            class="handle"
            role="slider"
            tabindex="0"
            aria-label=format!("Limit on {}{of}", kind.title.to_lowercase())
            aria-valuemin=move || of_chart(|chart| chart.range().0)
            aria-valuemax=move || of_chart(|chart| chart.range().1)
            aria-valuenow=move || ms.get()
            aria-valuetext=text
            data-testid=testid
            data-attainment=move || attainment.get()
            title="Drag, or move with the arrow keys"
            style:left=move || place().unwrap_or_default()
            on:pointerdown=move |ev| grasp.set_value(Grasp::of(&ev).zip(ms.get_untracked()))
            on:pointermove=move |ev| {
                if let Some(at) = grasp.get_value() {
                    bench.drag(kind.limit, class, moved(&ev, picture, at));
                }
            }
            on:pointerup=move |_| {
                grasp.set_value(None);
                bench.let_go();
                bench.seal();
            }
            on:pointercancel=move |_| {
                grasp.set_value(None);
                bench.put_back();
            }
            on:keydown=move |ev| {
                let to = pressed(&ev, picture, ms.get_untracked());
                if let Some(to) = to {
                    ev.prevent_default();
                    bench.drag(kind.limit, class, to);
                } else if ev.key() == "Escape" && bench.put_back() {
                    grasp.set_value(None);
                    ev.prevent_default();
                }
            }
            on:keyup=move |_| bench.let_go()
            on:blur=move |_| {
                bench.let_go();
                bench.seal();
            }
        ></div>
    }
    .into_any()
}

fn chart_of(picture: &Picture) -> Option<&LatencyChart> {
    match &*picture.chart {
        Chart::Latency(chart) => Some(chart),
        _ => None,
    }
}

/// Which of the lines is that of a class.
fn place_of(bench: Workbench, kind: &Kind, class: usize) -> usize {
    let lines = limits_of(bench, kind).unwrap_or_default();
    lines.iter().position(|line| line.class == Some(class)).unwrap_or(0)
}

fn moved(ev: &PointerEvent, picture: Memo<Option<Picture>>, (grasp, ms): Taken) -> f64 {
    picture.with_untracked(|picture| {
        let chart = picture.as_ref().and_then(chart_of);
        chart.map_or(ms, |chart| {
            let by = grasp.moved(ev)[0] / chart.axis_width(grasp.size[0]).max(1.0);
            latencies::rounded(chart.moved(ms, by))
        })
    })
}

/// Where a key moves a limit to.
fn pressed(ev: &KeyboardEvent, picture: Memo<Option<Picture>>, ms: Option<f64>) -> Option<f64> {
    match push_of(ev)? {
        Push::By(across, up) => Some(latencies::stepped(ms?, across + up)),
        Push::End(high) => {
            let (low_ms, high_ms) =
                picture.with_untracked(|p| Some(chart_of(p.as_ref()?)?.range()))?;
            Some(latencies::rounded(if high { high_ms } else { low_ms }))
        }
    }
}

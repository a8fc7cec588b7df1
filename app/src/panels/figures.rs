//! The charts: supply and debt over one time axis, latencies, outcomes.

use std::sync::Arc;

use goodput_engine::accounts::report::SimReport;
use goodput_engine::estimate::report::SupplyEstimate;
use leptos::ev::KeyboardEvent;
use leptos::prelude::*;

use super::figure::{Figure, Picture};
use super::latencies::Latencies;
use crate::charts::Chart;
use crate::state::{Screen, Shown, Workbench, workbench};
use crate::view_model::{arithmetic, figures};

/// All figures.
#[component]
pub fn Figures() -> impl IntoView {
    let bench = workbench();
    let simulated = Memo::new(move |_| bench.screen.with(|s| s.simulated().is_some()));
    let there = Memo::new(move |_| {
        simulated.get() || bench.screen.with(|s| matches!(s, Screen::Arithmetic(_)))
    });
    view! {
        <section
            class="grid2"
            id="charts"
            tabindex="-1"
            aria-label="Charts"
            hidden=move || !there.get()
        >
            <OverTime/>
            <Latencies simulated/>
            <Outcomes simulated/>
        </section>
    }
    .into_any()
}

/// Supply and debt over one time axis.
#[component]
fn OverTime() -> impl IntoView {
    let bench = workbench();
    let stale = Signal::derive(move || !bench.current.get());
    let supply = over_time(
        bench,
        |s| picture(Chart::Supply, figures::supply(s)),
        |s| picture(Chart::Supply, arithmetic::supply_chart(s)),
    );
    let debt = over_time(
        bench,
        |s| picture(Chart::Debt, figures::debt(s)),
        |s| picture(Chart::Debt, arithmetic::debt_chart(s)),
    );
    view! {
        <div class="col">
            <div class="panel time">
                <Figure
                    id="supply"
                    title="Supply and demand"
                    term="sustainable"
                    picture=supply
                    stale
                    reads_time=true
                />
                <Figure
                    id="debt"
                    title="Queue debt"
                    term="queue-debt"
                    picture=debt
                    stale
                    reads_time=true
                />
                <Readout/>
            </div>
        </div>
    }
    .into_any()
}

#[component]
fn Outcomes(simulated: Memo<bool>) -> impl IntoView {
    let bench = workbench();
    let stale = Signal::derive(move || !bench.current.get());
    let outcomes = pictured(bench, |s| picture(Chart::Outcomes, figures::outcomes(s.report)));
    view! {
        <div class="panel outcomes" hidden=move || !simulated.get()>
            <Figure id="outcomes" title="Outcomes" term="outcome" picture=outcomes stale/>
        </div>
    }
    .into_any()
}

fn picture<C>(kind: fn(C) -> Chart, (chart, caption): (C, String)) -> Picture {
    Picture { chart: Arc::new(kind(chart)), caption, readings: Vec::new() }
}

/// A picture of the simulation on screen, made anew only for another one.
fn pictured(bench: Workbench, make: fn(&figures::Source) -> Picture) -> Memo<Option<Picture>> {
    Memo::new(move |_| bench.screen.with(|screen| screen.simulated().map(|s| make(&source(s)))))
}

/// As [`pictured`], or by arithmetic where there is nothing to simulate.
fn over_time(
    bench: Workbench,
    simulated: fn(&figures::Source) -> Picture,
    by_arithmetic: fn(&SupplyEstimate) -> Picture,
) -> Memo<Option<Picture>> {
    Memo::new(move |_| {
        bench.screen.with(|screen| match screen {
            Screen::Simulated(shown) => Some(simulated(&source(shown))),
            Screen::Arithmetic(report) => report.supply.as_ref().map(by_arithmetic),
            Screen::DoesNotFit(_) | Screen::Soon(_) => None,
        })
    })
}

fn source(shown: &Shown) -> figures::Source<'_> {
    let before = shown.before.as_ref().and_then(|before| before.report.as_deref());
    figures::Source {
        report: &shown.report,
        estimate: shown.estimate.as_ref().and_then(|estimate| estimate.supply.as_ref()),
        plan: shown.plan.as_deref(),
        before,
    }
}

/// The values at the cursor; arrow keys move it.
#[component]
fn Readout() -> impl IntoView {
    let bench = workbench();
    let of_report = move |read: fn(&SimReport) -> f64| {
        Memo::new(move |_| {
            bench.screen.with(|screen| screen.simulated().map_or(0.0, |s| read(&s.report)))
        })
    };
    let end_s = of_report(|report| report.horizon_s);
    let peak_s = of_report(|report| report.debt.peak_at_s);
    let at = move || bench.cursor_s.get().unwrap_or_else(|| peak_s.get()).min(end_s.get());
    let text = Memo::new(move |_| {
        bench.screen.with(|screen| figures::readout(&source(screen.simulated()?), at()))
    });
    let band = Memo::new(move |_| {
        bench.estimate.with(|e| {
            let band = e.as_ref()?.report.supply.as_ref()?.step_time_band?;
            Some(format!("band ±{}, step-time error", crate::format::percent(band)))
        })
    });
    let press = move |ev: KeyboardEvent| {
        let steps = match ev.key().as_str() {
            "ArrowRight" => 1.0,
            "ArrowLeft" => -1.0,
            "PageUp" => 10.0,
            "PageDown" => -10.0,
            _ => return,
        };
        ev.prevent_default();
        let end = end_s.get_untracked();
        let now = bench.cursor_s.get_untracked().unwrap_or_else(|| peak_s.get_untracked());
        bench.cursor_s.set(Some((now + steps * end / 100.0).clamp(0.0, end)));
    };
    view! {
        <p
            class="read"
            tabindex="0"
            role="slider"
            aria-label="Moment in the time charts"
            aria-valuemin="0"
            aria-valuemax=move || end_s.get()
            aria-valuenow=at
            aria-valuetext=move || text.get().map(|(clock, values)| format!("{clock}: {values}"))
            data-testid="readout"
            title="Arrow keys move the moment"
            on:keydown=press
        >
            {move || text.get().map(|(clock, values)| view! { <b>{clock}</b><span>{values}</span> })}
            <span class="muted">{move || band.get()}</span>
        </p>
    }
    .into_any()
}

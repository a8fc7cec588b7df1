//! The charts: supply and debt over one time axis, latencies, outcomes.

use std::sync::Arc;

use goodput_engine::estimate::report::SupplyEstimate;
use leptos::prelude::*;

use super::figure::{Figure, Picture};
use super::folded::folded;
use super::latencies::Latencies;
use super::misses::Misses;
use super::moment::Moment;
use super::percentiles::LatencyPercentiles;
use crate::charts::Chart;
use crate::state::{Screen, Shown, Workbench, workbench};
use crate::view_model::{arithmetic, figures, rates, timeline};

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
            <LatencyPercentiles simulated/>
            <Timeline simulated/>
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
        |s| Picture {
            readings: figures::prefix_readings(s.report),
            ..picture(Chart::Supply, figures::supply(s))
        },
        |s| picture(Chart::Supply, arithmetic::supply_chart(s)),
    );
    let debt = over_time(
        bench,
        |s| Picture {
            readings: rates::of_debt(s.report),
            ..picture(Chart::Debt, figures::debt(s))
        },
        |s| picture(Chart::Debt, arithmetic::debt_chart(s)),
    );
    let text = Callback::new(move |at| {
        bench.screen.with(|screen| figures::readout(&source(screen.simulated()?), at))
    });
    let band = Signal::derive(move || {
        bench.estimate.with(|e| {
            let band = e.as_ref()?.report.supply.as_ref()?.step_time_band?;
            Some(format!("band ±{}, step-time error", crate::format::percent(band)))
        })
    });
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
                <Moment id="readout" text more=band/>
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
        <div class="panel outcomes split" hidden=move || !simulated.get()>
            <Figure id="outcomes" title="Outcomes" term="outcome" picture=outcomes stale/>
            <Misses/>
        </div>
    }
    .into_any()
}

/// The whole fleet over the same time axis; drawn while it is open.
#[component]
fn Timeline(simulated: Memo<bool>) -> impl IntoView {
    let said = "Replicas that come and go, sequences, queues, KV memory, preemptions, backlog and rates on one time axis";
    view! {
        <div class="outcomes" hidden=move || !simulated.get()>
            {folded("timeline", "Timeline", said, fleet_over_time)}
        </div>
    }
    .into_any()
}

fn fleet_over_time() -> AnyView {
    let bench = workbench();
    let stale = Signal::derive(move || !bench.current.get());
    let picture = pictured(bench, |s| picture(Chart::Timeline, timeline::timeline(s.report)));
    let text = Callback::new(move |at| {
        picture.with(|picture| match &*picture.as_ref()?.chart {
            Chart::Timeline(chart) => timeline::readout(chart, at),
            _ => None,
        })
    });
    view! {
        <Figure
            id="timeline"
            title="The fleet over time"
            picture
            stale
            reads_time=true
        />
        <Moment id="moment" text/>
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

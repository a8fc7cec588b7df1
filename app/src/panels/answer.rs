//! The answer: verdict, "of 100 users", five headline numbers.

use std::sync::Arc;

use goodput_engine::accounts::report::SimReport;
use goodput_engine::estimate::report::EstimateReport;
use leptos::prelude::*;

use crate::controls::{Shape, Swatch, Tags, fill_of};
use crate::state::{Workbench, workbench};
use crate::view_model::arithmetic;
use crate::view_model::delta::{Delta, Tone};
use crate::view_model::people::{self, Group};
use crate::view_model::tiles::{self, Tile};
use crate::view_model::verdict::{self, VerdictView};

/// Verdict and tiles.
#[component]
pub fn Answer() -> impl IntoView {
    let bench = workbench();
    let view = Memo::new(move |_| verdict_of(bench));
    let stale = Memo::new(move |_| !is_current(bench));
    let state = move || view.with(|v| v.as_ref().map_or("none", |v| v.state));
    view! {
        <section class="hero" id="results" tabindex="-1" aria-labelledby="verdict">
            <super::NoticeBar/>
            <div class=move || format!("verdict {}", state()) class:stale=stale data-testid="verdict" data-verdict=state>
                <div class="vmain">
                    {move || view.get().map(|view| view! { <Words view/> })}
                    {move || {
                        stale
                            .get()
                            .then(|| view! { <p class="echo">"Results are for the previous inputs"</p> })
                    }}
                </div>
                <People/>
            </div>
            <TileRow/>
        </section>
    }
    .into_any()
}

/// What the answer on screen is made of.
#[derive(Clone)]
pub enum Screen {
    /// A simulation, and whether it is for the inputs on screen.
    Simulated(Arc<SimReport>, bool),
    /// Arithmetic alone: only token rates are declared.
    Arithmetic(Arc<EstimateReport>),
    /// The weights do not fit: nothing else can be said.
    DoesNotFit(Arc<EstimateReport>),
    /// The first simulation is not there yet.
    Soon(Option<Arc<EstimateReport>>),
}

/// What is on screen now.
pub fn screen(bench: Workbench) -> Screen {
    let estimate = bench.estimate.get();
    match estimate.as_ref() {
        Some(e) if !e.fits() => return Screen::DoesNotFit(e.report.clone()),
        Some(e) if !e.can_be_simulated() => return Screen::Arithmetic(e.report.clone()),
        _ => {}
    }
    match bench.shown() {
        Some((last, current)) => Screen::Simulated(last.value, current),
        None => Screen::Soon(estimate.map(|e| e.report)),
    }
}

/// Whether the results on screen are for the inputs on screen.
pub fn is_current(bench: Workbench) -> bool {
    !matches!(screen(bench), Screen::Simulated(_, false))
}

/// The simulated report on screen.
pub fn report_on_screen(bench: Workbench) -> Option<Arc<SimReport>> {
    match screen(bench) {
        Screen::Simulated(report, _) => Some(report),
        _ => None,
    }
}

fn verdict_of(bench: Workbench) -> Option<VerdictView> {
    match screen(bench) {
        Screen::Simulated(report, _) => {
            let change = change_of(bench, &report);
            Some(verdict::simulated(&report, bench.shown_plan().as_deref(), change))
        }
        Screen::Arithmetic(report) => report.supply.as_ref().map(arithmetic::verdict),
        Screen::DoesNotFit(report) => Some(verdict::estimated(&report)),
        Screen::Soon(report) => report.map(|report| verdict::estimated(&report)),
    }
}

/// What is different from the baseline, in words.
fn change_of(bench: Workbench, report: &SimReport) -> Option<String> {
    let (last, _) = bench.shown()?;
    let now = bench.estimate.get().filter(|e| crate::state::same(&e.doc, &last.doc))?;
    let baseline = bench.baseline.get().filter(|b| !crate::state::same(&b.doc, &last.doc))?;
    let before = verdict::Compared {
        report: baseline.report.as_deref()?,
        demand: baseline.estimate.as_ref()?.supply.as_ref()?,
    };
    verdict::change(before, verdict::Compared { report, demand: now.report.supply.as_ref()? })
}

#[component]
fn Words(view: VerdictView) -> impl IntoView {
    view! {
        <p class="vkind">
            <Shape state=view.state/>
            {view.word}
        </p>
        <h2 id="verdict">{view.sentence}</h2>
        <p class="why">{view.why}</p>
    }
    .into_any()
}

/// A hundred cells and what they mean.
#[component]
fn People() -> impl IntoView {
    let bench = workbench();
    let groups = Memo::new(move |_| {
        report_on_screen(bench).map_or_else(Vec::new, |r| people::of_hundred(&r.outcomes))
    });
    view! {
        <div class="vside" data-testid="people">
            {move || {
                let groups = groups.get();
                (!groups.is_empty())
                    .then(|| {
                        view! {
                            <p class="of">"Of 100 users"</p>
                            <svg
                                class="people"
                                viewBox="0 0 273 42"
                                role="img"
                                aria-label=people::sentence(&groups)
                            >
                                {cells(&groups)}
                            </svg>
                            <ul class="who">
                                {groups.into_iter().map(|group| view! { <Who group/> }).collect_view()}
                            </ul>
                        }
                    })
            }}
        </div>
    }
    .into_any()
}

fn cells(groups: &[Group]) -> impl IntoView + use<> {
    let looks = groups
        .iter()
        .flat_map(|g| std::iter::repeat_n(g.look, usize::try_from(g.users).unwrap_or(0)));
    let cells = looks.enumerate().map(|(i, look)| {
        let (x, y) = (i % 25 * 11, i / 25 * 11);
        let (fill, pattern) = fill_of(Some(look), false);
        view! {
            <rect x=x y=y width="9" height="9" rx="1.5" class=fill></rect>
            {pattern
                .map(|fill| {
                    view! { <rect x=x y=y width="9" height="9" rx="1.5" fill=fill></rect> }
                })}
        }
    });
    cells.collect_view()
}

#[component]
fn Who(group: Group) -> impl IntoView {
    view! {
        <li>
            <Swatch look=Some(group.look)/>
            <b>{group.users}</b>
            {group.words}
        </li>
    }
    .into_any()
}

#[component]
fn TileRow() -> impl IntoView {
    let bench = workbench();
    let rows = Memo::new(move |_| tiles_of(bench));
    let stale = Memo::new(move |_| !is_current(bench));
    view! {
        {move || {
            let rows = rows.get();
            (!rows.is_empty())
                .then(|| {
                    let tiles = rows.into_iter().map(|tile| view! { <TileBox tile/> }).collect_view();
                    view! { <dl class="tiles" class:stale=stale>{tiles}</dl> }
                })
        }}
    }
    .into_any()
}

fn tiles_of(bench: Workbench) -> Vec<Tile> {
    let report = match screen(bench) {
        Screen::Simulated(report, _) => report,
        Screen::Arithmetic(report) => {
            let doc = bench.doc();
            return report.supply.as_ref().map_or_else(Vec::new, |s| arithmetic::tiles(&doc, s));
        }
        Screen::DoesNotFit(_) => return Vec::new(),
        Screen::Soon(_) => return tiles::soon(),
    };
    let Some((last, _)) = bench.shown() else { return Vec::new() };
    let plan = bench.shown_plan();
    let baseline = bench.baseline.get();
    let before = baseline
        .as_ref()
        .filter(|b| !crate::state::same(&b.doc, &last.doc))
        .and_then(|b| b.report.as_deref());
    let origin = bench
        .estimate
        .with(|e| e.as_ref().and_then(|e| e.report.supply.as_ref()).map(|supply| supply.origin));
    tiles::tiles(&tiles::Source {
        doc: &last.doc,
        report: &report,
        plan: plan.as_deref(),
        before,
        origin,
    })
}

#[component]
fn TileBox(tile: Tile) -> impl IntoView {
    let testid = format!("tile-{}", tile.id);
    let unit = (!tile.unit.is_empty()).then(|| {
        view! { <span class="u">{format!("{}{}", crate::format::THIN, tile.unit)}</span> }
    });
    view! {
        <div class="tile" data-testid=testid>
            <dt>{tile.label}</dt>
            <dd>
                <p class="val" data-value=tile.exact>{tile.value}{unit}</p>
                {tile.delta.map(|delta| view! { <DeltaLine delta/> })}
                <p class="dec">{tile.detail}</p>
                <Tags tags=tile.tags/>
            </dd>
        </div>
    }
    .into_any()
}

#[component]
fn DeltaLine(delta: Delta) -> impl IntoView {
    let class = match delta.tone {
        Tone::Better => "up",
        Tone::Worse => "dn",
        Tone::Same => "same",
    };
    view! {
        <p class="delta">
            <span class=class>{delta.text}</span>
            " "
            {delta.was}
        </p>
    }
    .into_any()
}

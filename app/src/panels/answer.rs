//! The answer: verdict, "of 100 users", five headline numbers.

use leptos::prelude::*;

use super::figure::{Previous, Readings};
use crate::controls::{Shape, Swatch, Tags, fill_of};
use crate::state::{Baseline, Screen, Shown, Workbench, workbench};
use crate::view_model::arithmetic;
use crate::view_model::delta::{Delta, Tone};
use crate::view_model::edits;
use crate::view_model::people::{self, Group};
use crate::view_model::rates;
use crate::view_model::tiles::{self, Tile};
use crate::view_model::verdict::{self, Compared, VerdictView};

/// Verdict and tiles.
#[component]
pub fn Answer() -> impl IntoView {
    let bench = workbench();
    let view = Memo::new(move |_| bench.screen.with(verdict_of));
    let stale = Signal::derive(move || !bench.current.get());
    let state = move || view.with(|v| v.as_ref().map_or("none", |v| v.state));
    view! {
        <section class="hero" id="results" tabindex="-1" aria-labelledby="verdict">
            <super::NoticeBar/>
            <div class=move || format!("verdict {}", state()) class:stale=stale data-testid="verdict" data-verdict=state>
                <div class="vmain">
                    {move || view.get().map(|view| view! { <Words view stale/> })}
                </div>
                <People/>
            </div>
            <TileRow/>
            <Rates/>
            <super::expected::Expected/>
        </section>
    }
    .into_any()
}

fn verdict_of(screen: &Screen) -> Option<VerdictView> {
    match screen {
        Screen::Simulated(shown) => {
            Some(verdict::simulated(&shown.report, shown.plan.as_deref(), change_of(shown)))
        }
        Screen::Arithmetic(report) => report.supply.as_ref().map(arithmetic::verdict),
        Screen::DoesNotFit(report) => Some(verdict::estimated(report)),
        Screen::Soon(report) => report.as_deref().map(verdict::estimated),
    }
}

/// What is different from the baseline, in words; without one, from when the fleet was last judged
/// otherwise.
fn change_of(shown: &Shown) -> Option<String> {
    let demand = shown.estimate.as_ref()?.supply.as_ref()?;
    let now = Compared { report: &shown.report, demand };
    let of = |baseline: &Baseline, say: &dyn Fn(Compared, Compared) -> Option<String>| {
        let before = Compared {
            report: baseline.report.as_deref()?,
            demand: baseline.estimate.as_ref()?.supply.as_ref()?,
        };
        say(before, now)
    };
    if let Some(pinned) = &shown.before {
        return of(pinned, &verdict::change);
    }
    let turned = shown.turned.as_ref()?;
    let edits = edits::count(&turned.doc, &shown.doc);
    of(turned, &|before, now| verdict::turn(before, now, edits))
}

#[component]
fn Words(view: VerdictView, stale: Signal<bool>) -> impl IntoView {
    view! {
        <p class="vkind">
            <Shape state=view.state/>
            <b>{view.word}</b>
            <Previous stale/>
        </p>
        <h2 id="verdict">{view.sentence}</h2>
        {view.change.map(|change| view! { <p class="change" data-testid="change">{change}</p> })}
        <p class="why">{view.why}</p>
    }
    .into_any()
}

/// A hundred cells and what they mean.
#[component]
fn People() -> impl IntoView {
    let bench = workbench();
    let groups = Memo::new(move |_| {
        bench.screen.with(|screen| {
            let shown = screen.simulated();
            shown.map_or_else(Vec::new, |shown| people::of_hundred(&shown.report.outcomes))
        })
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

/// Good requests beside all tokens, together.
#[component]
fn Rates() -> impl IntoView {
    let bench = workbench();
    let readings = Memo::new(move |_| {
        bench.screen.with(|screen| {
            let shown = screen.simulated()?;
            let before = shown.before.as_ref().and_then(|before| before.report.as_deref());
            Some(rates::rates(&shown.report, before))
        })
    });
    view! {
        <div class="rates" class:stale=move || !bench.current.get() hidden=move || readings.with(Option::is_none)>
            {move || readings.get().map(|readings| view! { <Readings id="rates" readings/> })}
        </div>
    }
    .into_any()
}

#[component]
fn TileRow() -> impl IntoView {
    let bench = workbench();
    let rows = Memo::new(move |_| bench.screen.with(|screen| tiles_of(bench, screen)));
    let stale = move || !bench.current.get();
    let ids = move || rows.with(|rows| rows.iter().map(|tile| tile.id).collect::<Vec<_>>());
    // A tile stays when its number changes, so that the focus on its label does.
    view! {
        <dl class="tiles" class:stale=stale hidden=move || rows.with(Vec::is_empty)>
            <For each=ids key=|id| *id let(id)>
                <TileBox id rows/>
            </For>
        </dl>
    }
    .into_any()
}

fn tiles_of(bench: Workbench, screen: &Screen) -> Vec<Tile> {
    let shown = match screen {
        Screen::Simulated(shown) => shown,
        Screen::Arithmetic(report) => {
            let doc = bench.doc();
            return report.supply.as_ref().map_or_else(Vec::new, |s| arithmetic::tiles(&doc, s));
        }
        Screen::DoesNotFit(_) => return Vec::new(),
        Screen::Soon(_) => return tiles::soon(),
    };
    let supply = shown.estimate.as_ref().and_then(|estimate| estimate.supply.as_ref());
    tiles::tiles(&tiles::Source {
        doc: &shown.doc,
        report: &shown.report,
        plan: shown.plan.as_deref(),
        earlier_plan: shown.earlier_plan.as_deref(),
        before: shown.before.as_ref().and_then(|before| before.report.as_deref()),
        origin: supply.map(|supply| supply.origin),
    })
}

#[component]
fn TileBox(id: &'static str, rows: Memo<Vec<Tile>>) -> impl IntoView {
    let tile = Memo::new(move |_| rows.with(|rows| rows.iter().find(|t| t.id == id).cloned()));
    let label = Memo::new(move |_| tile.with(|t| t.as_ref().map(|t| (t.term(), t.label))));
    let earlier = Signal::derive(move || tile.with(|t| t.as_ref().is_some_and(|t| t.is_earlier)));
    view! {
        <div class="tile" class:stale=earlier data-testid=format!("tile-{id}")>
            <dt>{move || label.get().map(|(id, word)| view! { <super::Defined id word/> })}</dt>
            <dd>{move || tile.get().map(|tile| view! { <TileNumber tile/> })}</dd>
        </div>
    }
    .into_any()
}

#[component]
fn TileNumber(tile: Tile) -> impl IntoView {
    let unit = (!tile.unit.is_empty()).then(|| {
        view! { <span class="u">{format!("{}{}", crate::format::THIN, tile.unit)}</span> }
    });
    view! {
        <p class="val" data-value=tile.exact>{tile.value}{unit}</p>
        {tile.delta.map(|delta| view! { <DeltaLine delta/> })}
        <p class="dec">{tile.detail}</p>
        <Tags tags=tile.tags/>
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

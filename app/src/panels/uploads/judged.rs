//! The requests of an uploaded benchmark under a contract of the scenario: asked of the reader, which
//! keeps them, while the panel is open, and shown by the panels of a simulated run.

use std::cell::RefCell;
use std::sync::Arc;

use goodput_engine::accounts::accounting::Dimension;
use goodput_engine::scenario::doc::SloDoc;
use leptos::prelude::*;

use crate::charts::Chart;
use crate::controls::{Choice, Select};
use crate::panels::figure::{Figure, Picture};
use crate::panels::folded::folded;
use crate::panels::outcomes::break_out::{choose_and, choose_by, csv, lost_table, place_of};
use crate::panels::outcomes::heat_map::CrossedMap;
use crate::panels::outcomes::rules::by_rules;
use crate::state::uploads::{Desk, desk};
use crate::view_model::{figures, outcomes, rules};
use crate::worker::reader::{FileId, JudgedPoint};

/// Whose the tables are.
const OF: &str = " of the uploaded run";

/// The panel; nothing where no benchmark holds requests one by one.
#[component]
pub fn Judged() -> impl IntoView {
    let desk = desk();
    let there = Memo::new(move |_| !runs(desk).is_empty());
    let said =
        "The requests of a benchmark under a contract of the scenario, and by other tools' rules";
    let panel = move || folded("judged", "Outcomes of uploaded requests", said, of_run);
    view! { {move || there.get().then(panel)} }.into_any()
}

/// Benchmarks that hold requests one by one.
fn runs(desk: Desk) -> Vec<(FileId, String)> {
    desk.uploads.with(|uploads| {
        let holds = uploads.files().iter().filter(|file| {
            file.read().is_some_and(|read| read.requests > 0 && !read.points().is_empty())
        });
        holds.map(|file| (file.id, file.name.clone())).collect()
    })
}

/// What is chosen: places of a run, of a point of it, and of a class, and of what its outcomes are
/// broken out by and crossed with.
#[derive(Clone, Copy)]
struct Chosen {
    run: RwSignal<usize>,
    point: RwSignal<usize>,
    class: RwSignal<usize>,
    by: RwSignal<usize>,
    and: RwSignal<usize>,
}

/// A file, the contract that it is to be judged by, and what its outcomes are crossed by.
type Wanted = (FileId, SloDoc, Vec<Dimension>);

impl Chosen {
    fn wanted(self, desk: Desk) -> Option<Wanted> {
        let runs = runs(desk);
        let (file, _) = runs.get(self.run.get()).or(runs.first())?;
        let doc = desk.bench.doc();
        let classes = &doc.workload.classes;
        let class = classes.get(self.class.get()).or(classes.first())?;
        Some((*file, class.slo.clone(), self.cross()))
    }

    /// Two different dimensions, or none.
    fn cross(self) -> Vec<Dimension> {
        let [by, and] = [self.by, self.and].map(|place| Dimension::ALL.get(place.get()).copied());
        let both = by.zip(and).filter(|(by, and)| by != and);
        both.map(|(by, and)| vec![by, and]).unwrap_or_default()
    }

    /// What was found of the point, and the share of its requests that has to be good.
    fn found<T>(self, desk: Desk, read: impl FnOnce(&JudgedPoint, f64) -> T) -> Option<T> {
        desk.judged.with(|judged| {
            let judged = judged.as_ref()?.1.as_ref().ok()?;
            let point = judged.points.get(self.point.get()).or(judged.points.first())?;
            Some(read(point, judged.slo.attainment_target))
        })
    }
}

fn of_run() -> AnyView {
    let desk = desk();
    let place = || RwSignal::new(0_usize);
    let chosen = Chosen {
        run: place(),
        point: place(),
        class: place(),
        by: RwSignal::new(place_of(Dimension::Prompt.name())),
        and: RwSignal::new(usize::MAX),
    };
    let asked = RefCell::new(None);
    // The reader is the outside world.
    Effect::new(move |_| {
        let wanted = chosen.wanted(desk);
        if *asked.borrow() != wanted {
            asked.replace(wanted.clone());
            if let Some((file, slo, cross)) = wanted {
                desk.judge(file, slo, cross);
            }
        }
    });
    let state = move || {
        let wanted = chosen.wanted(desk);
        let done = desk.judged.with(|judged| match judged {
            Some((of, Ok(judged))) => {
                wanted == Some((*of, judged.slo.clone(), judged.cross.clone()))
            }
            Some((_, Err(_))) => true,
            None => false,
        });
        if done { "done" } else { "running" }
    };
    let remarks = move || {
        desk.judged.with(|judged| match judged {
            Some((_, Ok(judged))) => judged.remarks.join("; "),
            Some((_, Err(why))) => format!("The reader stopped ({why}): choose again"),
            None => String::new(),
        })
    };
    view! {
        <div class="row">{move || choices(desk, chosen)}</div>
        <div data-testid="measured" data-state=state>
            {of_point(desk, chosen)}
        </div>
        <p class="note">{remarks}</p>
    }
    .into_any()
}

/// What can be chosen; where there is but one, it is.
fn choices(desk: Desk, chosen: Chosen) -> AnyView {
    let runs = runs(desk).into_iter().map(|(_, name)| name).collect();
    let points = desk.judged.with(|judged| {
        let points = judged.iter().filter_map(|(_, judged)| judged.as_ref().ok());
        points.flat_map(|judged| &judged.points).map(|point| point.name.clone()).collect()
    });
    let doc = desk.bench.doc();
    let classes = doc.workload.classes.iter().map(|class| class.name.clone()).collect();
    let all: [(_, _, Vec<String>, _); 3] = [
        ("judged-run", "Run", runs, chosen.run),
        ("judged-point", "Point", points, chosen.point),
        ("judged-class", "Contract of", classes, chosen.class),
    ];
    let several = all.into_iter().filter(|(_, _, names, _)| names.len() > 1);
    let select = several.map(|(id, label, names, place)| {
        let choices = names.iter().enumerate().map(|(i, name)| Choice::new(i.to_string(), name));
        view! {
            <Select
                id
                label
                choices=choices.collect()
                value=Signal::derive(move || place.get().to_string())
                on_choose=Callback::new(move |i: String| place.set(i.parse().unwrap_or(0)))
                quiet=true
            />
        }
    });
    select.collect_view().into_any()
}

/// A point by the panels of a simulated run.
fn of_point(desk: Desk, chosen: Chosen) -> AnyView {
    let Chosen { by, and, .. } = chosen;
    let picture = Memo::new(move |_| {
        chosen.found(desk, |point, target| {
            let (chart, caption) = figures::waterfall(point.offered, &point.outcomes, target);
            let chart = Arc::new(Chart::Outcomes(chart));
            Picture { chart, caption, readings: Vec::new() }
        })
    });
    let lost = Callback::new(move |()| {
        let by = Dimension::ALL.get(by.get()).copied()?;
        let lost = chosen.found(desk, |point, target| {
            let of_one = point.accounting.break_outs.iter().find(|out| out.by == [by])?;
            outcomes::lost(of_one, target)
        });
        lost.flatten()
    });
    let crossed = Callback::new(move |()| {
        let found = chosen.found(desk, |point, target| {
            point.accounting.crossed.first().map(|out| (out.clone(), target))
        });
        found.flatten()
    });
    let by_rule = Callback::new(move |()| {
        chosen.found(desk, |point, _| rules::rules(&point.accounting)).unwrap_or_default()
    });
    view! {
        <div hidden=move || picture.with(Option::is_none)>
            <Figure
                id="measured"
                title="Outcomes of uploaded requests"
                picture
                stale=Signal::derive(|| false)
            />
            <div class="phead">
                <h4>"Where requests were lost"</h4>
                {csv("measured-break-out", OF, lost)}
            </div>
            <div class="row">
                {choose_by("measured-by", by, false)} {choose_and("measured-and", and, false)}
            </div>
            {lost_table("measured-break-out", OF, lost)}
            <CrossedMap id="measured-heat" found=crossed stale=Signal::derive(|| false)/>
            <h4>"The same requests by other rules"</h4>
            {by_rules("measured-rule", OF, by_rule)}
            <p class="note">
                "Latency alone: nobody checked the answers. Clocks run from when a request was sent, or due where the file tells"
            </p>
        </div>
    }
    .into_any()
}

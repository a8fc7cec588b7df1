//! What if outputs doubled, or a replica were lost: the questions that people ask of every plan, each
//! an edit of the scenario, simulated on the same random numbers.
//!
//! One function per question here, beside how lengths double and rates
//! grow in `lengths` and `rates`.

mod lengths;
mod rates;

use serde::Serialize;

use crate::accounts::Unanswerable;
use crate::accounts::report::VerdictState;
use crate::accounts::words::{span_ms, three_digits};
use crate::compare::{Base, InputChange, Moved, ResultChange, Side};
use crate::estimate::estimate;
use crate::fleet::Scaling;
use crate::problem::Problem;
use crate::scenario::doc::{ClassDoc, CrashDoc, LengthsDoc, PoolDoc, ScenarioDoc};
use crate::scenario::{Scenario, check};

/// From order to first request where a scenario states no start-up time, seconds.
const START_UP_S: f64 = 120.0;

/// A question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WhatIf {
    /// Every answer is twice as long.
    OutputsDouble,
    /// A fifth more requests.
    MoreRequests,
    /// One replica fewer.
    OneReplicaLess,
    /// All replicas start again when most is asked of them.
    ColdStartAtPeak,
    /// Nothing is found in the prefix cache.
    ColdPrefixCache,
    /// The longest prompts are twice as long.
    LongPromptsDouble,
}

/// A scenario in which it is so.
#[derive(Debug, Clone, PartialEq)]
pub struct Variant {
    /// The scenario.
    pub doc: ScenarioDoc,
    /// What was taken for granted, and what stays as it was.
    pub notes: Vec<String>,
}

impl WhatIf {
    /// All of them.
    pub const ALL: [Self; 6] = [
        Self::OutputsDouble,
        Self::MoreRequests,
        Self::OneReplicaLess,
        Self::ColdStartAtPeak,
        Self::ColdPrefixCache,
        Self::LongPromptsDouble,
    ];

    /// Its name in reports.
    pub fn id(self) -> &'static str {
        match self {
            Self::OutputsDouble => "outputs_double",
            Self::MoreRequests => "more_requests",
            Self::OneReplicaLess => "one_replica_less",
            Self::ColdStartAtPeak => "cold_start_at_peak",
            Self::ColdPrefixCache => "cold_prefix_cache",
            Self::LongPromptsDouble => "long_prompts_double",
        }
    }

    /// The question in words.
    pub fn title(self) -> &'static str {
        match self {
            Self::OutputsDouble => "outputs double",
            Self::MoreRequests => "20 % more requests",
            Self::OneReplicaLess => "one replica less",
            Self::ColdStartAtPeak => "cold start at the peak",
            Self::ColdPrefixCache => "prefix cache cold",
            Self::LongPromptsDouble => "p99 of prompts doubles",
        }
    }

    /// The scenario in which it is so.
    ///
    /// # Errors
    /// Why the question makes no sense of this scenario.
    pub fn variant(self, doc: &ScenarioDoc, scenario: &Scenario) -> Result<Variant, String> {
        let mut variant = Variant { doc: doc.clone(), notes: Vec::new() };
        match self {
            Self::OutputsDouble => outputs_double(&mut variant),
            Self::MoreRequests => {
                let classes = variant.doc.workload.classes.iter_mut();
                classes.for_each(|class| rates::a_fifth_more(&mut class.arrivals));
            }
            Self::OneReplicaLess => one_replica_less(&mut variant, scenario)?,
            Self::ColdStartAtPeak => cold_start_at_peak(&mut variant, scenario)?,
            Self::ColdPrefixCache => cold_prefix_cache(&mut variant.doc)?,
            Self::LongPromptsDouble => long_prompts_double(&mut variant)?,
        }
        // What a check refuses is no question but a mistake: a length beyond all lengths.
        check(&variant.doc).map_err(|problems| first(&problems))?;
        Ok(variant)
    }
}

fn outputs_double(variant: &mut Variant) {
    let classes = &mut variant.doc.workload.classes;
    for class in classes.iter_mut() {
        lengths::double(&mut class.output_tokens);
    }
    let budgets = classes.iter().filter(|class| class.max_output_tokens.is_some());
    let of: Vec<&str> = budgets.map(|class| class.name.as_str()).collect();
    if !of.is_empty() {
        variant.notes.push(format!("the output budget of {} stays: it cuts more", of.join(", ")));
    }
}

fn one_replica_less(variant: &mut Variant, scenario: &Scenario) -> Result<(), String> {
    let several = scenario.pools().count() > 1;
    let pool = constant(variant.doc.fleet.pools.iter_mut().zip(scenario.pools()))
        .find(|pool| pool.replicas > 1)
        .ok_or("no pool of a constant size has a replica to spare")?;
    pool.replicas -= 1;
    if several {
        variant.notes.push(format!("of pool {}", pool.name));
    }
    Ok(())
}

fn cold_start_at_peak(variant: &mut Variant, scenario: &Scenario) -> Result<(), String> {
    let supply = estimate(scenario).supply;
    let peak_s = supply.map_or(0.0, |supply| supply.peak_from_s);
    let mut pools = 0;
    let mut assumed = false;
    for pool in constant(variant.doc.fleet.pools.iter_mut().zip(scenario.pools())) {
        pools += 1;
        if pool.start_up_s <= 0.0 {
            (pool.start_up_s, assumed) = (START_UP_S, true);
        }
        if peak_s > 0.0 {
            let crash = |replica| CrashDoc { at_s: peak_s, replica };
            pool.failures.crashes.extend((0..pool.replicas).map(crash));
        } else {
            pool.cold_start = true;
        }
    }
    if pools == 0 {
        return Err("an autoscaler or a timetable says how many replicas there are".to_owned());
    }
    variant.notes.push(match peak_s {
        0.0 => "all replicas start when the run begins".to_owned(),
        _ => format!("all replicas start again at {}", span_ms(1e3 * peak_s)),
    });
    if assumed {
        let start_up = three_digits(START_UP_S);
        variant.notes.push(format!("{start_up} s of start-up are taken, since none is stated"));
    }
    Ok(())
}

/// Pools that have as many replicas all the time.
fn constant<'a>(
    pools: impl Iterator<Item = (&'a mut PoolDoc, &'a crate::scenario::Pool)>,
) -> impl Iterator<Item = &'a mut PoolDoc> {
    pools.filter(|(_, pool)| pool.life.scaling == Scaling::Fixed).map(|(doc, _)| doc)
}

fn cold_prefix_cache(doc: &mut ScenarioDoc) -> Result<(), String> {
    let shares = |class: &ClassDoc| class.shared_prefix.is_some() || class.session.is_some();
    if !doc.workload.classes.iter().any(shares) {
        return Err("no prompts share a prefix, and no session has turns".to_owned());
    }
    if !doc.fleet.pools.iter().any(|pool| pool.enable_prefix_caching) {
        return Err("prefix caching is off already".to_owned());
    }
    for pool in &mut doc.fleet.pools {
        pool.enable_prefix_caching = false;
    }
    Ok(())
}

fn long_prompts_double(variant: &mut Variant) -> Result<(), String> {
    let mut without = Vec::new();
    let mut with = 0;
    for class in &mut variant.doc.workload.classes {
        match &mut class.input_tokens {
            LengthsDoc::Lognormal(law) if law.mean.is_some() && law.p99.is_some() => {
                let (Some(mean), Some(p99)) = (law.mean, law.p99) else { continue };
                class.input_tokens = LengthsDoc::lognormal(mean, 2.0 * p99);
                with += 1;
            }
            _ => without.push(class.name.as_str()),
        }
    }
    let without = without.join(", ");
    if with == 0 {
        return Err(format!("the prompts of {without} are not lognormal by mean and p99"));
    }
    variant.notes.push("means stay as they are".to_owned());
    if !without.is_empty() {
        variant.notes.push(format!("not of {without}: not lognormal by mean and p99"));
    }
    Ok(())
}

/// Every question asked of a scenario.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct WhatIfReport {
    /// What became of each that makes sense.
    pub what_if: Vec<WhatIfRow>,
    /// Those that do not, and why.
    pub not_applicable: Vec<NotApplicable>,
}

/// One question, simulated.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct WhatIfRow {
    /// Its name.
    pub id: &'static str,
    /// In words.
    pub title: &'static str,
    /// What was taken for granted.
    pub notes: Vec<String>,
    /// How it ends.
    pub state: VerdictState,
    /// The verdict.
    pub sentence: String,
    /// Whether every class meets its targets.
    pub contract_holds: bool,
    /// Good over offered requests.
    pub attainment: f64,
    /// The inputs that differ.
    pub inputs: Vec<InputChange>,
    /// Every headline number before and after.
    pub results: Vec<ResultChange>,
    /// From outcome to outcome, on the same requests; absent where the requests are others.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub moved: Option<Vec<Moved>>,
}

/// A question that makes no sense of a scenario.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct NotApplicable {
    /// Its name.
    pub id: &'static str,
    /// Why.
    pub why: String,
}

/// Asks every question of a scenario.
///
/// # Errors
/// The scenario itself cannot be simulated.
pub fn what_if(doc: &ScenarioDoc, scenario: &Scenario) -> Result<WhatIfReport, Unanswerable> {
    let base = Base::new(Side { doc, scenario }, 1);
    base.runs().map_err(Clone::clone)?;
    let mut report = WhatIfReport { what_if: Vec::new(), not_applicable: Vec::new() };
    for asked in WhatIf::ALL {
        match asked.variant(doc, scenario).and_then(|variant| row(asked, &base, variant)) {
            Ok(row) => report.what_if.push(row),
            Err(why) => report.not_applicable.push(NotApplicable { id: asked.id(), why }),
        }
    }
    Ok(report)
}

fn row(asked: WhatIf, base: &Base<'_>, variant: Variant) -> Result<WhatIfRow, String> {
    let Variant { doc, notes } = variant;
    let checked = check(&doc).map_err(|problems| first(&problems))?;
    let (comparison, after) =
        base.compare_and_keep(Side { doc: &doc, scenario: &checked.scenario });
    let report = after.map_err(|why| why.to_string())?.report;
    Ok(WhatIfRow {
        id: asked.id(),
        title: asked.title(),
        notes,
        state: report.verdict.state,
        sentence: report.verdict.sentence,
        contract_holds: report.contract_holds,
        attainment: report.attainment,
        inputs: comparison.inputs,
        results: comparison.results,
        moved: comparison.moved,
    })
}

fn first(problems: &[Problem]) -> String {
    problems.first().map_or_else(String::new, ToString::to_string)
}

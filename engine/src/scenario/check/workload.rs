//! Checks of who asks: the horizon, the classes and their contracts.

use std::collections::BTreeSet;

use super::arrivals_of;
use super::contract;
use super::findings::Findings;
use super::lengths::{check_hidden, check_lengths, check_pairing};
use crate::counted::{thousands, typed};
use crate::scenario::doc::{ArrivalsDoc, ClassDoc, QualityDoc, ScenarioDoc, WorkloadDoc};
use crate::slo::Contract;
use crate::units::{MAX_HORIZON_S, Picos};
use crate::workload::{MAX_LENGTH_TOKENS, MAX_REQUESTS, Quality, Session, TrafficClass};

/// The most traffic classes of one scenario.
pub const MAX_CLASSES: usize = 100;

/// The longest name of a class or pool, characters.
pub(super) const LONGEST_NAME: usize = 200;

/// The shortest span that a limit or a horizon may have, seconds: a picosecond.
pub(super) const SHORTEST_S: f64 = 1e-12;

/// A workload that has passed.
pub(super) struct Workload {
    pub horizon: Picos,
    pub warmup: Picos,
    pub classes: Vec<TrafficClass>,
    pub contracts: Vec<Contract>,
}

pub(super) fn check(scenario: &ScenarioDoc, findings: &mut Findings) -> Option<Workload> {
    let doc = &scenario.workload;
    let horizon = check_horizon(doc, findings);
    check_names(&doc.classes, findings);
    let mut complete = 0;
    let (mut classes, mut contracts) = (Vec::new(), Vec::new());
    for (i, class) in doc.classes.iter().enumerate().take(MAX_CLASSES) {
        let path = format!("workload.classes[{i}]");
        let contract = contract::check(&class.slo, &format!("{path}.slo"), findings);
        let Some(checked) =
            check_class(class, u32::try_from(i).unwrap_or(u32::MAX), &path, findings)
        else {
            continue;
        };
        let route_path = format!("{path}.route");
        let route = super::route::check(class, &scenario.fleet.pools, &route_path, findings);
        let Some(route) = route else { continue };
        let checked = TrafficClass { route, ..checked };
        complete += 1;
        if class.enabled {
            if let Some(horizon) = horizon {
                super::classes::warn_about_class(&checked, &class.slo, &path, horizon, findings);
            }
            classes.push(checked);
            contracts.push(contract);
        }
    }
    let horizon = horizon?;
    super::sharing::number_prefixes(&doc.classes, &mut classes, findings);
    let complete = complete == doc.classes.len() && !classes.is_empty();
    if complete {
        check_volume(doc, &classes, horizon, findings);
    }
    let warmup = Picos::from_secs(doc.warmup_s);
    complete.then_some(Workload { horizon, warmup, classes, contracts })
}

fn check_horizon(doc: &WorkloadDoc, findings: &mut Findings) -> Option<Picos> {
    let horizon = doc.horizon_s;
    if !(SHORTEST_S..=MAX_HORIZON_S).contains(&horizon) {
        findings.error(
            "workload.horizon_s",
            format!("the horizon is {horizon} s", horizon = typed(horizon)),
            format!(
                "give seconds above 0 and up to {longest} (30 days)",
                longest = typed(MAX_HORIZON_S)
            ),
        );
        return None;
    }
    if !(0.0..horizon).contains(&doc.warmup_s) {
        findings.error(
            "workload.warmup_s",
            format!("a warm-up of {} s leaves nothing to count", typed(doc.warmup_s)),
            format!("give 0 or more, less than the horizon of {horizon} s"),
        );
    }
    Some(Picos::from_secs(horizon))
}

fn check_names(classes: &[ClassDoc], findings: &mut Findings) {
    if !(1..=MAX_CLASSES).contains(&classes.len()) {
        findings.error(
            "workload.classes",
            format!("there are {} traffic classes", classes.len()),
            format!("give 1 to {MAX_CLASSES}"),
        );
    }
    if !classes.is_empty() && !classes.iter().any(|class| class.enabled) {
        findings.error(
            "workload.classes",
            "no traffic class is enabled, so nobody asks",
            "enable at least one",
        );
    }
    let mut seen = BTreeSet::new();
    for (i, class) in classes.iter().enumerate() {
        let path = || format!("workload.classes[{i}].name");
        let name = class.name.trim();
        if name.is_empty() {
            findings.error(path(), "this class has no name", "give it one");
        } else if name.chars().count() > LONGEST_NAME {
            findings.error(
                path(),
                format!("the name of this class has {} characters", name.chars().count()),
                format!("give one of up to {LONGEST_NAME}"),
            );
        } else if !seen.insert(name) {
            findings.error(
                path(),
                format!("two classes are called `{name}`"),
                "give each class a name of its own",
            );
        }
    }
}

fn check_class(
    class: &ClassDoc,
    position: u32,
    path: &str,
    findings: &mut Findings,
) -> Option<TrafficClass> {
    let at = |field: &str| format!("{path}.{field}");
    let long_tenant = class.tenant.chars().count() > LONGEST_NAME;
    if long_tenant {
        findings.error(
            at("tenant"),
            format!("the name of this tenant has {} characters", class.tenant.chars().count()),
            format!("give one of up to {LONGEST_NAME}"),
        );
    }
    let arrivals = findings.take(&at("arrivals"), arrivals_of(&class.arrivals));
    let input = check_lengths(class, &class.input_tokens, &at("input_tokens"), findings);
    let output = check_lengths(class, &class.output_tokens, &at("output_tokens"), findings);
    let pairing = match (&input, &output) {
        (Some(input), Some(output)) => {
            check_pairing(class.pairing, input, output, &at("pairing"), findings)
        }
        _ => None,
    };
    let hidden = check_hidden(class, &at("hidden_tokens"), findings);
    let budget = class.max_output_tokens.is_none_or(|budget| {
        let range = 1..=u64::from(MAX_LENGTH_TOKENS);
        findings.count(at("max_output_tokens"), "the output budget", budget.into(), &range)
    });
    let shared_prefix = super::sharing::check_prefix(class, &at("shared_prefix"), findings);
    let session = super::sharing::check_session(class, &at("session"), findings);
    let truncated = check_truncated(class, &at("truncated_pass_rate"), findings);
    let clients = super::clients::check(class, path, findings);
    let rate = class.error_rate;
    let errors = findings.number(at("error_rate"), "the error rate", rate, &(0.0..=1.0));
    let quality = check_quality(&class.quality, &at("quality"), findings);
    let (patience, clients) = clients?;
    Some(TrafficClass {
        tenant: class.tenant.trim().to_owned(),
        position,
        pairing: pairing?,
        hidden: hidden?,
        shared_prefix: shared_prefix?,
        session: session?,
        max_output_tokens: class.max_output_tokens.filter(|_| budget),
        truncated_pass_rate: truncated.then_some(class.truncated_pass_rate)?,
        patience,
        error_rate: errors.then_some(rate)?,
        quality: quality?,
        clients,
        priority: class.priority,
        ..TrafficClass::new(class.name.trim(), arrivals?, input?, output?)
    })
    .filter(|_| !long_tenant)
}

/// A rate at which truncated answers pass supposes a budget, and that somebody looks at answers.
fn check_truncated(class: &ClassDoc, path: &str, findings: &mut Findings) -> bool {
    let Some(rate) = class.truncated_pass_rate else { return true };
    let mut fine = findings.number(path, "the pass rate of truncated answers", rate, &(0.0..=1.0));
    if class.max_output_tokens.is_none() {
        findings.error(
            path,
            "answers are truncated by an output budget, and this class has none",
            "give `max_output_tokens`, or leave this rate out",
        );
        fine = false;
    }
    if class.quality == QualityDoc::NotChecked {
        findings.error(
            path,
            "quality is not checked, so no answer can fail it",
            "set `quality` to `assumed` or `verified`, or leave this rate out",
        );
        fine = false;
    }
    fine
}

pub(super) fn check_quality(
    doc: &QualityDoc,
    path: &str,
    findings: &mut Findings,
) -> Option<Quality> {
    let (quality, who, rate) = match doc {
        QualityDoc::NotChecked => return Some(Quality::NotChecked),
        QualityDoc::Assumed { pass_rate, by } => {
            let quality = Quality::Assumed { pass_rate: *pass_rate, by: by.clone() };
            (quality, ("by", by, "who assumes this rate"), *pass_rate)
        }
        QualityDoc::Verified { pass_rate, source } => {
            let quality = Quality::Verified { pass_rate: *pass_rate, source: source.clone() };
            (
                quality,
                ("source", source, "which evaluation found it, with its threshold"),
                *pass_rate,
            )
        }
    };
    let in_range =
        findings.number(format!("{path}.pass_rate"), "the pass rate", rate, &(0.0..=1.0));
    let (field, text, missing) = who;
    if text.trim().is_empty() {
        findings.error(
            format!("{path}.{field}"),
            format!("a pass rate of {rate} stands there, but not {missing}", rate = typed(rate)),
            "say so, or set the state to `not_checked`",
        );
        return None;
    }
    in_range.then_some(quality)
}

fn check_volume(
    doc: &WorkloadDoc,
    classes: &[TrafficClass],
    horizon: Picos,
    findings: &mut Findings,
) {
    // Of sessions those that all turns of all make, whether or not they come before the horizon.
    let of = |class: &TrafficClass| {
        let turns = class.session.as_ref().map_or(1.0, Session::mean_turns);
        turns * class.expected(Picos::ZERO, horizon)
    };
    let expected: f64 = classes.iter().map(of).sum();
    if expected > MAX_REQUESTS as f64 {
        let most = thousands(MAX_REQUESTS as f64);
        let about = thousands(expected);
        findings.error(
            "workload.horizon_s",
            format!("about {about} requests would be offered"),
            format!("shorten the horizon or lower the rates: at most {most}"),
        );
        // Whoever typed a rate looks there.
        if let Some(class) = classes.iter().max_by(|a, b| of(a).total_cmp(&of(b))) {
            let index = class.position;
            let stated = doc.classes.get(index as usize);
            let field = stated.map_or_else(String::new, |class| rate_field(&class.arrivals));
            findings.error(
                format!("workload.classes[{index}].arrivals.{field}"),
                match classes.len() {
                    1 => format!("about {about} requests come at this rate"),
                    _ => format!(
                        "about {} of {about} requests are of this class",
                        thousands(of(class))
                    ),
                },
                format!("lower it or shorten the horizon: at most {most} in all"),
            );
        }
    } else if classes.iter().any(|class| class.arrivals.closed_loop().is_some()) {
        // How many requests its users make, the fleet decides.
    } else if expected <= 0.0 {
        findings.error(
            "workload.horizon_s",
            "no request is due before the horizon",
            "lengthen the horizon or raise the rates",
        );
    } else if expected < 1.0 {
        findings.warning(
            "workload.horizon_s",
            format!("only {expected} requests are expected before the horizon: there may be none"),
            "lengthen the horizon or raise the rates",
        );
    }
}

/// Where the highest rate of some arrivals is typed.
fn rate_field(arrivals: &ArrivalsDoc) -> String {
    let field = match arrivals {
        ArrivalsDoc::Poisson { .. } | ArrivalsDoc::Constant { .. } | ArrivalsDoc::Gamma { .. } => {
            "rate_rps"
        }
        ArrivalsDoc::Bursts { .. } => "burst_rps",
        ArrivalsDoc::Sinusoid { .. } => "max_rps",
        ArrivalsDoc::Spike { .. } => "peak_rps",
        ArrivalsDoc::Ramp { from_rps, to_rps, .. } if from_rps > to_rps => "from_rps",
        ArrivalsDoc::Ramp { .. } => "to_rps",
        ArrivalsDoc::Day { .. } | ArrivalsDoc::Week { .. } => "mean_rps",
        ArrivalsDoc::Trace { .. } => "rate_factor",
        ArrivalsDoc::ClosedLoop { .. } => "users",
        ArrivalsDoc::Profile { points, .. } => {
            let rates = points.iter().enumerate();
            let highest = rates.max_by(|a, b| a.1.rate_rps.total_cmp(&b.1.rate_rps));
            return format!("points[{}].rate_rps", highest.map_or(0, |(index, _)| index));
        }
    };
    field.to_owned()
}

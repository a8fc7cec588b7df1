//! The conditions in which a benchmark and production differ, in the order in which they are
//! changed: first what is asked, then how long anybody waits for it, then how it comes and goes.

use super::How;
use super::benchmark::{Benchmark, in_words};
use crate::accounts::words::{percent, plural, span_ms, three_digits};
use crate::fleet::{Admission, Life};
use crate::scenario::Scenario;
use crate::slo::{Contract, Limit};
use crate::units::Picos;
use crate::workload::{Arrivals, ClientBehaviour, Hidden, Lengths, Pairing, Quality, TrafficClass};

/// A condition that is the benchmark's or the scenario's.
pub(super) struct Condition {
    pub id: &'static str,
    pub words: &'static str,
    /// The kind of rate from here on.
    pub how: How,
    /// Makes it the benchmark's in a scenario.
    pub as_in_benchmark: fn(&mut Scenario, &Benchmark),
    pub of_benchmark: fn(&Benchmark) -> String,
    pub of_production: fn(&Scenario, &Benchmark) -> String,
}

const BASE: Condition = Condition {
    id: "",
    words: "",
    how: How::Sustained,
    as_in_benchmark: |_, _| (),
    of_benchmark: |_| "none".to_owned(),
    of_production: |_, _| String::new(),
};

pub(super) const CONDITIONS: [Condition; 11] = [
    Condition {
        id: "load",
        words: "a load that never ends",
        of_benchmark: |benchmark| benchmark.conditions.load.clone(),
        of_production: |_, _| "a queue that never empties".to_owned(),
        ..BASE
    },
    Condition {
        id: "mean_lengths",
        words: "mean lengths",
        as_in_benchmark: |scenario, benchmark| {
            set_lengths(scenario, |_| Some(benchmark.lengths()));
        },
        of_benchmark: Benchmark::lengths_in_words,
        of_production: |_, benchmark| in_words(benchmark.means.of_all),
        ..BASE
    },
    Condition {
        id: "classes",
        words: "mix of classes",
        as_in_benchmark: |scenario, benchmark| {
            set_lengths(scenario, |_| Some(benchmark.means.of_all));
        },
        of_benchmark: |_| "one kind of request".to_owned(),
        of_production: |scenario, _| plural(scenario.classes.len() as u64, "class", "classes"),
        ..BASE
    },
    Condition {
        id: "length_distribution",
        words: "length distributions",
        as_in_benchmark: |scenario, benchmark| {
            set_lengths(scenario, |class| benchmark.means.of_class[class]);
        },
        of_benchmark: |_| "every request the same".to_owned(),
        of_production: |_, _| "as drawn".to_owned(),
        ..BASE
    },
    Condition {
        id: "shared_prefixes",
        words: "shared prefixes",
        as_in_benchmark: |scenario, _| each(scenario, |class| class.shared_prefix = None),
        of_benchmark: |benchmark| match benchmark.point.engine.prefix_hit_share {
            Some(share) => format!("none supposed; the engine found {} cached", percent(share)),
            None => "none supposed".to_owned(),
        },
        of_production: |scenario, _| {
            let shared = scenario.classes.iter().filter(|class| class.shared_prefix.is_some());
            format!("in {}", plural(shared.count() as u64, "class", "classes"))
        },
        ..BASE
    },
    Condition {
        id: "sessions",
        words: "sessions of several turns",
        as_in_benchmark: |scenario, _| each(scenario, |class| class.session = None),
        of_production: |scenario, _| {
            let sessions = scenario.classes.iter().filter_map(|class| class.session.as_ref());
            let turns: Vec<String> = sessions
                .map(|session| format!("{} turns", three_digits(session.mean_turns())))
                .collect();
            turns.join(", ")
        },
        ..BASE
    },
    Condition {
        id: "stopping_rule",
        words: "output budgets, hidden tokens",
        as_in_benchmark: |scenario, _| {
            each(scenario, |class| {
                class.hidden = Hidden::None;
                class.max_output_tokens = None;
            });
        },
        of_production: |scenario, _| {
            let budgets = scenario.classes.iter().filter_map(|class| class.max_output_tokens);
            let mut parts: Vec<String> = budgets
                .map(|tokens| format!("at most {} tokens", three_digits(f64::from(tokens))))
                .collect();
            if scenario.classes.iter().any(|class| class.hidden != Hidden::None) {
                parts.push("hidden tokens".to_owned());
            }
            parts.join(", ")
        },
        ..BASE
    },
    Condition {
        id: "contract",
        words: "latency contract",
        how: How::Delivered,
        of_production: |scenario, _| contracts(scenario),
        ..BASE
    },
    Condition {
        id: "arrivals",
        words: "arrival pattern",
        how: How::Delivered,
        as_in_benchmark: |scenario, _| {
            let horizon = scenario.horizon;
            each(scenario, |class| class.arrivals = class.arrivals.evened(horizon));
        },
        of_benchmark: |_| "evenly spaced".to_owned(),
        of_production: |scenario, _| arrivals(scenario),
    },
    Condition {
        id: "failures_and_clients",
        words: "failures, retries, the door",
        how: How::Delivered,
        as_in_benchmark: |scenario, _| {
            scenario.admission = Admission::default();
            each(scenario, |class| {
                class.error_rate = 0.0;
                class.patience = None;
                class.clients = ClientBehaviour::default();
                class.quality = Quality::NotChecked;
                class.truncated_pass_rate = None;
                class.route = class.route.of_the_class_quality();
            });
        },
        of_benchmark: |_| "none counted".to_owned(),
        of_production: |_, _| "as in the scenario".to_owned(),
    },
    Condition {
        id: "replica_life",
        words: "replicas that start and fail",
        how: How::Delivered,
        as_in_benchmark: |scenario, _| scenario.pool.life = Life::default(),
        of_benchmark: |_| "all there, warm".to_owned(),
        of_production: |scenario, _| {
            if scenario.pool.life.cold_start { "a cold start" } else { "they come and go" }
                .to_owned()
        },
    },
];

/// Whether nothing that a condition changes differs between two forms of one scenario.
pub(super) fn same(a: &Scenario, b: &Scenario) -> bool {
    a.classes == b.classes && a.admission == b.admission && a.pool.life == b.pool.life
}

fn each(scenario: &mut Scenario, edit: impl FnMut(&mut TrafficClass)) {
    scenario.classes.iter_mut().for_each(edit);
}

/// Every request of a class of the same lengths; of a class without any, as it was.
fn set_lengths(scenario: &mut Scenario, lengths: impl Fn(usize) -> Option<[u32; 2]>) {
    for (index, class) in scenario.classes.iter_mut().enumerate() {
        let Some([input, output]) = lengths(index) else { continue };
        if let (Ok(input), Ok(output)) = (Lengths::fixed(input), Lengths::fixed(output)) {
            (class.input, class.output, class.pairing) = (input, output, Pairing::Apart);
        }
    }
}

/// The limits of each class, those of equal ones once.
fn contracts(scenario: &Scenario) -> String {
    let mut words: Vec<String> = Vec::new();
    for contract in &scenario.contracts {
        let limits = limits(contract);
        if !words.contains(&limits) {
            words.push(limits);
        }
    }
    words.join("; ")
}

fn limits(contract: &Contract) -> String {
    let limit = |limit: Limit| {
        let at: Picos = contract.limit(limit)?;
        Some(format!("{} ≤ {}", limit.name(), span_ms(at.as_millis())))
    };
    let limits: Vec<String> = Limit::ALL.into_iter().filter_map(limit).collect();
    let limits = if limits.is_empty() { "no limit".to_owned() } else { limits.join(", ") };
    format!("{limits} of {}", percent(contract.attainment_target))
}

/// How each class arrives, those that are alike once.
fn arrivals(scenario: &Scenario) -> String {
    let mut words: Vec<&str> = Vec::new();
    for class in &scenario.classes {
        let kind = match class.arrivals {
            Arrivals::Poisson(_) => "Poisson",
            Arrivals::Even(_) => "evenly spaced",
            Arrivals::Gamma(..) => "gamma gaps",
            Arrivals::Bursts(_) => "bursts",
            Arrivals::Trace(_) => "a recorded trace",
            Arrivals::ClosedLoop(_) => "users who think",
        };
        if !words.contains(&kind) {
            words.push(kind);
        }
    }
    words.join(", ")
}

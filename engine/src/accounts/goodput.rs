//! Good requests and what was spent on them.

use super::report::{Goodput, GoodputKind};
use super::tally::Row;
use super::words::percent;
use crate::scenario::Scenario;
use crate::slo::{Fate, Outcome};
use crate::workload::{Quality, TrafficClass};

/// Good requests of the `window`, beside the tokens and `gpu_hours` that went with them.
pub fn goodput(scenario: &Scenario, window: &[Row], gpu_hours: f64) -> Goodput {
    let classes = &scenario.classes;
    let unchecked = classes
        .iter()
        .any(|class| class.qualities().any(|(_, quality)| *quality == Quality::NotChecked));
    let good = window.iter().filter(|row| row.outcome == Outcome::Good).count() as u64;
    let seconds = (scenario.horizon - scenario.warmup).as_secs();
    let output_tps = |counts: fn(&Row) -> bool| {
        let counted = window.iter().filter(|row| counts(row));
        let tokens = counted.map(|row| u64::from(row.request.output_tokens));
        tokens.sum::<u64>() as f64 / seconds
    };
    let answered: fn(&Row) -> bool = |row| row.stamps.fate == Fate::Completed;
    let input = window.iter().filter(|row| answered(row));
    let input: u64 = input.map(|row| u64::from(row.request.input_tokens)).sum();
    Goodput {
        kind: if unchecked { GoodputKind::LatencyOnlyGoodput } else { GoodputKind::SloGoodput },
        good,
        good_rps: good as f64 / seconds,
        good_per_gpu_hour: (gpu_hours > 0.0).then(|| good as f64 / gpu_hours),
        input_tps: input as f64 / seconds,
        output_tps: output_tps(answered),
        good_output_tps: output_tps(|row| row.outcome == Outcome::Good),
        quality: classes.iter().map(|class| quality_of(class, scenario)).collect(),
    }
}

/// What is known about answers of a class, on each part of its route that says something else.
fn quality_of(class: &TrafficClass, scenario: &Scenario) -> String {
    let legs = class.route.legs().iter();
    let own = legs.filter_map(|leg| {
        let name = &scenario.pools().nth(leg.pool as usize)?.name;
        leg.quality.as_ref().map(|quality| format!("in pool {name}, {}", quality_words(quality)))
    });
    let own: Vec<String> = own.collect();
    if own.len() == class.route.legs().len() {
        return own.join("; ");
    }
    std::iter::once(quality_words(&class.quality)).chain(own).collect::<Vec<_>>().join("; ")
}

fn quality_words(quality: &Quality) -> String {
    match quality {
        Quality::NotChecked => "not checked".to_owned(),
        Quality::Assumed { pass_rate, by } => {
            format!("{} of answers pass, assumed by {by}", percent(*pass_rate))
        }
        Quality::Verified { pass_rate, source } => {
            format!("{} of answers passed {source}", percent(*pass_rate))
        }
    }
}

//! Good requests and what was spent on them.

use super::report::{Goodput, GoodputKind};
use super::tally::Row;
use super::words::percent;
use crate::scenario::Scenario;
use crate::slo::{Fate, Outcome};
use crate::units::Picos;
use crate::workload::Quality;

/// Good requests of the `window`, beside the tokens and GPU-hours that went with them; the fleet is
/// `paid` for until then.
pub fn goodput(scenario: &Scenario, window: &[Row], paid: Picos) -> Goodput {
    let classes = &scenario.classes;
    let unchecked = classes.iter().any(|class| class.quality == Quality::NotChecked);
    let good = window.iter().filter(|row| row.outcome == Outcome::Good).count() as u64;
    let seconds = (scenario.horizon - scenario.warmup).as_secs();
    // The hours that served the window: those of the warm-up served others.
    let hours = (paid - scenario.warmup).as_secs() / 3600.0;
    let gpu_hours = f64::from(scenario.pool.gpus()) * hours;
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
        good_per_gpu_hour: good as f64 / gpu_hours,
        input_tps: input as f64 / seconds,
        output_tps: output_tps(answered),
        good_output_tps: output_tps(|row| row.outcome == Outcome::Good),
        quality: classes.iter().map(|class| quality_words(&class.quality)).collect(),
    }
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

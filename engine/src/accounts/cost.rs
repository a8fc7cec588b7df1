//! The cost books: where the GPU-hours went, line by line, to the last cent.

use super::provision::Provisioned;
use super::report::{ClassCost, Cost, CostAfterWarmup, CostLine};
use super::tally::{Row, window};
use crate::scenario::{Pool, Scenario};
use crate::slo::{Fate, Outcome};
use crate::units::{MONTH_H, Picos, YEAR_H};

/// No sum of the books is further than this part of their total from the exact one.
const ROUNDING: f64 = 1e-9;

/// What GPUs cost, and how many there are.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Provision<'a> {
    /// USD per GPU-hour.
    pub price_per_gpu_hour: f64,
    /// Whose price and when.
    pub price_source: &'a str,
    /// GPUs of one replica.
    pub gpus_per_replica: u32,
    /// Replicas; where they come and go, the most that were there at once.
    pub replicas: u32,
    /// How long they are paid for.
    pub paid: Picos,
    /// Replica time paid for and the part of it that was start-up, seconds, where replicas came and
    /// went.
    pub scaled: Option<(f64, f64)>,
}

impl Provision<'_> {
    /// GPUs provisioned.
    pub fn gpus(&self) -> u32 {
        self.gpus_per_replica * self.replicas
    }

    /// GPU-hours provisioned.
    pub fn gpu_hours(&self) -> f64 {
        match self.scaled {
            None => f64::from(self.gpus()) * self.paid.as_secs() / 3600.0,
            Some((replica_s, _)) => f64::from(self.gpus_per_replica) * replica_s / 3600.0,
        }
    }

    /// USD per hour, the mean over the time that is paid for.
    fn usd_per_hour(&self) -> f64 {
        match self.scaled {
            None => f64::from(self.gpus()) * self.price_per_gpu_hour,
            Some(_) => self.gpu_hours() * self.price_per_gpu_hour * 3600.0 / self.paid.as_secs(),
        }
    }

    fn usd_per_replica_s(&self) -> f64 {
        self.price_per_gpu_hour * f64::from(self.gpus_per_replica) / 3600.0
    }
}

/// Books over every request of the run. A step's time is shared out by the marginal terms of the
/// step law; a token computed twice is waste even if its request ends good; provisioned time
/// without a step is idle. The lines sum to the total, and class by class to the lines.
pub fn books(rows: &[Row], provision: &Provision, class_names: &[&str]) -> Cost {
    let rate = provision.usd_per_replica_s();
    let total = provision.gpu_hours() * provision.price_per_gpu_hour;
    let line = |(line, usd): (String, f64)| {
        let share = if total > 0.0 { usd / total } else { 0.0 };
        CostLine { line, usd, share }
    };
    let mut lines = busy_lines(rows, rate);
    let busy = sum(lines.iter().map(|(_, usd)| *usd));
    let start_up = provision.scaled.map_or(0.0, |(_, start_up_s)| start_up_s * rate);
    if provision.scaled.is_some() {
        lines.push(("start_up".to_owned(), start_up));
    }
    lines.push(("idle".to_owned(), idle(total, busy + start_up)));
    let classes = (0_u32..).zip(class_names).map(|(index, name)| {
        let of_class: Vec<Row> =
            rows.iter().filter(|row| row.request.class == index).copied().collect();
        let lines = busy_lines(&of_class, rate);
        let usd = sum(lines.iter().map(|(_, usd)| *usd));
        let good = good(&of_class);
        ClassCost {
            class: (*name).to_owned(),
            usd,
            good,
            per_good_request: per(usd, good),
            lines: lines.into_iter().map(line).collect(),
        }
    });
    let classes = classes.collect();
    let good = good(rows);
    let per_hour = provision.usd_per_hour();
    Cost {
        price_per_gpu_hour: provision.price_per_gpu_hour,
        price_source: provision.price_source.to_owned(),
        gpus: provision.gpus(),
        gpu_hours: provision.gpu_hours(),
        total,
        good,
        per_good_request: per(total, good),
        after_warmup: None,
        per_million_output_tokens: per(1e6 * total, answered_tokens(rows)),
        per_month: per_hour * MONTH_H,
        per_year: per_hour * YEAR_H,
        lines: lines.into_iter().map(line).collect(),
        classes,
    }
}

/// The books of one pool of `scenario`, of the `rows` that it served; `None` without a price.
pub fn pool_books(
    scenario: &Scenario,
    (pool, provisioned): (&Pool, &Provisioned),
    rows: &[Row],
    paid: Picos,
) -> Option<Cost> {
    let price = pool.price.as_ref()?;
    let provision = Provision {
        price_per_gpu_hour: price.usd_per_gpu_hour,
        price_source: &price.source,
        gpus_per_replica: pool.gpus_per_replica,
        replicas: provisioned.most(),
        paid,
        scaled: provisioned.scaled(Picos::ZERO, paid),
    };
    let names = scenario.classes.iter().map(|class| class.name.as_str());
    let cost = books(rows, &provision, &names.collect::<Vec<_>>());
    let warmup = scenario.warmup;
    let after_warmup = (warmup > Picos::ZERO).then(|| {
        let scaled = provisioned.scaled(warmup, paid);
        let of_window = Provision { paid: paid - warmup, scaled, ..provision };
        let total = of_window.gpu_hours() * price.usd_per_gpu_hour;
        let good = good(window(rows, warmup));
        let per_good_request = per(total, good);
        CostAfterWarmup { gpu_hours: of_window.gpu_hours(), total, good, per_good_request }
    });
    Some(Cost { after_warmup, ..cost })
}

/// The books of a fleet from those of its pools; `None` where some pool has no price. `rows` are those of
/// all pools.
pub fn books_together(books: &[Option<Cost>], rows: &[Row]) -> Option<Cost> {
    let books: Vec<&Cost> = books.iter().map(Option::as_ref).collect::<Option<_>>()?;
    let (first, rest) = books.split_first()?;
    let mut all = (*first).clone();
    if rest.is_empty() {
        return Some(all);
    }
    for cost in rest {
        all.gpus += cost.gpus;
        all.gpu_hours += cost.gpu_hours;
        all.total += cost.total;
        all.good += cost.good;
        if let (Some(all), Some(more)) = (&mut all.after_warmup, &cost.after_warmup) {
            all.gpu_hours += more.gpu_hours;
            all.total += more.total;
            all.good += more.good;
            all.per_good_request = per(all.total, all.good);
        }
        all.per_month += cost.per_month;
        all.per_year += cost.per_year;
        add_lines(&mut all.lines, &cost.lines);
        for (class, more) in all.classes.iter_mut().zip(&cost.classes) {
            class.usd += more.usd;
            class.good += more.good;
            add_lines(&mut class.lines, &more.lines);
        }
        if !cost.price_source.is_empty() && cost.price_source != all.price_source {
            let known = std::mem::take(&mut all.price_source);
            let both = [known, cost.price_source.clone()];
            all.price_source =
                both.into_iter().filter(|s| !s.is_empty()).collect::<Vec<_>>().join("; ");
        }
    }
    if all.gpu_hours > 0.0 {
        all.price_per_gpu_hour = all.total / all.gpu_hours;
    }
    let total = all.total;
    all.per_good_request = per(total, good(rows));
    all.per_million_output_tokens = per(1e6 * total, answered_tokens(rows));
    for class in &mut all.classes {
        class.per_good_request = per(class.usd, class.good);
    }
    let lines = all.classes.iter_mut().flat_map(|class| &mut class.lines);
    for line in all.lines.iter_mut().chain(lines) {
        line.share = if total > 0.0 { line.usd / total } else { 0.0 };
    }
    Some(all)
}

/// Adds lines to those of the same name, and those of no such name before the last, `idle`.
fn add_lines(all: &mut Vec<CostLine>, more: &[CostLine]) {
    for line in more {
        match all.iter_mut().find(|known| known.line == line.line) {
            Some(known) => known.usd += line.usd,
            None => all.push(line.clone()),
        }
    }
    if let Some(idle) = all.iter().position(|line| line.line == "idle") {
        let idle = all.remove(idle);
        all.push(idle);
    }
}

/// What the steps of `rows` cost, by outcome, and what was computed again.
fn busy_lines(rows: &[Row], usd_per_replica_s: f64) -> Vec<(String, f64)> {
    let mut lines = Vec::new();
    for outcome in Outcome::ALL.into_iter().rev() {
        let of_outcome = || rows.iter().filter(|row| row.outcome == outcome);
        let once = of_outcome()
            .map(|Row { stamps, .. }| (stamps.busy - stamps.recomputed - stamps.retried).as_secs());
        let seconds = sum(once);
        // Nothing good stands there as zero, not as a line that is missing.
        if outcome == Outcome::Good || of_outcome().next().is_some() {
            lines.push((outcome.name().to_owned(), seconds * usd_per_replica_s));
        }
    }
    let recomputed = sum(rows.iter().map(|row| row.stamps.recomputed.as_secs()));
    lines.push(("recomputed".to_owned(), recomputed * usd_per_replica_s));
    if rows.iter().any(|row| row.stamps.attempts > 1) {
        let retried = sum(rows.iter().map(|row| row.stamps.retried.as_secs()));
        lines.push(("retried".to_owned(), retried * usd_per_replica_s));
    }
    lines
}

/// What is left of `total` when `spent` is taken off. Of a replica that never rests it is a rounding
/// error of the sum, on either side of nothing.
fn idle(total: f64, spent: f64) -> f64 {
    let idle = total - spent;
    debug_assert!(idle >= -ROUNDING * total, "{spent} spent of {total}");
    if idle.abs() <= ROUNDING * total { 0.0 } else { idle }
}

/// Of nothing zero, which [`Iterator::sum`] makes a negative one.
fn sum(values: impl Iterator<Item = f64>) -> f64 {
    values.fold(0.0, |sum, value| sum + value)
}

fn good(rows: &[Row]) -> u64 {
    rows.iter().filter(|row| row.outcome == Outcome::Good).count() as u64
}

/// Output tokens of requests that were answered to the end, good or not.
fn answered_tokens(rows: &[Row]) -> u64 {
    let answered = rows.iter().filter(|row| row.stamps.fate == Fate::Completed);
    answered.map(|row| u64::from(row.request.output_tokens)).sum()
}

/// USD for each of `count`; nothing can be said of none.
fn per(usd: f64, count: u64) -> Option<f64> {
    (count > 0).then(|| usd / count as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// E5, kubernetes-sigs/inference-perf issue 139: a GPU at $3 an hour that streams 5,694 tokens a
    /// second costs $0.146 per million of them, and 3.33 times that where it idles 70 % of its
    /// hour; 91.36 good requests a second cost $9.1e-6 each.
    #[test]
    fn a_price_per_hour_becomes_a_price_per_token_and_per_good_request() {
        let hour = Provision {
            price_per_gpu_hour: 3.0,
            price_source: "a test",
            gpus_per_replica: 1,
            replicas: 1,
            scaled: None,
            paid: Picos::from_secs(3600.0),
        };
        let total = hour.gpu_hours() * hour.price_per_gpu_hour;
        let tokens = 5_694 * 3_600;
        let per_million = per(1e6 * total, tokens).expect("tokens");
        assert!((per_million - 0.146).abs() < 5e-4, "{per_million}");
        let at_30_percent = per(1e6 * total, tokens * 3 / 10).expect("tokens");
        assert!((at_30_percent - 0.488).abs() < 5e-4, "idle is paid: {at_30_percent}");
        let per_good = per(total, 328_896).expect("good requests");
        assert!((per_good - 9.1e-6).abs() < 5e-8, "{per_good}");
        assert_eq!(per(total, 0), None, "undefined, neither 0 nor infinite");
    }
}

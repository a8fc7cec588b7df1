//! The cost books: where the GPU-hours went, line by line, to the last cent.

use super::report::{Cost, CostLine};
use super::tally::Row;
use crate::slo::Outcome;
use crate::units::Picos;

/// Hours in a month of the books: 30 days.
const MONTH_H: f64 = 720.0;
/// Hours in a year of the books: 365 days.
const YEAR_H: f64 = 8760.0;

/// What GPUs cost, and how many there are.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Provision<'a> {
    /// USD per GPU-hour.
    pub price_per_gpu_hour: f64,
    /// Whose price and when.
    pub price_source: &'a str,
    /// GPUs of one replica.
    pub gpus_per_replica: u32,
    /// Replicas.
    pub replicas: u32,
    /// How long they are paid for.
    pub paid: Picos,
}

impl Provision<'_> {
    /// GPUs provisioned.
    pub fn gpus(&self) -> u32 {
        self.gpus_per_replica * self.replicas
    }

    /// GPU-hours provisioned.
    pub fn gpu_hours(&self) -> f64 {
        f64::from(self.gpus()) * self.paid.as_secs() / 3600.0
    }

    fn usd_per_replica_s(&self) -> f64 {
        self.price_per_gpu_hour * f64::from(self.gpus_per_replica) / 3600.0
    }
}

/// Books over every request of the run. A step's time is shared out by the marginal terms of the
/// step law; a token computed twice is waste even if its request ends good; provisioned time
/// without a step is idle. The lines sum to the total.
pub fn books(rows: &[Row], provision: &Provision) -> Cost {
    let rate = provision.usd_per_replica_s();
    let total = provision.gpu_hours() * provision.price_per_gpu_hour;
    let mut lines = Vec::new();
    for outcome in Outcome::ALL.into_iter().rev() {
        let of_outcome = || rows.iter().filter(|row| row.outcome == outcome);
        let once = of_outcome().map(|row| (row.stamps.busy - row.stamps.recomputed).as_secs());
        let seconds: f64 = once.sum();
        if of_outcome().next().is_some() {
            lines.push((outcome.name().to_owned(), seconds * rate));
        }
    }
    let recomputed: f64 = rows.iter().map(|row| row.stamps.recomputed.as_secs()).sum();
    lines.push(("recomputed".to_owned(), recomputed * rate));
    let busy: f64 = lines.iter().map(|(_, usd)| usd).sum();
    // A fleet that never rests may come out a rounding error above its total.
    lines.push(("idle".to_owned(), (total - busy).max(0.0)));
    let good = rows.iter().filter(|row| row.outcome == Outcome::Good).count();
    let per_hour = f64::from(provision.gpus()) * provision.price_per_gpu_hour;
    Cost {
        price_per_gpu_hour: provision.price_per_gpu_hour,
        price_source: provision.price_source.to_owned(),
        gpus: provision.gpus(),
        gpu_hours: provision.gpu_hours(),
        total,
        per_good_request: (good > 0).then(|| total / good as f64),
        per_month: per_hour * MONTH_H,
        per_year: per_hour * YEAR_H,
        lines: lines
            .into_iter()
            .map(|(line, usd)| {
                let share = if total > 0.0 { usd / total } else { 0.0 };
                CostLine { line, usd, share }
            })
            .collect(),
    }
}

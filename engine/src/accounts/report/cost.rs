//! What the fleet cost, by class and by line.

use serde::{Deserialize, Serialize};

/// Where the money went, over the whole run: from its begin, warm-up included, until the last request
/// was decided, and over all its requests. The lines sum to the total.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Cost {
    /// USD per GPU-hour.
    pub price_per_gpu_hour: f64,
    /// Whose price and when.
    pub price_source: String,
    /// GPUs provisioned.
    pub gpus: u32,
    /// GPU-hours provisioned until the last request was decided.
    pub gpu_hours: f64,
    /// USD for those hours.
    pub total: f64,
    /// Good requests of the whole run, those due in the warm-up included.
    #[serde(default)]
    pub good: u64,
    /// `total` per good request of the whole run; `null` with none.
    pub per_good_request: Option<f64>,
    /// The same of the measurement window; absent without a warm-up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after_warmup: Option<CostAfterWarmup>,
    /// USD per million output tokens of answered requests, idle time paid by them; `null` with no
    /// such token. Good or late alike: never without `per_good_request`.
    pub per_million_output_tokens: Option<f64>,
    /// USD per month of 730 hours, a twelfth of a year, at this fleet size.
    pub per_month: f64,
    /// USD per year of 8,760 hours, 365 days, at this fleet size.
    pub per_year: f64,
    /// Lines of the books.
    pub lines: Vec<CostLine>,
    /// The lines class by class; with `idle`, which is nobody's, they sum to the total.
    pub classes: Vec<ClassCost>,
}

/// What the measurement window cost: from the warm-up on, by the requests that the report counts.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct CostAfterWarmup {
    /// GPU-hours provisioned from the end of the warm-up on.
    pub gpu_hours: f64,
    /// USD for them.
    pub total: f64,
    /// Good requests due in the window.
    pub good: u64,
    /// `total` per good request; `null` with none.
    pub per_good_request: Option<f64>,
}

/// What one class cost.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ClassCost {
    /// Its name.
    pub class: String,
    /// USD for the steps its requests were in, its share of the lines but `idle`.
    pub usd: f64,
    /// Good requests.
    pub good: u64,
    /// `usd` per good request, idle time left out; `null` with no good request.
    pub per_good_request: Option<f64>,
    /// Lines of its books.
    pub lines: Vec<CostLine>,
}

/// One line of the cost books.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CostLine {
    /// What the money bought: an outcome, `recomputed`, `retried` (attempts before the last one,
    /// where clients tried again), `start_up` (where replicas come and go) or `idle`.
    pub line: String,
    /// USD.
    pub usd: f64,
    /// Share of the total.
    pub share: f64,
}

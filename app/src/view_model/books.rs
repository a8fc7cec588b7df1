//! Cost books, what binds, and fleet sizes: the rows of the three panels of causes.

use goodput_engine::accounts::report::{Cost, CostLine};
use goodput_engine::math;
use goodput_engine::planner::report::{MarginalStep, PlanReport, Relaxation};

use super::words;
use crate::charts::Look;
use crate::format;

/// One line of the cost books.
#[derive(Debug, Clone, PartialEq)]
pub struct BookRow {
    /// What the money bought.
    pub name: String,
    /// How its piece of the bar looks; recomputed and idle have looks of their own.
    pub look: Option<Look>,
    /// Whether this is provisioned time in which nothing ran.
    pub idle: bool,
    /// Money, to the cent of the total.
    pub usd: String,
    /// Share of the total; the column sums to 100.0.
    pub share: String,
    /// Start and width of its piece of the bar, per cent.
    pub bar: (f64, f64),
}

/// The cost books.
#[derive(Debug, Clone, PartialEq)]
pub struct Books {
    /// The finding.
    pub caption: String,
    /// Lines with money on them.
    pub rows: Vec<BookRow>,
    /// What the total is for.
    pub total_name: String,
    /// The total.
    pub total: String,
}

/// The books of a simulation; cents and tenths of a per cent by largest remainder.
pub fn books(cost: &Cost) -> Books {
    let mut lines: Vec<_> = cost.lines.iter().filter(|line| line.usd > 0.0).collect();
    // Good first, then by size; what bought nothing comes last.
    let rank = |line: &CostLine| match line.line.as_str() {
        "good" => 0,
        "recomputed" => 2,
        "start_up" => 3,
        "idle" => 4,
        _ => 1,
    };
    lines.sort_by(|a, b| rank(a).cmp(&rank(b)).then(b.usd.total_cmp(&a.usd)));
    let decimals = decimals_of(cost.total);
    let unit = math::pow(10.0, f64::from(decimals));
    let money = |units: u64| format::usd_fixed(units as f64 / unit, decimals);
    // Micro-dollars keep the ratios of floats as whole numbers.
    let weights: Vec<u64> = lines.iter().map(|line| whole(line.usd * 1e6)).collect();
    let shared = format::apportion(&weights, whole(cost.total * unit));
    let tenths = format::apportion(&weights, 1_000);
    let sum = weights.iter().sum::<u64>().max(1) as f64;
    let mut start = 0.0;
    let mut good = 0;
    let mut rows = Vec::with_capacity(lines.len());
    for (i, line) in lines.iter().enumerate() {
        let (name, look) = words::cost_line(&line.line);
        let width = weights[i] as f64 / sum * 100.0;
        if look == Some(Look::Good) {
            good = shared[i];
        }
        rows.push(BookRow {
            name,
            look,
            idle: line.line == "idle",
            usd: money(shared[i]),
            share: format::with_unit(&format::aligned(tenths[i] as f64 / 10.0, 1), "%"),
            bar: (start, width),
        });
        start += width;
    }
    Books {
        caption: format!(
            "{} of {} buys good requests",
            money(good),
            format::usd_fixed(cost.total, decimals),
        ),
        rows,
        total_name: format!(
            "Total, {} × {}",
            format::plural(u64::from(cost.gpus), "GPU", "GPUs"),
            format::seconds(cost.gpu_hours / f64::from(cost.gpus.max(1)) * 3_600.0),
        ),
        total: format::usd_fixed(cost.total, decimals),
    }
}

/// Decimals that show a total and its parts: cents, or fractions of them for small runs.
pub fn decimals_of(total: f64) -> u8 {
    match total {
        t if t < 1.0 => 4,
        t if t < 10.0 => 3,
        _ => 2,
    }
}

/// One constraint, relaxed alone.
#[derive(Debug, Clone, PartialEq)]
pub struct BindRow {
    /// What was changed.
    pub name: String,
    /// Gain in the deliverable multiple of the mix.
    pub gain: String,
    /// Width of its bar, per cent of the widest.
    pub bar: f64,
    /// It has the largest gain.
    pub binds: bool,
}

/// Rows of "what binds", largest gain first, and the finding.
pub fn binds(plan: &PlanReport) -> (String, Vec<BindRow>) {
    let widest = plan.binding.iter().map(|r| r.gain).fold(0.0, f64::max);
    let rows = plan.binding.iter().map(|r| BindRow {
        name: words::clause(&kept(&r.label)),
        gain: gain(r),
        bar: if widest > 0.0 { (r.gain / widest * 100.0).clamp(0.0, 100.0) } else { 0.0 },
        binds: r.binds,
    });
    (binding_caption(plan), rows.collect())
}

/// A number with its sign and unit is not broken over two lines.
fn kept(label: &str) -> String {
    label.replace("− ", "−").replace(" %", "\u{202f}%").replace("× ", "×\u{202f}")
}

/// The gain of a constraint; what reaches the end of the search is that or more.
fn gain(relaxation: &Relaxation) -> String {
    let gain = format::with_unit(&format::signed(relaxation.gain, 2), "×");
    if relaxation.gain_is_least { format!("≥{}{gain}", format::THIN) } else { gain }
}

fn binding_caption(plan: &PlanReport) -> String {
    let window =
        plan.alpha_seed.map_or(String::new(), |seed| format!(" in the window of seed {seed}"));
    let holds = match plan.alpha {
        Some(alpha) if plan.alpha_is_least => {
            return format!(
                "The contract holds at {} this mix{window}, the most that was searched: what binds \
                 lies beyond",
                times(alpha)
            );
        }
        Some(alpha) => format!("The contract holds up to {} of this mix{window}", times(alpha)),
        None if plan.undecided.iter().any(|open| open == "alpha") => {
            "How far the contract holds was not decided within the budget of a plan".into()
        }
        None => format!("The contract holds at no multiple of this mix{window}"),
    };
    let with = |r: &Relaxation| times(plan.alpha.unwrap_or_default() + r.gain);
    match plan.binding.iter().find(|r| r.binds) {
        Some(r) if r.gain_is_least => {
            format!(
                "{holds}; {} lifts that to at least {}, the end of the search",
                kept(&r.label),
                with(r)
            )
        }
        Some(r) if r.gain > 0.0 => {
            format!("{holds}; {} lifts that to {}", kept(&r.label), with(r))
        }
        _ => holds,
    }
}

/// One fleet size.
#[derive(Debug, Clone, PartialEq)]
pub struct FleetSizeRow {
    /// Replicas.
    pub replicas: u32,
    /// Now, N − 1, N, N + 1.
    pub role: String,
    /// It is the answer.
    pub is_answer: bool,
    /// It is the present fleet.
    pub is_present: bool,
    /// Mean attainment, as text.
    pub good: String,
    /// The same, per cent, for the bar.
    pub bar: f64,
    /// The share of windows in which it held.
    pub holds: String,
    /// How far the mix may grow.
    pub up_to: String,
    /// Price of a month.
    pub month: String,
}

/// Rows of "fleet size".
pub fn fleet_sizes(plan: &PlanReport) -> Vec<FleetSizeRow> {
    let answer = plan.fleets.iter().find(|row| row.is_answer).map(|row| row.replicas);
    let rows = plan.fleets.iter().map(|row| {
        let mut roles = Vec::new();
        if row.is_present {
            roles.push("now".to_owned());
        }
        match answer.map(|n| i64::from(row.replicas) - i64::from(n)) {
            Some(0) => roles.push("N".to_owned()),
            Some(-1) => roles.push("N−1".to_owned()),
            Some(1) => roles.push("N+1".to_owned()),
            _ => {}
        }
        FleetSizeRow {
            replicas: row.replicas,
            role: roles.join(", "),
            is_answer: row.is_answer,
            is_present: row.is_present,
            good: format::with_unit(&format::aligned(row.attainment * 100.0, 1), "%"),
            bar: (row.attainment * 100.0).clamp(0.0, 100.0),
            holds: format::with_unit(&format::aligned(row.probability * 100.0, 0), "%"),
            up_to: row.alpha.map_or_else(
                || format::NONE.into(),
                |alpha| format!("{}{}", if row.alpha_is_least { "≥ " } else { "" }, times(alpha)),
            ),
            month: row.cost_per_month.map_or_else(|| format::NONE.into(), format::usd_short),
        }
    });
    rows.collect()
}

/// One step from a fleet to the next larger one.
#[derive(Debug, Clone, PartialEq)]
pub struct MarginalRow {
    /// `6 to 7`.
    pub step: String,
    /// It ends at the answer: the last per cent.
    pub reaches_answer: bool,
    /// Attainment that it adds, per cent of the offered requests.
    pub adds: String,
    /// What it costs a month.
    pub month: String,
    /// The same over the per cent that it adds.
    pub per_percent: String,
    /// The same over a thousand of the good requests that it adds.
    pub per_thousand: String,
}

/// What each step larger costs and adds; none without a price.
pub fn marginal(plan: &PlanReport) -> Vec<MarginalRow> {
    let priced = plan.marginal.iter().filter(|step| step.usd_per_month.is_some());
    let usd = |usd: Option<f64>, text: fn(f64) -> String| {
        usd.map_or_else(|| format::NONE.to_owned(), text)
    };
    let row = |step: &MarginalStep| MarginalRow {
        step: format!("{} to {}", step.from_replicas, step.to_replicas),
        reaches_answer: step.reaches_answer,
        adds: format::with_unit(&format::signed(step.adds_points, 1), "%"),
        month: usd(step.usd_per_month, format::usd_short),
        per_percent: usd(step.usd_per_month_per_point, format::usd_short),
        per_thousand: usd(step.usd_per_added_good_request.map(|usd| 1e3 * usd), format::usd),
    };
    priced.map(row).collect()
}

fn times(alpha: f64) -> String {
    format::with_unit(&format::aligned(alpha, 2), "×")
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "money is finite and not negative"
)]
fn whole(x: f64) -> u64 {
    x.max(0.0).round() as u64
}

#[cfg(test)]
mod tests {
    use goodput_engine::planner::report::{PlanAnswer, PlanBudget, Sizing};

    use super::*;

    fn plan(alpha: f64, alpha_is_least: bool, binding: Vec<Relaxation>) -> PlanReport {
        PlanReport {
            sentence: String::new(),
            answer: PlanAnswer::NotFound { tried: 1 },
            sizing: Sizing::default(),
            fleets: Vec::new(),
            marginal: Vec::new(),
            failures: Vec::new(),
            replicas_floor: 1,
            peak_floors: Vec::new(),
            present_is_most: false,
            alpha: Some(alpha),
            alpha_is_least,
            alpha_seed: Some(1),
            deliverable: None,
            binding,
            inverse: None,
            pool: None,
            other_pools: Vec::new(),
            notes: Vec::new(),
            seeds: vec![1],
            simulations: 1,
            undecided: Vec::new(),
            budget: PlanBudget { spent_work: 0, max_work: 1 },
        }
    }

    fn relaxation(gain: f64, gain_is_least: bool) -> Relaxation {
        let (constraint, label) = ("seats".to_owned(), "max_num_seqs × 1.25".to_owned());
        Relaxation { constraint, label, gain, gain_is_least, binds: true }
    }

    #[test]
    fn a_step_that_adds_nothing_has_no_price_per_per_cent() {
        let step = |adds_points, per_point| MarginalStep {
            from_replicas: 2,
            to_replicas: 3,
            reaches_answer: true,
            adds_points,
            adds_good_rps: 0.1 * adds_points,
            usd_per_month: Some(1_460.0),
            usd_per_month_per_point: per_point,
            usd_per_added_good_request: per_point.map(|_| 1.1e-3),
        };
        let marginal =
            |steps| marginal(&PlanReport { marginal: steps, ..plan(1.0, false, vec![]) });
        let rows = marginal(vec![step(5.0, Some(292.0)), step(-0.1, None)]);
        assert_eq!((rows[0].adds.as_str(), rows[0].per_percent.as_str()), ("+5\u{202f}%", "$292"));
        assert_eq!((rows[1].adds.as_str(), rows[1].per_percent.as_str()), ("−0.1\u{202f}%", "–"));
        let unpriced = MarginalStep { usd_per_month: None, ..step(5.0, None) };
        assert!(marginal(vec![unpriced]).is_empty(), "no price, no cost");
    }

    #[test]
    fn the_end_of_the_search_is_not_shown_as_a_result() {
        let (caption, rows) = binds(&plan(4.0, true, Vec::new()));
        assert!(caption.contains("the most that was searched") && rows.is_empty(), "{caption}");
        let (caption, rows) = binds(&plan(1.0, false, vec![relaxation(3.0, true)]));
        assert!(caption.contains("to at least 4.00"), "{caption}");
        assert!(rows[0].gain.starts_with('≥'), "{}", rows[0].gain);
        let (caption, rows) = binds(&plan(1.0, false, vec![relaxation(0.24, false)]));
        assert!(caption.ends_with("lifts that to 1.24\u{202f}×"), "{caption}");
        assert_eq!(rows[0].gain, "+0.24\u{202f}×");
    }
}

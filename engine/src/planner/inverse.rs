//! What the present fleet could do: how far rates, outputs and bunching may grow before the contract
//! breaks, and the tightest limits it could promise.

use super::Scope;
use super::one_pool::decided;
use super::report::{Inverse, StretchRow, TightestRow};
use super::runs::{Needed, RunSummary};
use super::search::{Block, LARGEST_ALPHA_STEPS, Search};
use super::variant::{ALPHA_STEPS, Stretch, Variant};
use crate::math;
use crate::scenario::Scenario;
use crate::stats::nearest_rank;
use crate::units::Picos;
use crate::workload::OfferedRequest;

/// What the fleet of the scenario could do, by the windows that choose. `alpha_steps` is where one
/// seed puts α.
pub fn inverse(
    search: &Search<'_>,
    scenario: &Scenario,
    scope: Scope,
    alpha_steps: u32,
) -> Result<Inverse, Needed> {
    let replicas = scenario.pool.replicas;
    let mix = scenario.mix().unwrap_or_default();
    let rows = Stretch::ALL.map(|stretch| {
        let guess = if stretch == Stretch::Rate { alpha_steps } else { ALPHA_STEPS };
        row(search, (scenario, &mix), (replicas, stretch), guess)
    });
    let stretches = rows.into_iter().collect::<Result<Vec<StretchRow>, Needed>>()?;
    let alpha = stretches.iter().find(|row| row.of == Stretch::Rate.name()).and_then(|r| r.alpha);
    let crowds = scenario.classes.iter().filter_map(|class| class.arrivals.closed_loop());
    let users: u32 = crowds.map(|crowd| crowd.users).fold(0, u32::saturating_add);
    Ok(Inverse {
        replicas,
        users: (users > 0).then(|| alpha.map(|alpha| whole(alpha * f64::from(users)))).flatten(),
        growth_per_month: scope.growth_per_month,
        months_of_headroom: alpha.and_then(|alpha| months(alpha, scope.growth_per_month)),
        tightest: tightest(search, scenario, replicas)?,
        stretches,
    })
}

/// Months until `alpha` times as much is asked, at that growth a month (0.1 is 10 %); none where it
/// is asked already.
fn months(alpha: f64, growth_per_month: f64) -> Option<f64> {
    (alpha >= 1.0 && growth_per_month > 0.0)
        .then(|| math::ln(alpha) / math::ln(1.0 + growth_per_month))
}

fn row(
    search: &Search<'_>,
    (scenario, mix): (&Scenario, &[OfferedRequest]),
    (replicas, stretch): (u32, Stretch),
    guess: u32,
) -> Result<StretchRow, Needed> {
    let mut row = StretchRow {
        of: stretch.name().to_owned(),
        label: stretch.label().to_owned(),
        alpha: None,
        alpha_is_least: false,
        value: None,
        unit: unit(stretch, scenario).to_owned(),
        probability: None,
        runs: 0,
        why_not: None,
    };
    if !scenario.classes.iter().any(|class| stretch.applies_to(class)) {
        let why = "no class has gaps of a law that varies, or outputs of more than one token";
        row.why_not = Some(why.to_owned());
        return Ok(row);
    }
    let fleet = Variant { stretch, ..Variant::size(replicas, 0) };
    let one = search.largest_alpha(fleet, (0, guess));
    let Some(one) = decided(one)? else { return Ok(undecided(row)) };
    let Some((steps, at)) = decided(search.largest_alpha_in_windows(fleet, one))? else {
        return Ok(undecided(row));
    };
    let alpha = f64::from(steps) / f64::from(ALPHA_STEPS);
    row.alpha_is_least = steps >= LARGEST_ALPHA_STEPS;
    if let Some(standing) = at {
        row.alpha = Some(alpha);
        row.value = value(stretch, scenario, mix).map(|now| alpha * now);
        row.probability = Some(standing.odds.share());
        row.runs = standing.odds.runs;
    } else {
        row.why_not = Some("it holds at no multiple that is tried".to_owned());
    }
    Ok(row)
}

fn undecided(row: StretchRow) -> StretchRow {
    StretchRow { why_not: Some("not decided within the budget".to_owned()), ..row }
}

/// What an arrival is: the first of a session where a class has them.
fn unit(stretch: Stretch, scenario: &Scenario) -> &'static str {
    let mut sessions = scenario.classes.iter().map(|class| class.session.is_some());
    match stretch {
        Stretch::Rate if sessions.clone().all(|of| of) => "sessions begun per second in the mean",
        Stretch::Rate if sessions.any(|of| of) => {
            "requests, or sessions begun where a class has them, per second in the mean"
        }
        Stretch::Rate => "requests per second in the mean",
        Stretch::Outputs => "output tokens in the mean",
        Stretch::Burst => "coefficient of variation of the gaps",
    }
}

/// What is multiplied, as it is now; none of the rate of a closed loop, which is an outcome.
fn value(stretch: Stretch, scenario: &Scenario, mix: &[OfferedRequest]) -> Option<f64> {
    match stretch {
        Stretch::Rate if scenario.has_closed_loop() => None,
        Stretch::Rate => {
            let expected = |class: &crate::workload::TrafficClass| {
                class.expected(Picos::ZERO, scenario.horizon)
            };
            let all: f64 = scenario.classes.iter().map(expected).sum();
            Some(all / scenario.horizon.as_secs())
        }
        Stretch::Outputs => {
            let tokens: u64 = mix.iter().map(|request| u64::from(request.output_tokens)).sum();
            (!mix.is_empty()).then(|| tokens as f64 / mix.len() as f64)
        }
        Stretch::Burst => scenario.classes.iter().find_map(|class| class.arrivals.gap_cv()),
    }
}

/// The limits that hold in the share of windows asked for.
fn tightest(
    search: &Search<'_>,
    scenario: &Scenario,
    replicas: u32,
) -> Result<Vec<TightestRow>, Needed> {
    let windows = if search.is_drawn { search.most_windows(Block::Choosing) } else { 1 };
    let block = if search.is_drawn { Block::Choosing } else { Block::First };
    let run = |window| search.runs.summary(Variant::size(replicas, block.seed_offset(window)));
    let runs = (0..windows).map(run).collect::<Result<Vec<Option<&RunSummary>>, Needed>>()?;
    let runs: Vec<&RunSummary> = runs.into_iter().flatten().collect();
    let classes = scenario.classes.iter().zip(&scenario.contracts).enumerate();
    let row = |(index, (class, contract)): (usize, (&crate::workload::TrafficClass, _))| {
        let contract: &crate::slo::Contract = contract;
        let promised = |get: fn(&super::tightest::Tightest) -> Option<Picos>| {
            let limits = runs.iter().filter_map(|run| run.tightest.get(index));
            let mut limits: Vec<f64> = limits
                .map(|tightest| get(tightest).map_or(f64::INFINITY, Picos::as_millis))
                .collect();
            limits.sort_unstable_by(f64::total_cmp);
            nearest_rank(&limits, search.confidence).filter(|limit| limit.is_finite())
        };
        TightestRow {
            class: class.name.clone(),
            attainment_target: contract.attainment_target,
            ttft_ms: promised(|tightest| tightest.ttft),
            ttft_limit_ms: contract.ttft.map(Picos::as_millis),
            tpot_ms: promised(|tightest| tightest.tpot),
            tpot_limit_ms: contract.tpot.map(Picos::as_millis),
            runs: u32::try_from(runs.len()).unwrap_or(u32::MAX),
        }
    };
    Ok(classes.map(row).collect())
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "casts saturate")]
fn whole(x: f64) -> u32 {
    x as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn growth_reaches_the_headroom_in_so_many_months() {
        // 1.1 to the 7.27th is 2.
        let doubling = months(2.0, 0.1).expect("there is headroom");
        assert!((doubling - 7.272_54).abs() < 1e-4, "{doubling}");
        assert_eq!(months(1.0, 0.1), Some(0.0));
        assert_eq!((months(0.9, 0.1), months(2.0, 0.0)), (None, None));
    }
}

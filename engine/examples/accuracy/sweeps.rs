//! Sweeps over load that others published: a law is fitted to one or two loads of a sweep, and the
//! others are predicted with an interval.

use goodput_engine::calibration::law::fit_law;
use goodput_engine::calibration::{Conditions, Observation};
use goodput_engine::ingest::BenchmarkPoint;

use super::benchmark::Aggregates;
use super::check::{Check, Errors, Measure, Pair};
use super::data::{Published, whole};
use super::findings::by_group;
use super::inferencex::{self, Point};

/// Share of predictions that a 90 % interval must and may hold.
const COVERED: (f64, f64) = (0.85, 0.95);

/// What one fit predicted of the loads that were left out.
struct Predicted {
    group: String,
    pair: Pair,
    is_covered: bool,
    loads: usize,
}

/// Fits at one and at two loads of every sweep.
///
/// # Errors
/// The tables are not as expected.
pub fn check(published: &Published) -> Result<Check, String> {
    let points = inferencex::points(published)?;
    let mut sweeps: Vec<(String, Vec<&Point>)> = Vec::new();
    for point in &points {
        match sweeps.iter_mut().find(|(name, _)| *name == point.sweep) {
            Some((_, sweep)) => sweep.push(point),
            None => sweeps.push((point.sweep.clone(), vec![point])),
        }
    }
    let mut all = Vec::new();
    for (_, sweep) in &mut sweeps {
        sweep.sort_by(|a, b| a.clients.total_cmp(&b.clients));
        if sweep.len() < 4 {
            continue;
        }
        let last = sweep.len() - 1;
        for fitted in [vec![last / 2], vec![0, last]] {
            all.extend(left_out(sweep, &fitted)?);
        }
    }
    Ok(report(&all, sweeps.len()))
}

/// A run with its conditions, lengths and all, and what it reported.
fn run(point: &Point) -> Result<(Conditions, Vec<Observation>), String> {
    let clients = whole(point.clients)?;
    let reported = Aggregates {
        model: point.model.to_owned(),
        clients,
        requests: 10 * clients,
        input_tokens: 0.9 * point.isl,
        output_tokens: 0.9 * point.osl,
        ttft_ms: point.ttft_ms,
        tpot_ms: point.tpot_ms,
        output_tps: 1.0,
    };
    // The tables have no throughput of their own: theirs is derived from both latencies.
    let point_read = BenchmarkPoint { token_rates: Vec::new(), ..reported.point()? };
    let scenario = point.experiment.scenario()?;
    Ok((point.experiment.conditions(&scenario)?, Observation::all(&point_read)))
}

fn left_out(sweep: &[&Point], fitted: &[usize]) -> Result<Vec<Predicted>, String> {
    let pool = sweep[0].experiment.scenario()?.pool;
    let runs = sweep.iter().map(|point| run(point)).collect::<Result<Vec<_>, _>>()?;
    let of: Vec<_> = fitted.iter().map(|place| runs[*place].clone()).collect();
    let law = fit_law(&of, &pool).map_err(|why| why.problem().to_string())?;
    let law = law.ok_or("no load to fit to")?;
    let mut predicted = Vec::new();
    for (place, (point, run)) in sweep.iter().zip(&runs).enumerate() {
        if fitted.contains(&place) {
            continue;
        }
        let banded =
            law.predict((&run.0, &run.1), &pool).map_err(|why| why.problem().to_string())?;
        for banded in banded {
            predicted.push(Predicted {
                group: format!("{}, {}", point.group, banded.name),
                pair: Pair::new(
                    format!("{}, {} from {} loads", point.label, banded.name, fitted.len()),
                    banded.measured,
                    banded.predicted,
                ),
                is_covered: (banded.low..=banded.high).contains(&banded.measured),
                loads: fitted.len(),
            });
        }
    }
    Ok(predicted)
}

fn report(all: &[Predicted], sweeps: usize) -> Check {
    let errors =
        |loads: usize| Errors::of(all.iter().filter(|p| p.loads == loads).map(|p| &p.pair));
    let covered = |loads: usize| {
        let of: Vec<&Predicted> = all.iter().filter(|p| p.loads == loads).collect();
        of.iter().filter(|p| p.is_covered).count() as f64 / of.len().max(1) as f64
    };
    let both = all.iter().filter(|p| p.is_covered).count() as f64 / all.len().max(1) as f64;
    let median = Errors::of(all.iter().map(|p| &p.pair)).map_or(f64::NAN, |e| e.median);
    // How far the share of covered predictions lies outside what it may be.
    let beyond = (COVERED.0 - both).max(both - COVERED.1).max(0.0);
    let of = |loads| errors(loads).map_or(f64::NAN, |e| e.median);
    let groups: Vec<&str> = all.iter().map(|p| p.group.as_str()).collect();
    let pairs: Vec<Pair> = all.iter().map(|p| p.pair.clone()).collect();
    Check {
        title: format!("Fitted at one or two loads, read at the others: {} predictions", all.len()),
        source: "InferenceX (SemiAnalysis), as above".to_owned(),
        method: format!(
            "{sweeps} sweeps over clients. A law is fitted to the middle load alone, and to the lowest \
             and highest, from their mean TTFT and mean TPOT; those of the loads left out are \
             predicted with 90 % intervals. Covered: {:.1} % from one load, {:.1} % from two; it \
             must be 85 to 95 %. Two numbers of the intervals are for all and were set on these sweeps: \
             how far kernel times may be off for a configuration, and how far a law that explains \
             one load may be off at another.",
            100.0 * covered(1),
            100.0 * covered(2)
        ),
        measures: vec![
            Measure::bound("median", median, 0.08, 0.08),
            Measure::told("median from one load", of(1)),
            Measure::told("median from two", of(2)),
            Measure::told("covered by 90 % intervals", both),
            Measure::bound("coverage beyond 85 to 95 %", beyond, 0.0, 0.0),
        ],
        findings: by_group(&groups, &pairs),
        pairs,
    }
}

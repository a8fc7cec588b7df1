//! Points of a fit: which of them one law explains, and what laws say of each.

use super::report::{LeftOut, PointResiduals, StatisticResidual};
use super::terms::TERMS;
use super::{PointLaw, Question, fit_law, noise, question};
use crate::accounts::words::three_digits;
use crate::accounts::{Unanswerable, replica_spec};
use crate::calibration::conditions::Conditions;
use crate::calibration::observed::Observation;
use crate::calibration::report::ExcludedPoint;
use crate::math;
use crate::scenario::Pool;
use crate::stats;

/// A number farther than this from every law, as a logarithm (a factor of 1.65), is about something
/// else: five times what laws are off between loads.
pub const INCONSISTENT: f64 = 0.5;
/// Fits with points left out: no more than this many, each without its share of the points.
const FOLDS: usize = 6;

/// A point that can be used.
pub struct Row {
    /// Where it stands.
    pub place: ExcludedPoint,
    /// What was asked of a replica.
    pub conditions: Conditions,
    /// What it reported.
    pub observations: Vec<Observation>,
}

impl Row {
    fn run(&self) -> (Conditions, Vec<Observation>) {
        (self.conditions.clone(), self.observations.clone())
    }
}

/// The fit to the rows that one law can explain; the others are moved to `excluded`, the farthest
/// first, as long as most are left.
pub fn consistent(
    rows: &mut Vec<Row>,
    excluded: &mut Vec<ExcludedPoint>,
    pool: &Pool,
) -> Result<Option<PointLaw>, Unanswerable> {
    let replica = replica_spec(pool)?;
    let question = question(pool, &replica)?;
    let given = rows.len();
    loop {
        let of: Vec<_> = rows.iter().map(Row::run).collect();
        let Some(law) = fit_law(&of, pool)? else { return Ok(None) };
        let farthest = rows
            .iter()
            .enumerate()
            .filter_map(|(at, row)| Some((at, farthest(&question, &law, row)?)))
            .max_by(|a, b| a.1.0.total_cmp(&b.1.0));
        let Some((at, (_, reason))) = farthest.filter(|(_, (off, _))| *off > INCONSISTENT) else {
            return Ok(Some(law));
        };
        if rows.len() == 1 || 2 * (rows.len() - 1) <= given {
            return Ok(Some(law));
        }
        let row = rows.remove(at);
        excluded.push(ExcludedPoint { reason, ..row.place });
    }
}

/// How far the farthest number of a row is from a law, as a logarithm, and in words.
fn farthest(question: &Question<'_>, law: &PointLaw, row: &Row) -> Option<(f64, String)> {
    let answers = question.answers((&row.conditions, &row.observations), &law.logs);
    let off = |(observation, answer): (&Observation, f64)| {
        let off = (math::ln(observation.measured) - answer).abs();
        let words = format!(
            "no law that explains the other points explains its {}: measured {}, predicted {}",
            observation.name(),
            three_digits(observation.measured),
            three_digits(math::exp(answer)),
        );
        // Noise of a short first token is no contradiction.
        ((off - 3.0 * noise(observation)).max(0.0), words)
    };
    let all = row.observations.iter().zip(answers).map(off);
    all.filter(|(off, _)| off.is_finite()).max_by(|a, b| a.0.total_cmp(&b.0))
}

/// What both laws, the pool's and the fitted one, say of a row.
pub fn residuals(question: &Question<'_>, law: &PointLaw, row: &Row) -> PointResiduals {
    let answers = |logs| question.answers((&row.conditions, &row.observations), logs);
    let (after, before) = (answers(&law.logs), answers(&[0.0; TERMS]));
    let value = |log: f64| Some(math::exp(log)).filter(|value| value.is_finite());
    let statistic = |((observation, after), before): ((&Observation, f64), f64)| {
        let (measured, predicted) = (observation.measured, value(after));
        StatisticResidual {
            name: observation.name(),
            measured,
            predicted,
            error: predicted.map(|predicted| predicted / measured - 1.0),
            predicted_before: value(before),
            predicted_left_out: None,
        }
    };
    PointResiduals {
        file: row.place.file.clone(),
        row: row.place.row,
        load: row.conditions.load.clone(),
        input_tokens: row.conditions.input_tokens,
        output_tokens: row.conditions.output_tokens,
        statistics: row.observations.iter().zip(after).zip(before).map(statistic).collect(),
    }
}

/// Predicts every point by a law that was fitted to others, into `points`, and gives measured,
/// predicted, low and high of all numbers.
pub fn leave_out(
    rows: &[Row],
    pool: &Pool,
    points: &mut [PointResiduals],
) -> Result<Vec<[f64; 4]>, Unanswerable> {
    let mut banded = Vec::new();
    let folds = rows.len().min(FOLDS);
    if folds < 2 {
        return Ok(banded);
    }
    for fold in 0..folds {
        let kept = rows.iter().enumerate().filter(|(at, _)| at % folds != fold);
        let of: Vec<_> = kept.map(|(_, row)| row.run()).collect();
        let Some(law) = fit_law(&of, pool)? else { continue };
        for (row, point) in rows.iter().zip(&mut *points).skip(fold).step_by(folds) {
            let predicted = law.predict((&row.conditions, &row.observations), pool)?;
            for (statistic, predicted) in point.statistics.iter_mut().zip(predicted) {
                if predicted.predicted.is_finite() {
                    statistic.predicted_left_out = Some(predicted.predicted);
                    banded.push([
                        predicted.measured,
                        predicted.predicted,
                        predicted.low,
                        predicted.high,
                    ]);
                }
            }
        }
    }
    Ok(banded)
}

/// The errors of what [`leave_out`] predicted; `None` of nothing.
pub fn left_out(banded: &[[f64; 4]]) -> Option<LeftOut> {
    let mut errors: Vec<f64> =
        banded.iter().map(|[measured, predicted, ..]| (predicted / measured - 1.0).abs()).collect();
    errors.sort_by(f64::total_cmp);
    let covered =
        banded.iter().filter(|[measured, _, low, high]| (low..=high).contains(&measured)).count();
    Some(LeftOut {
        numbers: banded.len() as u64,
        median_error: stats::nearest_rank(&errors, 0.5)?,
        worst_error: *errors.last()?,
        covered: covered as f64 / banded.len() as f64,
    })
}

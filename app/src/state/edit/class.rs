//! Changes of a traffic class other than of one number.

use goodput_engine::scenario::doc::{
    ArrivalsDoc, ClassDoc, LengthsDoc, NoiseDoc, PatienceDoc, QualityDoc, QuantileDoc, RatePointDoc,
};

use crate::state::field::{Side, lengths_mut};

/// Changes of a traffic class other than of one number.
#[derive(Debug, Clone, PartialEq)]
pub enum ClassEdit {
    /// Its name.
    Name(String),
    /// When requests are due.
    Arrivals(ArrivalsDoc),
    /// Randomness around a profile.
    Noise(NoiseDoc),
    /// Adds a point to a profile after an index.
    AddPoint(usize),
    /// Removes a point of a profile.
    RemovePoint(usize),
    /// Another kind of length distribution.
    Lengths(Side, LengthsDoc),
    /// Adds a row to a quantile table after an index.
    AddQuantile(Side, usize),
    /// Removes a row of a quantile table.
    RemoveQuantile(Side, usize),
    /// How long users wait.
    Patience(Option<PatienceDoc>),
    /// What is known about answers.
    Quality(QualityDoc),
    /// Who says so.
    QualityBy(String),
}

impl ClassEdit {
    pub(super) fn apply(&self, class: &mut ClassDoc) {
        match self {
            Self::Name(name) => class.name.clone_from(name),
            Self::Arrivals(arrivals) => class.arrivals = arrivals.clone(),
            Self::Noise(new) => {
                if let ArrivalsDoc::Profile { noise, .. } = &mut class.arrivals {
                    *noise = *new;
                }
            }
            Self::AddPoint(after) => {
                if let ArrivalsDoc::Profile { points, .. } = &mut class.arrivals {
                    add_point(points, *after);
                }
            }
            Self::RemovePoint(i) => {
                if let ArrivalsDoc::Profile { points, .. } = &mut class.arrivals {
                    remove_row(points, *i);
                }
            }
            Self::Lengths(side, lengths) => lengths_mut(class, *side).clone_from(lengths),
            Self::AddQuantile(side, after) => {
                if let LengthsDoc::Quantiles { table } = lengths_mut(class, *side) {
                    add_quantile(table, *after);
                }
            }
            Self::RemoveQuantile(side, i) => {
                if let LengthsDoc::Quantiles { table } = lengths_mut(class, *side) {
                    remove_row(table, *i);
                }
            }
            Self::Patience(patience) => class.patience = *patience,
            Self::Quality(quality) => class.quality = quality.clone(),
            Self::QualityBy(who) => match &mut class.quality {
                QualityDoc::Assumed { by, .. } => by.clone_from(who),
                QualityDoc::Verified { source, .. } => source.clone_from(who),
                QualityDoc::NotChecked => {}
            },
        }
    }

    pub(super) fn label(&self) -> &'static str {
        match self {
            Self::Name(_) => "name of the class",
            Self::Arrivals(_) => "kind of arrivals",
            Self::Noise(_) => "randomness of arrivals",
            Self::AddPoint(_) => "adding a point of the profile",
            Self::RemovePoint(_) => "removing a point of the profile",
            Self::Lengths(Side::Input, _) => "kind of input length",
            Self::Lengths(Side::Output, _) => "kind of output length",
            Self::AddQuantile(..) => "adding a quantile",
            Self::RemoveQuantile(..) => "removing a quantile",
            Self::Patience(_) => "kind of patience",
            Self::Quality(_) => "state of quality",
            Self::QualityBy(_) => "source of quality",
        }
    }
}

/// A point halfway to the next one, or a minute after the last.
fn add_point(points: &mut Vec<RatePointDoc>, after: usize) {
    let Some(here) = points.get(after).copied() else { return };
    let new = match points.get(after + 1) {
        Some(next) => RatePointDoc {
            t_s: f64::midpoint(here.t_s, next.t_s),
            rate_rps: f64::midpoint(here.rate_rps, next.rate_rps),
        },
        None => RatePointDoc { t_s: here.t_s + 60.0, ..here },
    };
    points.insert(after + 1, new);
}

/// A row halfway to the next one, or halfway to everybody after the last.
fn add_quantile(table: &mut Vec<QuantileDoc>, after: usize) {
    let Some(here) = table.get(after).copied() else { return };
    let next = table.get(after + 1).copied().unwrap_or(QuantileDoc { p: 1.0, ..here });
    let row = QuantileDoc {
        p: f64::midpoint(here.p, next.p),
        tokens: f64::midpoint(here.tokens, next.tokens),
    };
    table.insert(after + 1, row);
}

/// Removes a row, but not the last one.
fn remove_row<T>(rows: &mut Vec<T>, i: usize) {
    if rows.len() > 1 && i < rows.len() {
        rows.remove(i);
    }
}

//! Numbers of a traffic class: arrivals, lengths, patience, quality and limits.

use goodput_engine::scenario::doc::{
    ArrivalsDoc, ClassDoc, LengthsDoc, PatienceDoc, QualityDoc, ThinkTimeDoc,
};

use super::{FieldKind, Slot};
use crate::parse::Quantity;

/// Numbers of a traffic class.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ClassField {
    Rate,
    Users,
    ThinkTime,
    PointTime(usize),
    PointRate(usize),
    Length(Side, LengthField),
    MaxOutputTokens,
    Ttft,
    Tpot,
    LongestStall,
    E2e,
    Target,
    PassRate,
    ErrorRate,
    PatienceFixed,
    PatienceMedian,
    PatienceP90,
}

/// Prompt or answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Side {
    Input,
    Output,
}

/// Numbers of a length distribution.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum LengthField {
    Tokens,
    Mean,
    P99,
    QuantileP(usize),
    QuantileTokens(usize),
}

impl ClassField {
    pub(super) fn kind(self) -> FieldKind {
        let limit = |label, unit, quantity| FieldKind::real(label, unit, quantity);
        match self {
            Self::Rate | Self::PointRate(_) => FieldKind::real("Rate", "req/s", Quantity::Rate),
            Self::PointTime(_) => FieldKind::real("At", "s", Quantity::Seconds),
            Self::Users => FieldKind::whole("Users", "", Quantity::Count),
            Self::ThinkTime => FieldKind::real("Think time", "s", Quantity::Seconds),
            Self::Length(_, field) => field.kind(),
            Self::MaxOutputTokens => FieldKind::whole("Output budget", "tokens", Quantity::Tokens)
                .or_empty("answers end by themselves"),
            Self::Ttft => limit("First token (TTFT)", "s", Quantity::SecondsInMillis)
                .or_empty("no limit on the first token"),
            Self::Tpot => {
                limit("Per token (TPOT)", "ms", Quantity::Millis).or_empty("no limit per token")
            }
            Self::LongestStall => limit("Longest stall", "s", Quantity::SecondsInMillis)
                .or_empty("no limit on stalls"),
            Self::E2e => limit("Whole answer (E2E)", "s", Quantity::SecondsInMillis)
                .or_empty("no limit on the whole answer"),
            Self::Target => FieldKind::real("Good share, target", "%", Quantity::Share),
            Self::PassRate => FieldKind::real("Answers that pass", "%", Quantity::Share),
            Self::ErrorRate => FieldKind::real("Errors", "%", Quantity::Share),
            Self::PatienceFixed => FieldKind::real("Patience", "s", Quantity::Seconds),
            Self::PatienceMedian => FieldKind::real("Patience, median", "s", Quantity::Seconds),
            Self::PatienceP90 => FieldKind::real("Patience, p90", "s", Quantity::Seconds),
        }
    }

    pub(super) fn path(self) -> String {
        match self {
            Self::Rate => "arrivals.rate_rps".into(),
            Self::Users => "arrivals.users".into(),
            Self::ThinkTime => "arrivals.think_time".into(),
            Self::PointTime(i) => format!("arrivals.points[{i}].t_s"),
            Self::PointRate(i) => format!("arrivals.points[{i}].rate_rps"),
            Self::Length(Side::Input, field) => format!("input_tokens.{}", field.path()),
            Self::Length(Side::Output, field) => format!("output_tokens.{}", field.path()),
            Self::MaxOutputTokens => "max_output_tokens".into(),
            Self::Ttft => "slo.ttft_ms".into(),
            Self::Tpot => "slo.tpot_ms".into(),
            Self::LongestStall => "slo.longest_stall_ms".into(),
            Self::E2e => "slo.e2e_ms".into(),
            Self::Target => "slo.attainment_target".into(),
            Self::PassRate => "quality.pass_rate".into(),
            Self::ErrorRate => "error_rate".into(),
            Self::PatienceFixed => "patience.s".into(),
            Self::PatienceMedian => "patience.median_s".into(),
            Self::PatienceP90 => "patience.p90_s".into(),
        }
    }

    pub(super) fn get(self, class: &ClassDoc) -> Option<f64> {
        // Reading is writing to a copy: one list of places serves both.
        let mut copy = class.clone();
        let mut found = None;
        self.place(&mut copy, |slot| found = slot.get());
        found
    }

    pub(super) fn set(self, class: &mut ClassDoc, value: Option<f64>) {
        self.place(class, |slot| slot.set(value));
    }

    /// Hands the place of this field to `visit`, if the class has it.
    fn place(self, class: &mut ClassDoc, visit: impl FnOnce(Slot)) {
        match self {
            Self::Rate => match &mut class.arrivals {
                ArrivalsDoc::Poisson { rate_rps }
                | ArrivalsDoc::Constant { rate_rps }
                | ArrivalsDoc::Gamma { rate_rps, .. } => visit(Slot::Real(rate_rps)),
                _ => {}
            },
            Self::Users | Self::ThinkTime => {
                let ArrivalsDoc::ClosedLoop { users, think_time } = &mut class.arrivals else {
                    return;
                };
                match (self, think_time) {
                    (Self::Users, _) => visit(Slot::Whole(users)),
                    (
                        _,
                        ThinkTimeDoc::Fixed { s: mean_s } | ThinkTimeDoc::Exponential { mean_s },
                    ) => visit(Slot::Real(mean_s)),
                    // It has no one number.
                    (_, ThinkTimeDoc::Uniform { .. }) => {}
                }
            }
            Self::PointTime(i) | Self::PointRate(i) => {
                let ArrivalsDoc::Profile { points, .. } = &mut class.arrivals else { return };
                if let Some(point) = points.get_mut(i) {
                    let time = matches!(self, Self::PointTime(_));
                    visit(Slot::Real(if time { &mut point.t_s } else { &mut point.rate_rps }));
                }
            }
            Self::Length(side, field) => field.place(lengths_mut(class, side), visit),
            Self::MaxOutputTokens => visit(Slot::MaybeWhole(&mut class.max_output_tokens)),
            Self::Ttft => visit(Slot::MaybeReal(&mut class.slo.ttft_ms)),
            Self::Tpot => visit(Slot::MaybeReal(&mut class.slo.tpot_ms)),
            Self::LongestStall => visit(Slot::MaybeReal(&mut class.slo.longest_stall_ms)),
            Self::E2e => visit(Slot::MaybeReal(&mut class.slo.e2e_ms)),
            Self::Target => visit(Slot::Real(&mut class.slo.attainment_target)),
            Self::PassRate => match &mut class.quality {
                QualityDoc::Assumed { pass_rate, .. } | QualityDoc::Verified { pass_rate, .. } => {
                    visit(Slot::Real(pass_rate));
                }
                QualityDoc::NotChecked => {}
            },
            Self::ErrorRate => visit(Slot::Real(&mut class.error_rate)),
            Self::PatienceFixed | Self::PatienceMedian | Self::PatienceP90 => {
                match (&mut class.patience, self) {
                    (Some(PatienceDoc::Fixed { s }), Self::PatienceFixed) => visit(Slot::Real(s)),
                    (Some(PatienceDoc::Lognormal { median_s, .. }), Self::PatienceMedian) => {
                        visit(Slot::Real(median_s));
                    }
                    (Some(PatienceDoc::Lognormal { p90_s, .. }), Self::PatienceP90) => {
                        visit(Slot::Real(p90_s));
                    }
                    _ => {}
                }
            }
        }
    }
}

/// The lengths of a side.
pub fn lengths(class: &ClassDoc, side: Side) -> &LengthsDoc {
    match side {
        Side::Input => &class.input_tokens,
        Side::Output => &class.output_tokens,
    }
}

/// The lengths of a side, to write.
pub fn lengths_mut(class: &mut ClassDoc, side: Side) -> &mut LengthsDoc {
    match side {
        Side::Input => &mut class.input_tokens,
        Side::Output => &mut class.output_tokens,
    }
}

impl LengthField {
    pub(super) fn kind(self) -> FieldKind {
        match self {
            Self::Tokens => FieldKind::whole("Length", "tokens", Quantity::Tokens),
            Self::Mean => FieldKind::real("Mean", "tokens", Quantity::Tokens),
            Self::P99 => FieldKind::real("p99", "tokens", Quantity::Tokens),
            Self::QuantileP(_) => FieldKind::real("Share at or below", "%", Quantity::Share),
            Self::QuantileTokens(_) => FieldKind::real("Length", "tokens", Quantity::Tokens),
        }
    }

    pub(super) fn path(self) -> String {
        match self {
            Self::Tokens => "tokens".into(),
            Self::Mean => "mean".into(),
            Self::P99 => "p99".into(),
            Self::QuantileP(i) => format!("table[{i}].p"),
            Self::QuantileTokens(i) => format!("table[{i}].tokens"),
        }
    }

    fn place(self, lengths: &mut LengthsDoc, visit: impl FnOnce(Slot)) {
        match (lengths, self) {
            (LengthsDoc::Fixed { tokens }, Self::Tokens) => visit(Slot::Whole(tokens)),
            (LengthsDoc::Lognormal(law), Self::Mean) => visit(Slot::MaybeReal(&mut law.mean)),
            (LengthsDoc::Lognormal(law), Self::P99) => visit(Slot::MaybeReal(&mut law.p99)),
            (LengthsDoc::Quantiles { table }, Self::QuantileP(i)) => {
                if let Some(row) = table.get_mut(i) {
                    visit(Slot::Real(&mut row.p));
                }
            }
            (LengthsDoc::Quantiles { table }, Self::QuantileTokens(i)) => {
                if let Some(row) = table.get_mut(i) {
                    visit(Slot::Real(&mut row.tokens));
                }
            }
            _ => {}
        }
    }
}

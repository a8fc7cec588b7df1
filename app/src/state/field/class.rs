//! Numbers of a traffic class: arrivals, lengths, patience, quality and limits.

use goodput_engine::scenario::doc::{
    ArrivalsDoc, ClassDoc, HiddenTokensDoc, LengthsDoc, PairingDoc, QualityDoc,
};

use super::lengths::{LengthField, Place};
use super::numbers::{self, Named};
use super::{FieldKind, Slot, policies};
use crate::parse::Quantity;

/// What is typed of a traffic class.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ClassField {
    Arrivals(Named),
    PointTime(usize),
    PointRate(usize),
    Length(Place, LengthField),
    /// No number but a text of several, which takes part in what numbers do when they do not read.
    Text(Text),
    RankCorrelation,
    HiddenShare,
    MaxOutputTokens,
    TruncatedPassRate,
    Ttft,
    Ttfvt,
    Tpot,
    LongestStall,
    /// The limit on a percentile of a request's own gaps; which percentile is chosen.
    Itl,
    E2e,
    Target,
    /// Which percentile a target is on.
    TargetPercentile(usize),
    /// Its limit.
    TargetLimit(usize),
    PassRate,
    ErrorRate,
    /// Of what clients do beside asking, and of what their prompts share.
    Clients(Named),
    /// Share of the requests that go to a pool of the route.
    LegShare(usize),
    /// Answers of that pool that pass.
    LegPassRate(usize),
}

/// Numbers that are typed or pasted together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Text {
    /// Points of a profile.
    Points,
    /// Rows of a quantile table.
    Table(Place),
    /// Observed lengths.
    Samples(Place),
    /// Observed prompts, each with its answer.
    Pairs,
    /// A law in words.
    Words(Place),
}

impl Text {
    fn label(self) -> &'static str {
        match self {
            Self::Points => "Points of the profile",
            Self::Table(_) => "Quantile table",
            Self::Samples(_) => "Observed lengths",
            Self::Pairs => "Observed pairs",
            Self::Words(_) => "Lengths in words",
        }
    }

    fn path(self) -> String {
        match self {
            Self::Points => "arrivals.points".into(),
            Self::Table(place) => format!("{}.table", place.path()),
            Self::Samples(place) => format!("{}.samples", place.path()),
            Self::Pairs => "pairing".into(),
            Self::Words(place) => place.path(),
        }
    }
}

impl ClassField {
    pub(super) fn kind(self) -> FieldKind {
        let real = FieldKind::real;
        match self {
            Self::Arrivals(named) | Self::Clients(named) => named.kind,
            Self::PointRate(_) => real("Rate", "req/s", Quantity::Rate),
            Self::PointTime(_) => real("At", "s", Quantity::Seconds),
            Self::Length(place, field) => field.kind(place),
            Self::LegShare(_) => real("Share", "%", Quantity::Share),
            Self::Text(text) => real(text.label(), "", Quantity::Plain),
            Self::RankCorrelation => real("Rank correlation", "−1 to 1", Quantity::Correlation),
            Self::HiddenShare => real("Hidden share", "%", Quantity::Share),
            Self::MaxOutputTokens => {
                FieldKind::whole("Output budget (max_tokens)", "tokens", Quantity::Tokens)
                    .or_empty("answers end by themselves")
            }
            Self::TruncatedPassRate => {
                real("Cut answers that pass", "%", Quantity::Share).or_empty("as many as of others")
            }
            Self::Ttft => real("First token (TTFT)", "s", Quantity::SecondsInMillis)
                .or_empty("no limit on the first token"),
            Self::Ttfvt => real("First visible token", "s", Quantity::SecondsInMillis)
                .or_empty("no limit on the first visible token"),
            Self::Itl => real("Gap at that percentile", "ms", Quantity::Millis),
            Self::Tpot => {
                real("Per token (TPOT)", "ms", Quantity::Millis).or_empty("no limit per token")
            }
            Self::LongestStall => {
                real("Longest stall", "s", Quantity::SecondsInMillis).or_empty("no limit on stalls")
            }
            Self::E2e => real("Whole answer (E2E)", "s", Quantity::SecondsInMillis)
                .or_empty("no limit on the whole answer"),
            Self::Target => real("Good share, target", "%", Quantity::Share),
            Self::TargetPercentile(_) => real("Percentile", "0 to 100", Quantity::Plain),
            Self::TargetLimit(_) => real("At most", "ms", Quantity::Millis),
            Self::PassRate | Self::LegPassRate(_) => {
                real("Answers that pass", "%", Quantity::Share)
            }
            Self::ErrorRate => real("Errors", "%", Quantity::Share),
        }
    }

    pub(super) fn path(self) -> String {
        match self {
            Self::Arrivals(named) => format!("arrivals.{}", named.name),
            Self::Clients(named) => named.name.into(),
            Self::PointTime(i) => format!("arrivals.points[{i}].t_s"),
            Self::PointRate(i) => format!("arrivals.points[{i}].rate_rps"),
            Self::Length(place, field) => field.path(place),
            Self::Text(text) => text.path(),
            Self::RankCorrelation => "pairing.rank_correlation".into(),
            Self::HiddenShare => "hidden_tokens.share".into(),
            Self::MaxOutputTokens => "max_output_tokens".into(),
            Self::TruncatedPassRate => "truncated_pass_rate".into(),
            Self::Ttft => "slo.ttft_ms".into(),
            Self::Ttfvt => "slo.ttfvt_ms".into(),
            Self::Itl => "slo.itl_percentile.ms".into(),
            Self::Tpot => "slo.tpot_ms".into(),
            Self::LongestStall => "slo.longest_stall_ms".into(),
            Self::E2e => "slo.e2e_ms".into(),
            Self::Target => "slo.attainment_target".into(),
            Self::TargetPercentile(i) => format!("slo.percentile_targets[{i}].percentile"),
            Self::TargetLimit(i) => format!("slo.percentile_targets[{i}].limit_ms"),
            Self::PassRate => "quality.pass_rate".into(),
            Self::ErrorRate => "error_rate".into(),
            Self::LegShare(i) => format!("route[{i}].share"),
            Self::LegPassRate(i) => format!("route[{i}].quality.pass_rate"),
        }
    }

    /// Its value in a class; `None` where it is absent or the class has another shape there.
    pub fn get(self, class: &ClassDoc) -> Option<f64> {
        match self {
            Self::Arrivals(named) => numbers::get_of_arrivals(&class.arrivals, named),
            Self::PointTime(i) | Self::PointRate(i) => {
                let ArrivalsDoc::Profile { points, .. } = &class.arrivals else { return None };
                let point = points.get(i)?;
                Some(if let Self::PointTime(_) = self { point.t_s } else { point.rate_rps })
            }
            Self::Length(place, field) => field.get(class, place),
            Self::Clients(named) => policies::get_of_clients(class, named),
            Self::Text(_) => None,
            // Reading is writing to a copy: one list of places serves both. It is a copy of what
            // is small.
            _ => self.slot(&mut small(class))?.get(),
        }
    }

    /// Writes a value; nothing happens where the class has another shape there. Of two pools the
    /// other one serves the rest.
    pub fn set(self, class: &mut ClassDoc, value: Option<f64>) {
        if let (Self::LegShare(i @ (0 | 1)), [_, _], Some(share)) =
            (self, class.route.as_slice(), value)
            && (0.0..=1.0).contains(&share)
        {
            class.route[1 - i].share = ((1.0 - share) * 1e9).round() / 1e9;
        }
        if let Some(slot) = self.slot(class) {
            slot.set(value);
        }
    }

    /// The place of this number, if the class has it.
    fn slot(self, class: &mut ClassDoc) -> Option<Slot<'_>> {
        Some(match self {
            Self::Arrivals(named) => {
                return numbers::place_in_arrivals(&mut class.arrivals, named);
            }
            Self::PointTime(i) | Self::PointRate(i) => {
                let ArrivalsDoc::Profile { points, .. } = &mut class.arrivals else { return None };
                let point = points.get_mut(i)?;
                let time = matches!(self, Self::PointTime(_));
                Slot::Real(if time { &mut point.t_s } else { &mut point.rate_rps })
            }
            Self::Length(place, field) => return field.slot(class, place),
            Self::Text(_) => return None,
            Self::RankCorrelation => match &mut class.pairing {
                PairingDoc::Correlated { rank_correlation } => Slot::Real(rank_correlation),
                _ => return None,
            },
            Self::HiddenShare => match &mut class.hidden_tokens {
                Some(HiddenTokensDoc::Share { share }) => Slot::Real(share),
                _ => return None,
            },
            Self::MaxOutputTokens => Slot::MaybeWhole(&mut class.max_output_tokens),
            Self::TruncatedPassRate => Slot::MaybeReal(&mut class.truncated_pass_rate),
            Self::Ttft => Slot::MaybeReal(&mut class.slo.ttft_ms),
            Self::Ttfvt => Slot::MaybeReal(&mut class.slo.ttfvt_ms),
            Self::Itl => match &mut class.slo.itl_percentile {
                Some(limit) => Slot::Real(&mut limit.ms),
                None => return None,
            },
            Self::Tpot => Slot::MaybeReal(&mut class.slo.tpot_ms),
            Self::LongestStall => Slot::MaybeReal(&mut class.slo.longest_stall_ms),
            Self::E2e => Slot::MaybeReal(&mut class.slo.e2e_ms),
            Self::Target => Slot::Real(&mut class.slo.attainment_target),
            Self::TargetPercentile(i) => {
                Slot::Real(&mut class.slo.percentile_targets.get_mut(i)?.percentile)
            }
            Self::TargetLimit(i) => {
                Slot::Real(&mut class.slo.percentile_targets.get_mut(i)?.limit_ms)
            }
            Self::PassRate => return pass_rate(&mut class.quality),
            Self::LegShare(i) => Slot::Real(&mut class.route.get_mut(i)?.share),
            Self::LegPassRate(i) => {
                return pass_rate(class.route.get_mut(i)?.quality.as_mut()?);
            }
            Self::ErrorRate => Slot::Real(&mut class.error_rate),
            Self::Clients(named) => return policies::place_in_clients(class, named),
        })
    }
}

fn pass_rate(quality: &mut QualityDoc) -> Option<Slot<'_>> {
    match quality {
        QualityDoc::Assumed { pass_rate, .. } | QualityDoc::Verified { pass_rate, .. } => {
            Some(Slot::Real(pass_rate))
        }
        QualityDoc::NotChecked => None,
    }
}

/// What is read of a class without its arrivals and lengths, which may be long.
fn small(class: &ClassDoc) -> ClassDoc {
    let hidden_tokens = match &class.hidden_tokens {
        Some(HiddenTokensDoc::Share { share }) => Some(HiddenTokensDoc::Share { share: *share }),
        _ => None,
    };
    ClassDoc {
        route: class.route.clone(),
        pairing: class.pairing,
        hidden_tokens,
        max_output_tokens: class.max_output_tokens,
        truncated_pass_rate: class.truncated_pass_rate,
        error_rate: class.error_rate,
        quality: class.quality.clone(),
        slo: class.slo.clone(),
        ..nothing()
    }
}

/// A class to copy numbers into, which are then read.
pub(super) fn nothing() -> ClassDoc {
    let nobody = ArrivalsDoc::Poisson { rate_rps: 1.0 };
    let one = || LengthsDoc::Fixed { tokens: 1 };
    ClassDoc::new("", nobody, one(), one())
}

//! Changes of a traffic class other than of one number.

use goodput_engine::scenario::doc::{
    ArrivalsDoc, Burstiness, ClassDoc, GammaNoiseDoc, HiddenTokensDoc, ItlPercentileDoc, LegDoc,
    LengthsDoc, NoiseDoc, PairingDoc, PatienceDoc, PercentileTargetDoc, QualityDoc, QuantileDoc,
    RatePointDoc, RetriesDoc, SessionDoc, SharedPrefixDoc,
};

use crate::state::field::{Place, Side, Text};

/// Changes of a traffic class other than of one number.
#[derive(Debug, Clone, PartialEq)]
pub enum ClassEdit {
    /// Its name.
    Name(String),
    /// Whose traffic it is.
    Tenant(String),
    /// Whether it is offered.
    Enabled(bool),
    /// When requests are due.
    Arrivals(ArrivalsDoc),
    /// Randomness around a rate that changes.
    Noise(NoiseDoc),
    /// Whether the variation of gaps is known by burstiness, else by its coefficient.
    ByBurstiness(bool),
    /// Adds a point to a profile after an index.
    AddPoint(usize),
    /// Removes a point of a profile.
    RemovePoint(usize),
    /// Another length distribution.
    Lengths(Place, LengthsDoc),
    /// Adds a row to a quantile table after an index.
    AddQuantile(Place, usize),
    /// Removes a row of a quantile table.
    RemoveQuantile(Place, usize),
    /// Adds a part like the last one to a mixture.
    AddPart(Side),
    /// Removes a part of a mixture.
    RemovePart(Side, usize),
    /// What is typed or pasted together.
    Typed(Typed),
    /// How prompts and answers go together.
    Pairing(PairingDoc),
    /// What a reasoning model does not show.
    Hidden(Option<HiddenTokensDoc>),
    /// How long users wait for a first token.
    Patience(Option<PatienceDoc>),
    /// How long they wait for the next one.
    StallPatience(Option<PatienceDoc>),
    /// Trying again.
    Retries(Option<RetriesDoc>),
    /// Which percentile of their own gaps requests are held to; `None` to none.
    ItlPercentile(Option<f64>),
    /// Percentiles over its offered requests.
    PercentileTargets(Vec<PercentileTargetDoc>),
    /// What is known about answers.
    Quality(QualityDoc),
    /// Who says so.
    QualityBy(String),
    /// The pools that serve it; none for the first one.
    Route(Vec<LegDoc>),
    /// Who says something about the answers of a pool of the route.
    LegQualityBy(usize, String),
    /// What prompts begin with.
    SharedPrefix(Option<SharedPrefixDoc>),
    /// With which classes of its tenant it shares that.
    PrefixName(String),
    /// Several turns to each arrival.
    Session(Option<Box<SessionDoc>>),
}

/// What a text of several numbers says.
#[derive(Debug, Clone, PartialEq)]
pub enum Typed {
    /// Points of a profile.
    Points(Vec<RatePointDoc>),
    /// Rows of a quantile table.
    Table(Place, Vec<QuantileDoc>),
    /// Observed lengths.
    Samples(Place, Vec<u32>),
    /// Observed prompts, and the answer to each.
    Pairs(Vec<u32>, Vec<u32>),
    /// A law in words.
    Words(Place, LengthsDoc),
}

impl Typed {
    /// Where it is typed.
    pub fn text(&self) -> Text {
        match self {
            Self::Points(_) => Text::Points,
            Self::Table(place, _) => Text::Table(*place),
            Self::Samples(place, _) => Text::Samples(*place),
            Self::Pairs(..) => Text::Pairs,
            Self::Words(place, _) => Text::Words(*place),
        }
    }

    fn apply(&self, class: &mut ClassDoc) {
        let lengths = |place: &Place, class, lengths| {
            if let Some(at) = place.get_mut(class) {
                *at = lengths;
            }
        };
        match self {
            Self::Points(new) => {
                if let ArrivalsDoc::Profile { points, .. } = &mut class.arrivals {
                    points.clone_from(new);
                }
            }
            Self::Table(place, table) => {
                lengths(place, class, LengthsDoc::Quantiles { table: table.clone() });
            }
            Self::Samples(place, samples) => {
                lengths(place, class, LengthsDoc::Empirical { samples: samples.clone() });
            }
            Self::Pairs(prompts, answers) => {
                class.input_tokens = LengthsDoc::Empirical { samples: prompts.clone() };
                class.output_tokens = LengthsDoc::Empirical { samples: answers.clone() };
                class.pairing = PairingDoc::Together;
            }
            Self::Words(place, law) => lengths(place, class, law.clone()),
        }
    }

    fn label(&self) -> &'static str {
        match self {
            Self::Points(_) => "points of the profile",
            Self::Table(..) => "quantile table",
            Self::Samples(..) => "observed lengths",
            Self::Pairs(..) => "observed pairs",
            Self::Words(..) => "lengths in words",
        }
    }
}

impl ClassEdit {
    pub(super) fn apply(&self, class: &mut ClassDoc) {
        match self {
            Self::Name(name) => class.name.clone_from(name),
            Self::Tenant(tenant) => class.tenant.clone_from(tenant),
            Self::Enabled(on) => class.enabled = *on,
            Self::Arrivals(arrivals) => class.arrivals = arrivals.clone(),
            Self::Noise(_) | Self::ByBurstiness(_) | Self::AddPoint(_) | Self::RemovePoint(_) => {
                self.change_arrivals(&mut class.arrivals);
            }
            Self::Lengths(place, _)
            | Self::AddQuantile(place, _)
            | Self::RemoveQuantile(place, _) => {
                if let Some(lengths) = place.get_mut(class) {
                    self.change_lengths(lengths);
                }
            }
            Self::AddPart(side) | Self::RemovePart(side, _) => {
                if let Some(lengths) = Place::whole(*side).get_mut(class) {
                    self.change_lengths(lengths);
                }
            }
            Self::Typed(typed) => typed.apply(class),
            Self::Pairing(pairing) => class.pairing = *pairing,
            Self::Hidden(hidden) => class.hidden_tokens.clone_from(hidden),
            Self::Patience(patience) => class.patience = *patience,
            Self::StallPatience(patience) => class.stall_patience = *patience,
            Self::Retries(retries) => class.retries.clone_from(retries),
            Self::ItlPercentile(percentile) => {
                // Another percentile of the same limit, or a first one at twice the pace that the
                // class is to keep, which one slow step in two does not break.
                let before = class.slo.itl_percentile.map(|limit| limit.ms);
                let ms = before.or(class.slo.tpot_ms.map(|ms| 2.0 * ms)).unwrap_or(100.0);
                class.slo.itl_percentile =
                    percentile.map(|percentile| ItlPercentileDoc { percentile, ms });
            }
            Self::PercentileTargets(targets) => class.slo.percentile_targets.clone_from(targets),
            Self::Quality(quality) => class.quality = quality.clone(),
            Self::QualityBy(who) => say_who(&mut class.quality, who),
            Self::Route(route) => class.route.clone_from(route),
            Self::LegQualityBy(leg, who) => {
                let leg = class.route.get_mut(*leg);
                if let Some(quality) = leg.and_then(|leg| leg.quality.as_mut()) {
                    say_who(quality, who);
                }
            }
            Self::SharedPrefix(prefix) => class.shared_prefix.clone_from(prefix),
            Self::PrefixName(name) => {
                if let Some(prefix) = &mut class.shared_prefix {
                    prefix.name.clone_from(name);
                }
            }
            Self::Session(session) => class.session = session.as_deref().cloned(),
        }
    }

    fn change_arrivals(&self, arrivals: &mut ArrivalsDoc) {
        match (self, arrivals) {
            (Self::Noise(new), arrivals) => {
                if let Some(noise) = noise_mut(arrivals) {
                    *noise = *new;
                }
            }
            (Self::ByBurstiness(yes), ArrivalsDoc::Gamma { cv, burstiness, .. }) => {
                known_by(*yes, cv, burstiness);
            }
            (Self::ByBurstiness(yes), arrivals) => {
                if let Some(NoiseDoc::Gamma(GammaNoiseDoc { cv, burstiness })) = noise_mut(arrivals)
                {
                    known_by(*yes, cv, burstiness);
                }
            }
            (Self::AddPoint(after), ArrivalsDoc::Profile { points, .. }) => {
                add_point(points, *after);
            }
            (Self::RemovePoint(i), ArrivalsDoc::Profile { points, .. }) => remove_row(points, *i),
            _ => {}
        }
    }

    fn change_lengths(&self, lengths: &mut LengthsDoc) {
        match (self, lengths) {
            (Self::Lengths(_, new), lengths) => lengths.clone_from(new),
            (Self::AddQuantile(_, after), LengthsDoc::Quantiles { table }) => {
                add_quantile(table, *after);
            }
            (Self::RemoveQuantile(_, i), LengthsDoc::Quantiles { table }) => remove_row(table, *i),
            (Self::AddPart(_), LengthsDoc::Mixture { parts, .. }) => {
                parts.extend(parts.last().cloned());
            }
            (Self::RemovePart(_, i), LengthsDoc::Mixture { parts, .. }) => remove_row(parts, *i),
            _ => {}
        }
    }

    pub(super) fn label(&self) -> &'static str {
        match self {
            Self::Name(_) => "name of the class",
            Self::Tenant(_) => "tenant of the class",
            Self::Enabled(true) => "switching a class on",
            Self::Enabled(false) => "switching a class off",
            Self::Arrivals(_) => "kind of arrivals",
            Self::Noise(_) | Self::ByBurstiness(_) => "randomness of arrivals",
            Self::AddPoint(_) => "adding a point of the profile",
            Self::RemovePoint(_) => "removing a point of the profile",
            Self::Lengths(Place { side: Side::Input, .. }, _) => "kind of input length",
            Self::Lengths(Place { side: Side::Output, .. }, _) => "kind of output length",
            Self::Lengths(Place { side: Side::Hidden, .. }, _) => "kind of hidden length",
            Self::Lengths(Place { side: Side::Turns, .. }, _) => "kind of turns",
            Self::Lengths(..) => "kind of new tokens",
            Self::AddQuantile(..) => "adding a quantile",
            Self::RemoveQuantile(..) => "removing a quantile",
            Self::AddPart(_) => "adding a part",
            Self::RemovePart(..) => "removing a part",
            Self::Typed(typed) => typed.label(),
            Self::Pairing(_) => "pairing of prompts and answers",
            Self::Hidden(_) => "hidden tokens",
            Self::Patience(_) | Self::StallPatience(_) => "kind of patience",
            Self::Retries(_) => "retries",
            Self::ItlPercentile(_) => "percentile of gaps",
            Self::PercentileTargets(_) => "percentile targets",
            Self::Quality(_) => "state of quality",
            Self::QualityBy(_) | Self::LegQualityBy(..) => "source of quality",
            Self::Route(_) => "route",
            Self::SharedPrefix(_) | Self::PrefixName(_) => "shared prefix",
            Self::Session(_) => "session",
        }
    }
}

fn say_who(quality: &mut QualityDoc, who: &str) {
    match quality {
        QualityDoc::Assumed { by, .. } => who.clone_into(by),
        QualityDoc::Verified { source, .. } => who.clone_into(source),
        QualityDoc::NotChecked => {}
    }
}

/// The randomness around a rate that changes; `None` for arrivals without one.
fn noise_mut(arrivals: &mut ArrivalsDoc) -> Option<&mut NoiseDoc> {
    match arrivals {
        ArrivalsDoc::Profile { noise, .. }
        | ArrivalsDoc::Sinusoid { noise, .. }
        | ArrivalsDoc::Spike { noise, .. }
        | ArrivalsDoc::Ramp { noise, .. }
        | ArrivalsDoc::Day { noise, .. }
        | ArrivalsDoc::Week { noise, .. } => Some(noise),
        _ => None,
    }
}

/// The same variation of gaps by its other number: burstiness is 1/cv².
fn known_by(by_burstiness: bool, cv: &mut Option<f64>, burstiness: &mut Option<Burstiness>) {
    // A reader of 0.7071067811865475 would wonder: four digits are as good.
    let tidy = |x: f64| format!("{x:.3e}").parse().unwrap_or(x);
    match (by_burstiness, *cv, *burstiness) {
        (true, Some(was), None) => {
            (*cv, *burstiness) = (None, Some(Burstiness(tidy(1.0 / (was * was)))));
        }
        (false, None, Some(Burstiness(k))) => {
            (*cv, *burstiness) = (Some(tidy(1.0 / k.sqrt())), None);
        }
        (true, Some(_), Some(_)) => *cv = None,
        (false, Some(_), Some(_)) => *burstiness = None,
        _ => {}
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
pub(super) fn remove_row<T>(rows: &mut Vec<T>, i: usize) {
    if rows.len() > 1 && i < rows.len() {
        rows.remove(i);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gaps_known_by_the_other_number_are_the_same_gaps() {
        for (cv, k) in [(2.0, 0.25), (0.5, 4.0), (0.0, f64::INFINITY), (1.0, 1.0)] {
            let mut law = (Some(cv), None);
            known_by(true, &mut law.0, &mut law.1);
            assert_eq!(law, (None, Some(Burstiness(k))));
            known_by(false, &mut law.0, &mut law.1);
            assert_eq!(law, (Some(cv), None));
        }
    }
}

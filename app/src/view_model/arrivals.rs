//! Kinds of arrivals: what can be chosen, and what carries over from one to another.

use goodput_engine::scenario::arrivals_of;
use goodput_engine::scenario::doc::{
    ArrivalsDoc, GammaNoiseDoc, NoiseDoc, RatePointDoc, ThinkTimeDoc,
};
use goodput_engine::units::Picos;

use crate::controls::Choice;

/// Kinds of arrivals: name in the document, and what is read.
const KINDS: [(&str, &str); 12] = [
    ("poisson", "Poisson"),
    ("constant", "evenly spaced"),
    ("gamma", "gamma gaps"),
    ("bursts", "random bursts"),
    ("profile", "points over time"),
    ("sinusoid", "a wave"),
    ("spike", "a spike"),
    ("ramp", "a ramp"),
    ("day", "days"),
    ("week", "weeks"),
    ("trace", "replayed trace"),
    ("closed_loop", "users who think"),
];

/// What can be chosen.
pub fn choices() -> Vec<Choice> {
    KINDS.iter().map(|(name, label)| Choice::new(*name, *label)).collect()
}

/// The kind of a document's arrivals, as the document names it.
pub fn kind_of(arrivals: &ArrivalsDoc) -> &'static str {
    match arrivals {
        ArrivalsDoc::Poisson { .. } => "poisson",
        ArrivalsDoc::Constant { .. } => "constant",
        ArrivalsDoc::Gamma { .. } => "gamma",
        ArrivalsDoc::Bursts { .. } => "bursts",
        ArrivalsDoc::Profile { .. } => "profile",
        ArrivalsDoc::Sinusoid { .. } => "sinusoid",
        ArrivalsDoc::Spike { .. } => "spike",
        ArrivalsDoc::Ramp { .. } => "ramp",
        ArrivalsDoc::Day { .. } => "day",
        ArrivalsDoc::Week { .. } => "week",
        ArrivalsDoc::Trace { .. } => "trace",
        ArrivalsDoc::ClosedLoop { .. } => "closed_loop",
    }
}

/// The randomness around a rate that changes; `None` for arrivals without one.
pub fn noise_of(arrivals: &ArrivalsDoc) -> Option<NoiseDoc> {
    match arrivals {
        ArrivalsDoc::Profile { noise, .. }
        | ArrivalsDoc::Sinusoid { noise, .. }
        | ArrivalsDoc::Spike { noise, .. }
        | ArrivalsDoc::Ramp { noise, .. }
        | ArrivalsDoc::Day { noise, .. }
        | ArrivalsDoc::Week { noise, .. } => Some(*noise),
        _ => None,
    }
}

/// What randomness is called in a choice.
pub fn noise_name(noise: NoiseDoc) -> &'static str {
    match noise {
        NoiseDoc::Poisson => "poisson",
        NoiseDoc::None => "none",
        NoiseDoc::Gamma(_) => "gamma",
    }
}

/// The randomness of that name; gamma gaps begin at twice the variation of Poisson's.
pub fn noise_named(name: &str) -> NoiseDoc {
    match name {
        "none" => NoiseDoc::None,
        "gamma" => NoiseDoc::Gamma(GammaNoiseDoc { cv: Some(2.0), burstiness: None }),
        _ => NoiseDoc::Poisson,
    }
}

/// By what the variation of gamma gaps is known; `None` where gaps follow no gamma law.
pub fn gaps_known_by(arrivals: &ArrivalsDoc) -> Option<&'static str> {
    let burstiness = match (arrivals, noise_of(arrivals)) {
        (ArrivalsDoc::Gamma { burstiness, .. }, _) => *burstiness,
        (_, Some(NoiseDoc::Gamma(law))) => law.burstiness,
        _ => return None,
    };
    Some(if burstiness.is_some() { "burstiness" } else { "cv" })
}

/// The same arrivals as another kind, with the same mean rate over the horizon; those of a day or
/// a week have it over their own span. `None` where only a file has it or nothing would change.
pub fn as_kind(arrivals: &ArrivalsDoc, kind: &str, horizon_s: f64) -> Option<ArrivalsDoc> {
    if kind_of(arrivals) == kind {
        return None;
    }
    let mean_rps = mean_rate(arrivals, horizon_s);
    match kind {
        "poisson" => Some(ArrivalsDoc::Poisson { rate_rps: mean_rps }),
        "constant" => Some(ArrivalsDoc::Constant { rate_rps: mean_rps }),
        "gamma" => {
            let (cv, burstiness) = match noise_for(arrivals) {
                NoiseDoc::Gamma(law) => (law.cv, law.burstiness),
                _ => (Some(2.0), None),
            };
            Some(ArrivalsDoc::Gamma { rate_rps: mean_rps, cv, burstiness })
        }
        // A fifth of the time at three times the mean.
        "bursts" => Some(ArrivalsDoc::Bursts {
            quiet_rps: mean_rps / 2.0,
            burst_rps: mean_rps * 3.0,
            mean_quiet_s: 60.0,
            mean_burst_s: 15.0,
        }),
        "closed_loop" => {
            let think_time = ThinkTimeDoc::Exponential { mean_s: 10.0 };
            let users = users_for(mean_rps, think_time);
            Some(ArrivalsDoc::ClosedLoop { users, think_time })
        }
        shape => as_shape(arrivals, shape, mean_rps, horizon_s),
    }
}

/// How think time is said in a choice; empty for arrivals without users.
pub fn think_name(arrivals: &ArrivalsDoc) -> &'static str {
    match arrivals {
        ArrivalsDoc::ClosedLoop { think_time, .. } => name_of_think_time(*think_time),
        _ => "",
    }
}

/// Laws of think times: name in the document, and what is read.
pub const THINK_TIMES: [(&str, &str); 3] =
    [("exponential", "exponential"), ("uniform", "uniform"), ("fixed", "all alike")];

/// The law of a think time, as the document names it.
pub fn name_of_think_time(think_time: ThinkTimeDoc) -> &'static str {
    match think_time {
        ThinkTimeDoc::Fixed { .. } => "fixed",
        ThinkTimeDoc::Uniform { .. } => "uniform",
        ThinkTimeDoc::Exponential { .. } => "exponential",
    }
}

/// The same users with think times of another law and the same mean.
pub fn with_think_time(arrivals: &ArrivalsDoc, name: &str) -> Option<ArrivalsDoc> {
    let ArrivalsDoc::ClosedLoop { users, think_time } = arrivals else { return None };
    let think_time = think_time_named(*think_time, name)?;
    Some(ArrivalsDoc::ClosedLoop { users: *users, think_time })
}

/// A think time of another law and the same mean.
pub fn think_time_named(now: ThinkTimeDoc, name: &str) -> Option<ThinkTimeDoc> {
    let mean_s = mean_think_s(now);
    Some(match name {
        "fixed" => ThinkTimeDoc::Fixed { s: mean_s },
        "uniform" => ThinkTimeDoc::Uniform { min_s: mean_s / 2.0, max_s: mean_s * 1.5 },
        "exponential" => ThinkTimeDoc::Exponential { mean_s },
        _ => return None,
    })
}

/// Mean think time, seconds.
pub fn mean_think_s(think_time: ThinkTimeDoc) -> f64 {
    match think_time {
        ThinkTimeDoc::Fixed { s } => s,
        ThinkTimeDoc::Uniform { min_s, max_s } => f64::midpoint(min_s, max_s),
        ThinkTimeDoc::Exponential { mean_s } => mean_s,
    }
}

/// From one request of a user to the next if each is served in a second.
fn cycle_s(think_time: ThinkTimeDoc) -> f64 {
    mean_think_s(think_time) + 1.0
}

/// Users who ask about as often.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "casts saturate")]
fn users_for(rate_rps: f64, think_time: ThinkTimeDoc) -> u32 {
    (rate_rps * cycle_s(think_time)).round().max(1.0) as u32
}

/// A rate that changes over time, with that mean.
fn as_shape(
    arrivals: &ArrivalsDoc,
    kind: &str,
    mean_rps: f64,
    horizon_s: f64,
) -> Option<ArrivalsDoc> {
    let noise = noise_for(arrivals);
    let (low, high) = (mean_rps / 2.0, mean_rps * 1.5);
    let (peak_over_mean, peak_hour) = match arrivals {
        ArrivalsDoc::Day { peak_over_mean, peak_hour, .. }
        | ArrivalsDoc::Week { peak_over_mean, peak_hour, .. } => (*peak_over_mean, *peak_hour),
        _ => (2.0, 14.0),
    };
    Some(match kind {
        "profile" => ArrivalsDoc::Profile { points: points(arrivals, mean_rps, horizon_s), noise },
        "sinusoid" => {
            let period_s = horizon_s / 2.0;
            ArrivalsDoc::Sinusoid { min_rps: low, max_rps: high, period_s, phase: 0.0, noise }
        }
        "spike" => {
            // Three times the rate for a tenth of the horizon, in the middle of it.
            let (start_s, duration_s) = (horizon_s * 0.45, horizon_s * 0.1);
            let base_rps = tidy(mean_rps / 1.2);
            let peak_rps = base_rps * 3.0;
            ArrivalsDoc::Spike { base_rps, peak_rps, start_s, duration_s, ramp_s: 0.0, noise }
        }
        "ramp" => {
            let (from_rps, to_rps, start_s, duration_s) = (low, high, 0.0, horizon_s);
            ArrivalsDoc::Ramp { from_rps, to_rps, start_s, duration_s, noise }
        }
        "day" => ArrivalsDoc::Day { mean_rps, peak_over_mean, peak_hour, noise },
        "week" => {
            let weekend_factor = 0.5;
            ArrivalsDoc::Week { mean_rps, peak_over_mean, peak_hour, weekend_factor, noise }
        }
        _ => return None,
    })
}

/// Randomness that carries over to a rate that changes.
fn noise_for(arrivals: &ArrivalsDoc) -> NoiseDoc {
    match arrivals {
        ArrivalsDoc::Constant { .. } => NoiseDoc::None,
        ArrivalsDoc::Gamma { cv, burstiness, .. } => {
            NoiseDoc::Gamma(GammaNoiseDoc { cv: *cv, burstiness: *burstiness })
        }
        other => noise_of(other).unwrap_or_default(),
    }
}

/// A profile to begin with: the very shape where points can draw it, else the mean throughout.
fn points(arrivals: &ArrivalsDoc, mean_rps: f64, horizon_s: f64) -> Vec<RatePointDoc> {
    let points = match *arrivals {
        ArrivalsDoc::Spike { base_rps, peak_rps, start_s, duration_s, ramp_s, .. } => {
            let (up, down) = (start_s + ramp_s, start_s + ramp_s + duration_s);
            vec![(start_s, base_rps), (up, peak_rps), (down, peak_rps), (down + ramp_s, base_rps)]
        }
        ArrivalsDoc::Ramp { from_rps, to_rps, start_s, duration_s, .. } => {
            vec![(start_s, from_rps), (start_s + duration_s, to_rps)]
        }
        _ => [0.0, 0.5, 1.0].map(|share| (share * horizon_s, mean_rps)).to_vec(),
    };
    points.into_iter().map(|(t_s, rate_rps)| RatePointDoc { t_s, rate_rps }).collect()
}

/// Mean rate, requests per second: over the horizon, or over the day or week that says its own; of
/// a closed loop, whose rate is an outcome, how often its users ask if they are served in a second.
pub fn mean_rate(arrivals: &ArrivalsDoc, horizon_s: f64) -> f64 {
    let rate = match arrivals {
        ArrivalsDoc::Day { mean_rps, .. } | ArrivalsDoc::Week { mean_rps, .. } => *mean_rps,
        ArrivalsDoc::ClosedLoop { users, think_time } => f64::from(*users) / cycle_s(*think_time),
        other => mean_rps(other, horizon_s).unwrap_or(1.0),
    };
    if rate.is_finite() && rate > 0.0 { tidy(rate) } else { 1.0 }
}

/// Five digits: a reader of 28.3333333333 would wonder.
pub fn tidy(x: f64) -> f64 {
    format!("{x:.4e}").parse().unwrap_or(x)
}

/// Mean rate over the horizon, requests per second; `None` where the arrivals are not valid, or their
/// rate is an outcome.
pub fn mean_rps(arrivals: &ArrivalsDoc, horizon_s: f64) -> Option<f64> {
    if !(horizon_s.is_finite() && horizon_s > 0.0) {
        return None;
    }
    let arrivals =
        arrivals_of(arrivals).ok().filter(|arrivals| arrivals.closed_loop().is_none())?;
    Some(arrivals.expected(Picos::ZERO, Picos::from_secs(horizon_s)) / horizon_s)
}

#[cfg(test)]
pub(super) mod tests {
    use super::super::rate_picture::rates;
    use super::*;

    pub const HORIZON_S: f64 = 600.0;

    /// The same rate as every kind but a trace.
    pub fn all() -> Vec<ArrivalsDoc> {
        let start = ArrivalsDoc::Poisson { rate_rps: 12.0 };
        let others = KINDS.iter().filter_map(|(kind, _)| as_kind(&start, kind, HORIZON_S));
        others.chain([start.clone()]).collect()
    }

    #[test]
    fn another_kind_of_arrivals_has_the_same_mean_rate() {
        let kinds = all();
        assert_eq!(kinds.len(), KINDS.len() - 1, "all but the trace, which needs a file");
        for from in &kinds {
            for to in &kinds {
                let Some(changed) = as_kind(from, kind_of(to), HORIZON_S) else { continue };
                assert_eq!(kind_of(&changed), kind_of(to));
                assert!(arrivals_of(&changed).is_ok(), "{changed:?} is valid");
                let mean = mean_rate(&changed, HORIZON_S);
                assert!((mean - 12.0).abs() < 0.01, "{from:?} → {changed:?}: {mean}");
            }
            assert_eq!(as_kind(from, "trace", HORIZON_S), None);
        }
    }

    #[test]
    fn noise_and_the_shape_that_points_can_draw_carry_over() {
        let gamma = ArrivalsDoc::Gamma { rate_rps: 4.0, cv: Some(3.0), burstiness: None };
        let spike = as_kind(&gamma, "spike", HORIZON_S).expect("a spike");
        let law = GammaNoiseDoc { cv: Some(3.0), burstiness: None };
        assert_eq!(noise_of(&spike), Some(NoiseDoc::Gamma(law)));
        let profile = as_kind(&spike, "profile", HORIZON_S).expect("a profile");
        let [spike, profile] = [spike, profile].map(|doc| {
            let arrivals = arrivals_of(&doc).expect("valid");
            rates(&arrivals, HORIZON_S)
        });
        assert_eq!(spike, profile);
    }

    #[test]
    fn users_who_think_otherwise_think_as_long() {
        let users = ArrivalsDoc::ClosedLoop {
            users: 40,
            think_time: ThinkTimeDoc::Exponential { mean_s: 8.0 },
        };
        for name in ["fixed", "uniform", "exponential"] {
            let changed = with_think_time(&users, name).expect("users");
            assert_eq!(think_name(&changed), name);
            assert!(arrivals_of(&changed).is_ok(), "{changed:?}");
            assert!((mean_rate(&changed, HORIZON_S) - 40.0 / 9.0).abs() < 1e-3, "{changed:?}");
        }
        let others = all().into_iter().filter(|doc| kind_of(doc) != "closed_loop");
        for other in others {
            assert_eq!((with_think_time(&other, "fixed"), think_name(&other)), (None, ""));
        }
    }
}

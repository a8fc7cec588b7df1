//! When requests are due: rates, their shape over time, and the chance around them.

use serde::de::{Error, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::clients::ThinkTimeDoc;
use super::defaults::{self, is_default};

/// When the requests of a class are due.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum ArrivalsDoc {
    /// Independent arrivals at a constant rate.
    Poisson {
        /// Mean rate, requests per second.
        rate_rps: f64,
    },
    /// Evenly spaced arrivals: the i-th is due at i / rate.
    Constant {
        /// Rate, requests per second.
        rate_rps: f64,
    },
    /// Gaps of a gamma law at a constant rate, by exactly one of `cv` and `burstiness`.
    Gamma {
        /// Mean rate, requests per second.
        rate_rps: f64,
        /// Standard deviation of the gaps over their mean: 0 is evenly spaced, 1 is Poisson.
        #[serde(default, skip_serializing_if = "is_default")]
        cv: Option<f64>,
        /// The gamma law's shape k = 1/cv², as `vllm bench serve --burstiness` has it.
        #[serde(default, skip_serializing_if = "is_default")]
        burstiness: Option<Burstiness>,
    },
    /// Two rates that take turns at random (a Markov-modulated Poisson process).
    Bursts {
        /// Rate between bursts, requests per second.
        quiet_rps: f64,
        /// Rate within a burst, requests per second, above the other.
        burst_rps: f64,
        /// Mean time between bursts, seconds; exponential.
        mean_quiet_s: f64,
        /// Mean length of a burst, seconds; exponential.
        mean_burst_s: f64,
    },
    /// A rate that changes over time: linear between points, constant before the first and after
    /// the last. Two points at one moment make a jump.
    Profile {
        /// The rate at moments, in ascending order of time.
        points: Vec<RatePointDoc>,
        /// Randomness around the profile.
        #[serde(default, skip_serializing_if = "is_default")]
        noise: NoiseDoc,
    },
    /// A wave.
    Sinusoid {
        /// Lowest rate, requests per second.
        min_rps: f64,
        /// Highest rate, requests per second.
        max_rps: f64,
        /// Length of one wave, seconds.
        period_s: f64,
        /// Share of a period after the minimum at which it begins, 0 to below 1.
        #[serde(default, skip_serializing_if = "is_default")]
        phase: f64,
        /// Randomness around the wave.
        #[serde(default, skip_serializing_if = "is_default")]
        noise: NoiseDoc,
    },
    /// One peak.
    Spike {
        /// Rate before and after, requests per second.
        base_rps: f64,
        /// Rate in the spike, requests per second.
        peak_rps: f64,
        /// When the rate begins to change, seconds.
        start_s: f64,
        /// How long it stays at the peak, seconds.
        duration_s: f64,
        /// How long it takes up, and down again, seconds; 0 jumps.
        #[serde(default, skip_serializing_if = "is_default")]
        ramp_s: f64,
        /// Randomness around the spike.
        #[serde(default, skip_serializing_if = "is_default")]
        noise: NoiseDoc,
    },
    /// One rate, then evenly to another.
    Ramp {
        /// Rate at first, requests per second.
        from_rps: f64,
        /// Rate at last, requests per second.
        to_rps: f64,
        /// When the rate begins to change, seconds.
        #[serde(default, skip_serializing_if = "is_default")]
        start_s: f64,
        /// How long it changes, seconds.
        duration_s: f64,
        /// Randomness around the ramp.
        #[serde(default, skip_serializing_if = "is_default")]
        noise: NoiseDoc,
    },
    /// Days, one like the other; the horizon begins at midnight.
    Day {
        /// Mean rate of a day, requests per second.
        mean_rps: f64,
        /// The highest rate of a day over its mean, 1 or more.
        peak_over_mean: f64,
        /// When the rate is highest, hours from midnight.
        peak_hour: f64,
        /// Randomness around the day.
        #[serde(default, skip_serializing_if = "is_default")]
        noise: NoiseDoc,
    },
    /// Weeks; the horizon begins at midnight before Monday.
    Week {
        /// Mean rate of a week, requests per second.
        mean_rps: f64,
        /// The highest rate of a day over the mean of that day, 1 or more.
        peak_over_mean: f64,
        /// When the rate of a day is highest, hours from midnight.
        peak_hour: f64,
        /// Rates of Saturday and Sunday over those of a working day.
        weekend_factor: f64,
        /// Randomness around the week.
        #[serde(default, skip_serializing_if = "is_default")]
        noise: NoiseDoc,
    },
    /// The recorded moments of a trace.
    Trace {
        /// When each request was due, seconds from the start of the trace, ascending.
        due_s: Vec<f64>,
        /// Factor on its time: 2 takes twice as long, at half the rate.
        #[serde(default = "defaults::factor", skip_serializing_if = "defaults::is_factor")]
        time_factor: f64,
        /// Factor on its requests in the same time: below 1 that share of them is kept, above 1
        /// each comes so often in the mean.
        #[serde(default = "defaults::factor", skip_serializing_if = "defaults::is_factor")]
        rate_factor: f64,
        /// The trace begins again every so many of its seconds; absent, it ends.
        #[serde(default, skip_serializing_if = "is_default")]
        loop_every_s: Option<f64>,
    },
    /// Users who ask, wait for the end, think, and ask again. Users are not requests in flight,
    /// and the rate is an outcome.
    ClosedLoop {
        /// How many.
        users: u32,
        /// From the end of a request to the next one.
        think_time: ThinkTimeDoc,
    },
}

impl ArrivalsDoc {
    /// A trace as it was recorded.
    pub fn trace(due_s: Vec<f64>) -> Self {
        let factor = defaults::factor();
        Self::Trace { due_s, time_factor: factor, rate_factor: factor, loop_every_s: None }
    }
}

/// The rate at one moment.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a point of a rate profile")]
pub struct RatePointDoc {
    /// Moment, seconds from the start.
    pub t_s: f64,
    /// Rate, requests per second.
    pub rate_rps: f64,
}

/// Randomness of arrivals around a rate that changes.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NoiseDoc {
    /// An inhomogeneous Poisson process.
    #[default]
    Poisson,
    /// Evenly spaced in expected count.
    None,
    /// Gaps of a gamma law in expected count.
    Gamma(GammaNoiseDoc),
}

/// A gamma law of gaps, by exactly one of its fields.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, expecting = "`cv` or `burstiness` of a gamma law")]
pub struct GammaNoiseDoc {
    /// Standard deviation of the gaps over their mean.
    #[serde(default, skip_serializing_if = "is_default")]
    pub cv: Option<f64>,
    /// The law's shape k = 1/cv².
    #[serde(default, skip_serializing_if = "is_default")]
    pub burstiness: Option<Burstiness>,
}

/// The shape of a gamma law: a number, or `"inf"` (which JSON has no number for) for evenly
/// spaced arrivals.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Burstiness(pub f64);

impl Serialize for Burstiness {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.0 == f64::INFINITY {
            serializer.serialize_str("inf")
        } else {
            serializer.serialize_f64(self.0)
        }
    }
}

impl<'de> Deserialize<'de> for Burstiness {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct NumberOrInf;
        impl Visitor<'_> for NumberOrInf {
            type Value = Burstiness;

            fn expecting(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
                f.write_str("a number, or \"inf\" for evenly spaced arrivals")
            }
            fn visit_f64<E: Error>(self, k: f64) -> Result<Burstiness, E> {
                Ok(Burstiness(k))
            }
            fn visit_u64<E: Error>(self, k: u64) -> Result<Burstiness, E> {
                Ok(Burstiness(k as f64))
            }
            fn visit_i64<E: Error>(self, k: i64) -> Result<Burstiness, E> {
                Ok(Burstiness(k as f64))
            }
            fn visit_str<E: Error>(self, text: &str) -> Result<Burstiness, E> {
                if text == "inf" {
                    Ok(Burstiness(f64::INFINITY))
                } else {
                    Err(E::invalid_value(serde::de::Unexpected::Str(text), &self))
                }
            }
        }
        deserializer.deserialize_any(NumberOrInf)
    }
}

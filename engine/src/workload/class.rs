//! A traffic class: one kind of request and the people who make it.

use rand_distr::{Distribution, LogNormal};

use super::{
    Arrivals, ClientBehaviour, Leg, Lengths, Pairing, RetryOn, Route, Session, SharedPrefix,
};
use crate::counted::typed;
use crate::math;
use crate::problem::Problem;
use crate::rng::{Key, keyed};
use crate::units::{MAX_HORIZON_S, Picos};

/// One kind of traffic. Its contract stands at the same index in the scenario.
#[derive(Debug, Clone, PartialEq)]
pub struct TrafficClass {
    /// Unique name.
    pub name: String,
    /// Whose traffic it is; may be empty.
    pub tenant: String,
    /// Its place in the document, which keys its draws: whoever else is enabled changes none.
    pub position: u32,
    /// When requests are due.
    pub arrivals: Arrivals,
    /// The pools that serve it.
    pub route: Route,
    /// The pool of its route whose part of its requests this is; `None` of all of them.
    pub part: Option<u32>,
    /// Prompt lengths.
    pub input: Lengths,
    /// Output lengths the model would produce.
    pub output: Lengths,
    /// How the two go together.
    pub pairing: Pairing,
    /// Tokens that are generated and not shown, before the answer.
    pub hidden: Hidden,
    /// What its prompts begin with.
    pub shared_prefix: Option<SharedPrefix>,
    /// Each arrival begins one; without, it is all that is asked.
    pub session: Option<Session>,
    /// Output budget: generation stops here, hidden tokens included.
    pub max_output_tokens: Option<u32>,
    /// Share of answers cut by the budget that pass, 0 to 1, where quality is known; `None` as of
    /// all others.
    pub truncated_pass_rate: Option<f64>,
    /// How long users wait for a first token; `None` waits for ever.
    pub patience: Option<Patience>,
    /// Share of requests that the server fails after serving them, 0 to 1.
    pub error_rate: f64,
    /// What is known about answers.
    pub quality: Quality,
    /// When its clients leave, and when they ask again.
    pub clients: ClientBehaviour,
    /// How urgent it is: as in vLLM a lower number is more urgent.
    pub priority: i32,
}

impl TrafficClass {
    /// A class with every other setting at its default.
    pub fn new(name: &str, arrivals: Arrivals, input: Lengths, output: Lengths) -> Self {
        Self {
            name: name.to_owned(),
            tenant: String::new(),
            position: 0,
            arrivals,
            route: Route::default(),
            part: None,
            input,
            output,
            pairing: Pairing::default(),
            hidden: Hidden::default(),
            shared_prefix: None,
            session: None,
            max_output_tokens: None,
            truncated_pass_rate: None,
            patience: None,
            error_rate: 0.0,
            quality: Quality::NotChecked,
            clients: ClientBehaviour::default(),
            priority: 0,
        }
    }

    /// The part of it that `pool` serves, as a class whose only pool that is. Of a closed loop it is
    /// a crowd of its own, of so many of the users.
    #[must_use]
    pub fn at(&self, pool: u32) -> Self {
        let leg = self.route.leg(pool);
        let quality = leg.and_then(|leg| leg.quality.as_ref()).unwrap_or(&self.quality).clone();
        let part = Self { part: Some(pool), quality, ..self.clone() };
        match &self.arrivals {
            Arrivals::ClosedLoop(crowd) if leg.is_some() => Self {
                arrivals: Arrivals::ClosedLoop(crowd.times(part.share())),
                route: Route::default(),
                part: None,
                ..part
            },
            _ => part,
        }
    }

    /// The share of its requests that this is: 1 of a whole class, less of a part, zero of the part
    /// that nothing is routed to.
    pub fn share(&self) -> f64 {
        self.part.map_or(1.0, |pool| self.route.leg(pool).map_or(0.0, |leg| leg.share))
    }

    /// Requests expected in `[from, to)`; of a closed loop none, since what serves it decides.
    pub fn expected(&self, from: Picos, to: Picos) -> f64 {
        self.share() * self.arrivals.expected(from, to)
    }

    /// What is known about answers, with the shares of the route of which it is.
    pub fn qualities<'a>(&'a self) -> impl Iterator<Item = (f64, &'a Quality)> {
        let of_leg = |leg: &'a Leg| leg.quality.as_ref().unwrap_or(&self.quality);
        let whole = self.part.is_none();
        let legs = self.route.legs().iter().filter(move |_| whole);
        let legs = legs.map(move |leg| (leg.share, of_leg(leg)));
        legs.chain((!whole).then_some((1.0, &self.quality)))
    }

    /// Share of answers that pass when a share `truncated` of them is cut by the budget, the mean
    /// over the route; `None` where nobody looked. Who is not looked at passes.
    pub fn pass_rate(&self, truncated: f64) -> Option<f64> {
        let on = |quality: &Quality| self.pass_rate_of(quality, truncated);
        if self.qualities().all(|(_, quality)| on(quality).is_none()) {
            return None;
        }
        Some(self.qualities().map(|(share, quality)| share * on(quality).unwrap_or(1.0)).sum())
    }

    /// The same of answers of which so much is known.
    pub(super) fn pass_rate_of(&self, quality: &Quality, truncated: f64) -> Option<f64> {
        let whole = quality.pass_rate()?;
        let cut = self.truncated_pass_rate.unwrap_or(whole);
        Some(whole * (1.0 - truncated) + cut * truncated)
    }

    /// Share of requests that the server fails at every attempt their clients make.
    pub fn lasting_error_rate(&self) -> f64 {
        let retries = self.clients.retries.as_ref();
        let attempts = retries.map_or(1, |retries| retries.attempts(RetryOn::Error));
        (0..attempts).map(|_| self.error_rate).product()
    }
}

/// Tokens that a reasoning model generates and does not show.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum Hidden {
    /// There are none.
    #[default]
    None,
    /// This share of the output tokens, 0 to 1, is hidden: the output counts them.
    Share(f64),
    /// So many come before the output, drawn apart from it: the output is what is shown.
    Added(Lengths),
}

/// What is known about answers.
#[derive(Debug, Clone, PartialEq)]
pub enum Quality {
    /// Nobody looked: every answer counts as acceptable, and the result is called
    /// *latency-only goodput*.
    NotChecked,
    /// A rate somebody assumed.
    Assumed {
        /// Share of answers that pass, 0 to 1.
        pass_rate: f64,
        /// Who assumed it.
        by: String,
    },
    /// A rate from an evaluation.
    Verified {
        /// Share of answers that passed, 0 to 1.
        pass_rate: f64,
        /// The evaluation and its threshold.
        source: String,
    },
}

impl Quality {
    /// Share of answers that pass; `None` where nobody looked.
    pub fn pass_rate(&self) -> Option<f64> {
        match self {
            Self::NotChecked => None,
            Self::Assumed { pass_rate, .. } | Self::Verified { pass_rate, .. } => Some(*pass_rate),
        }
    }
}

/// How long users wait for a token: the first one, or the next.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Patience {
    /// Everybody waits as long.
    Fixed(Picos),
    /// Lognormal over users: parameters of the logarithm of seconds.
    Lognormal {
        /// Mean of the logarithm.
        mu: f64,
        /// Standard deviation of the logarithm.
        sigma: f64,
    },
}

impl Patience {
    /// Everybody waits `s` seconds.
    pub fn fixed(s: f64) -> Result<Self, Problem> {
        Ok(Self::Fixed(Picos::from_secs(checked_seconds("s", s)?)))
    }

    /// Lognormal by its median and 90th percentile, seconds.
    pub fn lognormal(median_s: f64, p90_s: f64) -> Result<Self, Vec<Problem>> {
        let (median, p90) =
            (checked_seconds("median_s", median_s), checked_seconds("p90_s", p90_s));
        let (median, p90) = match (median, p90) {
            (Ok(median), Ok(p90)) => (median, p90),
            (median, p90) => return Err(median.err().into_iter().chain(p90.err()).collect()),
        };
        if p90 <= median {
            return Err(vec![Problem::error(
                "p90_s",
                format!(
                    "nine of ten wait up to {p90} s, no longer than the median of {median} s",
                    p90 = typed(p90),
                    median = typed(median)
                ),
                "give a 90th percentile above the median, or a fixed patience",
            )]);
        }
        let sigma = math::ln(p90 / median) / math::normal_quantile(0.9);
        Ok(Self::Lognormal { mu: math::ln(median), sigma })
    }

    /// How long one user waits. Whoever would wait longer than the longest scenario waits for
    /// ever: `None`.
    pub fn draw(&self, key: Key) -> Option<Picos> {
        match *self {
            Self::Fixed(span) => Some(span),
            Self::Lognormal { mu, sigma } => {
                let seconds = LogNormal::new(mu, sigma).ok()?.sample(&mut keyed(key));
                (seconds <= MAX_HORIZON_S).then(|| Picos::from_secs(seconds))
            }
        }
    }
}

fn checked_seconds(field: &str, seconds: f64) -> Result<f64, Problem> {
    // A picosecond at least, so that patience is never rounded to none.
    if (1e-12..=MAX_HORIZON_S).contains(&seconds) {
        Ok(seconds)
    } else {
        Err(Problem::error(
            field,
            format!("users wait {seconds} s for a token", seconds = typed(seconds)),
            format!(
                "give seconds above 0 and up to {longest}, or leave patience out",
                longest = typed(MAX_HORIZON_S)
            ),
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Stream;

    fn user(request: u64) -> Key {
        Key { seed: 1, stream: Stream::Patience, class: 0, request, attempt: 0 }
    }

    #[test]
    fn half_of_the_users_leave_by_the_median_and_nine_tenths_by_the_90th_percentile() {
        let patience = Patience::lognormal(8.0, 30.0).unwrap();
        let n = 40_000_u64;
        for (limit, share) in [(8.0, 0.5), (30.0, 0.9)] {
            let limit = Picos::from_secs(limit);
            let gone = (0..n).filter(|i| patience.draw(user(*i)).unwrap() <= limit).count() as f64;
            let error = (share * (1.0 - share) / n as f64).sqrt();
            assert!((gone / n as f64 - share).abs() < 4.0 * error, "{share}");
        }
    }

    #[test]
    fn whoever_outlasts_every_scenario_waits_for_ever() {
        let patience = Patience::lognormal(MAX_HORIZON_S * 0.5, MAX_HORIZON_S).unwrap();
        let waits: Vec<_> = (0..1_000).map(|i| patience.draw(user(i))).collect();
        assert!(waits.iter().any(Option::is_none));
        assert!(waits.iter().flatten().all(|wait| wait.as_secs() <= MAX_HORIZON_S));
    }

    #[test]
    fn impossible_patience_is_refused_field_by_field() {
        for s in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e9] {
            assert_eq!(Patience::fixed(s).unwrap_err().path, "s");
        }
        assert_eq!(Patience::lognormal(0.0, f64::NAN).unwrap_err().len(), 2);
        assert_eq!(Patience::lognormal(5.0, 5.0).unwrap_err()[0].path, "p90_s");
    }
}

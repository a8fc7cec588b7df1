//! Who asks: arrivals, lengths and the requests they give.
//!
//! [`generate`] turns traffic classes into a list of [`OfferedRequest`]s, once per scenario; every
//! fleet that is tried for it serves the same list. [`demand`] says what that list asks for.
//!
//! Types check themselves when they are made and report with paths relative to themselves, so
//! that everything behind them may rely on what they hold.

mod arrivals;
mod bursts;
mod class;
mod client;
mod closed_loop;
mod demand;
mod digest;
mod generate;
mod laws;
mod lengths;
mod lognormal;
mod mixture;
mod pairing;
mod profile;
mod quantile_table;
mod rate_shapes;
mod replay;
mod route;
mod shape;
mod sharing;

pub use arrivals::{Arrivals, Due, GammaGaps, MAX_GAP_CV, Spacing};
pub use bursts::Bursts;
pub use class::{Hidden, Patience, Quality, TrafficClass};
pub use client::{ClientBehaviour, Retries, RetryOn};
pub use closed_loop::{ClosedLoop, ThinkTime, Turn};
pub use demand::{Demand, DemandBin, LengthSummary, Mix, demand};
pub use digest::digest;
pub use generate::{MAX_REQUESTS, generate};
pub use laws::{GammaLengths, ParetoLengths, Uniform};
pub use lengths::{Clip, Lengths, MAX_LENGTH_TOKENS, Samples};
pub use lognormal::{Lognormal, LognormalStated};
pub use mixture::{MAX_PARTS, Mixture};
pub use pairing::{Copula, Pairing};
pub use profile::RateProfile;
pub use quantile_table::QuantileTable;
pub use rate_shapes::{MAX_PEAK_OVER_MEAN, days, ramp, sinusoid, spike, weeks};
pub use replay::{MAX_FACTOR, Replay};
pub use route::{Leg, Route};
pub use shape::{Shape, shape};
pub use sharing::{Carries, Lineage, RoutingKeys, Session, SharedPrefix, unfolded};

use crate::units::{Picos, Span};

/// One request as its user makes it. Nothing here depends on the fleet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OfferedRequest {
    /// Index of its class.
    pub class: u32,
    /// Index of the pool that its class's route leads it to, at every attempt.
    pub pool: u32,
    /// When it is due; its clock runs from here.
    pub due: Picos,
    /// Prompt length.
    pub input_tokens: u32,
    /// Tokens it will generate: the model's answer cut at the output budget, at least one.
    /// Policies never see this.
    pub output_tokens: u32,
    /// The first so many of them are not shown; all of them where the output budget is spent
    /// before anything is.
    pub hidden_tokens: u32,
    /// How long its user waits for the first token; `None` waits for ever.
    pub patience: Option<Span>,
    /// The server fails it after serving it.
    pub fails: bool,
    /// The answer is acceptable (drawn, or assumed so where quality is not checked).
    pub acceptable: bool,
    /// What its prompt has in common with others.
    pub lineage: Lineage,
}

impl OfferedRequest {
    /// It generates nothing but hidden tokens.
    pub fn shows_nothing(&self) -> bool {
        self.hidden_tokens >= self.output_tokens
    }
}

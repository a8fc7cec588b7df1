//! From traffic classes to the list of requests they offer.

use std::num::NonZeroU32;

use rand::RngExt;

use super::class::Hidden;
use super::{Due, OfferedRequest, Quality, TrafficClass};
use crate::problem::Problem;
use crate::rng::{Key, Stream, keyed};
use crate::units::{Picos, Span};

/// The most requests one scenario may offer.
pub const MAX_REQUESTS: u64 = 5_000_000;

/// Every request that `classes` offer in `[0, horizon)`, by due moment, then class, then order
/// within the class.
///
/// Every number is drawn by the identity of its request (see [`crate::rng`]): the same seed gives
/// a class the same requests whatever the other classes, the horizon or the fleet.
///
/// # Errors
/// More than [`MAX_REQUESTS`] would be offered, or a recording of lengths is shorter than its
/// trace.
pub fn generate(
    classes: &[TrafficClass],
    seed: u64,
    horizon: Picos,
) -> Result<Vec<OfferedRequest>, Problem> {
    let expected: f64 = classes.iter().map(|class| class.expected(Picos::ZERO, horizon)).sum();
    if expected > MAX_REQUESTS as f64 {
        return Err(too_many(expected));
    }
    let mut offered = Vec::new();
    for (index, class) in (0..).zip(classes) {
        let dues = class.arrivals.dues(seed, u64::from(class.position));
        for (place, due) in (0..).zip(dues.take_while(|due| due.at < horizon)) {
            if offered.len() as u64 >= MAX_REQUESTS {
                return Err(too_many(expected));
            }
            let who = Identity { seed, position: class.position, request: due.request };
            if class.is_asked_of_its_part(who) {
                offered.push(class.begun_by(index, (who, place), due)?);
            }
        }
    }
    // Stable, so requests of one class that are due at once stay in their order.
    offered.sort_by_key(|request: &OfferedRequest| (request.due, request.class));
    for (number, request) in (1..).zip(&mut offered) {
        if classes[request.class as usize].session.is_some() {
            request.lineage.session = NonZeroU32::new(number);
        }
    }
    Ok(offered)
}

pub(super) fn too_many(expected: f64) -> Problem {
    Problem::error(
        "workload",
        format!(
            "about {expected:.0} requests would be offered, more than {MAX_REQUESTS} that one \
             scenario may hold"
        ),
        "shorten the horizon or lower the rates",
    )
}

#[derive(Debug, Clone, Copy)]
struct Identity {
    seed: u64,
    position: u32,
    request: u64,
}

impl Identity {
    fn key(self, stream: Stream) -> Key {
        let Self { seed, position, request } = self;
        Key { seed, stream, class: u64::from(position), request, attempt: 0 }
    }

    /// Uniform in [0, 1).
    fn uniform(self, stream: Stream) -> f64 {
        keyed(self.key(stream)).random()
    }
}

impl TrafficClass {
    /// The request with that index in the class, the `class`-th, whenever it is due; by `pool`
    /// where that is decided, else by its route.
    ///
    /// # Errors
    /// Its length was not recorded.
    pub(super) fn request_of(
        &self,
        seed: u64,
        class: u32,
        request: u64,
        due: Picos,
        pool: Option<u32>,
    ) -> Result<OfferedRequest, Problem> {
        let who = Identity { seed, position: self.position, request };
        self.request(class, who, Due { at: due, request, record: 0 }, pool)
    }

    /// Whether a request is one of those that this is the part of.
    fn is_asked_of_its_part(&self, who: Identity) -> bool {
        self.part.is_none_or(|pool| self.route.draw(who.key(Stream::Route)).pool == pool)
    }

    /// What the `place`-th arrival asks: the first turn of its session, or all there is.
    fn begun_by(
        &self,
        class: u32,
        (who, place): (Identity, u32),
        due: Due,
    ) -> Result<OfferedRequest, Problem> {
        let mut request = self.request(class, who, due, None)?;
        let Some(session) = &self.session else { return Ok(request) };
        request.lineage.place = place;
        Ok(request.carrying(session.turns_of(who.seed, self.position.into(), place) > 1))
    }

    /// The pool that serves a request, and what is known about answers there.
    fn served_by(&self, who: Identity, pool: Option<u32>) -> (u32, &Quality) {
        if self.part.is_some() {
            return (0, &self.quality);
        }
        let decided = pool.and_then(|pool| self.route.leg(pool));
        let leg = decided.unwrap_or_else(|| self.route.draw(who.key(Stream::Route)));
        (leg.pool, leg.quality.as_ref().unwrap_or(&self.quality))
    }

    /// Whether the server fails that attempt, from 0, of a request of this class.
    pub fn attempt_fails(&self, key: Key) -> bool {
        // One number against every threshold: what fails at one error rate fails at every higher.
        self.error_rate > 0.0 && keyed(key).random::<f64>() < self.error_rate
    }

    fn request(
        &self,
        class: u32,
        who: Identity,
        due: Due,
        pool: Option<u32>,
    ) -> Result<OfferedRequest, Problem> {
        let too_short = |side: &str| {
            Problem::error(
                format!("workload.classes[{}].{side}", who.position),
                format!("request {} of the trace has no recorded length", due.record),
                "give one length per request of the trace",
            )
        };
        let (input, output) = self.pairing.draw(
            (&self.input, who.key(Stream::InputTokens)),
            (&self.output, who.key(Stream::OutputTokens)),
            due.record,
        );
        let output = output.ok_or_else(|| too_short("output_tokens"))?;
        let hidden = match &self.hidden {
            Hidden::Added(lengths) => lengths
                .draw(who.key(Stream::HiddenTokens), due.record)
                .ok_or_else(|| too_short("hidden_tokens"))?,
            Hidden::None => 0,
            Hidden::Share(share) => part(*share, output),
        };
        let generated = match self.hidden {
            Hidden::Added(_) => output.saturating_add(hidden),
            Hidden::None | Hidden::Share(_) => output,
        };
        let budget = self.max_output_tokens.unwrap_or(u32::MAX).max(1);
        let truncated = if generated > budget { 1.0 } else { 0.0 };
        let (pool, quality) = self.served_by(who, pool);
        let pass_rate = self.pass_rate_of(quality, truncated).unwrap_or(1.0);
        let input_tokens = input.ok_or_else(|| too_short("input_tokens"))?;
        let output_tokens = generated.min(budget);
        Ok(OfferedRequest {
            class,
            pool,
            due: due.at,
            input_tokens,
            output_tokens,
            hidden_tokens: hidden.min(output_tokens),
            patience: self
                .patience
                .and_then(|patience| patience.draw(who.key(Stream::Patience)))
                .map(Span::from),
            fails: self.attempt_fails(who.key(Stream::Error)),
            acceptable: pass_rate >= 1.0 || who.uniform(Stream::Quality) < pass_rate,
            lineage: self.prefix_of(who.key(Stream::SharedPrefix), input_tokens),
        })
    }
}

/// Whole tokens that are this share of an output, 0 to 1: rounded down, so that what is not hidden
/// entirely shows something.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "from 0 to the output")]
fn part(share: f64, output: u32) -> u32 {
    ((f64::from(output) * share) as u32).min(output)
}

#[cfg(test)]
mod tests;

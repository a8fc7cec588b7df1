//! One request as the accounting sees it, simulated or measured: who asked, what was measured, and
//! what it counts as. What a file does not say is `None`, or [`Seen::NotInFile`].

use crate::accounts::tally::Row;
use crate::slo::{self, Contract, Fate, Measures, MissedLimits, Outcome, Seen};
use crate::units::Picos;

use super::causes::{Causer, MainParts};

/// One request.
#[derive(Debug, Clone, Copy)]
pub struct Case {
    /// Index of its class.
    pub class: Option<u32>,
    /// Pool that it is routed to.
    pub pool: Option<u32>,
    /// Replica that took it.
    pub replica: Option<u32>,
    /// When it was due.
    pub due: Option<Picos>,
    /// Prompt tokens.
    pub input_tokens: Option<u32>,
    /// Output tokens: what it would generate in a simulation, what it generated in a file.
    pub output_tokens: Option<u32>,
    /// Tokens found in the prefix cache.
    pub cached_tokens: Option<u32>,
    /// How it left.
    pub fate: Fate,
    /// Its client saw no error. A file may call a request without any token a success.
    pub called_success: bool,
    /// Its answer was acceptable, or nobody checked.
    pub acceptable: bool,
    /// Its first token came.
    pub had_first_token: bool,
    /// What the limits are compared with.
    pub measures: Measures,
    /// What percentiles rank: only what it really got.
    pub ranked: Measures,
    /// The limits it missed.
    pub missed: MissedLimits,
    /// The same by clocks that start when the client sends it, not when it is due: what tools see.
    /// They differ where a file tells how long requests waited in the client.
    pub missed_from_send: MissedLimits,
    /// The limits it would have missed had the server not failed it at the end; `None` where that
    /// did not happen or is not known.
    pub missed_but_for_error: Option<MissedLimits>,
    /// What it counts as.
    pub outcome: Outcome,
    /// The main part of its lateness.
    pub parts: MainParts,
    /// Its stream, where it has one and the file says how it came.
    pub stream: Option<StreamSeen>,
}

/// How a stream came: tokens after the first over events after the first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StreamSeen {
    /// Gaps between its events.
    pub event_gaps: u32,
    /// Tokens after the first.
    pub token_gaps: u32,
    /// From the first event to the last.
    pub span: Picos,
}

impl Case {
    /// A simulated request under the contract of its class.
    pub fn of_row(row: &Row, contract: &Contract, causer: &Causer) -> Self {
        let Row { request, stamps, outcome } = *row;
        let measures = Measures::of(request, stamps);
        let missed = measures.missed(contract);
        let served = slo::RequestStamps { fate: Fate::Completed, ..*stamps };
        let failed_at_the_end =
            stamps.fate == Fate::Failed && stamps.generated == request.output_tokens;
        Self {
            class: Some(request.class),
            pool: Some(request.pool),
            replica: stamps.queued.map(|_| stamps.replica),
            due: Some(request.due),
            input_tokens: Some(request.input_tokens),
            output_tokens: Some(request.output_tokens),
            cached_tokens: stamps.scheduled.map(|_| stamps.cached_tokens),
            fate: stamps.fate,
            called_success: stamps.fate == Fate::Completed,
            acceptable: request.acceptable,
            had_first_token: stamps.first_token.is_some(),
            measures,
            ranked: Measures::to_rank(request, stamps),
            missed,
            missed_from_send: missed,
            missed_but_for_error: failed_at_the_end
                .then(|| slo::missed_limits(contract, request, &served)),
            outcome,
            parts: causer.simulated(row, missed),
            stream: stream_of(row),
        }
    }

    /// Whether it was let in: neither refused at the door nor too long.
    pub fn admitted(&self) -> bool {
        !matches!(self.fate, Fate::Rejected | Fate::TooLong)
    }

    /// Whether it is good.
    pub fn is_good(&self) -> bool {
        self.outcome == Outcome::Good
    }
}

/// How a simulated stream came.
fn stream_of(row: &Row) -> Option<StreamSeen> {
    let gaps = row.stamps.generated.checked_sub(1).filter(|gaps| *gaps > 0)?;
    let event_gaps = row.stamps.event_gaps(row.stamps.generated, row.request.output_tokens);
    let span = row.stamps.ended? - row.stamps.first_token?;
    let whole = row.stamps.fate == Fate::Completed;
    whole.then_some(StreamSeen { event_gaps, token_gaps: gaps, span })
}

/// A request of which nothing is known: what a reader of files fills in.
impl Default for Case {
    fn default() -> Self {
        let unknown = Measures {
            ttft: Seen::NotInFile,
            ttfvt: Seen::NotInFile,
            tpot: Seen::NotInFile,
            stall: Seen::NotInFile,
            itl: Seen::NotInFile,
            e2e: Seen::NotInFile,
        };
        Self {
            class: None,
            pool: None,
            replica: None,
            due: None,
            input_tokens: None,
            output_tokens: None,
            cached_tokens: None,
            fate: Fate::Unfinished,
            called_success: false,
            acceptable: true,
            had_first_token: false,
            measures: unknown,
            ranked: unknown,
            missed: MissedLimits::default(),
            missed_from_send: MissedLimits::default(),
            missed_but_for_error: None,
            outcome: Outcome::Unfinished,
            parts: MainParts::default(),
            stream: None,
        }
    }
}

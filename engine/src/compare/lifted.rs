//! What a setting cost whom: each setting that turns requests away or cuts them off, lifted alone and
//! simulated, on the same requests.
//!
//! Limits of a contract change no event, so what lifting one saves is counted on the run itself
//! (`accounts::accounting`). Without a door, with users who wait or with a server that never fails,
//! everybody queues behind others than before: only another run says who is good then.

use serde::{Deserialize, Serialize};

use super::moved::{Served, moved};
use crate::accounts::{Unanswerable, answer};
use crate::fleet::Admission;
use crate::scenario::Scenario;
use crate::slo::{Outcome, RequestStamps};
use crate::workload::OfferedRequest;

/// A setting of the fleet or of its clients.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Setting {
    /// Whom the door turns away.
    Admission,
    /// How long users wait for a first token, and for the next.
    Patience,
    /// When clients and gateways cut a request off.
    TimeOut,
    /// What the server fails.
    Errors,
    /// How long a prompt with its answer may be.
    MaxModelLen,
}

impl Setting {
    /// All of them.
    pub const ALL: [Self; 5] =
        [Self::Admission, Self::Patience, Self::TimeOut, Self::Errors, Self::MaxModelLen];

    /// What it costs requests.
    pub fn outcomes(self) -> &'static [Outcome] {
        match self {
            Self::Admission => &[Outcome::Rejected],
            Self::Patience => &[Outcome::CancelledBeforeFirst, Outcome::CancelledMidStream],
            Self::TimeOut => &[Outcome::TimedOut],
            Self::Errors => &[Outcome::Error],
            Self::MaxModelLen => &[Outcome::TooLong],
        }
    }

    /// The setting lifted, in words.
    pub fn lifted(self) -> &'static str {
        match self {
            Self::Admission => "nobody is turned away at the door",
            Self::Patience => "users wait for ever",
            Self::TimeOut => "no time-out",
            Self::Errors => "the server never fails a request",
            Self::MaxModelLen => "no limit on the length (max_model_len) but KV memory",
        }
    }

    fn lift(self, scenario: &mut Scenario) {
        match self {
            Self::Admission => scenario.admission = Admission::default(),
            Self::MaxModelLen => {
                for pool in scenario.pools_mut() {
                    pool.scheduler.max_model_len = u32::MAX;
                }
            }
            _ => {}
        }
        for class in &mut scenario.classes {
            match self {
                Self::Admission | Self::MaxModelLen => {}
                Self::Patience => {
                    class.patience = None;
                    class.clients.stall_patience = None;
                }
                Self::TimeOut => class.clients.timeout = None,
                Self::Errors => class.error_rate = 0.0,
            }
        }
    }
}

/// One setting lifted, all else as it is, simulated on the same requests.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct SettingLifted {
    /// Which.
    pub setting: Setting,
    /// Requests it cost in the run as it was, in the measurement window.
    pub requests: u64,
    /// Of those, good without it.
    pub saved: u64,
    /// Others that were lost and are good without it.
    pub saved_beside: u64,
    /// Requests that were good and are lost without it.
    pub lost_beside: u64,
}

impl SettingLifted {
    /// Good requests more than before; negative where lifting it loses more than it saves.
    pub fn added_good(&self) -> i64 {
        let saved = self.saved.saturating_add(self.saved_beside);
        saved.cast_signed() - self.lost_beside.cast_signed()
    }
}

/// Every setting that cost requests in a run, lifted. Empty where users ask by what they were
/// answered (closed loops, sessions): without the setting they would ask other requests, and none of
/// theirs can be held beside another.
///
/// # Errors
/// The scenario cannot be simulated.
pub fn lift_settings(
    scenario: &Scenario,
    (requests, stamps): (&[OfferedRequest], &[RequestStamps]),
) -> Result<Vec<SettingLifted>, Unanswerable> {
    let mut lifted = Vec::new();
    if scenario.has_followers() {
        return Ok(lifted);
    }
    let served = Served { scenario, requests, stamps };
    let outcomes = served.outcomes();
    for setting in Setting::ALL {
        let costs = |outcome: &Outcome| setting.outcomes().contains(outcome);
        let cost = outcomes.iter().filter(|outcome| costs(outcome)).count() as u64;
        if cost == 0 {
            continue;
        }
        let mut without = scenario.clone();
        setting.lift(&mut without);
        let simulated = answer(&without)?;
        let mut row =
            SettingLifted { setting, requests: cost, saved: 0, saved_beside: 0, lost_beside: 0 };
        let moves = moved(served, Served::of(&without, &simulated));
        for step in moves.unwrap_or_default() {
            match (step.from, step.to) {
                (from, Outcome::Good) if costs(&from) => row.saved += step.requests,
                (Outcome::Good, Outcome::Good) => {}
                (_, Outcome::Good) => row.saved_beside += step.requests,
                (Outcome::Good, _) => row.lost_beside += step.requests,
                _ => {}
            }
        }
        lifted.push(row);
    }
    lifted.sort_by_key(|row| std::cmp::Reverse(row.added_good()));
    Ok(lifted)
}

//! The fleet at its worst: the most that waited and the most that was unfinished, at any moment.
//!
//! Samples are a horizon/240 apart, and a burst comes and goes between two of them. What waits and
//! what is unfinished grows only where a request arrives or loses its blocks, so the peaks are
//! looked for there, and are never below a sample. They are equal for both replica engines.

use super::Saturation;
use super::replica::Owed;
use crate::units::Picos;

/// Turns tokens of backlog into seconds of fleet work.
///
/// A saturated fleet does `prefill_tps` and `decode_tps` at once and spends a known share of its
/// time on each, so a backlog of R requests of the mix is R ÷ rps seconds, and a backlog of pure
/// decode takes only decode's share of them.
#[derive(Debug, Clone, Copy)]
pub struct WorkRate {
    prefill_s_per_token: f64,
    decode_s_per_token: f64,
}

impl WorkRate {
    /// Of who has nothing to do, whatever it is given.
    pub const NONE: Self = Self { prefill_s_per_token: 0.0, decode_s_per_token: 0.0 };

    /// The rate of `replicas` replicas that each sustain `saturation`.
    pub fn new(saturation: &Saturation, replicas: u32) -> Self {
        let n = f64::from(replicas);
        let share = saturation.prefill_time_share;
        Self {
            prefill_s_per_token: share / (saturation.prefill_tps * n),
            decode_s_per_token: (1.0 - share) / (saturation.decode_tps * n),
        }
    }

    /// Seconds of fleet work.
    pub fn seconds(&self, prefill_tokens: u64, decode_tokens: u64) -> f64 {
        prefill_tokens as f64 * self.prefill_s_per_token
            + decode_tokens as f64 * self.decode_s_per_token
    }
}

impl Default for WorkRate {
    /// A second for every token of either kind: the most work is then the most tokens.
    fn default() -> Self {
        Self { prefill_s_per_token: 1.0, decode_s_per_token: 1.0 }
    }
}

/// The most of everything that is owed, each at its own moment.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Peaks {
    /// Requests in queues, preempted ones included.
    pub waiting: u64,
    /// Age since due that a waiting request reached.
    pub oldest_age: Picos,
    /// Prefill plus decode tokens accepted and unfinished.
    pub backlog_tokens: u64,
    /// Seconds of fleet work accepted and unfinished, by the rate the run was given.
    pub work_s: f64,
    /// When `work_s` was reached.
    pub work_at: Picos,
}

/// Looks for the peaks while a run goes on.
#[derive(Debug, Default)]
pub struct PeakWatch {
    rate: WorkRate,
    peaks: Peaks,
    waiting: u64,
    prefill_tokens: u64,
    /// As of the last call of each replica: at most so many.
    decode_tokens: u64,
    /// Something grew since the last look.
    grew: bool,
}

impl PeakWatch {
    /// Weighs tokens by `rate`.
    pub fn weigh_by(&mut self, rate: WorkRate) {
        self.rate = rate;
    }

    /// What a replica owed changed.
    pub fn change(&mut self, before: Owed, now: Owed) {
        self.grew |= now.waiting > before.waiting
            || now.prefill_tokens > before.prefill_tokens
            || now.decode_tokens > before.decode_tokens;
        self.waiting = self.waiting - u64::from(before.waiting) + u64::from(now.waiting);
        self.prefill_tokens = self.prefill_tokens - before.prefill_tokens + now.prefill_tokens;
        self.decode_tokens = self.decode_tokens - before.decode_tokens + now.decode_tokens;
    }

    /// Whether something grew since the last look.
    pub fn has_grown(&self) -> bool {
        self.grew
    }

    /// Looks at the fleet as it is at `at`, when all that happens at that moment has happened.
    /// `decode_tokens` counts the output tokens that are owed then, and is asked only where the
    /// answer may be a peak: that takes a look at every replica.
    pub fn look(&mut self, at: Picos, decode_tokens: impl FnOnce() -> u64) {
        if !std::mem::take(&mut self.grew) {
            return;
        }
        self.peaks.waiting = self.peaks.waiting.max(self.waiting);
        let tokens = self.prefill_tokens + self.decode_tokens;
        let work_s = self.rate.seconds(self.prefill_tokens, self.decode_tokens);
        if tokens <= self.peaks.backlog_tokens && work_s <= self.peaks.work_s {
            return;
        }
        let decode_tokens = decode_tokens();
        let tokens = self.prefill_tokens + decode_tokens;
        self.peaks.backlog_tokens = self.peaks.backlog_tokens.max(tokens);
        let work_s = self.rate.seconds(self.prefill_tokens, decode_tokens);
        if work_s > self.peaks.work_s {
            self.peaks.work_s = work_s;
            self.peaks.work_at = at;
        }
    }

    /// Requests in queues now.
    pub fn waiting(&self) -> u64 {
        self.waiting
    }

    /// The peaks, but for the ages, which queues know.
    pub fn peaks(&self) -> Peaks {
        self.peaks
    }
}

//! What happened to each attempt, packed: a run of a million requests keeps a million of these.
//!
//! What most requests never have (a preemption, a try before, hidden tokens) is kept in a table of
//! its own, for those that have it.

use std::cell::OnceCell;
use std::ops::Deref;

use crate::slo::{Fate, RequestStamps, StreamTime};
use crate::units::Picos;

/// The stamps of all requests of a run, in the order offered.
///
/// They are packed until somebody looks at one: who only counts requests never pays for their
/// records.
#[derive(Debug, Clone, Default)]
pub struct Stamps(Box<Records>);

#[derive(Debug, Clone, Default)]
struct Records {
    packed: Rows,
    unpacked: OnceCell<Vec<RequestStamps>>,
}

impl Stamps {
    pub(super) fn packed(rows: Rows) -> Self {
        Self(Box::new(Records { packed: rows, unpacked: OnceCell::new() }))
    }

    /// All of them.
    pub fn as_slice(&self) -> &[RequestStamps] {
        self.0.unpacked.get_or_init(|| self.0.packed.iter().collect())
    }
}

impl Deref for Stamps {
    type Target = [RequestStamps];
    fn deref(&self) -> &[RequestStamps] {
        self.as_slice()
    }
}

impl PartialEq for Stamps {
    fn eq(&self, other: &Self) -> bool {
        self.0.packed.iter().eq(other.0.packed.iter())
    }
}

impl<'a> IntoIterator for &'a Stamps {
    type Item = &'a RequestStamps;
    type IntoIter = std::slice::Iter<'a, RequestStamps>;
    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl IntoIterator for Stamps {
    type Item = RequestStamps;
    type IntoIter = std::vec::IntoIter<RequestStamps>;
    fn into_iter(self) -> Self::IntoIter {
        let Records { packed, unpacked } = *self.0;
        unpacked.into_inner().unwrap_or_else(|| packed.into_iter().collect()).into_iter()
    }
}

/// Packed stamps by the number of their attempt.
#[derive(Debug, Clone)]
pub struct Rows {
    /// As far as anybody has been seen: a run of a million requests does not begin by writing a
    /// million rows, but writes each when it is near anyhow.
    seen: Vec<Row>,
    count: usize,
    /// The first is that of all who have nothing rare.
    rare: Vec<Rare>,
}

/// What every request may have.
#[derive(Debug, Clone, Copy)]
struct Row {
    queued: Moment,
    scheduled: Moment,
    first_token: Moment,
    ended: Moment,
    longest_stall: Picos,
    busy: Picos,
    beside_prefill: Picos,
    replica: u32,
    generated: u32,
    gaps_above: u32,
    cached_tokens: u32,
    /// Where the rest is: in `rare`; of an attempt in the fleet, all of it in the slot of that
    /// number.
    rest: u32,
    is_in_fleet: bool,
    fate: Fate,
    stalled_by_preemption: bool,
}

/// A moment that may not have come, in half the room of an `Option`.
#[derive(Debug, Clone, Copy)]
struct Moment(i64);

impl Moment {
    const NEVER_CAME: Self = Self(i64::MIN);

    fn get(self) -> Option<Picos> {
        (self.0 != Self::NEVER_CAME.0).then_some(Picos(self.0))
    }
}

impl From<Option<Picos>> for Moment {
    fn from(moment: Option<Picos>) -> Self {
        moment.map_or(Self::NEVER_CAME, |at| Self(at.0))
    }
}

/// What most requests do not have.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Rare {
    held: Picos,
    first_visible: Option<Picos>,
    stream_interval: u16,
    attempts: u32,
    preemptions: u32,
    kept_tokens: u32,
    recomputed: Picos,
    retried: Picos,
    preempted: Picos,
}

impl Rare {
    const NOTHING: Self = Self::of(&RequestStamps::UNSEEN);

    const fn of(stamps: &RequestStamps) -> Self {
        let RequestStamps { held, first_visible, attempts, preemptions, .. } = *stamps;
        let RequestStamps { kept_tokens, recomputed, retried, stream_interval, .. } = *stamps;
        let preempted = stamps.stream.preempted;
        Self {
            held,
            first_visible,
            stream_interval,
            attempts,
            preemptions,
            kept_tokens,
            recomputed,
            retried,
            preempted,
        }
    }
}

impl Row {
    const UNSEEN: Self = Self {
        queued: Moment::NEVER_CAME,
        scheduled: Moment::NEVER_CAME,
        first_token: Moment::NEVER_CAME,
        ended: Moment::NEVER_CAME,
        longest_stall: Picos::ZERO,
        busy: Picos::ZERO,
        beside_prefill: Picos::ZERO,
        replica: 0,
        generated: 0,
        gaps_above: 0,
        cached_tokens: 0,
        rest: 0,
        is_in_fleet: false,
        fate: Fate::Unfinished,
        stalled_by_preemption: false,
    };
}

impl Default for Rows {
    fn default() -> Self {
        Self::unseen(0)
    }
}

impl Rows {
    /// Rows of `count` attempts that nobody has seen yet.
    pub fn unseen(count: usize) -> Self {
        Self { seen: Vec::with_capacity(count), count, rare: vec![Rare::NOTHING] }
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.count
    }

    /// One more that nobody has seen yet. Returns its number.
    pub fn push_unseen(&mut self) -> u32 {
        self.count += 1;
        u32::try_from(self.count - 1).expect("attempts are bounded far below 2^32")
    }

    /// The first `count` of them stay.
    pub fn truncate(&mut self, count: usize) {
        self.seen.truncate(count);
        self.count = count;
    }

    /// The slot in which an attempt is while it is in the fleet.
    #[inline]
    pub fn slot(&self, id: u32) -> Option<u32> {
        let row = self.seen.get(id as usize)?;
        row.is_in_fleet.then_some(row.rest)
    }

    /// An attempt is in the fleet, and all of it in a slot.
    #[inline]
    pub fn enter(&mut self, id: u32, slot: u32) {
        let row = self.row_mut(id);
        (row.is_in_fleet, row.rest) = (true, slot);
    }

    /// What has happened to an attempt that is not in the fleet.
    pub fn get(&self, id: u32) -> RequestStamps {
        self.unpack(self.row(id as usize))
    }

    fn row(&self, index: usize) -> &Row {
        self.seen.get(index).unwrap_or(&Row::UNSEEN)
    }

    #[inline]
    fn row_mut(&mut self, id: u32) -> &mut Row {
        let index = id as usize;
        if index >= self.seen.len() {
            self.seen.resize(index + 1, Row::UNSEEN);
        }
        &mut self.seen[index]
    }

    /// This is what happened to an attempt that is not in the fleet any more.
    pub fn set(&mut self, id: u32, stamps: &RequestStamps) {
        let rare = Rare::of(stamps);
        let rest = if rare == Rare::NOTHING {
            0
        } else {
            self.rare.push(rare);
            u32::try_from(self.rare.len() - 1).expect("one per change of a row")
        };
        *self.row_mut(id) = Row {
            queued: stamps.queued.into(),
            scheduled: stamps.scheduled.into(),
            first_token: stamps.first_token.into(),
            ended: stamps.ended.into(),
            longest_stall: stamps.longest_stall,
            busy: stamps.busy,
            beside_prefill: stamps.stream.beside_prefill,
            replica: stamps.replica,
            generated: stamps.generated,
            gaps_above: stamps.gaps_above,
            cached_tokens: stamps.cached_tokens,
            rest,
            is_in_fleet: false,
            fate: stamps.fate,
            stalled_by_preemption: stamps.stream.stalled_by_preemption,
        };
    }

    /// The same rows in another order.
    #[must_use]
    pub fn in_order(self, order: &[u32]) -> Self {
        let seen: Vec<Row> = order.iter().map(|id| *self.row(*id as usize)).collect();
        Self { count: seen.len(), seen, rare: self.rare }
    }

    /// What has happened to each, in order.
    pub fn iter(&self) -> impl Iterator<Item = RequestStamps> {
        (0..self.count).map(|index| self.unpack(self.row(index)))
    }

    /// The same, and the rows are not needed any more.
    pub fn into_iter(self) -> impl Iterator<Item = RequestStamps> {
        (0..self.count).map(move |index| self.unpack(self.row(index)))
    }

    fn unpack(&self, row: &Row) -> RequestStamps {
        let rare = &self.rare[row.rest as usize];
        RequestStamps {
            fate: row.fate,
            replica: row.replica,
            held: rare.held,
            queued: row.queued.get(),
            scheduled: row.scheduled.get(),
            first_token: row.first_token.get(),
            first_visible: rare.first_visible,
            ended: row.ended.get(),
            generated: row.generated,
            stream_interval: rare.stream_interval,
            longest_stall: row.longest_stall,
            gaps_above: row.gaps_above,
            attempts: rare.attempts,
            preemptions: rare.preemptions,
            cached_tokens: row.cached_tokens,
            kept_tokens: rare.kept_tokens,
            busy: row.busy,
            recomputed: rare.recomputed,
            retried: rare.retried,
            stream: StreamTime {
                preempted: rare.preempted,
                beside_prefill: row.beside_prefill,
                stalled_by_preemption: row.stalled_by_preemption,
            },
        }
    }
}

impl FromIterator<RequestStamps> for Rows {
    fn from_iter<I: IntoIterator<Item = RequestStamps>>(stamps: I) -> Self {
        let mut rows = Self::default();
        for stamps in stamps {
            let id = rows.push_unseen();
            rows.set(id, &stamps);
        }
        rows
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_takes_no_more_than_eighty_bytes() {
        assert_eq!(size_of::<Row>(), 80);
    }

    /// Every field other than that of [`RequestStamps::UNSEEN`] and of every other field.
    fn everything() -> RequestStamps {
        RequestStamps {
            fate: Fate::TimedOut,
            replica: 1,
            held: Picos(2),
            queued: Some(Picos(3)),
            scheduled: Some(Picos(4)),
            first_token: Some(Picos(0)),
            first_visible: Some(Picos(6)),
            ended: Some(Picos(7)),
            generated: 8,
            stream_interval: 20,
            longest_stall: Picos(9),
            gaps_above: 10,
            attempts: 11,
            preemptions: 12,
            cached_tokens: 13,
            kept_tokens: 14,
            busy: Picos(15),
            recomputed: Picos(16),
            retried: Picos(17),
            stream: StreamTime {
                preempted: Picos(18),
                beside_prefill: Picos(19),
                stalled_by_preemption: true,
            },
        }
    }

    #[test]
    fn what_is_packed_comes_out_the_same() {
        let usual = RequestStamps {
            held: Picos::ZERO,
            first_visible: None,
            stream_interval: 1,
            attempts: 1,
            preemptions: 0,
            kept_tokens: 0,
            recomputed: Picos::ZERO,
            retried: Picos::ZERO,
            stream: StreamTime { preempted: Picos::ZERO, ..everything().stream },
            ..everything()
        };
        let mut rows = Rows::unseen(3);
        rows.set(0, &everything());
        rows.set(2, &usual);
        assert_eq!(rows.rare.len(), 2, "only one of them has anything rare");
        let all = [everything(), RequestStamps::UNSEEN, usual];
        assert!(rows.iter().eq(all));
        assert_eq!(*Stamps::packed(rows.in_order(&[2, 0])), [usual, everything()]);
    }
}

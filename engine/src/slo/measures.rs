//! What the limits of a contract are compared with: the six quantities of one request, as far as
//! they are known. Simulated requests know all of them; a file may not.

use serde::{Deserialize, Serialize};

use super::{Contract, Fate, GapsSeen, ItlLimit, MissedLimits, RequestStamps, Tpot};
use crate::units::Picos;
use crate::workload::OfferedRequest;

/// The kinds of limits a contract may set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Limit {
    /// From due to first token.
    Ttft,
    /// From due to the first token that is shown.
    Ttfvt,
    /// Average time per output token after the first.
    Tpot,
    /// Longest gap between two stream events.
    Stall,
    /// A percentile of a request's own gaps between stream events.
    Itl,
    /// From due to completion.
    E2e,
}

impl Limit {
    /// All of them, in the order of the waterfall.
    pub const ALL: [Self; 6] =
        [Self::Ttft, Self::Ttfvt, Self::Tpot, Self::Stall, Self::Itl, Self::E2e];

    /// Those on a quantity of which each request has one value, so that requests can be ranked by
    /// it: all but the percentile of gaps, of which only the share above a limit is counted.
    pub const RANKED: [Self; 5] = [Self::Ttft, Self::Ttfvt, Self::Tpot, Self::Stall, Self::E2e];

    /// As operators write it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Ttft => "TTFT",
            Self::Ttfvt => "first visible token",
            Self::Tpot => "TPOT",
            Self::Stall => "longest stall",
            Self::Itl => "ITL percentile",
            Self::E2e => "E2E",
        }
    }
}

/// A quantity of one request, as far as it is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Seen<T> {
    /// It came, with this value.
    At(T),
    /// It never came: beyond every limit.
    Never,
    /// There is no such thing, e.g. TPOT of one token: within every limit.
    NotApplicable,
    /// Nobody wrote it down: no limit on it can be judged.
    NotInFile,
}

impl<T: Copy> Seen<T> {
    /// The value, if it came and is known.
    pub fn value(self) -> Option<T> {
        match self {
            Self::At(value) => Some(value),
            Self::Never | Self::NotApplicable | Self::NotInFile => None,
        }
    }

    fn beyond(self, at: Picos, above: impl FnOnce(T, Picos) -> bool) -> Option<bool> {
        match self {
            Self::At(value) => Some(above(value, at)),
            Self::Never => Some(true),
            Self::NotApplicable | Self::NotInFile => None,
        }
    }

    fn millis(self, of: impl FnOnce(T) -> f64) -> Option<f64> {
        match self {
            Self::At(value) => Some(of(value)),
            Self::Never => Some(f64::INFINITY),
            Self::NotApplicable | Self::NotInFile => None,
        }
    }
}

/// The six quantities that limits are on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Measures {
    /// From due to first token.
    pub ttft: Seen<Picos>,
    /// From due to the first token that is shown; of a request that hides none, the first.
    pub ttfvt: Seen<Picos>,
    /// Average time per output token after the first, as far as the stream got.
    pub tpot: Seen<Tpot>,
    /// Longest gap between two stream events.
    pub stall: Seen<Picos>,
    /// Its gaps between stream events, as far as the stream got.
    pub itl: Seen<GapsSeen>,
    /// From due to completion.
    pub e2e: Seen<Picos>,
}

impl Measures {
    /// Of a simulated request. What was lost never comes; of a request that the end of the run cut
    /// off, what is still to come can come no sooner than then, and may yet be in time: its
    /// quantities are the least that they can still become.
    pub fn of(request: &OfferedRequest, stamps: &RequestStamps) -> Self {
        let still_to_come = match stamps.fate {
            Fate::Unfinished => Seen::At(stamps.ended.map_or(Picos::ZERO, |cut| cut - request.due)),
            _ => Seen::Never,
        };
        let or_to_come = |seen: Option<Picos>| seen.map_or(still_to_come, Seen::At);
        Self {
            ttft: or_to_come(super::ttft(request, stamps)),
            ttfvt: if request.shows_nothing() {
                Seen::Never // whatever is still to come
            } else {
                or_to_come(super::ttfvt(request, stamps))
            },
            tpot: streamed_pace(request, stamps).map_or(Seen::NotApplicable, Seen::At),
            stall: Seen::At(stamps.longest_stall),
            itl: streamed_gaps(request, stamps).map_or(Seen::NotApplicable, Seen::At),
            e2e: or_to_come(super::e2e(request, stamps)),
        }
    }

    /// The same as a percentile over offered requests ranks it: only what a request really got
    /// counts, and an answer that did not come to its end has no TPOT, stall or E2E.
    pub fn to_rank(request: &OfferedRequest, stamps: &RequestStamps) -> Self {
        let came = |seen: Option<Picos>| seen.map_or(Seen::Never, Seen::At);
        let whole = stamps.fate == Fate::Completed;
        let streams = request.output_tokens > 1;
        let of_stream = |seen| if streams { seen } else { Seen::NotApplicable };
        Self {
            ttft: came(super::ttft(request, stamps)),
            ttfvt: came(super::ttfvt(request, stamps)),
            tpot: match super::tpot(stamps) {
                Some(tpot) => Seen::At(tpot),
                None if streams => Seen::Never,
                None => Seen::NotApplicable,
            },
            stall: of_stream(came(whole.then_some(stamps.longest_stall))),
            itl: match streamed_gaps(request, stamps).filter(|_| whole) {
                Some(gaps) => Seen::At(gaps),
                None if streams => Seen::Never,
                None => Seen::NotApplicable,
            },
            e2e: came(super::e2e(request, stamps)),
        }
    }

    /// Whether this quantity is above `at`; `None` where there is none or nobody knows, and of the
    /// percentile of gaps, which takes more than a moment: see [`Measures::itl_beyond`].
    pub fn beyond(&self, limit: Limit, at: Picos) -> Option<bool> {
        let later = |value: Picos, limit: Picos| value > limit;
        match limit {
            Limit::Ttft => self.ttft.beyond(at, later),
            Limit::Ttfvt => self.ttfvt.beyond(at, later),
            Limit::Tpot => self.tpot.beyond(at, Tpot::exceeds),
            Limit::Stall => self.stall.beyond(at, later),
            Limit::Itl => None,
            Limit::E2e => self.e2e.beyond(at, later),
        }
    }

    /// Whether the percentile of gaps is above its limit; `None` where there are no gaps or nobody
    /// knows them.
    pub fn itl_beyond(&self, limit: ItlLimit) -> Option<bool> {
        self.itl.beyond(limit.at, |gaps, _| gaps.exceed(limit))
    }

    /// This quantity in milliseconds, `+∞` where it never came; `None` where there is none or
    /// nobody knows.
    pub fn millis(&self, limit: Limit) -> Option<f64> {
        match limit {
            Limit::Ttft => self.ttft.millis(Picos::as_millis),
            Limit::Ttfvt => self.ttfvt.millis(Picos::as_millis),
            Limit::Tpot => self.tpot.millis(Tpot::as_millis),
            Limit::Stall => self.stall.millis(Picos::as_millis),
            Limit::Itl => None,
            Limit::E2e => self.e2e.millis(Picos::as_millis),
        }
    }

    /// Which limits of `contract` they miss. Limits are inclusive.
    pub fn missed(&self, contract: &Contract) -> MissedLimits {
        let misses = |kind| {
            let limit = contract.limit(kind);
            limit.is_some_and(|limit| self.beyond(kind, limit) == Some(true))
        };
        MissedLimits {
            ttft: misses(Limit::Ttft),
            ttfvt: misses(Limit::Ttfvt),
            tpot: misses(Limit::Tpot),
            stall: misses(Limit::Stall),
            itl: contract.itl.is_some_and(|limit| self.itl_beyond(limit) == Some(true)),
            e2e: misses(Limit::E2e),
        }
    }

    /// Whether a limit of this kind can be judged.
    pub fn knows(&self, limit: Limit) -> bool {
        match limit {
            Limit::Ttft => self.ttft != Seen::NotInFile,
            Limit::Ttfvt => self.ttfvt != Seen::NotInFile,
            Limit::Tpot => self.tpot != Seen::NotInFile,
            Limit::Stall => self.stall != Seen::NotInFile,
            Limit::Itl => self.itl != Seen::NotInFile,
            Limit::E2e => self.e2e != Seen::NotInFile,
        }
    }

    /// The smallest limit of this kind that would not be missed; `None` where no limit would do,
    /// where any would, and where it is not known, as of the percentile of counted gaps.
    pub fn least_limit(&self, limit: Limit) -> Option<Picos> {
        match limit {
            Limit::Ttft => self.ttft.value(),
            Limit::Ttfvt => self.ttfvt.value(),
            Limit::Tpot => self.tpot.value().map(Tpot::least_limit),
            Limit::Stall => self.stall.value(),
            Limit::Itl => None,
            Limit::E2e => self.e2e.value(),
        }
    }
}

/// The pace at which a stream went, as far as it got: all of it when completed; of one cut off by
/// the end of the run the best that all its tokens can still reach; of one that broke off, over
/// what it had streamed.
fn streamed_pace(request: &OfferedRequest, stamps: &RequestStamps) -> Option<Tpot> {
    let tokens = match stamps.fate {
        Fate::Unfinished => request.output_tokens,
        _ => stamps.generated,
    };
    let gaps = tokens.checked_sub(1).filter(|gaps| *gaps > 0)?;
    Some(Tpot { span: stamps.ended? - stamps.first_token?, gaps })
}

/// The gaps of a stream as far as it got. Of one cut off by the end of the run all its gaps, those
/// to come within the limit: the best that can still become of it.
fn streamed_gaps(request: &OfferedRequest, stamps: &RequestStamps) -> Option<GapsSeen> {
    let tokens = match stamps.fate {
        Fate::Unfinished => request.output_tokens,
        _ => stamps.generated,
    };
    let gaps = Some(stamps.event_gaps(tokens, request.output_tokens)).filter(|gaps| *gaps > 0)?;
    Some(GapsSeen::Counted { gaps, above: stamps.gaps_above })
}

#[cfg(test)]
mod tests {
    use super::super::GapPercentile;
    use super::*;

    #[test]
    fn what_nobody_wrote_down_misses_no_limit_and_what_never_came_misses_every_limit() {
        let contract = Contract {
            ttft: Some(Picos(10)),
            ttfvt: Some(Picos(12)),
            tpot: Some(Picos(1)),
            longest_stall: Some(Picos(5)),
            itl: Some(ItlLimit { percentile: GapPercentile::P95, at: Picos(2) }),
            e2e: Some(Picos(100)),
            ..Contract::default()
        };
        let unknown = Measures {
            ttft: Seen::NotInFile,
            ttfvt: Seen::NotInFile,
            tpot: Seen::NotInFile,
            stall: Seen::NotInFile,
            itl: Seen::NotInFile,
            e2e: Seen::NotInFile,
        };
        assert!(!unknown.missed(&contract).any());
        assert!(Limit::ALL.iter().all(|limit| !unknown.knows(*limit)));
        let never = Measures { ttft: Seen::Never, e2e: Seen::Never, ..unknown };
        let missed: Vec<Limit> = never.missed(&contract).limits().collect();
        assert_eq!(missed, [Limit::Ttft, Limit::E2e]);
        assert!(!never.missed(&Contract::default()).any(), "without a limit nothing is missed");
    }

    #[test]
    fn the_least_limit_is_met_and_a_picosecond_less_is_not() {
        let tpot = Seen::At(Tpot { span: Picos(10), gaps: 3 });
        let measures = Measures {
            ttft: Seen::At(Picos(7)),
            ttfvt: Seen::At(Picos(8)),
            tpot,
            stall: Seen::At(Picos(4)),
            itl: Seen::NotApplicable,
            e2e: Seen::Never,
        };
        for limit in [Limit::Ttft, Limit::Ttfvt, Limit::Tpot, Limit::Stall] {
            let least = measures.least_limit(limit).expect("a value");
            let under = |at: Picos| {
                let mut contract = Contract::default();
                match limit {
                    Limit::Ttft => contract.ttft = Some(at),
                    Limit::Ttfvt => contract.ttfvt = Some(at),
                    Limit::Tpot => contract.tpot = Some(at),
                    Limit::Stall => contract.longest_stall = Some(at),
                    Limit::E2e => contract.e2e = Some(at),
                    Limit::Itl => unreachable!("no single value"),
                }
                measures.missed(&contract).any()
            };
            assert!(!under(least) && under(Picos(least.0 - 1)), "{limit:?}");
        }
        assert_eq!(measures.least_limit(Limit::E2e), None, "no limit would do");
    }
}

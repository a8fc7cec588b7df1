//! The total order of events.

use crate::units::Picos;

/// What happens. At equal times arrivals come first, so that a step that starts at the same moment
/// sees all of them; clocks run out last, so that a token in the last moment still counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum EventKind {
    /// A request reaches the router.
    Arrival,
    /// A replica finishes what it planned, or wakes up, and starts what comes next.
    Boundary,
    /// A request has waited in a queue as long as any may.
    QueueAge,
    /// A user has waited long enough for a first token.
    GiveUp,
    /// A user has waited long enough for the next token.
    Stall,
    /// A client or gateway has waited long enough for all of it.
    TimeOut,
    /// A replica has started.
    Ready,
    /// A replica fails by chance.
    Fail,
    /// A replica fails at a given moment.
    Crash,
    /// An autoscaler looks.
    Decide,
    /// A decision about the number of replicas has come through.
    Scale,
}

impl EventKind {
    /// Whether it is the fleet's own: it goes on when nobody asks any more.
    pub fn is_of_the_fleet(self) -> bool {
        self >= Self::Ready
    }
}

/// Something that happens at a moment; the derived order (time, kind, index) is total.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Event {
    /// When.
    pub at: Picos,
    /// What.
    pub kind: EventKind,
    /// To whom: the index of a request, of a replica, of a pool or of a failure.
    pub index: u32,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_decides_first_then_kind_then_index() {
        let event = |at, kind, index| Event { at: Picos(at), kind, index };
        let ordered = [
            event(1, EventKind::TimeOut, 9),
            event(2, EventKind::Arrival, 3),
            event(2, EventKind::Arrival, 4),
            event(2, EventKind::Boundary, 0),
            event(2, EventKind::QueueAge, 5),
            event(2, EventKind::GiveUp, 0),
            event(2, EventKind::Stall, 7),
            event(2, EventKind::TimeOut, 1),
            event(3, EventKind::Arrival, 0),
        ];
        assert!(ordered.is_sorted());
    }
}

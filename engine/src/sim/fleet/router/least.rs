//! To where there is least to do: by requests, or by the memory they hold.

use super::{Caller, Policy, View};

/// To the replica with the fewest requests; the search starts one further each time, so that ties
/// rotate.
#[derive(Debug, Default)]
pub struct LeastOutstanding {
    turn: Turn,
}

impl Policy for LeastOutstanding {
    fn choose(&mut self, _caller: &Caller, view: &View) -> u32 {
        view.least_outstanding(self.turn.next(view))
    }
}

/// To the replica that holds the fewest KV blocks now, of equal ones to that with the fewest
/// requests: those that have just arrived hold none yet.
#[derive(Debug, Default)]
pub struct LeastKv {
    turn: Turn,
}

impl Policy for LeastKv {
    fn choose(&mut self, _caller: &Caller, view: &View) -> u32 {
        let start = self.turn.next(view);
        view.first_least(start, |replica| (view.kv_tokens(replica), view.outstanding(replica)))
    }
}

/// Where a search begins.
#[derive(Debug, Default)]
struct Turn(u32);

impl Turn {
    /// This time's start; the next one is one further, and the first again after the last replica.
    fn next(&mut self, view: &View) -> u32 {
        let last = view.open().last().copied().unwrap_or_default();
        let start = if self.0 > last { 0 } else { self.0 };
        self.0 = start + 1;
        start
    }
}

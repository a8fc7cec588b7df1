//! To each replica in turn.

use super::{Caller, Policy, View};

/// The next open replica after the one that was chosen last.
#[derive(Debug, Default)]
pub struct RoundRobin {
    next: u32,
}

impl Policy for RoundRobin {
    fn choose(&mut self, _caller: &Caller, view: &View) -> u32 {
        let chosen = view.first_least(self.next, |_| ());
        self.next = chosen + 1;
        chosen
    }
}

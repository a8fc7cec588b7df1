//! What was handed to the reader: if it dies over a file, the next one gets the others again.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use super::FileId;

/// Sources of files by number; `S` is whatever they can be read from again.
#[derive(Debug)]
pub struct Ledger<S> {
    sources: BTreeMap<FileId, S>,
    /// Handed over and not answered, oldest first: the reader takes one at a time.
    asked: VecDeque<FileId>,
    /// What the present reader has on its shelf.
    held: BTreeSet<FileId>,
}

impl<S> Default for Ledger<S> {
    fn default() -> Self {
        Self { sources: BTreeMap::new(), asked: VecDeque::new(), held: BTreeSet::new() }
    }
}

impl<S: Clone> Ledger<S> {
    /// A file is handed over.
    pub fn ask(&mut self, id: FileId, source: S) {
        self.sources.insert(id, source);
        self.asked.push_back(id);
    }

    /// The reader has dealt with it.
    pub fn answered(&mut self, id: FileId) {
        self.asked.retain(|asked| *asked != id);
        self.held.insert(id);
    }

    /// Nobody will ask for it again. True if the reader may be busy with it.
    pub fn forget(&mut self, id: FileId) -> bool {
        let unanswered = self.asked.contains(&id);
        self.sources.remove(&id);
        self.asked.retain(|asked| *asked != id);
        self.held.remove(&id);
        unanswered
    }

    /// The source of a file that the present reader does not hold: to be handed over first.
    pub fn missing(&self, id: FileId) -> Option<S> {
        if self.held.contains(&id) || self.asked.contains(&id) {
            return None;
        }
        self.sources.get(&id).cloned()
    }

    /// The reader died. The file it died over, which is not tried again, and what the next reader
    /// gets at once.
    pub fn died(&mut self) -> (Option<FileId>, Vec<(FileId, S)>) {
        let culprit = self.asked.front().copied();
        if let Some(id) = culprit {
            self.forget(id);
        }
        (culprit, self.replaced())
    }

    /// The reader was replaced on purpose: what the next one gets at once.
    pub fn replaced(&mut self) -> Vec<(FileId, S)> {
        self.held.clear();
        let again = self.asked.iter().filter_map(|id| Some((*id, self.sources.get(id)?.clone())));
        again.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(sources: &[(FileId, &'static str)]) -> Ledger<&'static str> {
        let mut ledger = Ledger::default();
        for (id, source) in sources {
            ledger.ask(*id, *source);
        }
        ledger
    }

    #[test]
    fn the_oldest_unanswered_file_is_to_blame_and_the_others_are_read_again() {
        let mut ledger = of(&[(1, "a"), (2, "b"), (3, "c"), (4, "d")]);
        ledger.answered(1);
        assert_eq!(ledger.died(), (Some(2), vec![(3, "c"), (4, "d")]));
        assert_eq!(ledger.died(), (Some(3), vec![(4, "d")]), "one file a death: no endless loop");
        assert_eq!(ledger.missing(2), None, "what killed a reader is not handed over again");
        assert_eq!(ledger.missing(1), Some("a"), "what the dead one held is, when it is wanted");
    }

    #[test]
    fn a_death_without_a_file_blames_none() {
        let mut ledger = of(&[(1, "a")]);
        ledger.answered(1);
        assert_eq!(ledger.missing(1), None);
        assert_eq!(ledger.died(), (None, Vec::new()));
        assert_eq!(ledger.missing(1), Some("a"));
        ledger.ask(1, "a");
        assert_eq!(ledger.missing(1), None, "it is on its way");
    }

    #[test]
    fn a_forgotten_file_is_never_handed_over_again() {
        let mut ledger = of(&[(1, "a"), (2, "b")]);
        assert!(ledger.forget(1), "the reader may be at it");
        ledger.answered(2);
        assert!(!ledger.forget(2));
        assert_eq!((ledger.replaced(), ledger.missing(1), ledger.missing(2)), (vec![], None, None));
    }
}

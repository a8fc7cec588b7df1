//! "Of 100 users": every cell one user, by largest remainder.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use goodput_engine::slo::Outcome;

use super::words;
use crate::charts::Look;
use crate::format::apportion;

/// Users with the same outcome.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Group {
    /// How their cells look.
    pub look: Look,
    /// How many of a hundred.
    pub users: u64,
    /// What happened to them.
    pub words: &'static str,
}

/// A hundred users, good ones first, then by size; nobody where nothing was offered.
pub fn of_hundred(outcomes: &BTreeMap<Outcome, u64>) -> Vec<Group> {
    let counts: Vec<(Outcome, u64)> = outcomes.iter().map(|(o, n)| (*o, *n)).collect();
    let weights: Vec<u64> = counts.iter().map(|(_, n)| *n).collect();
    let mut groups: Vec<(Outcome, u64)> =
        counts.iter().zip(apportion(&weights, 100)).map(|((o, _), users)| (*o, users)).collect();
    groups.retain(|(_, users)| *users > 0);
    groups.sort_by_key(|(o, users)| (*o != Outcome::Good, Reverse(*users), *o));
    groups
        .into_iter()
        .map(|(o, users)| Group { look: Look::of(o), users, words: words::users(o) })
        .collect()
}

/// The groups in one sentence, for those who do not see the cells.
pub fn sentence(groups: &[Group]) -> String {
    let parts: Vec<String> = groups.iter().map(|g| format!("{} {}", g.users, g.words)).collect();
    format!("Of 100 users: {}", parts.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hundred_users_are_always_a_hundred() {
        let outcomes = BTreeMap::from([
            (Outcome::Good, 31_120),
            (Outcome::LateFirstToken, 13_585),
            (Outcome::LateAndSlow, 11_490),
            (Outcome::CancelledBeforeFirst, 8_153),
            (Outcome::Rejected, 3_118),
            (Outcome::LowQuality, 1_024),
            (Outcome::Error, 564),
            (Outcome::Stalled, 212),
            (Outcome::SlowTokens, 49),
        ]);
        let groups = of_hundred(&outcomes);
        assert_eq!(groups.iter().map(|g| g.users).sum::<u64>(), 100);
        assert_eq!(
            sentence(&groups),
            "Of 100 users: 45 good, 20 late first token, 17 late and slow, 12 gave up waiting, \
             4 rejected, 1 error, 1 bad answer"
        );
        assert!(of_hundred(&BTreeMap::new()).is_empty());
    }
}

//! Names of outcomes, origins and constraints, as the page spells them.

use goodput_engine::slo::Outcome;
use goodput_engine::step_time::Origin;

use crate::charts::Look;

/// An outcome at the head of a row.
pub fn outcome(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Rejected => "Rejected",
        Outcome::TooLong => "Too long",
        Outcome::Error => "Error",
        Outcome::TimedOut => "Timed out",
        Outcome::CancelledBeforeFirst => "Gave up waiting",
        Outcome::CancelledMidStream => "Left mid-stream",
        Outcome::LateFirstToken => "Late first token",
        Outcome::LateAndSlow => "Late and slow",
        Outcome::Stalled => "Stalled",
        Outcome::SlowTokens => "Slow tokens",
        Outcome::LateCompletion => "Late completion",
        Outcome::LowQuality => "Low quality",
        Outcome::Unfinished => "Unfinished",
        Outcome::Good => "Good",
    }
}

/// What happened to so many of a hundred users: "20 wait too long".
pub fn users(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Rejected => "rejected",
        Outcome::TooLong => "too long to serve",
        Outcome::Error => "error",
        Outcome::TimedOut => "timed out",
        Outcome::CancelledBeforeFirst => "gave up waiting",
        Outcome::CancelledMidStream => "left mid-stream",
        Outcome::LateFirstToken => "late first token",
        Outcome::LateAndSlow => "late and slow",
        Outcome::Stalled => "stuttered",
        Outcome::SlowTokens => "slow tokens",
        Outcome::LateCompletion => "finished late",
        Outcome::LowQuality => "bad answer",
        Outcome::Unfinished => "undecided",
        Outcome::Good => "good",
    }
}

/// A line of the cost books: an outcome, or what bought none.
pub fn cost_line(line: &str) -> (String, Option<Look>) {
    let known = Outcome::ALL.into_iter().find(|o| snake_case(*o).as_deref() == Some(line));
    match (known, line) {
        (Some(o), _) => (outcome(o).to_owned(), Some(Look::of(o))),
        (None, "recomputed") => ("Recomputed tokens".to_owned(), None),
        (None, "start_up") => ("Replicas starting".to_owned(), None),
        (None, "idle") => ("Idle".to_owned(), None),
        (None, other) => (sentence_case(other), None),
    }
}

/// The name that reports give an outcome.
fn snake_case(outcome: Outcome) -> Option<String> {
    serde_json::to_value(outcome).ok()?.as_str().map(str::to_owned)
}

/// `start_up` → `Start up`.
fn sentence_case(name: &str) -> String {
    clause(&name.replace('_', " "))
}

/// A clause as it begins a line; names of options and files stay as they are spelled.
pub fn clause(text: &str) -> String {
    let first_word = text.split(' ').next().unwrap_or_default();
    // `max_num_seqs`, `run.json`, `a/b`, but not `first:` or `last.`
    let inner = first_word.trim_end_matches([':', ',', ';', '.', ')']);
    if inner.contains(['_', '.', '/', '=']) {
        return text.to_owned();
    }
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// Where a number comes from: the filled shapes are measured or fitted, the hollow ones are not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tag {
    /// Its shape.
    pub shape: TagShape,
    /// Its word.
    pub text: String,
}

/// Shapes of origin tags.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TagShape {
    Disc,
    Diamond,
    Triangle,
    Square,
    Ring,
}

impl Tag {
    /// The tag of a step-time source.
    pub fn origin(origin: Origin) -> Self {
        let shape = match origin {
            Origin::Measured => TagShape::Disc,
            Origin::Library => TagShape::Diamond,
            Origin::Physics => TagShape::Triangle,
            Origin::Datasheet => TagShape::Square,
            Origin::Declared => TagShape::Ring,
        };
        Self { shape, text: origin.label().to_owned() }
    }

    /// Something that somebody assumed or declared.
    pub fn assumed(text: impl Into<String>) -> Self {
        Self { shape: TagShape::Ring, text: text.into() }
    }

    /// Something that somebody measured.
    pub fn measured(text: impl Into<String>) -> Self {
        Self { shape: TagShape::Disc, text: text.into() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_keep_their_spelling_at_the_start_of_a_line() {
        for (text, line) in [
            ("rows are missing", "Rows are missing"),
            ("max_num_seqs × 1.25", "max_num_seqs × 1.25"),
            ("run.json holds nothing", "run.json holds nothing"),
            ("results/a is empty", "results/a is empty"),
            ("empty: nothing to read", "Empty: nothing to read"),
        ] {
            assert_eq!(clause(text), line);
        }
    }

    #[test]
    fn cost_lines_take_the_look_of_their_outcome() {
        assert_eq!(
            cost_line("late_first_token"),
            ("Late first token".to_owned(), Some(Look::Late))
        );
        assert_eq!(cost_line("idle"), ("Idle".to_owned(), None));
        assert_eq!(cost_line("start_up"), ("Replicas starting".to_owned(), None));
    }
}

//! Suggestions for an id that does not exist.

use crate::problem::Problem;

/// The most suggestions given.
const MOST: usize = 3;

/// An error that names the closest ids. `names` pairs what a user may write with the id meant.
pub(super) fn unknown<'a>(
    kind: &str,
    id: &str,
    names: impl Iterator<Item = (&'a str, &'a str)>,
    verb: &str,
) -> Problem {
    let wanted = plain(id);
    let mut ranked: Vec<(usize, &str)> =
        names.map(|(name, id)| (distance(&wanted, &plain(name)), id)).collect();
    ranked.sort_unstable();
    let mut suggestions: Vec<&str> = Vec::new();
    for (distance, id) in ranked {
        let near = distance <= 2 + wanted.chars().count() / 3;
        if near && suggestions.len() < MOST && !suggestions.contains(&id) {
            suggestions.push(id);
        }
    }
    let shown: String = id.chars().take(80).collect();
    let listing = format!("`goodput catalog {verb}` lists all; or enter it by numbers");
    let hint = match suggestions.as_slice() {
        [] => listing,
        near => format!("did you mean {}? {listing}", near.join(" or ")),
    };
    Problem::error("", format!("no {kind} \"{shown}\" is in the catalogue"), hint)
}

/// Letters and digits only, in lower case, so that `llama3.1 8b` is near `Llama-3.1-8B`; the
/// part after the last `/` of a repository name.
fn plain(name: &str) -> String {
    let last = name.rsplit('/').next().unwrap_or(name);
    let kept = last.chars().filter(|c| c.is_alphanumeric());
    kept.flat_map(char::to_lowercase).take(64).collect()
}

/// Edits (insert, remove, replace) between two words; what the shorter one leaves out at the end
/// counts a third, so that a beginning finds its whole.
fn distance(a: &str, b: &str) -> usize {
    match b.strip_prefix(a) {
        Some(rest) if !a.is_empty() => rest.chars().count().div_ceil(3).min(2),
        _ => strsim::levenshtein(a, b),
    }
}

//! How many inputs differ from the baseline.

use goodput_engine::scenario::doc::ScenarioDoc;
use serde_json::Value;

/// Arrays longer than this count as one input: a trace, pasted samples.
const LONG: usize = 64;

/// Inputs that differ; the name is none.
pub fn count(before: &ScenarioDoc, now: &ScenarioDoc) -> usize {
    // By way of text, as documents are written everywhere: `to_value` would compile it all again.
    let parts = |doc: &ScenarioDoc| {
        let text = serde_json::to_string(&(&doc.workload, &doc.fleet, &doc.targets))?;
        serde_json::from_str::<Value>(&text)
    };
    match (parts(before), parts(now)) {
        (Ok(before), Ok(now)) => differences(&before, &now),
        _ => 0,
    }
}

/// `1 edit`, `3 edits`.
pub fn words(n: usize) -> String {
    crate::format::plural(n as u64, "edit", "edits")
}

fn differences(before: &Value, now: &Value) -> usize {
    match (before, now) {
        (Value::Object(a), Value::Object(b)) => {
            let both = a.iter().map(|(key, value)| match b.get(key) {
                Some(other) => differences(value, other),
                None => 1,
            });
            both.sum::<usize>() + b.keys().filter(|key| !a.contains_key(*key)).count()
        }
        (Value::Array(a), Value::Array(b)) if a.len().max(b.len()) <= LONG => {
            let pairs = a.iter().zip(b).map(|(x, y)| differences(x, y));
            pairs.sum::<usize>() + a.len().abs_diff(b.len())
        }
        (a, b) => usize::from(a != b),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn each_leaf_that_differs_counts_once() {
        let before = json!({"a": 1, "b": {"c": [1, 2]}, "d": 5});
        assert_eq!(differences(&before, &before), 0);
        assert_eq!(differences(&before, &json!({"a": 2, "b": {"c": [1, 3, 4]}, "d": 5})), 3);
        assert_eq!(differences(&before, &json!({"a": 1, "b": {"c": [1, 2]}, "e": 5})), 2);
        let long: Vec<u32> = (0..100).collect();
        let other: Vec<u32> = (100..200).collect();
        assert_eq!(differences(&json!(long), &json!(other)), 1);
    }
}

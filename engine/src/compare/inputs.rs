//! What two documents say differently.

use serde::Serialize;
use serde_json::Value;

use crate::scenario::doc::ScenarioDoc;

/// One input that differs.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct InputChange {
    /// Where: members by their key, named rows of a list by their name, others by their index.
    pub path: String,
    /// What the first says; absent where it leaves the default.
    pub a: Option<Value>,
    /// What the second says; absent where it leaves the default.
    pub b: Option<Value>,
}

/// Every input that differs, in the order of the document.
pub fn inputs(a: &ScenarioDoc, b: &ScenarioDoc) -> Vec<InputChange> {
    let mut changes = Vec::new();
    // A document is maps with text for keys and numbers that are finite: it always has a value.
    let value = |doc: &ScenarioDoc| serde_json::to_value(doc).unwrap_or(Value::Null);
    walk(String::new(), Some(&value(a)), Some(&value(b)), &mut changes);
    changes
}

fn walk(path: String, a: Option<&Value>, b: Option<&Value>, changes: &mut Vec<InputChange>) {
    match (a, b) {
        (a, b) if a == b => {}
        (Some(Value::Object(of_a)), Some(Value::Object(of_b))) if same_kind(of_a, of_b) => {
            let added = of_b.keys().filter(|key| !of_a.contains_key(*key));
            for key in of_a.keys().chain(added) {
                let dot = if path.is_empty() { "" } else { "." };
                walk(format!("{path}{dot}{key}"), of_a.get(key), of_b.get(key), changes);
            }
        }
        (Some(Value::Array(of_a)), Some(Value::Array(of_b))) => {
            for row in rows(of_a, of_b) {
                let (label, of_a, of_b) = row;
                walk(format!("{path}[{label}]"), of_a, of_b, changes);
            }
        }
        _ => changes.push(InputChange { path, a: a.cloned(), b: b.cloned() }),
    }
}

/// Members of two kinds of a thing are not the same members: the whole thing is another.
fn same_kind(a: &serde_json::Map<String, Value>, b: &serde_json::Map<String, Value>) -> bool {
    a.get("kind") == b.get("kind")
}

type Row<'a> = (String, Option<&'a Value>, Option<&'a Value>);

/// The rows of two lists beside each other: by name where all have one and none twice, else in
/// order.
fn rows<'a>(a: &'a [Value], b: &'a [Value]) -> Vec<Row<'a>> {
    let (Some(names_a), Some(names_b)) = (names(a), names(b)) else {
        let longer = a.len().max(b.len());
        return (0..longer).map(|at| (at.to_string(), a.get(at), b.get(at))).collect();
    };
    let place = |names: &[&str], name: &str| names.iter().position(|known| *known == name);
    let added = names_b.iter().filter(|name| place(&names_a, name).is_none());
    let all = names_a.iter().chain(added);
    all.map(|name| {
        let of_a = place(&names_a, name).map(|at| &a[at]);
        let of_b = place(&names_b, name).map(|at| &b[at]);
        (format!("\"{name}\""), of_a, of_b)
    })
    .collect()
}

fn names(rows: &[Value]) -> Option<Vec<&str>> {
    let names: Vec<&str> =
        rows.iter().map(|row| row.get("name")?.as_str()).collect::<Option<_>>()?;
    let mut sorted = names.clone();
    sorted.sort_unstable();
    sorted.dedup();
    (sorted.len() == names.len()).then_some(names)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn changed(a: &Value, b: &Value) -> Vec<(String, Option<Value>, Option<Value>)> {
        let mut changes = Vec::new();
        walk(String::new(), Some(a), Some(b), &mut changes);
        changes.into_iter().map(|change| (change.path, change.a, change.b)).collect()
    }

    #[test]
    fn only_what_differs_is_named_and_named_rows_are_found_wherever_they_stand() {
        let a = json!({"seed": 1, "classes": [
            {"name": "chat", "rate": 3}, {"name": "batch", "rate": 1}], "points": [1, 2]});
        let b = json!({"classes": [
            {"name": "batch", "rate": 1}, {"name": "chat", "rate": 4, "priority": 2}],
            "points": [1, 3, 5]});
        assert_eq!(
            changed(&a, &b),
            [
                ("classes[\"chat\"].rate".to_owned(), Some(json!(3)), Some(json!(4))),
                ("classes[\"chat\"].priority".to_owned(), None, Some(json!(2))),
                ("points[1]".to_owned(), Some(json!(2)), Some(json!(3))),
                ("points[2]".to_owned(), None, Some(json!(5))),
                ("seed".to_owned(), Some(json!(1)), None),
            ]
        );
        assert_eq!(changed(&a, &a), []);
    }

    #[test]
    fn another_kind_is_another_thing() {
        let fixed = json!({"arrivals": {"kind": "constant", "rate_rps": 3}});
        let poisson = json!({"arrivals": {"kind": "poisson", "rate_rps": 3}});
        let changes = changed(&fixed, &poisson);
        assert_eq!(changes.len(), 1);
        assert_eq!(changes[0].0, "arrivals");
    }

    #[test]
    fn lists_with_a_name_twice_are_compared_in_order() {
        let a = json!([{"name": "x", "n": 1}, {"name": "x", "n": 2}]);
        let b = json!([{"name": "x", "n": 1}, {"name": "x", "n": 3}]);
        assert_eq!(changed(&a, &b), [("[1].n".to_owned(), Some(json!(2)), Some(json!(3)))]);
    }
}

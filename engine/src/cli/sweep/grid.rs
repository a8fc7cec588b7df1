//! The scenarios of a sweep: a grid around one, or one a line.

use std::collections::BTreeMap;

use goodput_engine::problem::Problem;
use goodput_engine::scenario::doc::{self, ScenarioDoc};
use goodput_engine::scenario::link;
use serde::Deserialize;
use serde_json::Value;

use super::super::input;
use super::super::output::Failure;

/// No sweep has more scenarios: a million lines of results are no longer read by anyone.
const MOST_SCENARIOS: usize = 1_000_000;

/// Everything that a sweep asks.
pub enum Plan {
    /// A scenario with some of its inputs at every combination of values.
    Grid {
        /// The scenario.
        base: Value,
        /// Paths in alphabetical order and their values; the last one changes fastest.
        axes: Vec<(String, Vec<Value>)>,
    },
    /// Scenarios or links, one a line.
    Lines(Vec<String>),
}

/// One scenario of a sweep.
pub struct Entry {
    /// What the grid set.
    pub set: BTreeMap<String, Value>,
    /// The document, or what is wrong with its text.
    pub doc: Result<ScenarioDoc, Vec<Problem>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct GridDoc {
    scenario: Value,
    grid: serde_json::Map<String, Value>,
}

impl Plan {
    /// From a file, or standard input for `-`.
    pub fn read(source: &str) -> Result<Self, Failure> {
        let text = input::text_of_many(source)?;
        let plan = match serde_json::from_str::<GridDoc>(&text) {
            Ok(grid) => Self::grid(grid, source)?,
            Err(why) if looks_like_a_grid(&text) => {
                return Err(Problem::error(source, format!("no grid: {why}"), HINT).into());
            }
            Err(_) => Self::Lines(
                text.lines().filter(|line| !line.trim().is_empty()).map(str::to_owned).collect(),
            ),
        };
        match plan.count() {
            Some(1..=MOST_SCENARIOS) => Ok(plan),
            Some(0) => Err(Problem::error(source, "there is no scenario", HINT).into()),
            _ => {
                let message = format!("more than {MOST_SCENARIOS} scenarios");
                Err(Problem::error(source, message, "fewer values, or fewer axes").into())
            }
        }
    }

    fn grid(grid: GridDoc, source: &str) -> Result<Self, Failure> {
        let base = match &grid.scenario {
            Value::String(link) => {
                let (doc, _) = input::scenario_doc(link)?;
                serde_json::to_value(doc).unwrap_or(Value::Null)
            }
            _ => grid.scenario,
        };
        let mut axes = Vec::new();
        for (path, values) in grid.grid {
            let Value::Array(values) = values else {
                let message = format!("the values of {path} are no list");
                return Err(Problem::error(source, message, HINT).into());
            };
            set(&mut base.clone(), &path, &Value::Null)
                .map_err(|why| Problem::error(source, format!("{path}: {why}"), HINT))?;
            axes.push((path, values));
        }
        Ok(Self::Grid { base, axes })
    }

    fn count(&self) -> Option<usize> {
        match self {
            Self::Grid { axes, .. } => {
                axes.iter().try_fold(1_usize, |count, (_, values)| count.checked_mul(values.len()))
            }
            Self::Lines(lines) => Some(lines.len()),
        }
    }

    /// How many scenarios there are.
    pub fn len(&self) -> usize {
        self.count().unwrap_or(usize::MAX)
    }

    /// The scenario of a number below [`len`](Self::len).
    pub fn entry(&self, number: usize) -> Entry {
        match self {
            Self::Grid { base, axes } => {
                let (mut document, mut chosen, mut rest) = (base.clone(), BTreeMap::new(), number);
                for (path, values) in axes.iter().rev() {
                    let value = &values[rest % values.len()];
                    rest /= values.len();
                    // The path was tried when the grid was read.
                    let _ = set(&mut document, path, value);
                    chosen.insert(path.clone(), value.clone());
                }
                Entry { set: chosen, doc: doc::parse(&document.to_string()) }
            }
            Self::Lines(lines) => Entry { set: BTreeMap::new(), doc: document(&lines[number]) },
        }
    }
}

const HINT: &str = "{\"scenario\": {…}, \"grid\": {\"fleet.pools[0].replicas\": [1, 2]}}, with \
                    paths as problems name them, or one scenario or link a line";

/// A text that means to be a grid, and not scenarios.
fn looks_like_a_grid(text: &str) -> bool {
    let has_grid = |value: &Value| value.get("grid").is_some();
    serde_json::from_str::<Value>(text).is_ok_and(|value| has_grid(&value))
}

fn document(line: &str) -> Result<ScenarioDoc, Vec<Problem>> {
    let line = line.trim();
    if line.starts_with('{') {
        return doc::parse(line);
    }
    link::decode(line).map(|opened| opened.doc).map_err(|why| why.problems())
}

/// Puts `value` at a path such as `workload.classes["chat"].arrivals.rate_rps`.
fn set(document: &mut Value, path: &str, value: &Value) -> Result<(), String> {
    let mut place = document;
    for step in steps(path)? {
        place = match step {
            Step::Key(key) => {
                if place.is_null() {
                    *place = Value::Object(serde_json::Map::new()); // it was at its default
                }
                let members =
                    place.as_object_mut().ok_or_else(|| format!("{key:?} is in no map"))?;
                members.entry(key).or_insert(Value::Null)
            }
            Step::Index(index) => place
                .get_mut(index)
                .ok_or_else(|| format!("there is no row {index}, counted from zero"))?,
            Step::Name(name) => place
                .as_array_mut()
                .and_then(|rows| rows.iter_mut().find(|row| row["name"] == name.as_str()))
                .ok_or_else(|| format!("no row is named {name:?}"))?,
        };
    }
    *place = value.clone();
    Ok(())
}

#[derive(Debug, PartialEq)]
enum Step {
    Key(String),
    Index(usize),
    Name(String),
}

fn steps(path: &str) -> Result<Vec<Step>, String> {
    let mut steps = Vec::new();
    let mut rest = path;
    while !rest.is_empty() {
        if let Some(inner) = rest.strip_prefix('[') {
            let end = inner.find(']').ok_or("a [ without its ]")?;
            let (label, after) = (&inner[..end], &inner[end + 1..]);
            steps.push(match label.strip_prefix('"').and_then(|l| l.strip_suffix('"')) {
                Some(name) => Step::Name(name.to_owned()),
                None => {
                    Step::Index(label.parse().map_err(|why| format!("[{label}] is no row: {why}"))?)
                }
            });
            rest = after;
        } else {
            let key = rest.strip_prefix('.').unwrap_or(rest);
            let end = key.find(['.', '[']).unwrap_or(key.len());
            if end == 0 {
                return Err("a step of the path is empty".to_owned());
            }
            steps.push(Step::Key(key[..end].to_owned()));
            rest = &key[end..];
        }
    }
    if steps.is_empty() { Err("the path is empty".to_owned()) } else { Ok(steps) }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn paths_are_those_that_problems_and_differences_name() {
        let mut document =
            json!({"w": {"classes": [{"name": "a", "n": 1}, {"name": "b.c", "n": 2}]}});
        set(&mut document, "w.classes[0].n", &json!(7)).expect("a place");
        set(&mut document, "w.classes[\"b.c\"].rate.rps", &json!(8)).expect("new members");
        let classes = json!([{"name": "a", "n": 7}, {"name": "b.c", "n": 2, "rate": {"rps": 8}}]);
        assert_eq!(document["w"]["classes"], classes);
        for wrong in [
            "",
            "w..n",
            "w.classes[9].n",
            "w.classes[x]",
            "w.classes[0",
            "w.classes[\"z\"]",
            "w.classes[0].n.m",
        ] {
            assert!(set(&mut document.clone(), wrong, &json!(1)).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_grid_has_every_combination_once_and_the_last_axis_is_the_fastest() {
        let axes = vec![
            ("a".to_owned(), vec![json!(1), json!(2)]),
            ("b".to_owned(), vec![json!(3), json!(4), json!(5)]),
        ];
        let plan = Plan::Grid { base: json!({}), axes };
        let chosen: Vec<Vec<Value>> =
            (0..plan.len()).map(|n| plan.entry(n).set.into_values().collect()).collect();
        assert_eq!(chosen.len(), 6);
        assert_eq!(chosen[1], [json!(1), json!(4)]);
        assert_eq!(chosen[5], [json!(2), json!(5)]);
    }
}

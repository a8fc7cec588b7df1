//! Looks keys up under their several spellings, in the nested text config first.

use serde_json::{Map, Value};

use crate::problem::Problem;

/// Where multi-modal configs keep their language model.
const NESTED: &[&str] = &["text_config", "llm_config", "language_config", "thinker_config"];
/// No width or count is larger.
const LARGEST: f64 = 4_294_967_295.0;

/// A config with what was found wrong and what was assumed.
pub(super) struct Reader<'a> {
    /// Innermost first.
    maps: Vec<&'a Map<String, Value>>,
    problems: Vec<Problem>,
    notes: Vec<String>,
}

impl<'a> Reader<'a> {
    pub(super) fn new(root: &'a Map<String, Value>) -> Self {
        let mut maps = vec![root];
        // A thinker holds a text_config of its own.
        while let Some(inner) =
            NESTED.iter().find_map(|key| maps.last()?.get(*key).and_then(Value::as_object))
        {
            maps.push(inner);
        }
        maps.reverse();
        Self { maps, problems: Vec::new(), notes: Vec::new() }
    }

    pub(super) fn finish(self) -> (Vec<Problem>, Vec<String>) {
        (self.problems, self.notes)
    }

    pub(super) fn problem(
        &mut self,
        key: &str,
        message: impl Into<String>,
        hint: impl Into<String>,
    ) {
        self.problems.push(Problem::error(key, message, hint));
    }

    /// Whether something is already wrong: what follows from it need not be said again.
    pub(super) fn has_problems(&self) -> bool {
        !self.problems.is_empty()
    }

    pub(super) fn note(&mut self, note: impl Into<String>) {
        self.notes.push(note.into());
    }

    /// The value of a key, unless absent or null.
    pub(super) fn value(&self, key: &str) -> Option<&'a Value> {
        self.maps.iter().find_map(|map| map.get(key).filter(|value| !value.is_null()))
    }

    /// Whether a key has a value.
    pub(super) fn has(&self, key: &str) -> bool {
        self.value(key).is_some()
    }

    /// The first of several spellings that has a value: a count.
    pub(super) fn count(&mut self, keys: &[&str]) -> Option<u32> {
        let (key, value) = keys.iter().find_map(|key| Some((*key, self.value(key)?)))?;
        let number = value.as_f64().filter(|n| (0.0..=LARGEST).contains(n) && n.fract() == 0.0);
        if number.is_none() {
            let shown: String = value.to_string().chars().take(40).collect();
            self.problem(key, format!("{shown} is no count"), "a whole number of 0 or more");
        }
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a whole number within u32"
        )]
        number.map(|number| number as u32)
    }

    /// The same, above zero and required.
    pub(super) fn need(&mut self, what: &str, keys: &[&str]) -> u32 {
        let before = self.problems.len();
        match self.count(keys) {
            Some(0) => {
                self.problem(keys[0], format!("the {what} is 0"), "at least 1");
                1
            }
            Some(count) => count,
            None => {
                if self.problems.len() == before {
                    let others = keys[1..].join(", ");
                    let hint = if others.is_empty() {
                        "add the key, or enter the model by numbers".to_owned()
                    } else {
                        format!("also understood: {others}; or enter the model by numbers")
                    };
                    self.problem(keys[0], format!("the config has no {} ({what})", keys[0]), hint);
                }
                1
            }
        }
    }

    /// A true or false.
    pub(super) fn flag(&self, key: &str) -> Option<bool> {
        self.value(key).and_then(Value::as_bool)
    }

    /// A text.
    pub(super) fn text(&self, key: &str) -> Option<&'a str> {
        self.value(key).and_then(Value::as_str)
    }

    /// A list, unless empty.
    pub(super) fn list(&self, key: &str) -> Option<&'a [Value]> {
        self.value(key).and_then(Value::as_array).map(Vec::as_slice).filter(|list| !list.is_empty())
    }

    /// An object.
    pub(super) fn object(&self, key: &str) -> Option<&'a Map<String, Value>> {
        self.value(key).and_then(Value::as_object)
    }

    /// Whether the (text) model type is one of these.
    pub(super) fn model_type_is(&self, types: &[&str]) -> bool {
        self.text("model_type").is_some_and(|name| types.contains(&name))
    }

    /// What to call the model: the repository, else the architecture.
    pub(super) fn model_name(&self) -> String {
        let outer = self.maps.last().copied();
        let architecture = |map: &'a Map<String, Value>| {
            map.get("architectures").and_then(|list| list.get(0)).and_then(Value::as_str)
        };
        let name = self
            .text("_name_or_path")
            .filter(|name| !name.is_empty())
            .or_else(|| outer.and_then(architecture))
            .or_else(|| self.text("model_type"))
            .unwrap_or("pasted model");
        name.chars().take(80).collect()
    }
}

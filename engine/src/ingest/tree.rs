//! A document as a tree, for formats that nest: one shape for JSON and YAML.
//!
//! Texts and keys are borrowed from the file where they stand in it as they are, so a tree costs
//! no copy of prompts and answers, and what no format asks for is never looked at.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};

use super::json::text_number;

/// One value.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Node<'t> {
    Null,
    Bool(bool),
    Number(f64),
    Text(Cow<'t, str>),
    List(Vec<Node<'t>>),
    /// In the order of the file; a key that comes twice is there twice.
    Map(Vec<(Cow<'t, str>, Node<'t>)>),
}

impl<'t> Node<'t> {
    /// The value under a key of a map, the last of several; `null` is no value.
    pub(super) fn get(&self, key: &str) -> Option<&Self> {
        let (_, value) = self.entries().iter().rev().find(|(name, _)| name == key)?;
        (*value != Node::Null).then_some(value)
    }

    /// The value at the end of a path of keys with `/` between them: percentile names hold points.
    pub(super) fn at(&self, path: &str) -> Option<&Self> {
        path.split('/').try_fold(self, |node, key| node.get(key))
    }

    /// The first of several paths that has a value.
    pub(super) fn first(&self, paths: &[&str]) -> Option<&Self> {
        paths.iter().find_map(|path| self.at(path))
    }

    /// The elements of a list; none of anything else.
    pub(super) fn items(&self) -> &[Self] {
        if let Node::List(items) = self { items } else { &[] }
    }

    /// The entries of a map; none of anything else.
    pub(super) fn entries(&self) -> &[(Cow<'t, str>, Self)] {
        if let Node::Map(entries) = self { entries } else { &[] }
    }

    /// As a number: also in quotes, NaN and infinite ones included.
    pub(super) fn number(&self) -> Option<f64> {
        match self {
            Node::Number(value) => Some(*value),
            Node::Text(text) => text_number(text),
            _ => None,
        }
    }

    /// As words: a text that is not blank, or a number as it would be typed.
    pub(super) fn words(&self) -> Option<String> {
        match self {
            Node::Text(text) if !text.trim().is_empty() => Some(text.trim().to_owned()),
            Node::Number(value) if value.is_finite() => Some(value.to_string()),
            _ => None,
        }
    }

    /// A text, as it stands.
    pub(super) fn text(&self) -> Option<&str> {
        if let Node::Text(text) = self { Some(text) } else { None }
    }
}

impl<'de> Deserialize<'de> for Node<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(NodeVisitor)
    }
}

struct NodeVisitor;

impl<'de> Visitor<'de> for NodeVisitor {
    type Value = Node<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Node<'de>, E> {
        Ok(Node::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Node<'de>, E> {
        Ok(Node::Number(value as f64))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Node<'de>, E> {
        Ok(Node::Number(value as f64))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Node<'de>, E> {
        Ok(Node::Number(value))
    }

    fn visit_borrowed_str<E>(self, value: &'de str) -> Result<Node<'de>, E> {
        Ok(Node::Text(Cow::Borrowed(value)))
    }

    fn visit_str<E>(self, value: &str) -> Result<Node<'de>, E> {
        Ok(Node::Text(Cow::Owned(value.to_owned())))
    }

    fn visit_unit<E>(self) -> Result<Node<'de>, E> {
        Ok(Node::Null)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Node<'de>, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = list.next_element()? {
            items.push(item);
        }
        Ok(Node::List(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Node<'de>, A::Error> {
        let mut entries = Vec::new();
        while let Some((Key(key), value)) = map.next_entry()? {
            entries.push((key, value));
        }
        Ok(Node::Map(entries))
    }
}

/// A key, borrowed where it has no escapes. (`Cow` itself always copies in serde.)
struct Key<'t>(Cow<'t, str>);

impl<'de> Deserialize<'de> for Key<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match deserializer.deserialize_str(NodeVisitor)? {
            Node::Text(text) => Ok(Self(text)),
            _ => Err(serde::de::Error::custom("expected a key")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(text: &str) -> Node<'_> {
        serde_json::from_str(text).unwrap()
    }

    #[test]
    fn paths_lead_to_values_and_null_is_none() {
        let node = tree(r#"{"a": {"p99.9": 3, "b": [1, {"c": "x"}]}, "n": null, "a\u0041": 1}"#);
        assert_eq!(node.at("a/p99.9").and_then(Node::number), Some(3.0));
        assert_eq!(node.at("a/b").map(|list| list.items().len()), Some(2));
        assert_eq!(node.first(&["n", "aA"]), Some(&Node::Number(1.0)));
        for absent in ["n", "a/z", "a/b/c", "a/p99.9/x", ""] {
            assert_eq!(node.at(absent), None, "{absent}");
        }
    }

    #[test]
    fn the_last_of_two_equal_keys_wins() {
        assert_eq!(tree(r#"{"a": 1, "a": 2}"#).at("a"), Some(&Node::Number(2.0)));
    }

    #[test]
    fn texts_and_keys_are_borrowed() {
        let Node::Map(entries) = tree(r#"{"key": "a long answer"}"#) else { panic!("a map") };
        assert!(matches!(&entries[0], (Cow::Borrowed(_), Node::Text(Cow::Borrowed(_)))));
    }
}

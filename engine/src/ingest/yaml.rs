//! YAML as a tree: the core schema's scalars, no anchors (no tool writes them, and they can make a
//! small file large), bounded depth.

use std::borrow::Cow;

use saphyr_parser::{Event, Parser, ScalarStyle};

use super::tree::Node;
use super::{MAX_ROWS, Refusal};

/// Deepest nesting read, as in JSON.
const MAX_DEPTH: usize = 128;

/// The first document of a text.
pub(super) fn parse(text: &str) -> Result<Node<'_>, Refusal> {
    let mut open: Vec<Open> = Vec::new();
    let mut events = 0_usize;
    for event in Parser::new_from_str(text) {
        let (event, span) = event.map_err(|error| {
            Refusal::broken(format!("the YAML cannot be read: {error}"), "export the file again")
                .at_line(error.marker().line() as u64)
        })?;
        let line = span.start.line() as u64;
        events += 1;
        if events > 20 * MAX_ROWS {
            return Err(Refusal::too_large(events, "YAML values or more", 20 * MAX_ROWS));
        }
        let done = match event {
            Event::Scalar(text, style, 0, _) => Some(scalar(text, style)),
            Event::SequenceStart(0, _) => {
                open.push(Open::List(Vec::new()));
                None
            }
            Event::MappingStart(0, _) => {
                open.push(Open::Map(Vec::new(), None));
                None
            }
            Event::SequenceEnd | Event::MappingEnd => open.pop().map(Open::close),
            Event::Alias(_)
            | Event::Scalar(..)
            | Event::SequenceStart(..)
            | Event::MappingStart(..) => {
                return Err(Refusal::broken(
                    "the YAML uses anchors, which no benchmark tool writes",
                    "export the file again, or as JSON",
                )
                .at_line(line));
            }
            Event::DocumentEnd | Event::StreamEnd => break,
            Event::StreamStart | Event::DocumentStart(_) | Event::Nothing => None,
        };
        if open.len() > MAX_DEPTH {
            return Err(
                Refusal::broken("the YAML nests too deep", "export the file again").at_line(line)
            );
        }
        let Some(node) = done else { continue };
        match open.last_mut() {
            None => return Ok(node),
            Some(outer) => outer.take(node),
        }
    }
    Err(Refusal::empty("the YAML holds no document"))
}

/// A list or map whose end has not come.
enum Open<'t> {
    List(Vec<Node<'t>>),
    /// With the key whose value comes next.
    Map(Vec<(Cow<'t, str>, Node<'t>)>, Option<Cow<'t, str>>),
}

impl<'t> Open<'t> {
    fn take(&mut self, node: Node<'t>) {
        match self {
            Open::List(items) => items.push(node),
            Open::Map(entries, key) => match key.take() {
                Some(key) => entries.push((key, node)),
                None => *key = Some(as_key(node)),
            },
        }
    }

    fn close(self) -> Node<'t> {
        match self {
            Open::List(items) => Node::List(items),
            Open::Map(entries, _) => Node::Map(entries),
        }
    }
}

/// A key as it would be typed; a list or map as a key is none that is looked for.
fn as_key(node: Node) -> Cow<str> {
    match node {
        Node::Text(text) => text,
        Node::Number(number) => number.to_string().into(),
        Node::Bool(value) => value.to_string().into(),
        Node::Null | Node::List(_) | Node::Map(_) => "".into(),
    }
}

/// Plain scalars by the core schema; quoted ones are text.
fn scalar(text: Cow<str>, style: ScalarStyle) -> Node {
    if style != ScalarStyle::Plain {
        return Node::Text(text);
    }
    match text.as_ref() {
        "" | "~" | "null" | "Null" | "NULL" => Node::Null,
        "true" | "True" | "TRUE" => Node::Bool(true),
        "false" | "False" | "FALSE" => Node::Bool(false),
        ".inf" | ".Inf" | ".INF" | "+.inf" => Node::Number(f64::INFINITY),
        "-.inf" | "-.Inf" | "-.INF" => Node::Number(f64::NEG_INFINITY),
        ".nan" | ".NaN" | ".NAN" => Node::Number(f64::NAN),
        other => {
            let numeric = other.starts_with(|c: char| c.is_ascii_digit() || "+-.".contains(c))
                && other.bytes().all(|b| b.is_ascii_digit() || b"+-.eE".contains(&b));
            match numeric.then(|| other.parse()) {
                Some(Ok(number)) => Node::Number(number),
                _ => Node::Text(text),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ingest::RefusalKind;

    #[test]
    fn scalars_are_what_the_core_schema_says() {
        let text = "---\na: 1.5e3\nb: '2'\nc:\nd: .inf\ne: true\nf: [x, 0.2.1, -3]\n5: deep\n";
        let node = parse(text).unwrap();
        assert_eq!(node.at("a"), Some(&Node::Number(1500.0)));
        assert_eq!(node.at("b"), Some(&Node::Text("2".into())));
        assert_eq!(node.at("c"), None);
        assert_eq!(node.at("d"), Some(&Node::Number(f64::INFINITY)));
        assert_eq!(node.at("e"), Some(&Node::Bool(true)));
        let list = [Node::Text("x".into()), Node::Text("0.2.1".into()), Node::Number(-3.0)];
        assert_eq!(node.at("f").unwrap().items(), list);
        assert_eq!(node.at("5"), Some(&Node::Text("deep".into())));
    }

    #[test]
    fn anchors_depth_and_mistakes_are_refused_with_their_line() {
        let deep = format!("{}1{}", "[".repeat(200), "]".repeat(200));
        for (text, line) in
            [("a: &x 1\nb: *x\n", Some(1)), ("a: 1\nb: *x\n", Some(2)), (&deep, Some(1))]
        {
            let refusal = parse(text).unwrap_err();
            assert_eq!((refusal.kind, refusal.line), (RefusalKind::Broken, line), "{text}");
        }
        assert_eq!(parse("a: [1, 2\nb: 3\n").unwrap_err().kind, RefusalKind::Broken);
        assert_eq!(parse("# nothing\n").unwrap_err().kind, RefusalKind::Empty);
    }
}

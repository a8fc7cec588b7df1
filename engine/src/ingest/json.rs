//! JSON as tools write it: bare `NaN` and `Infinity`, numbers as strings, several objects in one
//! file. The syntax is `serde_json`'s; this adds the leniency and the pieces formats share.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

use super::Refusal;

/// The keys of the first object of a text that may be cut anywhere.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Outline {
    /// Keys of the first object: the top level, or the first element of a top-level list.
    pub keys: Vec<String>,
    /// That object ends within the text.
    pub closed: bool,
}

impl Outline {
    /// Keys kept; no format needs more to be recognised.
    const MOST_KEYS: usize = 1_000;

    /// Scans `text` once, without building anything but the keys.
    pub(super) fn of(text: &[u8]) -> Self {
        let mut outline = Self::default();
        let mut depth = 0_usize;
        let mut object_depth = None;
        let mut at = 0;
        while at < text.len() {
            match text[at] {
                b'"' => {
                    let end = string_end(text, at);
                    if object_depth == Some(depth) && colon_follows(text, end) {
                        outline.push_key(&text[at + 1..end - 1]);
                    }
                    at = end;
                    continue;
                }
                b'{' | b'[' => {
                    depth += 1;
                    if text[at] == b'{' && depth <= 2 && object_depth.is_none() {
                        object_depth = Some(depth);
                    }
                }
                b'}' | b']' => {
                    depth = depth.saturating_sub(1);
                    if depth == 0 || object_depth.is_some_and(|inner| depth < inner) {
                        outline.closed = true;
                        return outline;
                    }
                }
                _ => {}
            }
            at += 1;
        }
        outline
    }

    /// Has this key.
    pub(super) fn has(&self, key: &str) -> bool {
        self.keys.iter().any(|known| known == key)
    }

    fn push_key(&mut self, raw: &[u8]) {
        if let (true, Ok(key)) = (self.keys.len() < Self::MOST_KEYS, std::str::from_utf8(raw)) {
            self.keys.push(key.to_owned());
        }
    }
}

/// One past the closing quote of the string that opens at `open`, or the end of the text.
fn string_end(text: &[u8], open: usize) -> usize {
    let mut at = open + 1;
    while at < text.len() {
        match text[at] {
            b'\\' => at += 2,
            b'"' => return at + 1,
            _ => at += 1,
        }
    }
    text.len()
}

fn colon_follows(text: &[u8], from: usize) -> bool {
    text[from..].iter().find(|byte| !byte.is_ascii_whitespace()) == Some(&b':')
}

/// What Python writes and JSON forbids, and strings of the same length instead.
const TOKENS: [(&[u8], &[u8]); 3] =
    [(b"-Infinity", b"\"-inf\"   "), (b"Infinity", b"\"inf\"   "), (b"NaN", b"\"N\"")];

/// The text with bare `NaN`, `Infinity` and `-Infinity` as strings of the same length, so
/// that lines and columns in messages stay true.
pub(super) fn quote_not_finite(text: &str) -> Cow<'_, str> {
    if !text.contains("NaN") && !text.contains("Infinity") {
        return Cow::Borrowed(text);
    }
    let bytes = text.as_bytes();
    let mut quoted = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let end = match bytes[at] {
            b'"' => string_end(bytes, at),
            b'-' | b'I' | b'N' => {
                if let Some((token, string)) =
                    TOKENS.iter().find(|(token, _)| bytes[at..].starts_with(token))
                {
                    quoted.extend_from_slice(string);
                    at += token.len();
                    continue;
                }
                at + 1
            }
            _ => at + 1,
        };
        quoted.extend_from_slice(&bytes[at..end]);
        at = end;
    }
    // Only whole ASCII tokens were replaced, so this stays UTF-8.
    String::from_utf8(quoted).map_or(Cow::Borrowed(text), Cow::Owned)
}

/// Calls `value` with each of the values that follow one another in the text, and the line each
/// begins on: one for an ordinary file, many for JSON lines.
pub(super) fn for_each_value<'t, T: Deserialize<'t>>(
    text: &'t str,
    mut value: impl FnMut(u64, T) -> Result<(), Refusal>,
) -> Result<(), Refusal> {
    let mut stream = serde_json::Deserializer::from_str(text).into_iter::<T>();
    let mut counted = 0;
    let mut line = 1;
    loop {
        let next = stream.byte_offset();
        let begin = next + blanks(&text.as_bytes()[next..]);
        line += count_lines(&text.as_bytes()[counted..begin]);
        counted = begin;
        match stream.next() {
            None => return Ok(()),
            Some(Ok(parsed)) => value(line, parsed)?,
            Some(Err(error)) => return Err(refusal(text, &error)),
        }
    }
}

fn blanks(text: &[u8]) -> usize {
    text.iter().take_while(|byte| byte.is_ascii_whitespace()).count()
}

#[expect(clippy::naive_bytecount, reason = "one pass over the file; no crate for it")]
fn count_lines(text: &[u8]) -> u64 {
    text.iter().filter(|&&byte| byte == b'\n').count() as u64
}

fn refusal(text: &str, error: &serde_json::Error) -> Refusal {
    let line = error.line() as u64;
    let refusal = if error.is_eof() || cut_in_token(text, error) {
        Refusal::truncated(format!(
            "the JSON stops in the middle, on line {line} after {} characters",
            error.column()
        ))
    } else {
        Refusal::broken(format!("the JSON cannot be read: {error}"), "export the file again")
    };
    refusal.at_line(line)
}

/// The text ends within `NaN` or `Infinity`, which the parser takes for a wrong letter.
fn cut_in_token(text: &str, error: &serde_json::Error) -> bool {
    let last_line = text.lines().last().unwrap_or_default();
    let letters = |c: char| c.is_ascii_alphabetic() || c == '-';
    let begun = &last_line[last_line.trim_end_matches(letters).len()..];
    !begun.is_empty()
        && TOKENS.iter().any(|(token, _)| token.starts_with(begun.as_bytes()))
        && error.line() == text.lines().count()
        && error.column() + begun.len() >= last_line.len()
}

/// A number however it is written; NaN where there is none to be had.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Number(pub f64);

/// A top-level value that is not a list or an object.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Scalar {
    Number(f64),
    Text(String),
    Bool(bool),
    Null,
    /// A list or an object, skipped.
    Compound,
}

impl Scalar {
    /// As a number: NaN or infinite ones included, numeric strings too.
    pub(super) fn number(&self) -> Option<f64> {
        match self {
            Self::Number(value) => Some(*value),
            Self::Text(text) => text_number(text),
            _ => None,
        }
    }

    /// As words: text, or a number as it would be typed.
    pub(super) fn words(&self) -> Option<String> {
        match self {
            Self::Text(text) if !text.trim().is_empty() => Some(text.trim().to_owned()),
            Self::Number(value) if value.is_finite() => Some(value.to_string()),
            _ => None,
        }
    }
}

/// Python's and our own spellings of what is not finite, or a number in quotes.
pub(super) fn text_number(text: &str) -> Option<f64> {
    match text.trim() {
        "N" | "NaN" | "nan" => Some(f64::NAN),
        "inf" | "Infinity" | "Inf" => Some(f64::INFINITY),
        "-inf" | "-Infinity" => Some(f64::NEG_INFINITY),
        // Rust would also read "infinity" and "+nan", which no tool writes.
        other if other.starts_with(|c: char| c.is_ascii_digit() || "+-.".contains(c)) => {
            other.parse().ok()
        }
        _ => None,
    }
}

impl<'de> Deserialize<'de> for Number {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match Scalar::deserialize(deserializer)? {
            Scalar::Null => Ok(Self(f64::NAN)),
            other => other
                .number()
                .map(Self)
                .ok_or_else(|| serde::de::Error::custom("expected a number")),
        }
    }
}

impl<'de> Deserialize<'de> for Scalar {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ScalarVisitor)
    }
}

struct ScalarVisitor;

impl<'de> Visitor<'de> for ScalarVisitor {
    type Value = Scalar;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Scalar, E> {
        Ok(Scalar::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Scalar, E> {
        Ok(Scalar::Number(value as f64))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Scalar, E> {
        Ok(Scalar::Number(value as f64))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Scalar, E> {
        Ok(Scalar::Number(value))
    }

    fn visit_str<E>(self, value: &str) -> Result<Scalar, E> {
        Ok(Scalar::Text(value.to_owned()))
    }

    fn visit_unit<E>(self) -> Result<Scalar, E> {
        Ok(Scalar::Null)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Scalar, A::Error> {
        while list.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Scalar::Compound)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Scalar, A::Error> {
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(Scalar::Compound)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ingest::RefusalKind;

    fn keys(text: &str) -> (Vec<String>, bool) {
        let outline = Outline::of(text.as_bytes());
        (outline.keys, outline.closed)
    }

    #[test]
    fn the_outline_holds_the_keys_of_the_first_object_only() {
        for (text, expected) in [
            (r#"{"a": 1, "b": {"c": 2}, "d": ["e", {"f": 3}]} {"g": 4}"#, vec!["a", "b", "d"]),
            (r#"[{"a": "x: \"y\": 1"}, {"b": 2}]"#, vec!["a"]),
            (r#"{"a\\": 1, "b"  : "c"}"#, vec!["a\\\\", "b"]),
            ("[1, 2, 3]", vec![]),
            (r#"[[{"deep": 1}]]"#, vec![]),
        ] {
            let (found, closed) = keys(text);
            assert_eq!(found, expected, "{text}");
            assert!(closed, "{text}");
        }
    }

    #[test]
    fn an_object_cut_anywhere_is_not_closed() {
        let text = r#"{"a": {"b": "}"}, "c": [1, 2]}"#;
        for end in 1..text.len() {
            assert!(!keys(&text[..end]).1, "{end}");
        }
    }

    #[test]
    fn not_finite_tokens_are_quoted_in_place_and_strings_left_alone() {
        let text = "{\"a\": NaN, \"NaN\": [-Infinity,\n Infinity, \"x NaN \\\" NaN\"]}";
        let quoted = quote_not_finite(text);
        assert_eq!(quoted.len(), text.len());
        let value: serde_json::Value = serde_json::from_str(&quoted).unwrap();
        assert_eq!(value["a"], "N");
        assert_eq!(value["NaN"], serde_json::json!(["-inf", "inf", "x NaN \" NaN"]));
    }

    #[test]
    fn numbers_are_read_however_they_are_written() {
        let numbers: Vec<Number> =
            serde_json::from_str(r#"[1, -2.5, "550", "inf", "-inf", " 1e3 "]"#).unwrap();
        let numbers: Vec<f64> = numbers.into_iter().map(|number| number.0).collect();
        assert_eq!(numbers, [1.0, -2.5, 550.0, f64::INFINITY, f64::NEG_INFINITY, 1000.0]);
        let absent: Vec<Number> = serde_json::from_str(r#"[null, "NaN"]"#).unwrap();
        assert!(absent.iter().all(|number| number.0.is_nan()));
        for wrong in [r#""fast""#, "true", "[1]", r#"{"a": 1}"#, r#""""#] {
            assert!(serde_json::from_str::<Number>(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn values_know_the_line_they_begin_on() {
        let mut lines = Vec::new();
        let text = "\n{\"a\":\n1}\n\n[2] 3\n";
        for_each_value(text, |line, value: serde_json::Value| {
            lines.push((line, value.to_string()));
            Ok(())
        })
        .unwrap();
        let expected = [(2, "{\"a\":1}"), (5, "[2]"), (5, "3")];
        assert_eq!(lines, expected.map(|(line, text)| (line, text.to_owned())));
    }

    #[test]
    fn a_cut_and_a_mistake_are_told_apart() {
        for (text, kind, line) in [
            ("{\"a\": 1}\n{\"a\":", RefusalKind::Truncated, 2),
            ("{\"a\": 1,\n \"b\" 2}", RefusalKind::Broken, 2),
            ("1e999", RefusalKind::Broken, 1),
            ("{\"a\": 1,\n\"b\": Na", RefusalKind::Truncated, 2),
            ("{\"a\": -Inf", RefusalKind::Truncated, 1),
            ("{\"a\": nope", RefusalKind::Broken, 1),
        ] {
            let refusal = for_each_value(text, |_, _: Scalar| Ok(())).unwrap_err();
            assert_eq!((refusal.kind, refusal.line), (kind, Some(line)), "{text}");
        }
    }
}

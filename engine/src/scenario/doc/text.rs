//! The document as text: JSON in, with everything wrong said by line, column and path; JSON out,
//! defaults left out.

use serde::Deserialize;
use serde_json::error::Category;

use super::{ScenarioDoc, VERSION};
use crate::nearest::nearest;
use crate::problem::Problem;

/// The longest text that is read, bytes: a recorded trace of the most requests one scenario may
/// hold is about half of it.
pub const MAX_TEXT_BYTES: usize = 256 << 20;

/// Reads a scenario document.
///
/// The problem says what was expected where; a field that is not known names the nearest one that
/// is. A document of a newer version is refused as such before anything else in it is looked at.
pub fn parse(text: &str) -> Result<ScenarioDoc, Vec<Problem>> {
    parse_one(text).map_err(|problem| vec![problem])
}

fn parse_one(text: &str) -> Result<ScenarioDoc, Problem> {
    if text.len() > MAX_TEXT_BYTES {
        return Err(Problem::error(
            "",
            format!("the text is {} MB long", text.len() / 1_000_000),
            format!("a scenario document has at most {} MB", MAX_TEXT_BYTES / 1_000_000),
        ));
    }
    // Files from Windows editors begin with a byte order mark.
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    if text.trim().is_empty() {
        return Err(Problem::error(
            "",
            "the text is empty",
            "a scenario document is a JSON object with `version`, `workload` and `fleet`",
        ));
    }
    check_version(text)?;
    serde_json::from_str(text).map_err(|error| explain(text, &error))
}

/// Other fields belong to the version: what a newer one means is not ours to guess.
fn check_version(text: &str) -> Result<(), Problem> {
    #[derive(Deserialize)]
    #[serde(expecting = "a scenario document")]
    struct Versioned {
        version: u32,
    }
    match serde_json::from_str::<Versioned>(text) {
        Ok(Versioned { version: VERSION }) => Ok(()),
        Ok(Versioned { version }) if version > VERSION => Err(Problem::error(
            "version",
            format!("this document is of version {version}, newer than this Goodput reads"),
            format!("open it with a newer Goodput; this one reads version {VERSION}"),
        )),
        Ok(Versioned { version }) => Err(Problem::error(
            "version",
            format!("there is no version {version}"),
            format!("give `\"version\": {VERSION}`"),
        )),
        Err(error) => Err(explain(text, &error)),
    }
}

/// The document as JSON for people, defaults left out.
pub fn to_json(doc: &ScenarioDoc) -> String {
    // Cannot fail: every map of a document has strings for keys.
    serde_json::to_string_pretty(doc).unwrap_or_default()
}

/// The shortest JSON of the document: defaults left out, no space.
pub(in crate::scenario) fn to_minimal_json(doc: &ScenarioDoc) -> String {
    serde_json::to_string(doc).unwrap_or_default()
}

/// What the parser met, in a person's terms.
fn explain(text: &str, error: &serde_json::Error) -> Problem {
    let (line, column) = (error.line(), error.column());
    let whole = error.to_string();
    let what = whole.strip_suffix(&format!(" at line {line} column {column}")).unwrap_or(&whole);
    let path = path_at(text, line, column);
    let place = format!("{} (line {line}, column {column})", without_list(what));
    let hint = match error.classify() {
        Category::Eof => "the text ends in the middle: the file may be cut short".to_owned(),
        Category::Syntax | Category::Io => {
            "this is not JSON: look for a missing comma, quote or bracket just before".to_owned()
        }
        Category::Data => data_hint(what),
    };
    Problem::error(path, place, hint)
}

/// What is unknown, without the names that are known: those are in the hint.
fn without_list(what: &str) -> &str {
    let is_unknown = what.starts_with("unknown field") || what.starts_with("unknown variant");
    let list = [", expected one of", ", expected `", ", there are no"];
    let from = list.iter().filter_map(|list| what.find(list)).min().filter(|_| is_unknown);
    from.map_or(what, |from| &what[..from])
}

/// How to mend JSON that is well-formed but no scenario, from serde's message: its names stand in
/// backticks, the offending one first.
fn data_hint(what: &str) -> String {
    let mut names = what.split('`').skip(1).step_by(2);
    if what.starts_with("unknown field") || what.starts_with("unknown variant") {
        let wanted = names.next().unwrap_or_default();
        let known: Vec<&str> = names.collect();
        return match nearest(wanted, known.iter().copied()) {
            Some(name) => format!("did you mean `{name}`?"),
            None if known.is_empty() => "remove it: nothing more is known here".to_owned(),
            None => format!("known here: {}", known.join(", ")),
        };
    }
    if what.starts_with("missing field") {
        return format!("add `{}`", names.next().unwrap_or_default());
    }
    if what.starts_with("duplicate field") {
        return "give it once".to_owned();
    }
    if what.ends_with("expected u32") || what.ends_with("expected u64") {
        // An optional one is left out where there is none: -1 means that in other tools.
        return "what is expected here is a whole number, not negative; leave an optional one out"
            .to_owned();
    }
    "give what is expected here".to_owned()
}

/// One level of nesting on the way to a place in the text.
enum Level {
    Object { key: String, value: bool },
    Array { index: usize },
}

/// The path of the value at a place in JSON text that is well-formed up to there.
fn path_at(text: &str, line: usize, column: usize) -> String {
    let line_start: usize =
        text.split_inclusive('\n').take(line.saturating_sub(1)).map(str::len).sum();
    let end = (line_start + column).min(text.len());
    let mut levels = Vec::new();
    let mut rest = &text.as_bytes()[..end];
    while let Some((first, after)) = rest.split_first() {
        rest = after;
        match (first, levels.last_mut()) {
            (b'{', _) => levels.push(Level::Object { key: String::new(), value: false }),
            (b'[', _) => levels.push(Level::Array { index: 0 }),
            (b'}' | b']', _) => {
                levels.pop();
            }
            (b',', Some(Level::Array { index })) => *index += 1,
            (b',', Some(Level::Object { key, value })) => {
                key.clear();
                *value = false;
            }
            (b':', Some(Level::Object { value, .. })) => *value = true,
            (b'"', level) => {
                let (string, after) = take_string(rest);
                rest = after;
                if let Some(Level::Object { key, value: false }) = level {
                    *key = String::from_utf8_lossy(string).into_owned();
                }
            }
            _ => {}
        }
    }
    spell(&levels)
}

/// The bytes up to the closing quote, and what follows it.
fn take_string(rest: &[u8]) -> (&[u8], &[u8]) {
    let mut escaped = false;
    let close = rest.iter().position(|byte| {
        let closes = *byte == b'"' && !escaped;
        escaped = *byte == b'\\' && !escaped;
        closes
    });
    let close = close.unwrap_or(rest.len());
    (&rest[..close], rest.get(close + 1..).unwrap_or_default())
}

fn spell(levels: &[Level]) -> String {
    let mut path = String::new();
    for level in levels {
        match level {
            Level::Object { key, .. } if key.is_empty() => {}
            Level::Object { key, .. } => {
                if !path.is_empty() {
                    path.push('.');
                }
                path.push_str(key);
            }
            Level::Array { index } => {
                path.push('[');
                path.push_str(&index.to_string());
                path.push(']');
            }
        }
    }
    path
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::scenario::arbitrary;

    fn problem(text: &str) -> Problem {
        parse(text).expect_err("this text is no document").remove(0)
    }

    /// The smallest document with one piece of its text replaced.
    fn altered(from: &str, to: &str) -> String {
        let text = to_minimal_json(&arbitrary::small());
        assert!(text.contains(from), "{from} is not in {text}");
        text.replacen(from, to, 1)
    }

    #[test]
    fn what_equals_its_default_is_not_written() {
        assert_eq!(
            to_minimal_json(&arbitrary::small()),
            r#"{"version":1,"workload":{"classes":[{"name":"chat","arrivals":{"kind":"poisson","rate_rps":5.0},"input_tokens":{"kind":"fixed","tokens":512},"output_tokens":{"kind":"fixed","tokens":256},"slo":{"ttft_ms":1000.0}}]},"fleet":{"pools":[{"gpu":"H100-SXM","model":"Llama-3.1-8B","replicas":2}]}}"#
        );
    }

    #[test]
    fn a_slip_in_a_field_name_is_answered_with_the_right_one() {
        for (from, to, path, hint) in [
            ("replicas", "replica", "fleet.pools[0].replica", "did you mean `replicas`?"),
            ("ttft_ms", "tfft_ms", "workload.classes[0].slo.tfft_ms", "did you mean `ttft_ms`?"),
            (
                "\"poisson\"",
                "\"poison\"",
                "workload.classes[0].arrivals.kind",
                "did you mean `poisson`?",
            ),
        ] {
            let problem = problem(&altered(from, to));
            assert!(problem.path.starts_with(path) || path.starts_with(&problem.path), "{problem}");
            assert_eq!(problem.hint, hint, "{problem}");
            assert!(problem.message.contains("(line 1, column "), "{problem}");
        }
    }

    #[test]
    fn a_field_that_would_be_ignored_is_refused() {
        for (from, to) in [
            (r#""slo":"#, r#""quality":{"state":"not_checked","pass_rate":0.9},"slo":"#),
            (r#""gpu":"#, r#""step_time":{"source":{"kind":"catalog","scale":2}},"gpu":"#),
            (r#""gpu":"#, r#""step_time":{"source":{"kind":"physics","by":"me"}},"gpu":"#),
            (r#""gpu":"#, r#""gpu":"H100-SXM","gpu":"#),
            (r#""rate_rps":5.0"#, r#""rate_rps":5.0,"rate_rpm":300"#),
        ] {
            let message = problem(&altered(from, to)).message;
            assert!(
                message.starts_with("unknown field") || message.starts_with("duplicate field"),
                "{message}"
            );
        }
    }

    #[test]
    fn the_names_that_are_known_are_listed_once() {
        for (from, to) in [
            (r#""gpu":"#, r#""zzzzzz":1,"gpu":"#),
            (r#""poisson""#, r#""zzzzzz""#),
            (r#""slo":"#, r#""quality":{"state":"not_checked","pass_rate":0.9},"slo":"#),
        ] {
            let problem = problem(&altered(from, to));
            assert!(!problem.message.contains("expected"), "{problem}");
            let whole = problem.to_string();
            for name in ["tensor_parallel", "sinusoid", "closed_loop"] {
                assert!(whole.matches(name).count() <= 1, "{name} twice in {whole}");
            }
        }
    }

    #[test]
    fn every_other_fault_says_where_and_what() {
        for (text, path, message, hint) in [
            (String::new(), "", "the text is empty", "JSON object"),
            (" \n".to_owned(), "", "the text is empty", "JSON object"),
            ("\0\u{1}PK".to_owned(), "", "expected value", "not JSON"),
            ("[1]".to_owned(), "", "scenario document", ""),
            ("{}".to_owned(), "", "missing field `version`", "add `version`"),
            (
                "{\"version\": 2, \"new\": 1}".to_owned(),
                "version",
                "version 2, newer",
                "newer Goodput",
            ),
            ("{\"version\": 0}".to_owned(), "version", "no version 0", "\"version\": 1"),
            (
                altered("512}", "512 7}"),
                "workload.classes[0].input_tokens.tokens",
                "expected",
                "missing comma",
            ),
            (
                altered("512", "-1"),
                "workload.classes[0].input_tokens",
                "invalid value",
                "expected here",
            ),
            (
                altered("5.0", "\"5\""),
                "workload.classes[0].arrivals",
                "invalid type: string",
                "expected here",
            ),
            (
                altered(",\"replicas\":2", ""),
                "fleet.pools[0]",
                "missing field `replicas`",
                "add `replicas`",
            ),
            (altered("\"H100-SXM\"", "7"), "fleet.pools[0].gpu", "a catalogue id", "expected here"),
            (altered("2}]}}", "2"), "fleet.pools[0].replicas", "EOF", "cut short"),
        ] {
            let problem = problem(&text);
            assert_eq!(problem.path, path, "{problem}");
            assert!(problem.message.contains(message), "{problem}");
            assert!(problem.hint.contains(hint), "{problem}");
        }
    }

    #[test]
    fn a_path_reaches_through_strings_lists_and_lines() {
        let text = "{\"a\": \"}]\\\"{[,\",\n \"b\": [1, {\"c\": [0, 0, @";
        assert_eq!(path_at(text, 2, 26), "b[1].c[2]");
        assert_eq!(path_at("{", 1, 1), "");
        assert_eq!(path_at("", 9, 9), "");
    }

    #[test]
    fn a_byte_order_mark_does_no_harm() {
        let text = format!("\u{feff}{}", to_json(&arbitrary::small()));
        assert_eq!(parse(&text), Ok(arbitrary::small()));
    }

    proptest! {
        #[test]
        fn every_document_survives_being_written(doc in arbitrary::document()) {
            prop_assert_eq!(parse(&to_json(&doc)), Ok(doc.clone()));
            prop_assert_eq!(parse(&to_minimal_json(&doc)), Ok(doc));
        }

        #[test]
        fn no_text_makes_it_panic(text in arbitrary::text()) {
            let _ = parse(&text);
        }

        #[test]
        fn a_text_cut_anywhere_is_refused(doc in arbitrary::document(), at in any::<prop::sample::Index>()) {
            let text = to_minimal_json(&doc);
            let cut = at.index(text.len());
            if text.is_char_boundary(cut) {
                prop_assert!(parse(&text[..cut]).is_err());
            }
        }
    }
}

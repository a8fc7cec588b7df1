//! Requests/s × tokens per request is the stated tokens/s, and input plus output is the total.

use crate::ingest::{Length, LengthSource, TokenKind};
use crate::problem::Severity;
use crate::review::Finding;
use crate::review::subject::Subject;
use crate::review::words::number;

/// Part by which the two may differ, and the last printed digit.
const TOLERANCE: f64 = 0.05;
const PRINTED: f64 = 0.0051;

pub(super) fn check(subject: &Subject) -> Option<Finding> {
    if !subject.answered() {
        return None;
    }
    sum(subject)
        .or_else(|| product(subject, TokenKind::Output, subject.point.output, "output"))
        .or_else(|| product(subject, TokenKind::Input, subject.point.input, "input"))
        .or_else(|| total(subject))
}

fn differ(stated: f64, expected: f64) -> bool {
    (stated - expected).abs() > TOLERANCE * expected + PRINTED
}

fn sum(subject: &Subject) -> Option<Finding> {
    let total = subject.point.tps(TokenKind::Total)?;
    let parts = subject.point.tps(TokenKind::Input)? + subject.point.tps(TokenKind::Output)?;
    differ(total, parts).then(|| {
        Finding::warning(
            "token_identity",
            format!(
                "{} tokens/s in total where input and output add up to {}",
                number(total),
                number(parts)
            ),
        )
        .figure("total as stated", total, "tokens/s")
        .figure("input + output", parts, "tokens/s")
        .advice("find out which tokens each rate counts")
    })
}

fn product(
    subject: &Subject,
    kind: TokenKind,
    length: Option<Length>,
    name: &str,
) -> Option<Finding> {
    let stated = subject.point.tps(kind)?;
    let length = length?;
    let expected = subject.completed_rps()? * length.mean_tokens;
    if !differ(stated, expected) {
        return None;
    }
    let asked = length.source == LengthSource::Declared && stated < expected;
    let (severity, why) = if asked {
        (Severity::Note, "lengths were shorter than what was asked for")
    } else {
        (Severity::Warning, "another kind of token, another denominator, or another length")
    };
    Some(identity(severity, stated, expected, name, why))
}

fn total(subject: &Subject) -> Option<Finding> {
    let point = subject.point;
    let stated = point.tps(TokenKind::Total)?;
    let (input, output) = (point.input?, point.output?);
    if input.source == LengthSource::Declared || output.source == LengthSource::Declared {
        return None;
    }
    let expected = subject.completed_rps()? * (input.mean_tokens + output.mean_tokens);
    differ(stated, expected).then(|| {
        let why = "another denominator or another length";
        identity(Severity::Warning, stated, expected, "total", why)
    })
}

fn identity(severity: Severity, stated: f64, expected: f64, name: &str, why: &str) -> Finding {
    Finding::new(
        severity,
        "token_identity",
        format!(
            "{} {name} tokens/s are stated where requests/s × tokens is {}: {why}",
            number(stated),
            number(expected)
        ),
    )
    .figure("stated", stated, "tokens/s")
    .figure("requests/s × tokens", expected, "tokens/s")
    .advice("use total tokens ÷ duration")
}

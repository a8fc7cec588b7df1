//! ITL per stream event against TPOT per token: how many tokens one event carries.

use crate::ingest::{Definition, LatencyStats, TokenKind};
use crate::review::Finding;
use crate::review::subject::Subject;
use crate::review::words::{millis, number};

/// Tokens per event from which ITL and TPOT are different things.
const BUNDLED: f64 = 1.3;
/// Below this, events without a token were counted.
const HOLLOW: f64 = 0.5;

pub(super) fn check(subject: &Subject) -> Option<Finding> {
    let itl = subject.point.itl.as_ref()?;
    // Gaps already divided by the tokens of their event say nothing about events.
    if itl.definition == Definition::GapBetweenTokens {
        return None;
    }
    let itl = itl.typical_ms().filter(|&ms| ms > 0.0)?;
    let (name, token) = per_token_ms(subject)?;
    let ratio = itl / token;
    if ratio > BUNDLED {
        return Some(
            figures(
                Finding::warning(
                    "itl_bundles",
                    format!(
                        "ITL {} is {} times {name} {}: one stream event carries about {} tokens, \
                         so a limit on ITL is not comparable with one per token",
                        millis(itl),
                        number(ratio),
                        millis(token),
                        number(ratio)
                    ),
                ),
                (itl, name, token, ratio),
            )
            .advice("judge speed by TPOT, and use ITL for stalls only"),
        );
    }
    // Against the throughput only a lower bound is known.
    (ratio < HOLLOW && name == "TPOT").then(|| {
        figures(
            Finding::warning(
                "itl_below_tpot",
                format!(
                    "ITL {} is {} of TPOT {}: stream events without a token were counted, or slow \
                     short answers weigh more in a mean over requests than in one over events",
                    millis(itl),
                    number(ratio),
                    millis(token)
                ),
            ),
            (itl, name, token, ratio),
        )
        .advice("judge speed by TPOT")
    })
}

fn figures(finding: Finding, (itl, name, token, ratio): (f64, &str, f64, f64)) -> Finding {
    finding.figure("ITL", itl, "ms").figure(name, token, "ms").figure("tokens per event", ratio, "")
}

/// TPOT, else what a closed loop's output rate allows one stream per token, first tokens included.
fn per_token_ms(subject: &Subject) -> Option<(&'static str, f64)> {
    let tpot = subject.point.tpot.as_ref().and_then(LatencyStats::typical_ms);
    if let Some(tpot) = tpot.filter(|&ms| ms > 0.0) {
        return Some(("TPOT", tpot));
    }
    let tps = subject.point.tps(TokenKind::Output).filter(|&tps| tps > 0.0)?;
    Some(("time per token", subject.closed_loop()? / tps * 1e3))
}

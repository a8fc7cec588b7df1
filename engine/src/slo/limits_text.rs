//! Limits as they are typed: `ttft=1s,tpot=50ms,itl_p95=80ms`. The unit is part of a limit: tools disagree about
//! it (vLLM and AIPerf take milliseconds, inference-perf takes seconds), so a bare number is asked
//! back, never guessed.

use super::{Contract, GapPercentile, ItlLimit, Limit};
use crate::problem::Problem;
use crate::units::{MAX_HORIZON_S, Picos};

/// The names a limit is typed by.
const NAMES: [(&str, Limit); 7] = [
    ("ttft", Limit::Ttft),
    ("ttfvt", Limit::Ttfvt),
    ("tpot", Limit::Tpot),
    ("stall", Limit::Stall),
    ("longest_stall", Limit::Stall),
    ("e2e", Limit::E2e),
    ("e2el", Limit::E2e),
];

/// Reads limits such as `ttft=1s,tpot=50ms`: names from `ttft`, `ttfvt`, `tpot`, `stall`, `e2e` and
/// `itl_p95` (or another percentile of a request's own gaps), values in `s` or `ms`.
///
/// # Errors
/// Everything that is wrong with the text at once.
pub fn parse_limits(text: &str) -> Result<Contract, Vec<Problem>> {
    let mut contract = Contract { attainment_target: 0.95, ..Contract::default() };
    let mut problems = Vec::new();
    for part in text.split(',') {
        match limit(part) {
            Ok(typed) => {
                if !contract.take(typed) {
                    problems.push(problem(part, "stands there twice", "give each limit once"));
                }
            }
            Err(wrong) => problems.push(wrong),
        }
    }
    if problems.is_empty() { Ok(contract) } else { Err(problems) }
}

/// A limit as it was typed.
#[derive(Debug, Clone, Copy)]
enum Typed {
    Plain(Limit, Picos),
    Gaps(ItlLimit),
}

impl Contract {
    /// Takes a limit; false if there is one of its kind.
    fn take(&mut self, typed: Typed) -> bool {
        let (slot, at) = match typed {
            Typed::Gaps(limit) => return self.itl.replace(limit).is_none(),
            Typed::Plain(Limit::Ttft, at) => (&mut self.ttft, at),
            Typed::Plain(Limit::Ttfvt, at) => (&mut self.ttfvt, at),
            Typed::Plain(Limit::Tpot, at) => (&mut self.tpot, at),
            Typed::Plain(Limit::Stall, at) => (&mut self.longest_stall, at),
            Typed::Plain(Limit::E2e, at) => (&mut self.e2e, at),
            // Of gaps a limit has a percentile.
            Typed::Plain(Limit::Itl, _) => return false,
        };
        slot.replace(at).is_none()
    }
}

fn limit(part: &str) -> Result<Typed, Problem> {
    let Some((name, value)) = part.split_once('=') else {
        return Err(problem(part, "has no value", "write for example ttft=1s,tpot=50ms"));
    };
    let name = name.trim().to_ascii_lowercase();
    if name == "itl" {
        return Err(problem(
            part,
            "is a limit on what tools define in two ways",
            "write tpot= for the average time per token, stall= for the longest gap between \
             stream events, or itl_p95= for a percentile of each request's own gaps",
        ));
    }
    if let Some(number) = name.strip_prefix("itl_p") {
        let percentile = number.parse().ok().and_then(GapPercentile::of).ok_or_else(|| {
            let hint = "write itl_p50=, itl_p75=, itl_p90=, itl_p95=, itl_p99= or itl_p99.9=";
            problem(part, "is on no percentile that is kept of a request's gaps", hint)
        })?;
        return Ok(Typed::Gaps(ItlLimit { percentile, at: span(part, value.trim())? }));
    }
    let known = NAMES.iter().find(|(known, _)| *known == name);
    let Some((_, limit)) = known else {
        let hint = "the limits are ttft, ttfvt, tpot, stall, itl_p95 and e2e";
        return Err(problem(part, "is no limit", hint));
    };
    Ok(Typed::Plain(*limit, span(part, value.trim())?))
}

fn span(part: &str, value: &str) -> Result<Picos, Problem> {
    let (digits, per_second) = if let Some(digits) = value.strip_suffix("ms") {
        (digits, 1e-3)
    } else if let Some(digits) = value.strip_suffix('s') {
        (digits, 1.0)
    } else {
        let hint = format!("write {value}s for seconds or {value}ms for milliseconds");
        return Err(problem(part, "has no unit, and tools differ by a factor of 1000", &hint));
    };
    let digits = digits.trim();
    let plain = digits.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    let number: Option<f64> = plain.then(|| digits.parse().ok()).flatten();
    let seconds = number.map(|number| number * per_second);
    let inside = seconds.filter(|s| (1e-9..=MAX_HORIZON_S).contains(s));
    inside.map(Picos::from_secs).ok_or_else(|| {
        problem(part, "is no span of time", "write plain digits above 0, e.g. 200ms or 1.5s")
    })
}

fn problem(part: &str, what: &str, hint: &str) -> Problem {
    let shown: String = part.trim().chars().take(60).collect();
    Problem::error("slo", format!("{shown:?} {what}"), hint)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_read_with_their_units() {
        let contract = parse_limits("ttft=1s, tpot=50ms,stall=0.4s,E2E=12.5s").expect("four");
        let spans = [contract.ttft, contract.tpot, contract.longest_stall, contract.e2e];
        let seconds = [1.0, 0.05, 0.4, 12.5].map(|s| Some(Picos::from_secs(s)));
        assert_eq!(spans, seconds);
        let contract = parse_limits("itl_p99.9=80ms,ttfvt=20s").expect("two");
        let at = Picos::from_millis(80.0);
        assert_eq!(contract.itl, Some(ItlLimit { percentile: GapPercentile::P999, at }));
        assert_eq!(contract.ttfvt, Some(Picos::from_secs(20.0)));
    }

    #[test]
    fn what_could_mean_two_things_is_asked_back() {
        for (text, hint) in [
            ("ttft=0.2", "0.2s for seconds or 0.2ms"),
            ("itl=50ms", "tpot="),
            ("ttft", "ttft=1s"),
            ("ttft=-1s", "plain digits"),
            ("ttft=1,5s", "1s for seconds"),
            ("ttft=NaNs", "plain digits"),
            ("ttft=٣s", "plain digits"),
            ("ttft=s", "plain digits"),
            ("ttft=0s", "above 0"),
            ("ttft=1s,ttft=2s", "each limit once"),
            ("latency=1s", "ttft, ttfvt, tpot, stall"),
            ("itl_p96=1s", "itl_p95="),
            ("itl_pNaN=1s", "itl_p95="),
            ("itl_p95=1", "1s for seconds"),
            ("itl_p95=1s,itl_p99=2s", "each limit once"),
            ("", "ttft=1s"),
        ] {
            let problems = parse_limits(text).expect_err(text);
            assert!(problems.iter().any(|p| p.hint.contains(hint)), "{text}: {problems:?}");
        }
        assert_eq!(parse_limits("ttft=1,tpot=2").expect_err("two").len(), 2, "all at once");
    }
}

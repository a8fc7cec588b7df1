//! From the document's lengths to those of the engine.

use super::clip;
use super::findings::Findings;
use super::one;
use crate::counted::typed;
use crate::problem::Problem;
use crate::scenario::doc::{
    ArrivalsDoc, ClassDoc, HiddenTokensDoc, LengthsDoc, LognormalDoc, MixturePartDoc, PairingDoc,
};
use crate::workload::{
    Copula, GammaLengths, Hidden, Lengths, LognormalStated, Mixture, Pairing, ParetoLengths,
    Uniform,
};

/// The most that recorded lengths may be stretched.
const MAX_FACTOR: f64 = 1_000.0;

/// The lengths that a document describes; problems have paths relative to it.
pub fn lengths_of(doc: &LengthsDoc) -> Result<Lengths, Vec<Problem>> {
    let lengths = law_of(doc)?;
    let contradictions = clip::contradictions(doc);
    if contradictions.is_empty() { Ok(lengths) } else { Err(contradictions) }
}

fn law_of(doc: &LengthsDoc) -> Result<Lengths, Vec<Problem>> {
    match doc {
        LengthsDoc::Fixed { tokens } => one(Lengths::fixed(*tokens)),
        LengthsDoc::Uniform { min, max, mean, sd } => {
            Uniform::new(*min, *max, *mean, *sd).map(Lengths::Uniform)
        }
        LengthsDoc::Lognormal(doc) => {
            let law = stated(doc).law().map(Lengths::Lognormal);
            clipped(law, doc.min, doc.max)
        }
        LengthsDoc::Gamma { mean, cv, sd, min, max } => {
            clipped(GammaLengths::new(*mean, *cv, *sd).map(Lengths::Gamma), *min, *max)
        }
        LengthsDoc::Pareto { min, alpha, p99, mean, max } => {
            let law = ParetoLengths::new(*min, *alpha, *p99, *mean, max.is_some());
            clipped(law.map(Lengths::Pareto), None, *max)
        }
        LengthsDoc::Mixture { parts, min, max } => {
            clipped(mixture(parts).map(Lengths::Mixture), *min, *max)
        }
        LengthsDoc::Quantiles { table } => {
            let rows: Vec<_> = table.iter().map(|row| (row.p, row.tokens)).collect();
            Lengths::quantiles(&rows)
        }
        LengthsDoc::Empirical { samples } => one(Lengths::empirical(samples.clone())),
        LengthsDoc::Recorded { tokens, factor } => one(recorded(tokens, *factor)),
    }
}

fn stated(doc: &LognormalDoc) -> LognormalStated {
    let LognormalDoc { mean, p99, sd, sigma, p5, p50, p90, p95, min: _, max: _ } = *doc;
    LognormalStated { mean, p99, sd, sigma, p5, p50, p90, p95 }
}

/// Problems of the law and of its range, at once.
fn clipped(
    law: Result<Lengths, Vec<Problem>>,
    min: Option<u32>,
    max: Option<u32>,
) -> Result<Lengths, Vec<Problem>> {
    match law {
        Ok(law) => law.clipped(min, max),
        Err(mut problems) => {
            // Whatever the law, its range can be checked: on lengths that are all alike.
            problems.extend(Lengths::Fixed(1).clipped(min, max).err().into_iter().flatten());
            Err(problems)
        }
    }
}

fn mixture(parts: &[MixturePartDoc]) -> Result<Mixture, Vec<Problem>> {
    let (mut checked, mut problems) = (Vec::new(), Vec::new());
    for (i, part) in parts.iter().enumerate() {
        // A mixture in a mixture is refused without looking at what is inside.
        let lengths = if let LengthsDoc::Mixture { .. } = part.tokens {
            Err(vec![Problem::error(
                "kind",
                "a part of a mixture cannot be a mixture",
                "give its parts here, their weights multiplied",
            )])
        } else {
            lengths_of(&part.tokens)
        };
        match lengths {
            Ok(lengths) => checked.push((part.weight, lengths)),
            Err(found) => {
                let path = format!("parts[{i}].tokens");
                problems.extend(found.into_iter().map(|problem| problem.under(&path)));
            }
        }
    }
    if problems.is_empty() { Mixture::new(checked) } else { Err(problems) }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "float to int casts saturate, and what is too long is refused as such"
)]
fn recorded(tokens: &[u32], factor: f64) -> Result<Lengths, Problem> {
    if !(1.0 / MAX_FACTOR..=MAX_FACTOR).contains(&factor) {
        return Err(Problem::error(
            "factor",
            format!("the recorded lengths are multiplied by {factor}", factor = typed(factor)),
            format!("give {} to {MAX_FACTOR}", 1.0 / MAX_FACTOR),
        ));
    }
    let lengths = Lengths::recorded(tokens.to_vec())?;
    if factor.total_cmp(&1.0).is_eq() {
        return Ok(lengths);
    }
    let stretched = |length: &u32| (f64::from(*length) * factor).round().max(1.0) as u32;
    Lengths::recorded(tokens.iter().map(stretched).collect())
}

pub(super) fn check_lengths(
    class: &ClassDoc,
    doc: &LengthsDoc,
    path: &str,
    findings: &mut Findings,
) -> Option<Lengths> {
    if let LengthsDoc::Recorded { tokens, .. } = doc {
        check_recording(class, tokens.len(), path, findings);
    }
    let lengths = findings.take(path, lengths_of(doc))?;
    clip::warn(doc, &lengths, path, findings);
    Some(lengths)
}

/// A recording of lengths belongs to a trace, request by request.
fn check_recording(class: &ClassDoc, lengths: usize, path: &str, findings: &mut Findings) {
    match &class.arrivals {
        ArrivalsDoc::Trace { due_s, .. } if due_s.len() == lengths => {}
        ArrivalsDoc::Trace { due_s, .. } => findings.error(
            format!("{path}.tokens"),
            format!("there are {lengths} recorded lengths for {} requests", due_s.len()),
            "give one length per request of the trace",
        ),
        _ => findings.error(
            path,
            "recorded lengths belong to a replayed trace, and these arrivals are none",
            "replay a trace, or use the lengths as `empirical` samples",
        ),
    }
}

pub(super) fn check_hidden(
    class: &ClassDoc,
    path: &str,
    findings: &mut Findings,
) -> Option<Hidden> {
    match &class.hidden_tokens {
        None => Some(Hidden::None),
        Some(HiddenTokensDoc::Share { share }) => findings
            .number(format!("{path}.share"), "the hidden share", *share, &(0.0..=1.0))
            .then_some(Hidden::Share(*share)),
        Some(HiddenTokensDoc::Added { tokens }) => {
            check_lengths(class, tokens, &format!("{path}.tokens"), findings).map(Hidden::Added)
        }
    }
}

/// How prompts and answers go together, once both are known.
pub(super) fn check_pairing(
    doc: PairingDoc,
    input: &Lengths,
    output: &Lengths,
    path: &str,
    findings: &mut Findings,
) -> Option<Pairing> {
    let recorded = |lengths| matches!(lengths, &Lengths::Recorded(_));
    match doc {
        PairingDoc::Apart => Some(Pairing::Apart),
        _ if recorded(input) || recorded(output) => {
            findings.error(
                path,
                "recorded lengths belong to their requests, so they cannot be paired anew",
                "leave the pairing out, or use the lengths as `empirical` samples",
            );
            None
        }
        PairingDoc::Together => {
            let (Lengths::Empirical(inputs), Lengths::Empirical(outputs)) = (input, output) else {
                findings.error(
                    path,
                    "only samples have pairs",
                    "give prompts and answers as `empirical` samples, or correlate their ranks",
                );
                return None;
            };
            let (inputs, outputs) = (inputs.given().len(), outputs.given().len());
            if inputs != outputs {
                findings.error(
                    path,
                    format!("there are {inputs} prompts for {outputs} answers"),
                    "give as many samples of both, in the same order",
                );
                return None;
            }
            Some(Pairing::Together)
        }
        PairingDoc::Correlated { rank_correlation } => {
            if input.is_constant() || output.is_constant() {
                findings.error(
                    path,
                    "lengths that are all alike have no ranks to correlate",
                    "leave the pairing out, or let both lengths vary",
                );
                return None;
            }
            let copula = one(Copula::of_rank_correlation(rank_correlation));
            findings.take(path, copula).map(Pairing::Correlated)
        }
    }
}

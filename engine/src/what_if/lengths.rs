//! Lengths that are all twice as long.

use crate::scenario::doc::{LengthsDoc, LognormalDoc};

/// Doubles every length; shares and shapes stay.
pub fn double(lengths: &mut LengthsDoc) {
    match lengths {
        LengthsDoc::Fixed { tokens } => whole(tokens),
        LengthsDoc::Uniform { min, max, mean, sd } => {
            whole(min);
            whole(max);
            reals([mean, sd]);
        }
        LengthsDoc::Lognormal(law) => lognormal(law),
        LengthsDoc::Gamma { mean, cv: _, sd, min, max } => {
            *mean *= 2.0;
            reals([sd]);
            wholes([min, max]);
        }
        LengthsDoc::Pareto { min, alpha: _, p99, mean, max } => {
            *min *= 2.0;
            reals([p99, mean]);
            wholes([max]);
        }
        LengthsDoc::Mixture { parts, min, max } => {
            for part in parts {
                double(&mut part.tokens);
            }
            wholes([min, max]);
        }
        LengthsDoc::Quantiles { table } => table.iter_mut().for_each(|row| row.tokens *= 2.0),
        LengthsDoc::Empirical { samples } => samples.iter_mut().for_each(whole),
        LengthsDoc::Recorded { tokens: _, factor } => *factor *= 2.0,
    }
}

fn lognormal(law: &mut LognormalDoc) {
    let LognormalDoc { mean, p99, sd, sigma: _, p5, p50, p90, p95, min, max } = law;
    reals([mean, p99, sd, p5, p50, p90, p95]);
    wholes([min, max]);
}

fn reals<const N: usize>(numbers: [&mut Option<f64>; N]) {
    numbers.into_iter().flatten().for_each(|x| *x *= 2.0);
}

fn wholes<const N: usize>(numbers: [&mut Option<u32>; N]) {
    numbers.into_iter().flatten().for_each(whole);
}

/// The longest there can be stays as it is, which the check then says.
fn whole(n: &mut u32) {
    *n = n.saturating_mul(2);
}

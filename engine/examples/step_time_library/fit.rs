//! The step law of a configuration: least squares of relative errors, in logarithms of the
//! coefficients, from several starts (Levenberg–Marquardt).

use goodput_engine::math::{exp, ln};
use goodput_engine::step_time::{BatchShape, StepCoefficients};

use super::sums::Sum;

/// Coefficients and how far off they are.
#[derive(Debug, Clone, PartialEq)]
pub struct Fit {
    /// The law.
    pub coefficients: StepCoefficients,
    /// Absolute relative errors of all batch shapes, ascending.
    pub errors: Vec<f64>,
}

/// c0, cw, cE, c1, c2, c3, c4 as logarithms, and p between its bounds.
const UNKNOWNS: usize = 8;
type Unknowns = [f64; UNKNOWNS];
type Matrix = [[f64; UNKNOWNS]; UNKNOWNS];

/// The exponent lies between one and two more than these.
const LEAST_P: f64 = 1.05;
/// See [`LEAST_P`].
const MOST_P: f64 = 10.0;
/// Shares of the shortest step that are fixed and read at a start, and where p begins.
const STARTS: [(f64, f64, f64); 4] =
    [(0.7, 0.3, 0.0), (0.2, 0.8, 0.0), (0.9, 0.05, 2.0), (0.5, 0.5, -3.0)];
const STEPS: usize = 300;
/// Distance of a difference that stands for a derivative.
const REACH: f64 = 1e-5;
/// No coefficient moves by more than a factor e² in a step.
const LONGEST: f64 = 2.0;

/// Fits the law of a model of which a token uses `expert_share` of the experts.
pub fn fit(sums: &[Sum], expert_share: f64) -> Fit {
    let found = STARTS.map(|start| descend(sums, expert_share, begin(sums, start)));
    let [first, rest @ ..] = found;
    let best = rest.into_iter().fold(first, |best, at| if at.1 < best.1 { at } else { best });
    let coefficients = law_at(&best.0, expert_share);
    let mut errors: Vec<f64> = offs(sums, &coefficients).iter().map(|off| off.abs()).collect();
    errors.sort_by(f64::total_cmp);
    Fit { coefficients, errors }
}

fn begin(sums: &[Sum], (fixed, read, p): (f64, f64, f64)) -> Unknowns {
    let least = |of: &dyn Fn(&Sum) -> f64| sums.iter().map(of).fold(f64::INFINITY, f64::min);
    let shortest = least(&|sum| sum.total_ms) / 1e3;
    let per_token = least(&|sum| sum.total_ms / sum.tokens() as f64) / 1e3;
    let per_kv = least(&|sum| 0.5 * sum.total_ms / sum.kv_tokens as f64) / 1e3;
    [
        ln(fixed * shortest),
        ln(read * shortest),
        ln(2.0 * shortest),
        ln(0.7 * per_token),
        ln(0.05 * per_kv),
        ln(1e-6),
        ln(per_kv),
        p,
    ]
}

fn law_at(at: &Unknowns, expert_share: f64) -> StepCoefficients {
    StepCoefficients {
        c0_s: exp(at[0]),
        cw_s: exp(at[1]),
        cw_experts_s: if expert_share > 0.0 { exp(at[2]) } else { 0.0 },
        expert_share,
        c1_s_per_token: exp(at[3]),
        c2_s_per_pair: exp(at[4]),
        c3_s_per_decode_seq: exp(at[5]),
        c4_s_per_kv_token: exp(at[6]),
        p: LEAST_P + (MOST_P - LEAST_P) / (1.0 + exp(-at[7])),
    }
}

/// Relative errors of the law.
fn offs(sums: &[Sum], coefficients: &StepCoefficients) -> Vec<f64> {
    let law = coefficients.law();
    let off = |sum: &Sum| {
        let shape = BatchShape {
            prefill_tokens: sum.prefill_tokens,
            prefill_half_pairs: sum.prefill_half_pairs,
            decode_seqs: sum.decode_seqs,
            kv_tokens: sum.kv_tokens,
        };
        1e3 * law.seconds(&shape) / sum.total_ms - 1.0
    };
    sums.iter().map(off).collect()
}

fn squares(offs: &[f64]) -> f64 {
    offs.iter().map(|off| off * off).sum()
}

/// Where a start leads, and the sum of squares there.
fn descend(sums: &[Sum], expert_share: f64, mut at: Unknowns) -> (Unknowns, f64) {
    let errors = |at: &Unknowns| offs(sums, &law_at(at, expert_share));
    let mut here = errors(&at);
    let mut damping = 1e-2;
    for _ in 0..STEPS {
        let (normal, pull) = normal_equations(&errors, &at, &here);
        let mut better = None;
        for _ in 0..10 {
            let step = solve(damped(&normal, damping), pull);
            let mut there = at;
            for (x, step) in there.iter_mut().zip(step) {
                *x += step.clamp(-LONGEST, LONGEST);
            }
            let off = errors(&there);
            if squares(&off) < squares(&here) {
                damping = (damping / 4.0_f64).max(1e-9);
                better = Some((there, off));
                break;
            }
            damping *= 4.0;
        }
        let Some((there, off)) = better else { break };
        let gained = squares(&here) - squares(&off);
        (at, here) = (there, off);
        if gained < 1e-9 * squares(&here) {
            break;
        }
    }
    let left = squares(&here);
    (at, left)
}

/// J′J and −J′r.
fn normal_equations(
    errors: &dyn Fn(&Unknowns) -> Vec<f64>,
    at: &Unknowns,
    here: &[f64],
) -> (Matrix, Unknowns) {
    let mut slopes = vec![[0.0; UNKNOWNS]; here.len()];
    for unknown in 0..UNKNOWNS {
        let mut there = *at;
        there[unknown] += REACH;
        for (slope, (there, here)) in slopes.iter_mut().zip(errors(&there).iter().zip(here)) {
            slope[unknown] = (there - here) / REACH;
        }
    }
    let (mut normal, mut pull) = ([[0.0; UNKNOWNS]; UNKNOWNS], [0.0; UNKNOWNS]);
    for (slope, off) in slopes.iter().zip(here) {
        for (row, a) in normal.iter_mut().zip(slope) {
            for (cell, b) in row.iter_mut().zip(slope) {
                *cell += a * b;
            }
        }
        for (pull, slope) in pull.iter_mut().zip(slope) {
            *pull -= slope * off;
        }
    }
    (normal, pull)
}

fn damped(normal: &Matrix, damping: f64) -> Matrix {
    let mut damped = *normal;
    for (at, row) in damped.iter_mut().enumerate() {
        // What the errors do not depend on stays where it is.
        row[at] += damping * (row[at] + 1e-3);
    }
    damped
}

/// x with A x = b of a positive definite A, by elimination.
fn solve(mut a: Matrix, mut b: Unknowns) -> Unknowns {
    for pivot in 0..UNKNOWNS {
        let (row, scale) = (a[pivot], a[pivot][pivot]);
        let value = b[pivot] / scale;
        for other in 0..UNKNOWNS {
            if other == pivot {
                continue;
            }
            let share = a[other][pivot];
            for (cell, of) in a[other].iter_mut().zip(row) {
                *cell -= share * of / scale;
            }
            b[other] -= share * value;
        }
        a[pivot] = row.map(|cell| cell / scale);
        b[pivot] = value;
    }
    b
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shapes() -> Vec<Sum> {
        let mut shapes = Vec::new();
        for tokens in [0_u64, 1, 16, 128, 512, 2_048, 8_192] {
            for decodes in [0_u64, 1, 8, 32, 64, 256] {
                for kv in [128, 2_048, 16_384] {
                    shapes.push(Sum {
                        prefill_tokens: tokens,
                        prefill_half_pairs: tokens * tokens,
                        decode_seqs: decodes,
                        kv_tokens: decodes * kv,
                        by_tokens_ms: [0.0; 3],
                        total_ms: 0.0,
                    });
                }
            }
        }
        shapes.retain(|shape| shape.tokens() > 0);
        shapes
    }

    #[test]
    fn a_law_that_made_the_times_comes_back() {
        for (experts, expert_share) in [(0.0, 0.0), (6e-3, 1.0 / 32.0)] {
            let hidden = StepCoefficients {
                c0_s: 1.5e-3,
                cw_s: 4e-3,
                cw_experts_s: experts,
                expert_share,
                c1_s_per_token: 2e-5,
                c2_s_per_pair: 7e-10,
                c3_s_per_decode_seq: 3e-6,
                c4_s_per_kv_token: 4e-8,
                p: 2.5,
            };
            let mut timed = shapes();
            for (sum, off) in timed.clone().iter().zip(&mut timed) {
                off.total_ms = 1.0;
                let one = [*off];
                off.total_ms = offs(&one, &hidden)[0] + 1.0;
                assert_eq!(sum.tokens(), off.tokens());
            }
            let found = fit(&timed, expert_share);
            assert!(found.errors.last().is_some_and(|worst| *worst < 1e-3), "{found:?}");
            let near = |found: f64, hidden: f64| (found / hidden - 1.0).abs() < 0.05;
            let law = &found.coefficients;
            assert!(near(law.c1_s_per_token, hidden.c1_s_per_token), "{law:?}");
            assert!(near(law.c4_s_per_kv_token, hidden.c4_s_per_kv_token), "{law:?}");
        }
    }

    #[test]
    fn a_system_is_solved() {
        let mut a = [[0.0; UNKNOWNS]; UNKNOWNS];
        for (i, row) in a.iter_mut().enumerate() {
            for (j, cell) in row.iter_mut().enumerate() {
                let beside = 1.0 / (1.0 + i.abs_diff(j) as f64);
                *cell = if i == j { 4.0 } else { beside };
            }
        }
        let wanted = [1.0, -2.0, 3.0, 0.0, 5.0, -6.0, 7.0, 8.0];
        let b = a.map(|row| row.iter().zip(wanted).map(|(cell, x)| cell * x).sum());
        for (found, wanted) in solve(a, b).iter().zip(wanted) {
            assert!((found - wanted).abs() < 1e-9, "{found} {wanted}");
        }
    }
}

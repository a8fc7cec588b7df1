//! Moments of the lengths of a class: expectations of its distributions, not of one draw.
//!
//! A replayed trace has only one draw, so its moments are those of what it recorded, prompt and
//! answer of a request together. Everywhere else prompts and answers are independent.

use super::mean_field::LengthMoments;
use crate::math;
use crate::workload::{Lengths, TrafficClass};

/// What the requests of a class are like.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ClassLengths {
    /// All offered requests.
    pub offered: LengthMoments,
    /// Those that a replica can hold; zero if none does.
    pub served: LengthMoments,
    /// Share of offered requests that fit, 0 to 1.
    pub served_share: f64,
}

/// The lengths of `class` when prompt plus answer may have `longest` tokens. A recording is read
/// up to its `requests`-th request.
pub fn class_lengths(class: &TrafficClass, requests: usize, longest: u32) -> ClassLengths {
    let budget = class.max_output_tokens.unwrap_or(u32::MAX).max(1);
    if let (Lengths::Recorded(input), Lengths::Recorded(output)) = (&class.input, &class.output) {
        let pairs = input.iter().zip(output).take(requests);
        return of_pairs(pairs.map(|(i, o)| (*i, (*o).min(budget))), longest);
    }
    let inputs = nodes(&class.input, requests);
    let mut outputs = nodes(&class.output, requests);
    for (tokens, _) in &mut outputs {
        *tokens = tokens.min(f64::from(budget));
    }
    of_independent(&inputs, &mut outputs, f64::from(longest))
}

fn of_pairs(pairs: impl Iterator<Item = (u32, u32)>, longest: u32) -> ClassLengths {
    let (mut offered, mut served) = (Sum::default(), Sum::default());
    for (input, output) in pairs {
        let one = LengthMoments::fixed(f64::from(input), f64::from(output));
        offered.add(1.0, &one);
        if input.saturating_add(output) <= longest {
            served.add(1.0, &one);
        }
    }
    ClassLengths {
        offered: offered.mean(),
        served: served.mean(),
        served_share: if offered.weight > 0.0 { served.weight / offered.weight } else { 0.0 },
    }
}

/// Independent prompts and answers. For each prompt, the answers that still fit are a prefix of
/// the sorted ones.
fn of_independent(inputs: &[Node], outputs: &mut [Node], longest: f64) -> ClassLengths {
    outputs.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
    let mut prefixes = vec![Sum::default()];
    for &(tokens, weight) in outputs.iter() {
        let mut next = prefixes[prefixes.len() - 1];
        next.add(weight, &LengthMoments::fixed(0.0, tokens));
        prefixes.push(next);
    }
    let (mut offered, mut served) = (Sum::default(), Sum::default());
    for &(input, weight) in inputs {
        let fit = outputs.partition_point(|(output, _)| input + output <= longest);
        for (sum, upto) in [(&mut offered, outputs.len()), (&mut served, fit)] {
            sum.add_product(input, weight, &prefixes[upto]);
        }
    }
    ClassLengths {
        offered: offered.mean(),
        served: served.mean(),
        served_share: (served.weight / offered.weight).min(1.0),
    }
}

/// A length and its weight.
type Node = (f64, f64);

/// Lengths with weights that sum to one and integrate their first two moments.
fn nodes(lengths: &Lengths, requests: usize) -> Vec<Node> {
    let observed = |tokens: &[u32]| {
        let weight = 1.0 / tokens.len().max(1) as f64;
        tokens.iter().map(|tokens| (f64::from(*tokens), weight)).collect()
    };
    match lengths {
        Lengths::Fixed(tokens) => vec![(f64::from(*tokens), 1.0)],
        Lengths::Lognormal(law) => lognormal_nodes(law.mu(), law.sigma()),
        Lengths::Quantiles(table) => quantile_nodes(|p| table.at(p), table.shares()),
        Lengths::Empirical(samples) => observed(samples),
        Lengths::Recorded(tokens) => observed(&tokens[..requests.min(tokens.len())]),
    }
}

/// Trapezoids over the standard normal: for smooth functions their error is far below rounding.
fn lognormal_nodes(mu: f64, sigma: f64) -> Vec<Node> {
    const STEPS_PER_SIGMA: i32 = 16;
    const SIGMAS: i32 = 9;
    let step = 1.0 / f64::from(STEPS_PER_SIGMA);
    let raw: Vec<Node> = (-SIGMAS * STEPS_PER_SIGMA..=SIGMAS * STEPS_PER_SIGMA)
        .map(|i| {
            let z = f64::from(i) * step;
            (math::exp(mu + sigma * z).max(1.0), math::exp(-z * z / 2.0))
        })
        .collect();
    let total: f64 = raw.iter().map(|(_, weight)| weight).sum();
    raw.into_iter().map(|(tokens, weight)| (tokens, weight / total)).collect()
}

/// Simpson's rule on pieces of every row interval: exact for the square of a linear function.
fn quantile_nodes(at: impl Fn(f64) -> f64, shares: impl Iterator<Item = f64>) -> Vec<Node> {
    const PIECES: u32 = 8;
    let mut nodes = Vec::new();
    let mut from = 0.0;
    for to in shares.chain([1.0]) {
        let width = (to - from) / f64::from(PIECES);
        for piece in 0..PIECES {
            if width > 0.0 {
                let start = from + f64::from(piece) * width;
                for (offset, weight) in [(0.0, 1.0), (0.5, 4.0), (1.0, 1.0)] {
                    nodes.push((at(start + offset * width).max(1.0), weight * width / 6.0));
                }
            }
        }
        from = to;
    }
    nodes
}

#[derive(Debug, Clone, Copy, Default)]
struct Sum {
    weight: f64,
    moments: LengthMoments,
}

impl Sum {
    fn add(&mut self, weight: f64, one: &LengthMoments) {
        self.weight += weight;
        self.moments = self.moments.plus(weight, one);
    }

    /// Adds one prompt of `input` tokens with every answer of `outputs`.
    fn add_product(&mut self, input: f64, weight: f64, outputs: &Self) {
        let LengthMoments { output, output_squared, .. } = outputs.moments;
        self.weight += weight * outputs.weight;
        let product = LengthMoments {
            input: input * outputs.weight,
            input_squared: input * input * outputs.weight,
            output,
            output_squared,
            input_output: input * output,
        };
        self.moments = self.moments.plus(weight, &product);
    }

    fn mean(&self) -> LengthMoments {
        if self.weight > 0.0 {
            LengthMoments::default().plus(1.0 / self.weight, &self.moments)
        } else {
            LengthMoments::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::{Arrivals, Quality, RateProfile};

    fn class(input: Lengths, output: Lengths) -> TrafficClass {
        TrafficClass {
            name: "c".to_owned(),
            arrivals: Arrivals::Even(RateProfile::constant(1.0).unwrap()),
            input,
            output,
            max_output_tokens: None,
            patience: None,
            error_rate: 0.0,
            quality: Quality::NotChecked,
        }
    }

    fn close(a: f64, b: f64, tolerance: f64) {
        assert!((a / b - 1.0).abs() < tolerance, "{a} {b}");
    }

    #[test]
    fn fixed_lengths_are_exact() {
        let lengths = class_lengths(&class(Lengths::Fixed(512), Lengths::Fixed(731)), 9, 8192);
        assert_eq!(lengths.offered, LengthMoments::fixed(512.0, 731.0));
        assert_eq!((lengths.served, lengths.served_share), (lengths.offered, 1.0));
    }

    #[test]
    fn a_lognormal_has_the_moments_of_the_formula() {
        let law = crate::workload::Lognormal::from_mean_p99(500.0, 2400.0).unwrap();
        let class = class(Lengths::Lognormal(law), Lengths::Fixed(10));
        let moments = class_lengths(&class, 9, u32::MAX).offered;
        close(moments.input, 500.0, 1e-4);
        let second = math::exp(2.0 * law.mu() + 2.0 * law.sigma() * law.sigma());
        close(moments.input_squared, second, 1e-3);
        close(moments.input_output, 5000.0, 1e-4);
    }

    #[test]
    fn a_quantile_table_is_integrated_exactly() {
        // Uniform from 100 to 300, then flat.
        let table = Lengths::quantiles(&[(0.0, 100.0), (0.5, 300.0)]).unwrap();
        let moments = class_lengths(&class(table, Lengths::Fixed(1)), 9, u32::MAX).offered;
        close(moments.input, 0.5 * 200.0 + 0.5 * 300.0, 1e-12);
        let uniform_square = 200.0 * 200.0 + 200.0 * 200.0 / 12.0;
        close(moments.input_squared, 0.5 * uniform_square + 0.5 * 90_000.0, 1e-12);
    }

    #[test]
    fn what_is_too_long_is_offered_but_not_served() {
        let input = Lengths::Empirical(vec![100, 200, 900]);
        let output = Lengths::Empirical(vec![50, 150]);
        let lengths = class_lengths(&class(input, output), 9, 1000);
        // 900 + 150 alone does not fit.
        close(lengths.served_share, 5.0 / 6.0, 1e-12);
        close(lengths.offered.input, 400.0, 1e-12);
        close(lengths.served.input, (100.0 * 2.0 + 200.0 * 2.0 + 900.0) / 5.0, 1e-12);
        close(lengths.served.output, (3.0 * 50.0 + 2.0 * 150.0) / 5.0, 1e-12);
        close(
            lengths.served.input_output,
            (100.0 * 200.0 + 200.0 * 200.0 + 900.0 * 50.0) / 5.0,
            1e-12,
        );
    }

    #[test]
    fn an_output_budget_cuts_answers() {
        let mut class = class(Lengths::Fixed(10), Lengths::Empirical(vec![100, 300]));
        class.max_output_tokens = Some(200);
        close(class_lengths(&class, 9, 8192).offered.output, 150.0, 1e-12);
    }

    #[test]
    fn a_recording_keeps_prompt_and_answer_together() {
        let class =
            class(Lengths::Recorded(vec![100, 1000, 7]), Lengths::Recorded(vec![10, 100, 7]));
        let lengths = class_lengths(&class, 2, 500);
        close(lengths.offered.input_output, f64::midpoint(1000.0, 100_000.0), 1e-12);
        close(lengths.served_share, 0.5, 1e-12);
        close(lengths.served.input, 100.0, 1e-12);
    }
}

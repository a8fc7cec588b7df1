//! Moments of the lengths of a class: expectations of its distributions, not of one draw.
//!
//! A replayed trace has only one draw, so its moments are those of what it recorded, prompt and
//! answer of a request together. Elsewhere prompts and answers are independent, pairs of samples,
//! or of correlated ranks.

use super::mean_field::LengthMoments;
use crate::math;
use crate::workload::{Copula, Hidden, Lengths, Pairing, TrafficClass};

/// What the requests of a class are like.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ClassLengths {
    /// All offered requests.
    pub offered: LengthMoments,
    /// Those that a replica can hold; zero if none does.
    pub served: LengthMoments,
    /// Share of offered requests that fit, 0 to 1.
    pub served_share: f64,
    /// Share of offered requests whose answer the output budget cuts, 0 to 1.
    pub truncated_share: f64,
    /// The same of those that fit.
    pub served_truncated_share: f64,
}

/// The lengths of `class` when prompt plus answer may have `longest` tokens. A recording is read
/// up to its `requests`-th request.
pub fn class_lengths(class: &TrafficClass, requests: usize, longest: u32) -> ClassLengths {
    let budget = f64::from(class.max_output_tokens.unwrap_or(u32::MAX).max(1));
    let hidden = |most| match &class.hidden {
        Hidden::Added(lengths) => merged(nodes(lengths, requests), most),
        Hidden::None | Hidden::Share(_) => vec![(0.0, 1.0)],
    };
    let longest = f64::from(longest);
    if let Some(pairs) = pairs(class, requests) {
        return of_pairs(&pairs, &hidden(16), budget, longest);
    }
    let outputs = generated(class, requests);
    of_independent(&nodes(&class.input, requests), &outputs, budget, longest)
}

/// What the model generates for a request, hidden tokens included, before any budget: lengths with
/// weights that sum to one.
pub(super) fn generated(class: &TrafficClass, requests: usize) -> Vec<Node> {
    let outputs = nodes(&class.output, requests);
    let Hidden::Added(hidden) = &class.hidden else { return outputs };
    let hidden = merged(nodes(hidden, requests), 64);
    let with = |(tokens, weight): &Node| {
        let (tokens, weight) = (*tokens, *weight);
        hidden.iter().map(move |(more, share)| (tokens + more, weight * share)).collect::<Vec<_>>()
    };
    merged(outputs.iter().flat_map(with).collect(), 4_096)
}

/// Prompts and answers that come together, with weights; `None` where they are drawn apart.
fn pairs(class: &TrafficClass, requests: usize) -> Option<Vec<Pair>> {
    let zipped = |inputs: &[u32], outputs: &[u32]| {
        let pair = |(input, output): (&u32, &u32)| (f64::from(*input), f64::from(*output), 1.0);
        inputs.iter().zip(outputs).take(requests).map(pair).collect()
    };
    match (class.pairing, &class.input, &class.output) {
        (_, Lengths::Recorded(inputs), Lengths::Recorded(outputs)) => Some(zipped(inputs, outputs)),
        (Pairing::Together, Lengths::Empirical(inputs), Lengths::Empirical(outputs)) => {
            Some(zipped(inputs.given(), outputs.given()))
        }
        (Pairing::Correlated(copula), input, output) => Some(correlated(copula, input, output)),
        _ => None,
    }
}

/// A grid over two independent standard normal values.
fn correlated(copula: Copula, input: &Lengths, output: &Lengths) -> Vec<Pair> {
    const STEPS_PER_SIGMA: i32 = 8;
    const SIGMAS: i32 = 6;
    let grid: Vec<Node> = (-SIGMAS * STEPS_PER_SIGMA..=SIGMAS * STEPS_PER_SIGMA)
        .map(|i| {
            let z = f64::from(i) / f64::from(STEPS_PER_SIGMA);
            (z, math::exp(-z * z / 2.0))
        })
        .collect();
    let output = ByNormal::of(output);
    let mut pairs = Vec::with_capacity(grid.len() * grid.len());
    for &(first, weight) in &grid {
        let tokens = input.at_normal(first).max(1.0);
        for &(independent, share) in &grid {
            let second = copula.second(first, independent);
            pairs.push((tokens, output.at(second), weight * share));
        }
    }
    pairs
}

/// Lengths by standard normal value, tabulated: some laws take a while for each.
struct ByNormal(Vec<f64>);

impl ByNormal {
    const PER_SIGMA: f64 = 16.0;
    const SIGMAS: i32 = 9;

    fn of(lengths: &Lengths) -> Self {
        let steps = Self::SIGMAS * 16;
        let at = |i: i32| math::ln(lengths.at_normal(f64::from(i) / Self::PER_SIGMA).max(1.0));
        Self((-steps..=steps).map(at).collect())
    }

    /// Linear in the logarithm, which is exact for a lognormal.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "cut to the table before it becomes an index"
    )]
    fn at(&self, z: f64) -> f64 {
        let last = (self.0.len() - 1) as f64;
        let place = ((z + f64::from(Self::SIGMAS)) * Self::PER_SIGMA).clamp(0.0, last);
        let index = (place.floor() as usize).min(self.0.len() - 2);
        let (low, high) = (self.0[index], self.0[index + 1]);
        math::exp(low + (high - low) * (place - index as f64))
    }
}

fn of_pairs(pairs: &[Pair], hidden: &[Node], budget: f64, longest: f64) -> ClassLengths {
    let (mut offered, mut served) = (Sum::default(), Sum::default());
    for &(input, output, weight) in pairs {
        for &(more, share) in hidden {
            let generated = output + more;
            let one = LengthMoments::fixed(input, generated.min(budget));
            let truncated = generated > budget;
            offered.add(weight * share, &one, truncated);
            if input + generated.min(budget) <= longest {
                served.add(weight * share, &one, truncated);
            }
        }
    }
    ClassLengths::of(&offered, &served)
}

/// Independent prompts and answers. For each prompt, the answers that still fit are a prefix of
/// the sorted ones.
fn of_independent(inputs: &[Node], generated: &[Node], budget: f64, longest: f64) -> ClassLengths {
    let mut outputs: Vec<Node> = generated.to_vec();
    outputs.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
    let mut prefixes = vec![Sum::default()];
    for &(tokens, weight) in &outputs {
        let mut next = prefixes[prefixes.len() - 1];
        let one = LengthMoments::fixed(0.0, tokens.min(budget));
        next.add(weight, &one, tokens > budget);
        prefixes.push(next);
    }
    let (mut offered, mut served) = (Sum::default(), Sum::default());
    for &(input, weight) in inputs {
        let fit = outputs.partition_point(|(tokens, _)| input + tokens.min(budget) <= longest);
        for (sum, upto) in [(&mut offered, outputs.len()), (&mut served, fit)] {
            sum.add_product(input, weight, &prefixes[upto]);
        }
    }
    ClassLengths::of(&offered, &served)
}

impl ClassLengths {
    /// Those of prompts and answers that were drawn, `(prompt, answer, weight)`: of the turns of
    /// sessions. A replica takes `longest` tokens at most, an answer `budget`.
    pub(super) fn of_drawn(drawn: &[Pair], budget: f64, longest: f64) -> Self {
        let (mut offered, mut served) = (Sum::default(), Sum::default());
        for &(input, output, weight) in drawn {
            let one = LengthMoments::fixed(input, output);
            offered.add(weight, &one, output >= budget);
            if input + output <= longest {
                served.add(weight, &one, output >= budget);
            }
        }
        Self::of(&offered, &served)
    }

    fn of(offered: &Sum, served: &Sum) -> Self {
        let share = |part: f64, whole: f64| if whole > 0.0 { (part / whole).min(1.0) } else { 0.0 };
        Self {
            offered: offered.mean(),
            served: served.mean(),
            served_share: share(served.weight, offered.weight),
            truncated_share: share(offered.truncated, offered.weight),
            served_truncated_share: share(served.truncated, served.weight),
        }
    }
}

/// A length and its weight.
pub(super) type Node = (f64, f64);

/// A prompt, an answer and their weight.
pub(super) type Pair = (f64, f64, f64);

/// At most `most` nodes with the same mean: neighbours of nearly equal weight become one.
fn merged(mut nodes: Vec<Node>, most: usize) -> Vec<Node> {
    if nodes.len() <= most {
        return nodes;
    }
    nodes.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
    let part = nodes.iter().map(|(_, weight)| weight).sum::<f64>() / most as f64;
    let (mut merged, mut sum, mut weight) = (Vec::with_capacity(most + 1), 0.0, 0.0);
    for (tokens, share) in nodes {
        sum += tokens * share;
        weight += share;
        if weight >= part {
            merged.push((sum / weight, weight));
            (sum, weight) = (0.0, 0.0);
        }
    }
    if weight > 0.0 {
        merged.push((sum / weight, weight));
    }
    merged
}

/// Lengths with weights that sum to one and integrate their first two moments.
pub(super) fn nodes(lengths: &Lengths, requests: usize) -> Vec<Node> {
    let observed = |tokens: &[u32]| {
        let weight = 1.0 / tokens.len().max(1) as f64;
        tokens.iter().map(|tokens| (f64::from(*tokens), weight)).collect()
    };
    match lengths {
        Lengths::Fixed(tokens) => vec![(f64::from(*tokens), 1.0)],
        Lengths::Lognormal(law) => normal_nodes(|z| math::exp(law.mu() + law.sigma() * z)),
        Lengths::Gamma(_) | Lengths::Pareto(_) => normal_nodes(|z| lengths.at_normal(z)),
        Lengths::Uniform(law) => {
            let (min, max) = law.range();
            let width = f64::from(max - min) + 1.0;
            let shares = (1_u32..64).map(|i| f64::from(i) / 64.0);
            quantile_nodes(|p| f64::from(min) - 0.5 + p * width, shares)
        }
        Lengths::Quantiles(table) => quantile_nodes(|p| table.at(p), table.shares()),
        Lengths::Empirical(samples) => observed(samples.given()),
        Lengths::Recorded(tokens) => observed(&tokens[..requests.min(tokens.len())]),
        Lengths::Mixture(mixture) => {
            let of_part = |(share, lengths): &(f64, Lengths)| {
                let share = *share;
                let nodes = nodes(lengths, requests).into_iter();
                nodes.map(move |(tokens, weight)| (tokens, weight * share)).collect::<Vec<_>>()
            };
            mixture.parts().iter().flat_map(of_part).collect()
        }
        Lengths::Clipped(inner, clip) => {
            let nodes = nodes(inner, requests).into_iter();
            nodes.map(|(tokens, weight)| (clip.apply(tokens), weight)).collect()
        }
    }
}

/// Trapezoids over the standard normal: for smooth functions their error is far below rounding.
fn normal_nodes(at: impl Fn(f64) -> f64) -> Vec<Node> {
    const STEPS_PER_SIGMA: i32 = 16;
    const SIGMAS: i32 = 9;
    let step = 1.0 / f64::from(STEPS_PER_SIGMA);
    let raw: Vec<Node> = (-SIGMAS * STEPS_PER_SIGMA..=SIGMAS * STEPS_PER_SIGMA)
        .map(|i| {
            let z = f64::from(i) * step;
            (at(z).max(1.0), math::exp(-z * z / 2.0))
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
    /// Weight of answers that the budget cuts.
    truncated: f64,
    moments: LengthMoments,
}

impl Sum {
    fn add(&mut self, weight: f64, one: &LengthMoments, truncated: bool) {
        self.weight += weight;
        if truncated {
            self.truncated += weight;
        }
        self.moments = self.moments.plus(weight, one);
    }

    /// Adds one prompt of `input` tokens with every answer of `outputs`.
    fn add_product(&mut self, input: f64, weight: f64, outputs: &Self) {
        let LengthMoments { output, output_squared, .. } = outputs.moments;
        self.weight += weight * outputs.weight;
        self.truncated += weight * outputs.truncated;
        let product = LengthMoments {
            input: input * outputs.weight,
            input_squared: input * input * outputs.weight,
            output,
            output_squared,
            input_output: input * output,
            ..LengthMoments::default()
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
mod tests;

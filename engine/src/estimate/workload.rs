//! What each class asks for, realised: the numbers that stand beside every distribution.

use super::demand;
use super::lengths::{Node, class_lengths, generated, nodes};
use super::report::{ClassWorkload, SharingWorkload};
use super::sessions::SessionTurns;
use crate::scenario::Scenario;
use crate::stats;
use crate::units::Picos;
use crate::workload::{
    Hidden, LengthSummary, Lengths, OfferedRequest, Pairing, SharedPrefix, TrafficClass,
};

/// Every class of `scenario`, by its distributions: what is drawn scatters around it. Of the prompts
/// of each so many tokens are found `cached` in the mean.
pub fn classes(scenario: &Scenario, cached: &[f64]) -> Vec<ClassWorkload> {
    let of_class = |(class, cached): (&TrafficClass, &f64)| {
        let max_model_len = scenario.max_model_len_of(class);
        let requests = demand::recorded(class, scenario.horizon);
        let turns = SessionTurns::of(class, scenario);
        let lengths = match &turns {
            Some(turns) => turns.lengths(class, max_model_len),
            None => class_lengths(class, requests, max_model_len),
        };
        let (over, truncated) = shares(class, requests, max_model_len)
            .unwrap_or((1.0 - lengths.served_share, lengths.truncated_share));
        let [p50, p90, p99] = match &turns {
            Some(turns) => input_percentiles(turns),
            None => SHARES.map(|p| percentile(&class.input, requests, p)),
        };
        let [out_p50, out_p90, out_p99] = output_percentiles(class, requests);
        ClassWorkload {
            name: class.name.clone(),
            tenant: class.tenant.clone(),
            expected_requests: turns.as_ref().map_or(1.0, SessionTurns::per_session)
                * class.expected(Picos::ZERO, scenario.horizon),
            input_tokens: LengthSummary {
                mean: lengths.offered.input,
                p50,
                p90,
                p99,
                share_over_max_model_len: over,
            },
            output_tokens: LengthSummary {
                mean: lengths.offered.output,
                p50: out_p50,
                p90: out_p90,
                p99: out_p99,
                share_over_max_model_len: over,
            },
            share_at_max_output_tokens: truncated,
            sharing: sharing(class, turns.as_ref(), *cached),
            mean_hidden_tokens: mean_hidden(class, requests, lengths.offered.output),
        }
    };
    scenario.classes.iter().zip(cached).map(of_class).collect()
}

/// What the prompts of `class` share, `cached` tokens of which are found in the mean.
fn sharing(
    class: &TrafficClass,
    turns: Option<&SessionTurns>,
    cached: f64,
) -> Option<SharingWorkload> {
    let prefix = class.shared_prefix.as_ref();
    (prefix.is_some() || turns.is_some()).then(|| SharingWorkload {
        prefix_tokens: prefix.map(SharedPrefix::tokens),
        share_no_longer_than_prefix: prefix
            .map_or(0.0, |prefix| class.input.share_at(f64::from(prefix.tokens()))),
        turns_per_session: turns.map(SessionTurns::per_session),
        mean_cached_tokens: cached,
    })
}

/// Of the prompts of all turns.
fn input_percentiles(turns: &SessionTurns) -> [f64; 3] {
    let prompt = |(session, i, weight): (&[OfferedRequest], usize, f64)| {
        (f64::from(session[i].input_tokens), weight)
    };
    let mut nodes: Vec<Node> = turns.weighted().map(prompt).collect();
    nodes.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
    let all: f64 = nodes.iter().map(|(_, weight)| weight).sum();
    SHARES.map(|p| of_nodes(&nodes, p * all))
}

/// Shares of requests that are too long, and that the budget cuts, by the distribution function
/// of the answers: where these stand alone it is sharper than any grid.
fn shares(class: &TrafficClass, requests: usize, max_model_len: u32) -> Option<(f64, f64)> {
    let drawn = !matches!(class.output, Lengths::Recorded(_)) && class.session.is_none();
    let alone = !matches!(class.hidden, Hidden::Added(_)) && class.pairing == Pairing::Apart;
    if !(drawn && alone) {
        return None;
    }
    // Lengths are rounded to whole tokens.
    let beyond = |tokens: f64| 1.0 - class.output.share_at(tokens.max(0.0) + 0.5);
    let budget = class.max_output_tokens.map_or(f64::INFINITY, f64::from);
    let over = nodes(&class.input, requests).into_iter().map(|(input, weight)| {
        let room = f64::from(max_model_len) - input.round();
        // A prompt that leaves no room for a token is too long whatever the answer.
        let share = if room < 1.0 {
            1.0
        } else if budget <= room {
            0.0
        } else {
            beyond(room)
        };
        weight * share
    });
    let truncated = if budget.is_finite() { beyond(budget) } else { 0.0 };
    Some((over.sum(), truncated))
}

const SHARES: [f64; 3] = [0.5, 0.9, 0.99];

/// A percentile in whole tokens; of a recording, of its requests before the horizon.
fn percentile(lengths: &Lengths, requests: usize, p: f64) -> f64 {
    let Lengths::Recorded(tokens) = lengths else { return f64::from(lengths.quantile(p)) };
    let recorded = &tokens[..requests.min(tokens.len())];
    let mut sorted: Vec<f64> = recorded.iter().map(|tokens| f64::from(*tokens)).collect();
    sorted.sort_unstable_by(f64::total_cmp);
    stats::nearest_rank(&sorted, p).unwrap_or(0.0)
}

/// Of all tokens that are generated, up to the budget.
fn output_percentiles(class: &TrafficClass, requests: usize) -> [f64; 3] {
    let budget = f64::from(class.max_output_tokens.unwrap_or(u32::MAX));
    let free = if let Hidden::Added(_) = class.hidden {
        let mut nodes = generated(class, requests);
        nodes.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
        SHARES.map(|p| of_nodes(&nodes, p))
    } else {
        SHARES.map(|p| percentile(&class.output, requests, p))
    };
    free.map(|tokens| tokens.min(budget))
}

/// The first of sorted nodes up to which the share `p` of their weight lies.
fn of_nodes(nodes: &[Node], p: f64) -> f64 {
    let mut upto = 0.0;
    let reached = nodes.iter().find(|(_, weight)| {
        upto += weight;
        upto >= p
    });
    reached.or(nodes.last()).map_or(0.0, |(tokens, _)| tokens.round())
}

/// Mean of the tokens that are not shown; `None` where there are none. Hidden tokens come first, so
/// a budget cuts them last.
fn mean_hidden(class: &TrafficClass, requests: usize, mean_output: f64) -> Option<f64> {
    match &class.hidden {
        Hidden::None => None,
        Hidden::Share(share) => Some(share * mean_output),
        Hidden::Added(hidden) => {
            // The lengths of a class whose whole answer is what it hides.
            let alone = TrafficClass {
                output: hidden.clone(),
                hidden: Hidden::None,
                pairing: Pairing::Apart,
                ..class.clone()
            };
            Some(class_lengths(&alone, requests, u32::MAX).offered.output)
        }
    }
}

//! What a scenario holds that arithmetic of means does not see: said, so that nobody reads the
//! estimate as if it were in.

use crate::scenario::Scenario;
use crate::slo::Contract;
use crate::workload::TrafficClass;

/// Sentences without a full stop, one for each feature of `scenario` that the estimate leaves out.
pub fn leaves_out(scenario: &Scenario) -> Vec<String> {
    let any = |has: fn(&TrafficClass) -> bool| scenario.classes.iter().any(has);
    let leaves = |class: &TrafficClass| {
        let clients = &class.clients;
        class.patience.is_some() || clients.stall_patience.is_some() || clients.timeout.is_some()
    };
    let ranks = |contract: &Contract| !contract.percentile_targets.is_empty();
    [
        (
            scenario.contracts.iter().any(ranks),
            "how requests spread about the typical one: it must be within the limit of every target \
             on a percentile from the median up, and a target on a lower one is not judged",
        ),
        (
            scenario.admission.is_limited(),
            "admission limits: everybody is let in, so debt and latencies are those of an open door",
        ),
        (
            scenario.pools().any(|pool| !pool.life.is_constant()),
            "replicas that start, fail or are scaled: as many as there are at most are taken to be \
             ready all the time",
        ),
        (
            scenario.pools().any(|pool| pool.scheduler.by_priority) && priorities_differ(scenario),
            "whose turn it is by priority: latencies are those of a queue in which all are alike",
        ),
        (
            scenario.pools().any(|pool| pool.scheduler.stream_interval > 1),
            "that tokens leave several at a time (stream_interval): gaps between stream events are \
             taken to be single steps, and what it saves the server is not counted at all",
        ),
        (
            scenario.pools().any(|pool| pool.scheduler.long_prefill_token_threshold > 0),
            "the threshold of long prompts (long_prefill_token_threshold): a prompt alone takes as \
             much of a step as the budget leaves, so where prompts are longer than the threshold \
             TTFT is a lower bound",
        ),
        (any(leaves), "clients who leave: all are served to the end"),
        (
            any(|class| class.session.is_some()),
            "when turns of sessions come: they are spread over the horizon as their arrivals are, \
             though at its beginning there are fewer, and none is lost",
        ),
        (
            any(|class| class.shared_prefix.is_some()) && scenario.pool.scheduler.prefix_caching,
            "that sequences hold a shared prefix together: each is counted with its whole prompt, \
             so KV memory is a lower bound",
        ),
        (
            any(|class| class.clients.retries.is_some()),
            "clients who try again: demand is that of first attempts",
        ),
    ]
    .into_iter()
    .filter(|(is_there, _)| *is_there)
    .map(|(_, sentence)| sentence.to_owned())
    .collect()
}

fn priorities_differ(scenario: &Scenario) -> bool {
    scenario.classes.windows(2).any(|pair| pair[0].priority != pair[1].priority)
}

//! What the rules of a scheduler do, each in a line.

use goodput_engine::counted::plural;
use goodput_engine::scenario::doc::{PoolDoc, SchedulingPolicyDoc};

/// Scheduling policies: name in the document, and what it does.
pub const POLICIES: [(SchedulingPolicyDoc, &str, &str); 2] = [
    (
        SchedulingPolicyDoc::Fcfs,
        "fcfs",
        "First come, first served; when KV blocks run out, who was admitted last loses its own",
    ),
    (
        SchedulingPolicyDoc::Priority,
        "priority",
        "By the priority of classes, then by arrival; when KV blocks run out, who is least urgent \
         loses its own. Seats are not taken from anybody",
    ),
];

/// The name of a pool's policy.
pub fn policy_name(pool: &PoolDoc) -> String {
    policy(pool).1.to_owned()
}

/// What it does.
pub fn policy_line(pool: &PoolDoc) -> String {
    policy(pool).2.to_owned()
}

fn policy(pool: &PoolDoc) -> (SchedulingPolicyDoc, &'static str, &'static str) {
    let known = POLICIES.into_iter().find(|(policy, ..)| *policy == pool.scheduling_policy);
    known.unwrap_or(POLICIES[0])
}

/// What the threshold of long prompts does.
pub fn threshold_line(pool: &PoolDoc) -> String {
    match pool.long_prefill_token_threshold {
        0 => "0: a prompt takes as much of a step as the budget leaves, and who is behind it waits"
            .to_owned(),
        threshold => format!(
            "A prompt takes no more than {} of a step: shorter ones share it, long ones take longer",
            plural(threshold.into(), "token", "tokens")
        ),
    }
}

/// What the interval of a stream does.
pub fn interval_line(pool: &PoolDoc) -> String {
    match pool.stream_interval {
        0 | 1 => "1: clients get every token as it comes".to_owned(),
        tokens => format!(
            "After the first token clients get {tokens} at a time: gaps are longer, and as many \
             times fewer"
        ),
    }
}

#[cfg(test)]
mod tests {
    use goodput_engine::scenario::presets;

    use super::*;

    #[test]
    fn every_rule_says_what_it_does_as_it_is() {
        let preset = presets::preset("chat-peak").expect("a preset");
        let mut pool = preset.doc.fleet.pools[0].clone();
        assert_eq!(policy_name(&pool), "fcfs");
        assert!(
            threshold_line(&pool).starts_with("0: ") && interval_line(&pool).starts_with("1: ")
        );
        pool.scheduling_policy = SchedulingPolicyDoc::Priority;
        (pool.long_prefill_token_threshold, pool.stream_interval) = (512, 8);
        assert!(policy_line(&pool).contains("least urgent"));
        assert!(threshold_line(&pool).contains("512 tokens"), "{}", threshold_line(&pool));
        assert!(interval_line(&pool).contains("8 at a time"));
    }
}

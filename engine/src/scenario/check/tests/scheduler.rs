//! Rules of the scheduler.

use super::*;

#[test]
fn rules_of_the_scheduler_that_the_engine_does_not_start_with() {
    each_breaks_one_rule(vec![
        (
            pool(|p| p.long_prefill_token_threshold = (1 << 20) + 1),
            "fleet.pools[0].long_prefill_token_threshold",
            "1,048,576",
        ),
        (pool(|p| p.stream_interval = 0), "fleet.pools[0].stream_interval", "1 to 65,535"),
        (
            pool(|p| p.max_num_partial_prefills = 4),
            "fleet.pools[0].max_num_partial_prefills",
            "vLLM V1 does not start",
        ),
        (
            pool(|p| p.max_long_partial_prefills = 2),
            "fleet.pools[0].max_long_partial_prefills",
            "long_prefill_token_threshold",
        ),
    ]);
}

#[test]
fn priorities_that_are_all_alike_are_a_warning() {
    let mut alike = pool(|p| p.scheduling_policy = SchedulingPolicyDoc::Priority);
    assert_eq!(warnings(&alike)[0].path, "fleet.pools[0].scheduling_policy");
    let urgent = ClassDoc { priority: -1, ..alike.workload.classes[0].clone() };
    alike.workload.classes.push(ClassDoc { name: "urgent".to_owned(), ..urgent });
    assert_eq!(warnings(&alike), []);
}

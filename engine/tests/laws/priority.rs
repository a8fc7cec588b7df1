//! Scheduling by priority: who goes first, who loses its blocks, and what that costs those behind it.

use goodput_engine::sim::{ReplicaSpec, SchedulingPolicy};
use goodput_engine::units::Picos;
use goodput_engine::workload::OfferedRequest;

use super::common::{exponential_tokens, law, poisson, replica, request, run};

/// One second a step, whatever is in it; class 0 is urgent, class 1 is not.
fn by_priority() -> ReplicaSpec {
    ReplicaSpec {
        scheduling_policy: SchedulingPolicy::Priority(vec![-1, 3]),
        ..replica(law(1.0, 0.0, 0.0))
    }
}

fn of_class(class: u32, request: OfferedRequest) -> OfferedRequest {
    OfferedRequest { class, ..request }
}

#[test]
fn who_is_more_urgent_goes_first_and_among_equals_who_came_first() {
    // One seat, taken until 5 s; what came meanwhile takes a step each.
    let requests = [
        of_class(1, request(0.0, 10, 5)),
        of_class(1, request(0.5, 10, 1)),
        of_class(0, request(1.5, 10, 1)),
        of_class(0, request(1.2, 10, 1)),
        of_class(1, request(1.6, 10, 1)),
    ];
    let mut requests = requests;
    requests.sort_by_key(|request| request.due);
    let one_seat = ReplicaSpec { max_num_seqs: 1, ..by_priority() };
    let came_at = |s: f64| {
        let run = run(&requests, one_seat.clone(), 1);
        let index = requests.iter().position(|request| request.due == Picos::from_secs(s));
        run.stamps[index.expect("one of them")].first_token.expect("served").as_secs()
    };
    let first = [1.2, 1.5, 0.5, 1.6].map(came_at);
    assert!(
        first.iter().zip([6.0, 7.0, 8.0, 9.0]).all(|(at, s)| (at - s).abs() < 1e-9),
        "{first:?}"
    );
}

#[test]
fn where_all_are_alike_and_blocks_suffice_it_is_first_come_first_served() {
    let lengths = |i: u64| (200, exponential_tokens(60.0, 1, i));
    let requests = poisson(400, 14.0, 1, lengths);
    let like = |scheduling_policy| {
        let law = law(5e-3, 4e-5, 2.6e-8);
        let replica = ReplicaSpec { scheduling_policy, max_num_seqs: 9, ..replica(law) };
        run(&requests, replica, 1).stamps
    };
    let alike = like(SchedulingPolicy::Priority(vec![2]));
    assert!(alike.iter().any(|stamps| stamps.scheduled > stamps.queued), "somebody waits");
    assert_eq!(alike, like(SchedulingPolicy::Fcfs));
}

#[test]
fn the_least_urgent_loses_its_blocks_though_it_was_admitted_first() {
    // Ten blocks of 16. Two prompts of 64 hold four each; both grow, and one has to give way.
    let of = |classes: [u32; 2]| {
        let requests = classes.map(|class| of_class(class, request(0.0, 64, 40)));
        let tight = ReplicaSpec { usable_blocks: 10, ..by_priority() };
        let run = run(&requests, tight, 1);
        [run.stamps[0].preemptions, run.stamps[1].preemptions]
    };
    assert_eq!(of([1, 0]), [1, 0], "the first is less urgent");
    assert_eq!(of([0, 1]), [0, 1]);
    assert_eq!(of([1, 1]), [0, 1], "among equals who came last");
}

#[test]
fn who_finds_no_block_but_its_own_ends_the_step_for_all_behind_it() {
    // 15 blocks of 16, all held in the second step (5 each). In the third the one in the middle needs
    // another; it is the least urgent, so it loses its own, and the one behind it waits for the
    // fourth. First come, first served, that one would lose its blocks instead.
    let requests = [
        of_class(0, request(0.0, 70, 3)),
        of_class(1, request(0.0, 79, 4)),
        of_class(0, request(0.5, 66, 3)),
    ];
    let tight = ReplicaSpec { usable_blocks: 15, ..by_priority() };
    let ran = run(&requests, tight.clone(), 1);
    let of = |index: usize| {
        let stamps = &ran.stamps[index];
        let ended = stamps.ended.expect("served").as_secs();
        (stamps.preemptions, stamps.longest_stall.as_secs(), ended)
    };
    assert_eq!([of(0), of(2)], [(0, 1.0, 3.0), (0, 2.0, 5.0)]);
    assert_eq!(of(1).0, 1);
    let fcfs = ReplicaSpec { scheduling_policy: SchedulingPolicy::Fcfs, ..tight };
    let preempted = run(&requests, fcfs, 1);
    assert_eq!(preempted.stamps.iter().map(|s| s.preemptions).collect::<Vec<_>>(), [0, 0, 1]);
}

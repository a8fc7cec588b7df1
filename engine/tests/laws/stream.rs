//! Streams whose events hold several tokens: what clients see, and what they cannot.

use goodput_engine::sim::{FleetSim, FleetSpec, Progress, ReplicaSpec, RunLimits};
use goodput_engine::slo::{Fate, RequestStamps};
use goodput_engine::units::Picos;
use goodput_engine::workload::OfferedRequest;

use super::common::{exponential_tokens, law, poisson, replica, request, run};

/// One second a step, whatever is in it.
fn in_events_of(stream_interval: u16) -> ReplicaSpec {
    ReplicaSpec { stream_interval, ..replica(law(1.0, 0.0, 0.0)) }
}

#[test]
fn the_first_token_leaves_at_once_and_then_so_many_at_a_time() {
    // Tokens leave after 1, 5, 9 and 11 s: the last event has what is left.
    for (interval, longest_s, above_1_5_s) in [(1, 1.0, 0), (4, 4.0, 3), (20, 10.0, 1)] {
        let fleet = FleetSpec::open(in_events_of(interval), 1);
        let requests = [request(0.0, 10, 11)];
        let limits = RunLimits::to_the_end(Picos(1));
        let mut sim = FleetSim::new(&requests, &fleet, limits)
            .counting_gaps_above(&[Some(Picos::from_secs(1.5))]);
        while sim.advance(1) != Progress::Done {}
        let stamps = sim.finish().stamps[0];
        assert_eq!(stamps.first_token, Some(Picos::from_secs(1.0)));
        assert_eq!(stamps.ended, Some(Picos::from_secs(11.0)));
        assert_eq!(stamps.longest_stall, Picos::from_secs(longest_s), "events of {interval}");
        assert_eq!(stamps.gaps_above, above_1_5_s, "events of {interval}");
    }
}

#[test]
fn gaps_between_events_are_as_many_as_a_list_of_them_has() {
    for interval in 1..9 {
        for (generated, output) in (1..40).flat_map(|output| (1..=output).map(move |g| (g, output)))
        {
            let stamps = RequestStamps { stream_interval: interval, ..RequestStamps::UNSEEN };
            let ends =
                |token: &u32| (token - 1).is_multiple_of(interval.into()) || *token == output;
            let events: Vec<u32> = (1..=generated).filter(ends).collect();
            assert_eq!(stamps.event_gaps(generated, output) as usize, events.len() - 1);
            let with = (generated..=output).find(|token| ends(token));
            assert_eq!(Some(stamps.sent_with(generated, output)), with);
        }
    }
}

#[test]
fn whoever_minds_a_long_gap_between_events_sees_what_tokens_would_not_show() {
    let seen = |interval, hidden_tokens| {
        let asked = OfferedRequest { hidden_tokens, ..request(0.0, 10, 11) };
        run(&[asked], in_events_of(interval), 1).stamps[0].first_visible.map(Picos::as_secs)
    };
    // The third token leaves with the fifth, the tenth with the last.
    assert_eq!([seen(1, 2), seen(4, 2), seen(4, 9)], [Some(3.0), Some(5.0), Some(11.0)]);
    assert_eq!(seen(4, 11), None, "nothing of it is shown");
}

#[test]
fn events_change_what_is_seen_of_a_run_and_nothing_of_the_run() {
    let requests = poisson(400, 60.0, 1, |i| (200, exponential_tokens(60.0, 1, i)));
    let with = |stream_interval| {
        let law = law(5e-3, 4e-5, 2.6e-8);
        let tight = ReplicaSpec { stream_interval, usable_blocks: 150, ..replica(law) };
        run(&requests, tight, 1)
    };
    let (tokens, events) = (with(1), with(6));
    assert!(tokens.stamps.iter().any(|stamps| stamps.preemptions > 0));
    for (each, several) in tokens.stamps.iter().zip(&events.stamps) {
        assert_eq!(each.fate, Fate::Completed);
        let same = RequestStamps {
            stream_interval: 1,
            longest_stall: each.longest_stall,
            stream: each.stream,
            ..*several
        };
        assert_eq!(*each, same);
        assert_eq!(each.stream.preempted, several.stream.preempted);
        assert!(each.longest_stall <= several.longest_stall);
    }
}

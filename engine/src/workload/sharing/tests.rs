//! Laws of what prompts share.

use super::*;
use crate::workload::{Arrivals, Hidden, RateProfile, generate};

const MINUTE: Picos = Picos(60_000_000_000_000);

fn class() -> TrafficClass {
    let rate = RateProfile::constant(50.0).expect("a rate");
    let lengths = |mean, p99| Lengths::lognormal(mean, p99).expect("a law");
    TrafficClass {
        shared_prefix: Some(SharedPrefix::new(300, 8, 1.0).expect("a prefix")),
        ..TrafficClass::new(
            "agent",
            Arrivals::Poisson(rate),
            lengths(500.0, 2_000.0),
            lengths(100.0, 400.0),
        )
    }
}

fn sessions(turns: u32) -> TrafficClass {
    let turns = Lengths::fixed(turns).expect("a number");
    let think = ThinkTime::exponential(2.0).expect("a time");
    TrafficClass { session: Some(Session { turns, think, new_tokens: None }), ..class() }
}

fn offered(class: &TrafficClass) -> Vec<OfferedRequest> {
    generate(std::slice::from_ref(class), 1, MINUTE).expect("a bounded workload")
}

fn asked(class: &TrafficClass, max_model_len: u32) -> Vec<OfferedRequest> {
    let one = std::slice::from_ref(class);
    unfolded(one, offered(class), 1, (MINUTE, &[max_model_len])).expect("a bounded workload")
}

#[test]
fn prefixes_are_as_popular_as_zipf_says() {
    let prefix = SharedPrefix::new(10, 5, 1.0).unwrap().numbered_from(7);
    let n = 40_000_u32;
    let key =
        |request| Key { seed: 1, stream: Stream::SharedPrefix, class: 0, request, attempt: 0 };
    let mut counts = [0_u32; 5];
    for request in 0..n {
        let number = prefix.draw(key(request.into())).expect("some prefix").get();
        counts[(number - 8) as usize] += 1;
    }
    for (count, share) in counts.into_iter().zip(prefix.popularity()) {
        let error = (share * (1.0 - share) / f64::from(n)).sqrt();
        assert!((f64::from(count) / f64::from(n) - share).abs() < 4.0 * error);
    }
    let alike = SharedPrefix::new(10, 4, 0.0).unwrap().popularity();
    assert!(alike.iter().all(|share| (share - 0.25).abs() < 1e-12));
}

#[test]
fn a_shared_prefix_changes_no_other_draw_and_leaves_each_prompt_a_token_of_its_own() {
    let with = offered(&class());
    let without = offered(&TrafficClass { shared_prefix: None, ..class() });
    assert!(with.iter().any(|request| request.input_tokens <= 300), "some are shorter");
    for (with, without) in with.iter().zip(&without) {
        assert_eq!(OfferedRequest { lineage: Lineage::NONE, ..*with }, *without);
        assert_eq!(with.lineage.prefix_tokens, 300.min(with.input_tokens - 1));
        assert!((1..=8).contains(&with.lineage.prefix.expect("a prefix").get()));
    }
}

#[test]
fn a_turn_goes_on_where_the_last_one_ended() {
    for hidden in [Hidden::None, Hidden::Share(0.25), Hidden::Added(Lengths::Fixed(40))] {
        let class = TrafficClass { hidden: hidden.clone(), ..sessions(4) };
        let all = asked(&class, u32::MAX);
        let (mut turns, mut last_turns) = (0, 0);
        for first in offered(&class) {
            let session: Vec<_> =
                all.iter().filter(|r| r.lineage.session == first.lineage.session).collect();
            assert_eq!(session[0], &first);
            for pair in session.windows(2) {
                let generated = pair[0].output_tokens;
                let shown = generated
                    - match hidden {
                        Hidden::None => 0,
                        Hidden::Share(_) => generated / 4, // a quarter, rounded down
                        Hidden::Added(_) => 40,
                    };
                let said = pair[0].input_tokens + shown;
                assert!(pair[1].input_tokens > said && pair[1].due >= pair[0].due);
                let shared =
                    if shown == pair[0].output_tokens { said } else { pair[0].input_tokens };
                assert_eq!(pair[1].lineage.history_tokens, shared);
                assert_eq!(pair[0].carried_tokens(), shared);
                assert_eq!(pair[1].routing_keys(), pair[0].routing_keys());
                assert_eq!(pair[1].lineage.prefix_tokens, first.lineage.prefix_tokens);
            }
            turns += session.len();
            let ends = |r: &&&OfferedRequest| r.lineage.carries == Carries::Nothing;
            last_turns += session.iter().filter(ends).count();
            assert!(session.len() <= 4);
        }
        assert_eq!(turns, all.len(), "every turn is of one session");
        assert!(last_turns > 2_000, "{last_turns} sessions came to their end in the minute");
    }
}

#[test]
fn later_turns_say_as_much_as_their_own_law_says() {
    let mut class = sessions(3);
    if let Some(session) = &mut class.session {
        session.new_tokens = Some(Lengths::Fixed(7));
    }
    for turn in asked(&class, u32::MAX).iter().filter(|r| r.lineage.history_tokens > 0) {
        assert_eq!(turn.input_tokens, turn.lineage.history_tokens + 7);
    }
}

#[test]
fn no_turn_is_beyond_the_longest_context_or_the_horizon() {
    let all = asked(&sessions(50), 3_000);
    assert!(all.iter().all(|r| r.due < MINUTE));
    let later = all.iter().filter(|r| r.lineage.history_tokens > 0);
    let longest = later.map(|r| r.input_tokens + r.output_tokens).max();
    assert!(longest.is_some_and(|tokens| (2_000..=3_000).contains(&tokens)));
}

#[test]
fn the_first_turns_are_the_requests_of_the_class_without_sessions() {
    let plain = offered(&class());
    for (turn, request) in offered(&sessions(3)).iter().zip(&plain) {
        assert_eq!(OfferedRequest { lineage: request.lineage, ..*turn }, *request);
    }
    assert_eq!(asked(&class(), 10), plain, "what has no sessions has no turns");
}

#[test]
fn impossible_prefixes_are_refused_field_by_field() {
    let problems = SharedPrefix::new(0, 0, f64::NAN).unwrap_err();
    let paths: Vec<_> = problems.iter().map(|p| p.path.as_str()).collect();
    assert_eq!(paths, ["tokens", "count", "zipf_exponent"]);
    assert!(SharedPrefix::new(1, SharedPrefix::MOST + 1, 11.0).is_err());
}

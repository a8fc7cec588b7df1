//! What is held against a peak is what is sustained of the mix at that peak, wherever it is shown.

mod common;

use common::scenario;
use goodput_engine::accounts::answer;
use goodput_engine::accounts::report::{MixRate, Supply, TokenKind};
use goodput_engine::estimate::estimate;
use goodput_engine::planner::plan;
use serde_json::{Value, json};

/// Ten minutes of long prompts with short answers, then ten of the opposite, each class at
/// `rates_rps` in the first and in the second half.
fn two_shifts(rates_rps: [[f64; 2]; 2]) -> impl FnOnce(&mut Value) {
    move |document| {
        document["workload"]["horizon_s"] = json!(1200.0);
        let lengths = [("read", 4000, 50), ("write", 100, 900)];
        let classes = lengths.into_iter().zip(rates_rps).map(|((name, input, output), [a, b])| {
            json!({
                "name": name,
                "arrivals": { "kind": "profile", "points": [
                    { "t_s": 0.0, "rate_rps": a }, { "t_s": 600.0, "rate_rps": a },
                    { "t_s": 600.0, "rate_rps": b }, { "t_s": 1200.0, "rate_rps": b },
                ]},
                "input_tokens": { "kind": "fixed", "tokens": input },
                "output_tokens": { "kind": "fixed", "tokens": output },
                "slo": { "ttft_ms": 2000.0, "tpot_ms": 60.0 },
            })
        });
        document["workload"]["classes"] = classes.collect();
    }
}

fn supply(edit: impl FnOnce(&mut Value)) -> Supply {
    answer(&scenario(edit)).expect("an answer").report.supply
}

fn is_near(a: f64, b: f64, tolerance: f64) -> bool {
    (a / b - 1.0).abs() <= tolerance
}

#[test]
fn where_classes_take_turns_the_peak_is_held_against_its_own_mix() {
    let shifts = supply(two_shifts([[2.0, 0.2], [0.2, 8.0]]));
    let (peak, sustained) = (shifts.required_peak, shifts.sustainable_at_peak);
    assert!((600.0..1200.0).contains(&shifts.peak_from_s), "{}", shifts.peak_from_s);
    assert!(shifts.is_another_mix_at_peak());
    assert_eq!(shifts.binds, TokenKind::Decode);
    // The second shift all day long is that mix.
    let all_day = supply(two_shifts([[0.2, 0.2], [8.0, 8.0]]));
    assert!(!all_day.is_another_mix_at_peak());
    let expected = all_day.sustainable;
    assert!(is_near(sustained.rps, expected.rps, 0.04), "{sustained:?} {expected:?}");
    assert!(is_near(sustained.decode_tps, expected.decode_tps, 0.04));
    assert!(!is_near(shifts.sustainable.rps, expected.rps, 0.1), "the mean is another mix");
    assert!(is_near(sustained.decode_tps / sustained.rps, peak.decode_tps / peak.rps, 1e-9));
    // And arithmetic means the same hour.
    let instant = estimate(&scenario(two_shifts([[2.0, 0.2], [0.2, 8.0]]))).supply.expect("fits");
    assert!(is_near(instant.required_peak.decode_tps, peak.decode_tps, 0.01));
    let instant = instant.required_peak.rps / instant.sustainable_at_peak.rps;
    assert!(is_near(instant, peak.rps / sustained.rps, 0.1), "{instant}");
}

#[test]
fn a_peak_of_prompts_binds_by_prompts() {
    let supply = supply(two_shifts([[6.0, 0.2], [0.2, 2.0]]));
    assert!(supply.peak_from_s < 600.0);
    assert_eq!(supply.binds, TokenKind::Prefill);
}

/// One class has one mix; and what is called the peak is on the line of demand.
#[test]
fn the_peak_is_the_highest_point_of_the_line_of_demand() {
    let supply = supply(|document| {
        document["workload"]["horizon_s"] = json!(600.0);
        document["workload"]["classes"][0]["arrivals"] = json!({
            "kind": "spike", "base_rps": 4.0, "peak_rps": 16.0, "start_s": 200.0, "duration_s": 100.0,
        });
    });
    assert_eq!(supply.sustainable_at_peak, supply.sustainable);
    assert!((supply.demand.len() as f64 * supply.peak_window_s - 600.0).abs() < 1e-9);
    let highest = supply.demand.iter().map(|window| window.decode_tps).fold(0.0, f64::max);
    assert!(is_near(supply.required_peak.decode_tps, highest, 1e-9));
    let at_peak = (supply.peak_from_s / supply.peak_window_s).round();
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "an index")]
    let window = supply.demand[at_peak as usize];
    assert_eq!(window, supply.required_peak);
    let mean = |get: fn(&MixRate) -> f64| {
        supply.demand.iter().map(get).sum::<f64>() / supply.demand.len() as f64
    };
    // The line is what is expected, the mean what was drawn.
    assert!(is_near(mean(|w| w.rps), supply.required.rps, 0.1));
}

#[test]
fn deliverable_is_never_more_than_the_sustainable_supply_that_is_shown() {
    type Change = Box<dyn FnOnce(&mut Value)>;
    let minute = |rate_rps: f64, ttft_ms: f64| {
        move |document: &mut Value| {
            document["workload"]["horizon_s"] = json!(60.0);
            let class = &mut document["workload"]["classes"][0];
            class["arrivals"]["rate_rps"] = json!(rate_rps);
            class["slo"] = json!({ "ttft_ms": ttft_ms });
            document["fleet"]["pools"][0]["max_num_seqs"] = json!(16);
        }
    };
    let cases: [Change; 4] = [
        Box::new(minute(2.0, 1000.0)),
        Box::new(minute(6.0, 20_000.0)),
        // So short that a contract holds well above what can last.
        Box::new(minute(12.0, 60_000.0)),
        Box::new(two_shifts([[1.0, 0.1], [0.1, 3.0]])),
    ];
    for edit in cases {
        let scenario = scenario(edit);
        let shown = answer(&scenario).expect("an answer").report.supply.sustainable_at_peak;
        let report = plan(&scenario, |_| true).expect("nobody stops it");
        let Some(deliverable) = report.deliverable else { panic!("{}", report.sentence) };
        assert!(deliverable.rps <= shown.rps, "{deliverable:?} {shown:?}");
        assert!(deliverable.prefill_tps <= shown.prefill_tps, "{deliverable:?} {shown:?}");
        assert!(deliverable.decode_tps <= shown.decode_tps, "{deliverable:?} {shown:?}");
    }
}

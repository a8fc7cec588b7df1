//! One replica in the mean, against arithmetic by hand and against laws.

use super::*;

/// 5 ms + 20 µs a token + 40 ns a cached token.
fn law(shape: MeanShape) -> f64 {
    5e-3 + 2e-5 * (shape.prefill_tokens + shape.decode_seqs)
        + 1e-9 * shape.prefill_pairs
        + 4e-8 * shape.kv_tokens
}

fn limits() -> ReplicaLimits {
    ReplicaLimits {
        seats: 64.0,
        kv_tokens: 1e6,
        token_budget: 2048.0,
        block_size: 16.0,
        window_tokens_per_seq: 0.0,
        chunked_prefill: true,
        async_scheduling: false,
        api_overhead_s: 0.0,
    }
}

fn field(limits: ReplicaLimits, input: f64, output: f64) -> MeanField<fn(MeanShape) -> f64> {
    MeanField::new(law, LengthMoments::fixed(input, output), limits)
}

#[test]
fn a_full_batch_turns_over_once_per_output() {
    // 64 seats of 100 steps each: 0.64 joins per step, 63.36 decodes reading 512 to 610.
    let (full, by) = field(limits(), 512.0, 100.0).saturated();
    assert_eq!(by, SaturatedBy::Seats);
    assert!((full.joins_per_step - 0.64).abs() < 1e-12);
    let decode = 5e-3 + 2e-5 * 63.36 + 4e-8 * 63.36 * (512.0 + 49.0);
    let share = 1.0 - math::exp(-0.64);
    let prefill_tokens = 0.64 * 512.0 / share;
    let mixed = decode + 2e-5 * prefill_tokens + 1e-9 * prefill_tokens * 256.0;
    let step = share * mixed + (1.0 - share) * decode;
    assert!((full.step_s / step - 1.0).abs() < 1e-12);
    assert!((full.rate_rps * step - 0.64).abs() < 1e-12);
}

#[test]
fn each_limit_binds_when_it_is_the_tightest() {
    for (tighter, by) in [
        (ReplicaLimits { seats: 8.0, ..limits() }, SaturatedBy::Seats),
        (ReplicaLimits { kv_tokens: 4000.0, ..limits() }, SaturatedBy::KvMemory),
        (ReplicaLimits { token_budget: 64.0, ..limits() }, SaturatedBy::TokenBudget),
    ] {
        let (tight, found) = field(tighter, 512.0, 100.0).saturated();
        assert_eq!(found, by);
        let (loose, _) = field(limits(), 512.0, 100.0).saturated();
        assert!(tight.rate_rps < loose.rate_rps);
    }
}

#[test]
fn decodes_obey_littles_law_at_every_rate() {
    let field = field(limits(), 512.0, 100.0);
    let (full, _) = field.saturated();
    for share in [0.01, 0.3, 0.7, 0.999] {
        let at = field.at_rate(share * full.rate_rps).expect("below the sustainable rate");
        assert!((at.rate_rps / (share * full.rate_rps) - 1.0).abs() < 1e-9);
        // N = λ·W with W = 99 steps.
        assert!((at.decode_seqs / (at.rate_rps * 99.0 * at.step_s) - 1.0).abs() < 1e-9);
    }
    assert!(field.at_rate(1.001 * full.rate_rps).is_none());
}

#[test]
fn latencies_rise_with_the_rate_from_those_of_an_idle_replica() {
    let field = field(ReplicaLimits { async_scheduling: true, ..limits() }, 512.0, 100.0);
    let (full, _) = field.saturated();
    let mut before = (field.zero_load_ttft_s(512.0), field.zero_load_tpot_s());
    // One step of 512 tokens; then alone in a batch.
    assert!((before.0 - (5e-3 + 2e-5 * 512.0 + 1e-9 * 131_072.0)).abs() < 1e-12);
    assert!((before.1 - (5e-3 + 2e-5 + 4e-8 * 561.0)).abs() < 1e-12);
    for share in [0.05, 0.2, 0.5, 0.8, 0.99] {
        let at = field.at_rate(share * full.rate_rps).expect("below the sustainable rate");
        let now = (field.ttft_s(512.0, &at), at.step_s);
        assert!(now.0 > before.0 && now.1 > before.1, "{share}");
        before = now;
    }
}

#[test]
fn a_long_prompt_takes_one_step_per_budget() {
    let field = field(ReplicaLimits { token_budget: 1000.0, ..limits() }, 2500.0, 100.0);
    let expected = 3.0 * 5e-3 + 2e-5 * 2500.0 + 1e-9 * 2500.0 * 1250.0;
    assert!((field.zero_load_ttft_s(2500.0) - expected).abs() < 1e-12);
}

#[test]
fn more_of_anything_never_lowers_the_sustainable_rate() {
    let rate = |l: ReplicaLimits| field(l, 700.0, 300.0).saturated().0.rate_rps;
    let base = limits();
    for more in [
        ReplicaLimits { seats: 2.0 * base.seats, ..base },
        ReplicaLimits { kv_tokens: 2.0 * base.kv_tokens, ..base },
        ReplicaLimits { token_budget: 2.0 * base.token_budget, ..base },
    ] {
        assert!(rate(more) >= rate(base));
    }
}

#[test]
fn the_deliverable_rate_is_where_the_limit_is_just_met() {
    let field = field(limits(), 512.0, 100.0);
    let tpot = |limit: f64| field.fastest_where(|at| at.step_s <= limit);
    let at = tpot(8e-3).expect("an idle replica is faster");
    assert!((at.step_s - 8e-3).abs() < 1e-9);
    assert!(tpot(4e-3).is_none(), "no step is that short");
    let (full, _) = field.saturated();
    assert!((tpot(1.0).expect("never that slow").rate_rps - full.rate_rps).abs() < 1e-12);
}

#[test]
fn doubled_outputs_triple_what_stays_in_memory() {
    // The worked case of the glossary: 512 in, 1,000 out.
    let ratio = LengthMoments::fixed(512.0, 2000.0).kv_token_steps()
        / LengthMoments::fixed(512.0, 1000.0).kv_token_steps();
    assert!((ratio - 2.99).abs() < 0.01);
}

#[test]
fn answers_of_one_token_need_no_decode() {
    let (full, by) = field(limits(), 1024.0, 1.0).saturated();
    assert_eq!(by, SaturatedBy::TokenBudget);
    assert!((full.decode_seqs - 0.0).abs() < 1e-12);
    let step = 5e-3 + 2e-5 * 2048.0 + 1e-9 * 2048.0 * 512.0;
    assert!((full.rate_rps - 2.0 / step).abs() < 1e-9);
}

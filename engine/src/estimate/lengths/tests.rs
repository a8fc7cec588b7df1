//! Moments against their formulas, and what does not fit.

use super::*;
use crate::workload::{Arrivals, GammaLengths, Mixture, ParetoLengths, RateProfile, Uniform};

fn class(input: Lengths, output: Lengths) -> TrafficClass {
    let arrivals = Arrivals::Even(RateProfile::constant(1.0).unwrap());
    TrafficClass::new("c", arrivals, input, output)
}

fn close(a: f64, b: f64, tolerance: f64) {
    assert!((a / b - 1.0).abs() < tolerance, "{a} {b}");
}

#[test]
fn fixed_lengths_are_exact() {
    let lengths = class_lengths(&class(Lengths::Fixed(512), Lengths::Fixed(731)), 9, 8192);
    assert_eq!(lengths.offered, LengthMoments::fixed(512.0, 731.0));
    assert_eq!((lengths.served, lengths.served_share), (lengths.offered, 1.0));
}

#[test]
fn a_lognormal_has_the_moments_of_the_formula() {
    let law = crate::workload::Lognormal::from_mean_p99(500.0, 2400.0).unwrap();
    let class = class(Lengths::Lognormal(law), Lengths::Fixed(10));
    let moments = class_lengths(&class, 9, u32::MAX).offered;
    close(moments.input, 500.0, 1e-4);
    let second = math::exp(2.0 * law.mu() + 2.0 * law.sigma() * law.sigma());
    close(moments.input_squared, second, 1e-3);
    close(moments.input_output, 5000.0, 1e-4);
}

#[test]
fn a_quantile_table_is_integrated_exactly() {
    // Uniform from 100 to 300, then flat.
    let table = Lengths::quantiles(&[(0.0, 100.0), (0.5, 300.0)]).unwrap();
    let moments = class_lengths(&class(table, Lengths::Fixed(1)), 9, u32::MAX).offered;
    close(moments.input, 0.5 * 200.0 + 0.5 * 300.0, 1e-12);
    let uniform_square = 200.0 * 200.0 + 200.0 * 200.0 / 12.0;
    close(moments.input_squared, 0.5 * uniform_square + 0.5 * 90_000.0, 1e-12);
}

#[test]
fn what_is_too_long_is_offered_but_not_served() {
    let input = Lengths::empirical(vec![100, 200, 900]).unwrap();
    let output = Lengths::empirical(vec![50, 150]).unwrap();
    let lengths = class_lengths(&class(input, output), 9, 1000);
    // 900 + 150 alone does not fit.
    close(lengths.served_share, 5.0 / 6.0, 1e-12);
    close(lengths.offered.input, 400.0, 1e-12);
    close(lengths.served.input, (100.0 * 2.0 + 200.0 * 2.0 + 900.0) / 5.0, 1e-12);
    close(lengths.served.output, (3.0 * 50.0 + 2.0 * 150.0) / 5.0, 1e-12);
    close(lengths.served.input_output, (100.0 * 200.0 + 200.0 * 200.0 + 900.0 * 50.0) / 5.0, 1e-12);
}

#[test]
fn an_output_budget_cuts_answers() {
    let mut class = class(Lengths::Fixed(10), Lengths::empirical(vec![100, 300]).unwrap());
    class.max_output_tokens = Some(200);
    close(class_lengths(&class, 9, 8192).offered.output, 150.0, 1e-12);
}

#[test]
fn a_recording_keeps_prompt_and_answer_together() {
    let class = class(Lengths::Recorded(vec![100, 1000, 7]), Lengths::Recorded(vec![10, 100, 7]));
    let lengths = class_lengths(&class, 2, 500);
    close(lengths.offered.input_output, f64::midpoint(1000.0, 100_000.0), 1e-12);
    close(lengths.served_share, 0.5, 1e-12);
    close(lengths.served.input, 100.0, 1e-12);
}

#[test]
fn every_law_has_the_moments_of_its_formula() {
    let gamma = |cv| Lengths::Gamma(GammaLengths::new(400.0, Some(cv), None).unwrap());
    let uniform = Lengths::Uniform(Uniform::new(101, 300, None, None).unwrap());
    let pareto = Lengths::Pareto(ParetoLengths::new(100.0, Some(4.0), None, None, false).unwrap());
    let parts = vec![(1.0, Lengths::Fixed(100)), (3.0, gamma(0.5))];
    let mixture = Lengths::Mixture(Mixture::new(parts).unwrap());
    let cut = gamma(1.0).clipped(None, Some(400)).unwrap();
    let cut_mean = 400.0 * (1.0 - math::exp(-1.0));
    for (lengths, mean, second) in [
        (gamma(0.3), 400.0, 160_000.0 * 1.09),
        (gamma(2.0), 400.0, 160_000.0 * 5.0),
        (uniform, 200.5, 200.5 * 200.5 + 40_000.0 / 12.0),
        (pareto, 400.0 / 3.0, 20_000.0),
        (mixture, 325.0, 0.25 * 10_000.0 + 0.75 * 160_000.0 * 1.25),
        // ∫ of twice the share beyond x, up to the cut.
        (cut, cut_mean, 2.0 * 160_000.0 * (1.0 - 2.0 * math::exp(-1.0))),
    ] {
        let moments = class_lengths(&class(lengths, Lengths::Fixed(1)), 9, u32::MAX).offered;
        close(moments.input, mean, 2e-3);
        close(moments.input_squared, second, 5e-3);
    }
}

#[test]
fn correlated_lengths_have_the_cross_moment_of_the_formula() {
    let law = || Lengths::lognormal(500.0, 2_000.0).unwrap();
    let Lengths::Lognormal(inner) = law() else { panic!("lognormal") };
    let mut class = class(law(), law());
    for rho in [-0.5, 0.0, 0.8] {
        class.pairing = Pairing::Correlated(Copula::of_rank_correlation(rho).unwrap());
        let moments = class_lengths(&class, 9, u32::MAX).offered;
        let r = 2.0 * math::sin(std::f64::consts::PI * rho / 6.0);
        let due = 250_000.0 * math::exp(r * inner.sigma() * inner.sigma());
        close(moments.input_output, due, 1e-3);
        close(moments.output, 500.0, 1e-3);
    }
}

#[test]
fn samples_that_are_paired_stay_so() {
    let input = Lengths::empirical(vec![100, 1_000]).unwrap();
    let output = Lengths::empirical(vec![10, 100]).unwrap();
    let mut class = class(input, output);
    close(class_lengths(&class, 9, 8_192).offered.input_output, 550.0 * 55.0, 1e-12);
    class.pairing = Pairing::Together;
    let together = f64::midpoint(1_000.0, 100_000.0);
    close(class_lengths(&class, 9, 8_192).offered.input_output, together, 1e-12);
}

#[test]
fn hidden_tokens_are_asked_for_and_the_budget_cuts_what_it_cuts() {
    let mut class = class(Lengths::Fixed(10), Lengths::empirical(vec![100, 300]).unwrap());
    class.hidden = Hidden::Added(Lengths::empirical(vec![50, 150]).unwrap());
    close(class_lengths(&class, 9, 8_192).offered.output, 300.0, 1e-12);
    class.max_output_tokens = Some(250);
    // 150, 250, 350 and 450: the last two are cut.
    let lengths = class_lengths(&class, 9, 8_192);
    close(lengths.offered.output, 225.0, 1e-12);
    close(lengths.truncated_share, 0.5, 1e-12);
    close(lengths.served_truncated_share, 0.5, 1e-12);
    let short = class_lengths(&class, 9, 259);
    close(short.served_share, 0.25, 1e-12);
    assert!(short.served_truncated_share.abs() < 1e-12, "only whole answers fit");
}

//! Documents of every shape, valid or not, for property tests.

mod clients;
mod contract;
mod fleet;

use proptest::prelude::*;

use clients::{leaving, session, shared_prefix, think_time};
use contract::slo;
use fleet::{fleet, route};

use super::doc::*;
use super::{GpuRef, ModelRef};

// Boxed where they are large: unboxed, the strategy of a document fills the stack of a test.

/// Any finite number, round and crooked ones alike.
fn number() -> impl Strategy<Value = f64> {
    prop_oneof![
        Just(0.0),
        (0..10_000_u32).prop_map(f64::from),
        -1e9..1e9_f64,
        any::<f64>().prop_filter("finite", |x| x.is_finite()),
    ]
}

/// The default, or another value.
fn or<T: std::fmt::Debug + Clone + 'static>(
    default: T,
    other: impl Strategy<Value = T> + 'static,
) -> BoxedStrategy<T> {
    prop_oneof![Just(default), other].boxed()
}

/// Text of any characters.
pub(super) fn text() -> impl Strategy<Value = String> {
    let letters = prop::sample::select(r#"abzAZ09 .,:#&=%-_äß☃"\{}[]"#.chars().collect::<Vec<_>>());
    let characters = prop_oneof![3 => letters, 1 => any::<char>()];
    let text = prop::collection::vec(characters, 0..24);
    prop_oneof![Just(String::new()), text.prop_map(|text| text.into_iter().collect())]
}

fn burstiness() -> impl Strategy<Value = Option<Burstiness>> {
    prop::option::of(prop_oneof![Just(f64::INFINITY), number()].prop_map(Burstiness))
}

fn noise() -> impl Strategy<Value = NoiseDoc> {
    let gamma = (prop::option::of(number()), burstiness())
        .prop_map(|(cv, burstiness)| NoiseDoc::Gamma(GammaNoiseDoc { cv, burstiness }));
    prop_oneof![Just(NoiseDoc::Poisson), Just(NoiseDoc::None), gamma]
}

fn arrivals() -> BoxedStrategy<ArrivalsDoc> {
    let point = (number(), number()).prop_map(|(t_s, rate_rps)| RatePointDoc { t_s, rate_rps });
    let trace = (prop::collection::vec(number(), 0..5), or(1.0, number()), or(1.0, number()));
    prop_oneof![
        number().prop_map(|rate_rps| ArrivalsDoc::Poisson { rate_rps }),
        number().prop_map(|rate_rps| ArrivalsDoc::Constant { rate_rps }),
        (prop::collection::vec(point, 0..5), noise())
            .prop_map(|(points, noise)| ArrivalsDoc::Profile { points, noise }),
        (trace, prop::option::of(number())).prop_map(
            |((due_s, time_factor, rate_factor), loop_every_s)| ArrivalsDoc::Trace {
                due_s,
                time_factor,
                rate_factor,
                loop_every_s,
            }
        ),
        (number(), prop::option::of(number()), burstiness())
            .prop_map(|(rate_rps, cv, burstiness)| ArrivalsDoc::Gamma { rate_rps, cv, burstiness }),
        shaped_arrivals(),
        (any::<u32>(), think_time())
            .prop_map(|(users, think_time)| ArrivalsDoc::ClosedLoop { users, think_time }),
    ]
    .boxed()
}

fn shaped_arrivals() -> BoxedStrategy<ArrivalsDoc> {
    (prop::array::uniform4(number()), or(0.0, number()), noise(), 0..6_u32)
        .prop_map(|([low, high, first, second], other, noise, kind)| match kind {
            0 => ArrivalsDoc::Bursts {
                quiet_rps: low,
                burst_rps: high,
                mean_quiet_s: first,
                mean_burst_s: second,
            },
            1 => ArrivalsDoc::Sinusoid {
                min_rps: low,
                max_rps: high,
                period_s: first,
                phase: other,
                noise,
            },
            2 => ArrivalsDoc::Spike {
                base_rps: low,
                peak_rps: high,
                start_s: first,
                duration_s: second,
                ramp_s: other,
                noise,
            },
            3 => ArrivalsDoc::Ramp {
                from_rps: low,
                to_rps: high,
                start_s: other,
                duration_s: first,
                noise,
            },
            4 => ArrivalsDoc::Day { mean_rps: low, peak_over_mean: high, peak_hour: first, noise },
            _ => ArrivalsDoc::Week {
                mean_rps: low,
                peak_over_mean: high,
                peak_hour: first,
                weekend_factor: second,
                noise,
            },
        })
        .boxed()
}

fn maybe() -> impl Strategy<Value = Option<f64>> {
    prop::option::of(number())
}

fn lognormal() -> BoxedStrategy<LengthsDoc> {
    let range = (prop::option::of(any::<u32>()), prop::option::of(any::<u32>()));
    (prop::array::uniform8(maybe()), range)
        .prop_map(|([mean, p99, sd, sigma, p5, p50, p90, p95], (min, max))| {
            LengthsDoc::Lognormal(LognormalDoc {
                mean,
                p99,
                sd,
                sigma,
                p5,
                p50,
                p90,
                p95,
                min,
                max,
            })
        })
        .boxed()
}

fn simple_lengths() -> BoxedStrategy<LengthsDoc> {
    let row = (number(), number()).prop_map(|(p, tokens)| QuantileDoc { p, tokens });
    let tokens = || prop::collection::vec(any::<u32>(), 0..5);
    let whole = || prop::option::of(any::<u32>());
    prop_oneof![
        any::<u32>().prop_map(|tokens| LengthsDoc::Fixed { tokens }),
        (number(), number()).prop_map(|(mean, p99)| LengthsDoc::lognormal(mean, p99)),
        lognormal(),
        (any::<u32>(), any::<u32>(), maybe(), maybe())
            .prop_map(|(min, max, mean, sd)| LengthsDoc::Uniform { min, max, mean, sd }),
        (number(), maybe(), maybe(), whole(), whole())
            .prop_map(|(mean, cv, sd, min, max)| LengthsDoc::Gamma { mean, cv, sd, min, max }),
        (number(), maybe(), maybe(), maybe(), whole()).prop_map(|(min, alpha, p99, mean, max)| {
            LengthsDoc::Pareto { min, alpha, p99, mean, max }
        }),
        prop::collection::vec(row, 0..4).prop_map(|table| LengthsDoc::Quantiles { table }),
        tokens().prop_map(|samples| LengthsDoc::Empirical { samples }),
        (tokens(), or(1.0, number()))
            .prop_map(|(tokens, factor)| LengthsDoc::Recorded { tokens, factor }),
    ]
    .boxed()
}

pub(super) fn lengths() -> BoxedStrategy<LengthsDoc> {
    let part =
        (number(), simple_lengths()).prop_map(|(weight, tokens)| MixturePartDoc { weight, tokens });
    let whole = || prop::option::of(any::<u32>());
    let mixture = (prop::collection::vec(part, 0..3), whole(), whole())
        .prop_map(|(parts, min, max)| LengthsDoc::Mixture { parts, min, max });
    prop_oneof![4 => simple_lengths(), 1 => mixture].boxed()
}

fn pairing() -> BoxedStrategy<PairingDoc> {
    let correlated =
        number().prop_map(|rank_correlation| PairingDoc::Correlated { rank_correlation });
    prop_oneof![3 => Just(PairingDoc::Apart), 1 => Just(PairingDoc::Together), 1 => correlated]
        .boxed()
}

fn hidden() -> BoxedStrategy<Option<HiddenTokensDoc>> {
    let added = lengths().prop_map(Box::new).prop_map(|tokens| HiddenTokensDoc::Added { tokens });
    prop_oneof![
        3 => Just(None),
        1 => number().prop_map(|share| Some(HiddenTokensDoc::Share { share })),
        1 => added.prop_map(Some),
    ]
    .boxed()
}

fn quality() -> impl Strategy<Value = QualityDoc> {
    prop_oneof![
        Just(QualityDoc::NotChecked),
        (number(), text()).prop_map(|(pass_rate, by)| QualityDoc::Assumed { pass_rate, by }),
        (number(), text())
            .prop_map(|(pass_rate, source)| QualityDoc::Verified { pass_rate, source }),
    ]
}

fn class() -> BoxedStrategy<ClassDoc> {
    let who = (text(), text(), leaving(), or(0.0, number()), quality(), slo(), route());
    let what = (arrivals(), lengths(), lengths(), prop::option::of(any::<u32>()));
    let beside = (pairing(), hidden(), maybe(), prop::bool::weighted(0.8), or(0, any::<i32>()));
    let shared = (prop::option::of(shared_prefix()), prop::option::of(session()));
    (who, what, beside, shared)
        .prop_map(
            |(
                (name, tenant, leaving, error_rate, quality, slo, route),
                (arrivals, input, output, budget),
                (pairing, hidden_tokens, truncated_pass_rate, enabled, priority),
                (shared_prefix, session),
            )| {
                let (patience, stall_patience, timeout_s, retries) = leaving;
                ClassDoc {
                    enabled,
                    tenant,
                    route,
                    pairing,
                    hidden_tokens,
                    shared_prefix,
                    session,
                    truncated_pass_rate,
                    patience,
                    stall_patience,
                    timeout_s,
                    retries,
                    priority,
                    error_rate,
                    quality,
                    slo,
                    max_output_tokens: budget,
                    ..ClassDoc::new(&name, arrivals, input, output)
                }
            },
        )
        .boxed()
}

/// Any document.
pub(super) fn document() -> impl Strategy<Value = ScenarioDoc> {
    let workload = (
        or(1, any::<u64>()),
        or(600.0, number()),
        or(0.0, number()),
        prop::collection::vec(class(), 0..4),
    );
    let expected = (text(), prop::option::of(number()), prop::option::of(number()))
        .prop_map(|(of, at_most, at_least)| ExpectationDoc { of, at_most, at_least });
    let targets = (or(0.95, number()), prop::collection::vec(expected, 0..3));
    (text(), workload, fleet(), targets).prop_map(
        |(name, workload, fleet, (confidence, expectations))| {
            let (seed, horizon_s, warmup_s, classes) = workload;
            ScenarioDoc {
                version: VERSION,
                name,
                workload: WorkloadDoc { seed, horizon_s, warmup_s, classes },
                fleet,
                targets: TargetsDoc { confidence, expectations },
            }
        },
    )
}

/// The smallest valid document.
pub(super) fn small() -> ScenarioDoc {
    let class = ClassDoc {
        slo: SloDoc { ttft_ms: Some(1_000.0), ..SloDoc::default() },
        ..ClassDoc::new(
            "chat",
            ArrivalsDoc::Poisson { rate_rps: 5.0 },
            LengthsDoc::Fixed { tokens: 512 },
            LengthsDoc::Fixed { tokens: 256 },
        )
    };
    let pool = PoolDoc::new(GpuRef::id("H100-SXM"), ModelRef::id("Llama-3.1-8B"), 2);
    ScenarioDoc {
        version: VERSION,
        name: String::new(),
        workload: WorkloadDoc { seed: 1, horizon_s: 600.0, warmup_s: 0.0, classes: vec![class] },
        fleet: FleetDoc::of(pool),
        targets: TargetsDoc::default(),
    }
}

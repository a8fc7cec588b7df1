//! Any fleet: pools, routes to them, and whom it lets in.

use proptest::prelude::*;

use super::clients::admission;
use super::{number, or, quality, text};
use crate::catalog;
use crate::fleet::{KvPrecision, WeightPrecision};
use crate::scenario::doc::*;
use crate::scenario::{CatalogRef, GpuRef, ModelRef};
use crate::step_time::{Hull, StepCoefficients};

fn gpu() -> impl Strategy<Value = GpuRef> {
    let custom = (text(), number()).prop_map(|(name, memory_gib)| {
        let mut spec = catalog::gpus()[0].spec.clone();
        spec.name = name;
        spec.memory_gib = memory_gib;
        CatalogRef::Custom(Box::new(spec))
    });
    prop_oneof![text().prop_map(|id| GpuRef::id(&id)), Just(GpuRef::id("H100-SXM")), custom]
}

fn model() -> impl Strategy<Value = ModelRef> {
    let known = prop::sample::select(catalog::models()).prop_map(|entry| entry.shape.clone());
    prop_oneof![
        text().prop_map(|id| ModelRef::id(&id)),
        Just(ModelRef::id("Llama-3.1-8B")),
        known.prop_map(|shape| CatalogRef::Custom(Box::new(shape))),
    ]
}

fn coefficients() -> impl Strategy<Value = StepCoefficients> {
    prop::array::uniform9(number()).prop_map(|c| StepCoefficients {
        c0_s: c[0],
        cw_s: c[1],
        cw_experts_s: c[2],
        expert_share: c[3],
        c1_s_per_token: c[4],
        c2_s_per_pair: c[5],
        c3_s_per_decode_seq: c[6],
        c4_s_per_kv_token: c[7],
        p: c[8],
    })
}

fn fitted_law() -> impl Strategy<Value = FittedLawDoc> {
    let names = || prop::collection::vec(text(), 0..3);
    let range = prop::array::uniform8(any::<u64>()).prop_map(|ends| Hull {
        max_prefill_tokens: ends[0],
        max_prefill_context: ends[1],
        max_decode_seqs: ends[2],
        min_kv_per_seq: ends[3],
        max_kv_per_seq: ends[4],
        max_mixed_prefill_tokens: ends[5],
        max_mixed_decode_seqs: ends[6],
        max_mixed_kv_per_seq: ends[7],
    });
    (names(), text(), any::<u32>(), number(), names(), range).prop_map(
        |(files, fingerprint, points, residual, assumed, range)| FittedLawDoc {
            files,
            fingerprint,
            points,
            residual,
            assumed,
            range,
        },
    )
}

fn step_time() -> impl Strategy<Value = StepTimeDoc> {
    let source = prop_oneof![
        Just(StepTimeSourceDoc::Catalog),
        Just(StepTimeSourceDoc::Physics),
        Just(StepTimeSourceDoc::Datasheet),
        (coefficients(), text(), prop::option::of(fitted_law())).prop_map(
            |(coefficients, by, fitted)| StepTimeSourceDoc::Coefficients {
                coefficients,
                by,
                fitted: fitted.map(Box::new),
            }
        ),
        (prop::option::of(number()), prop::option::of(number())).prop_map(
            |(declared_input_tps, declared_output_tps)| StepTimeSourceDoc::Declared {
                declared_input_tps,
                declared_output_tps,
            }
        ),
    ];
    let fitted = (number(), prop::collection::vec(text(), 0..3), text(), any::<u32>(), number())
        .prop_map(|(step_time_scale, files, fingerprint, points, residual)| FittedScaleDoc {
            step_time_scale,
            files,
            fingerprint,
            points,
            residual,
        });
    (source, prop::option::of(fitted), or(0.0, number()), or(0.0, number())).prop_map(
        |(source, fitted, step_overhead_ms, api_overhead_ms)| StepTimeDoc {
            source,
            fitted,
            step_overhead_ms,
            api_overhead_ms,
        },
    )
}

fn weights() -> impl Strategy<Value = WeightPrecision> {
    use WeightPrecision::{Bf16, BytesPerParam, Fp8, Int4, Int8, Mxfp4Experts, Nvfp4};
    let named = prop::sample::select(vec![Bf16, Fp8, Nvfp4, Mxfp4Experts, Int8, Int4]);
    prop_oneof![named, number().prop_map(BytesPerParam)]
}

fn pool() -> impl Strategy<Value = PoolDoc> {
    use KvPrecision::{Bf16, Fp8, Q4_0, Q8_0};
    let kv = prop::sample::select(vec![Bf16, Fp8, Q8_0, Q4_0]);
    let what = (gpu(), model(), any::<u32>(), or(1, any::<u32>()), weights(), kv);
    let sizes = (or(256, any::<u32>()), or(2_048, any::<u32>()), or(16, any::<u32>()), rules());
    let memory =
        (or(0.9, number()), prop::option::of(any::<u64>()), prop::option::of(any::<u32>()));
    let foreign = (text(), number(), number(), text()).prop_map(
        |(currency, per_gpu_hour, usd_per_unit, rate_as_of)| CurrencyPriceDoc {
            currency,
            per_gpu_hour,
            usd_per_unit,
            rate_as_of,
        },
    );
    let foreign = prop::option::of(foreign);
    let price = (prop::option::of(number()), text(), text(), life(), foreign);
    (what, sizes, memory, prop::array::uniform4(any::<bool>()), step_time(), price).prop_map(
        |(what, sizes, memory, switches, step_time, price)| PoolDoc {
            name: price.2,
            start_up_s: price.3.0,
            cold_start: price.3.1,
            slow_start_s: price.3.2,
            autoscaler: price.3.3,
            scheduled_replicas: price.3.4,
            failures: price.3.5,
            tensor_parallel: what.3,
            weight_precision: what.4,
            kv_precision: what.5,
            max_num_seqs: sizes.0,
            max_num_batched_tokens: sizes.1,
            block_size: sizes.2,
            scheduling_policy: sizes.3.3,
            stream_interval: sizes.3.4,
            long_prefill_token_threshold: sizes.3.0,
            max_num_partial_prefills: sizes.3.1,
            max_long_partial_prefills: sizes.3.2,
            gpu_memory_utilization: memory.0,
            num_gpu_blocks: memory.1,
            max_model_len: memory.2,
            enable_chunked_prefill: switches[0],
            enable_prefix_caching: switches[1],
            async_scheduling: switches[2],
            scheduler_reserve_full_isl: switches[3],
            step_time,
            price_per_gpu_hour: price.0,
            price_source: price.1,
            price_in_currency: price.4,
            ..PoolDoc::new(what.0, what.1, what.2)
        },
    )
}

/// Rules of the scheduler that are mostly left as they are.
fn rules() -> impl Strategy<Value = (u32, u32, u32, SchedulingPolicyDoc, u32)> {
    use SchedulingPolicyDoc::{Fcfs, Priority};
    let policy = prop::sample::select(vec![Fcfs, Priority]);
    let interval = or(1, any::<u32>());
    (or(0, any::<u32>()), or(1, any::<u32>()), or(1, any::<u32>()), policy, interval)
}

type LifeDocs = (f64, bool, f64, Option<AutoscalerDoc>, Vec<ScheduledReplicasDoc>, FailuresDoc);

fn life() -> BoxedStrategy<LifeDocs> {
    use SignalDoc::{KvUsage, Outstanding, SeatUsage, Waiting};
    let signal = prop::sample::select(vec![Outstanding, Waiting, KvUsage, SeatUsage]);
    let spans = (or(15.0, number()), or(0.0, number()), or(0.0, number()), or(300.0, number()));
    let counts = (or(1, any::<u32>()), any::<u32>());
    let autoscaler =
        (signal, number(), counts, spans).prop_map(|(signal, target, counts, spans)| {
            AutoscalerDoc {
                signal,
                target,
                min_replicas: counts.0,
                max_replicas: counts.1,
                interval_s: spans.0,
                delay_s: spans.1,
                scale_up_cooldown_s: spans.2,
                scale_down_cooldown_s: spans.3,
            }
        });
    let entry = (number(), any::<u32>())
        .prop_map(|(at_s, replicas)| ScheduledReplicasDoc { at_s, replicas });
    let crash =
        (number(), or(0, any::<u32>())).prop_map(|(at_s, replica)| CrashDoc { at_s, replica });
    let crashes = or(Vec::new(), prop::collection::vec(crash, 0..3));
    let failures = (prop::option::of(number()), crashes)
        .prop_map(|(mean_time_between_h, crashes)| FailuresDoc { mean_time_between_h, crashes });
    let scaling =
        (prop::option::of(autoscaler), or(Vec::new(), prop::collection::vec(entry, 0..3)));
    (or(0.0, number()), any::<bool>(), or(0.0, number()), scaling, failures)
        .prop_map(|(start_up_s, cold_start, slow_start_s, scaling, failures)| {
            (start_up_s, cold_start, slow_start_s, scaling.0, scaling.1, failures)
        })
        .boxed()
}

fn routing() -> impl Strategy<Value = RoutingDoc> {
    use RoutingDoc::{Affinity, LeastKv, LeastOutstanding, PowerOfTwo, Random, RoundRobin};
    let all = vec![LeastOutstanding, RoundRobin, Random, PowerOfTwo, LeastKv, Affinity];
    prop::sample::select(all)
}

pub fn fleet() -> impl Strategy<Value = FleetDoc> {
    let pools = prop::collection::vec(pool(), 0..3);
    (pools, routing(), or(1.25, number()), admission()).prop_map(
        |(pools, routing, affinity_most_over_mean, admission)| FleetDoc {
            pools,
            routing,
            affinity_most_over_mean,
            admission,
        },
    )
}

/// Any route: mostly none.
pub fn route() -> BoxedStrategy<Vec<LegDoc>> {
    let leg = (text(), number(), prop::option::of(quality()))
        .prop_map(|(pool, share, quality)| LegDoc { pool, share, quality });
    or(Vec::new(), prop::collection::vec(leg, 0..3))
}

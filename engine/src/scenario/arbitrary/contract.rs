//! Contracts of arbitrary documents.

use proptest::prelude::*;

use super::{number, or};
use crate::scenario::doc::*;
use crate::slo::Limit;

pub fn slo() -> impl Strategy<Value = SloDoc> {
    let limit = || prop::option::of(number());
    let of = prop::sample::select(Limit::ALL.as_slice());
    let target = (of, number(), number())
        .prop_map(|(of, percentile, limit_ms)| PercentileTargetDoc { of, percentile, limit_ms });
    let targets = prop::collection::vec(target, 0..3);
    let gaps = (number(), number());
    let gaps = gaps.prop_map(|(percentile, ms)| ItlPercentileDoc { percentile, ms });
    let first = (limit(), limit());
    let then = (limit(), limit(), prop::option::of(gaps), limit());
    (first, then, or(0.95, number()), targets).prop_map(
        |((ttft_ms, ttfvt_ms), then, attainment_target, percentile_targets)| {
            let (tpot_ms, longest_stall_ms, itl_percentile, e2e_ms) = then;
            SloDoc {
                ttft_ms,
                ttfvt_ms,
                tpot_ms,
                longest_stall_ms,
                itl_percentile,
                e2e_ms,
                attainment_target,
                percentile_targets,
            }
        },
    )
}

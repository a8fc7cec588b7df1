//! The checks, one file each.

mod admission_dominated;
mod all_failed;
mod client_limited;
mod client_wait;
mod clock;
mod counts;
mod definitions;
mod e2e_identity;
mod empty_successes;
mod engine_gauges;
mod facts_missing;
mod failures_left_out;
mod goodput_denominator;
mod in_flight_identity;
mod itl_bundles;
mod littles_law;
mod load_not_reached;
mod percentile_order;
mod prefill_rate;
mod quality;
mod repeats;
mod retokenized_counts;
mod start_burst;
mod throughput_collapse;
mod throughput_identity;
mod token_identity;
mod too_short;
mod ttft_zero;
mod units;

use super::Finding;
use super::subject::Subject;

type PointCheck = fn(&Subject) -> Option<Finding>;
type FileCheck = fn(&[Subject]) -> Vec<Finding>;

/// Checks that look at one point.
pub(super) const OF_A_POINT: &[PointCheck] = &[
    all_failed::check,
    empty_successes::check,
    failures_left_out::check,
    goodput_denominator::check,
    counts::check,
    client_limited::check,
    client_wait::check,
    load_not_reached::check,
    admission_dominated::check,
    start_burst::check,
    too_short::check,
    ttft_zero::check,
    prefill_rate::check,
    engine_gauges::unfilled,
    engine_gauges::warm_prefix,
    clock::check,
    units::check,
    percentile_order::check,
    e2e_identity::check,
    littles_law::check,
    in_flight_identity::check,
    throughput_identity::check,
    token_identity::check,
    retokenized_counts::check,
    itl_bundles::check,
];

/// Checks that look at all points of a file.
pub(super) const OF_A_FILE: &[FileCheck] =
    &[definitions::check, facts_missing::check, quality::check];

/// Checks that look at all points of all files.
pub(super) const OF_A_SWEEP: &[FileCheck] = &[throughput_collapse::check, repeats::check];

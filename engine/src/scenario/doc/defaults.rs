//! The defaults of version 1, frozen by the first link: never change one, add a version.
//!
//! What equals its default is left out of files and links, so reading and leaving out must agree
//! on every value: both are made here from one number.

/// A function that gives the default, and one that says whether a value is it.
macro_rules! frozen {
    ($($value:ident, $is:ident: $kind:ty = $default:expr;)*) => {$(
        pub(super) fn $value() -> $kind {
            $default
        }
        pub(super) fn $is(value: &$kind) -> bool {
            value.eq(&$default)
        }
    )*};
}

frozen! {
    seed, is_seed: u64 = 1;
    horizon_s, is_horizon_s: f64 = 600.0;
    confidence, is_confidence: f64 = 0.95;
    attainment_target, is_attainment_target: f64 = 0.95;
    tensor_parallel, is_tensor_parallel: u32 = 1;
    max_num_seqs, is_max_num_seqs: u32 = 256;
    max_num_batched_tokens, is_max_num_batched_tokens: u32 = 2_048;
    partial_prefills, is_partial_prefills: u32 = 1;
    stream_interval, is_stream_interval: u32 = 1;
    block_size, is_block_size: u32 = 16;
    gpu_memory_utilization, is_gpu_memory_utilization: f64 = 0.9;
    affinity_most_over_mean, is_affinity_most_over_mean: f64 = 1.25;
    min_replicas, is_min_replicas: u32 = 1;
    autoscaler_interval_s, is_autoscaler_interval_s: f64 = 15.0;
    scale_down_cooldown_s, is_scale_down_cooldown_s: f64 = 300.0;
    on, is_on: bool = true;
    factor, is_factor: f64 = 1.0;
    backoff_factor, is_backoff_factor: f64 = 2.0;
    backoff_max_s, is_backoff_max_s: f64 = 60.0;
}

/// Whether a value is the default of its type.
pub(super) fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

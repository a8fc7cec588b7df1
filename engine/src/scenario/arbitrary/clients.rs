//! Any clients: how they leave, wait and try again, and whom the fleet lets in.

use proptest::prelude::*;

use super::{lengths, number, or, text};
use crate::scenario::doc::*;

fn patience() -> impl Strategy<Value = PatienceDoc> {
    prop_oneof![
        number().prop_map(|s| PatienceDoc::Fixed { s }),
        (number(), number())
            .prop_map(|(median_s, p90_s)| PatienceDoc::Lognormal { median_s, p90_s }),
    ]
}

pub fn think_time() -> impl Strategy<Value = ThinkTimeDoc> {
    prop_oneof![
        number().prop_map(|s| ThinkTimeDoc::Fixed { s }),
        (number(), number()).prop_map(|(min_s, max_s)| ThinkTimeDoc::Uniform { min_s, max_s }),
        number().prop_map(|mean_s| ThinkTimeDoc::Exponential { mean_s }),
    ]
}

pub fn shared_prefix() -> impl Strategy<Value = SharedPrefixDoc> {
    (any::<u32>(), any::<u32>(), or(0.0, number()), text()).prop_map(
        |(tokens, count, zipf_exponent, name)| SharedPrefixDoc {
            tokens,
            count,
            zipf_exponent,
            name,
        },
    )
}

pub fn session() -> impl Strategy<Value = SessionDoc> {
    (lengths(), think_time(), prop::option::of(lengths()))
        .prop_map(|(turns, think_time, new_tokens)| SessionDoc { turns, think_time, new_tokens })
}

fn retries() -> impl Strategy<Value = RetriesDoc> {
    use RetryOnDoc::{CancelledBeforeFirst, CancelledMidStream, Error, Rejected, TimedOut};
    let on = vec![Rejected, Error, TimedOut, CancelledBeforeFirst, CancelledMidStream];
    let on = prop::collection::vec(prop::sample::select(on), 0..4);
    let back_off = (or(0.0, number()), or(2.0, number()), or(60.0, number()), or(0.0, number()));
    (any::<u32>(), back_off, on).prop_map(|(max_attempts, back_off, on)| {
        let (backoff_base_s, backoff_factor, backoff_max_s, jitter) = back_off;
        RetriesDoc { max_attempts, backoff_base_s, backoff_factor, backoff_max_s, jitter, on }
    })
}

pub fn admission() -> impl Strategy<Value = AdmissionDoc> {
    let bucket =
        (number(), any::<u32>()).prop_map(|(rate_rps, burst)| TokenBucketDoc { rate_rps, burst });
    let shedding = (any::<u32>(), or(0, any::<i32>()))
        .prop_map(|(max_waiting, above_priority)| SheddingDoc { max_waiting, above_priority });
    let span = || prop::option::of(number());
    let limits = (prop::option::of(any::<u32>()), span(), span());
    (limits, prop::option::of(bucket), prop::option::of(shedding)).prop_map(
        |((max_waiting, max_queue_age_s, retry_after_s), token_bucket, shedding)| AdmissionDoc {
            max_waiting,
            max_queue_age_s,
            token_bucket,
            shedding,
            retry_after_s,
        },
    )
}

/// Patience before the first token and between two, a time-out, and retries.
pub type Leaving = (Option<PatienceDoc>, Option<PatienceDoc>, Option<f64>, Option<RetriesDoc>);

pub fn leaving() -> impl Strategy<Value = Leaving> {
    let patience = || prop::option::of(patience());
    (patience(), patience(), prop::option::of(number()), prop::option::of(retries()))
}

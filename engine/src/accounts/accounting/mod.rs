//! Where every request went, and what would have saved the lost ones: the same accounting for
//! simulated requests and for the records of a file.
//!
//! A request is a [`Case`]; everything else counts cases. `break_out` cuts outcomes by what a
//! request is, `marginals` by the limits it missed, `causes` by what made it late, `relax` by what
//! would have saved it, `rules` reads them as other tools would, `streams` tells events from
//! tokens, and `percentiles` tells offered from answered.

mod break_out;
mod case;
mod causes;
mod marginals;
mod percentiles;
mod relax;
mod rules;
mod streams;

use serde::{Deserialize, Serialize};

pub use break_out::{BreakOut, Bucket, Cell, ClassLabel, Dimension, Labels, PoolLabel, break_out};
pub use case::{Case, StreamSeen};
pub use causes::{Cause, Causer, Causes, MainParts};
pub use marginals::{LimitMisses, Marginals, MissedSet};
pub use percentiles::{BothPopulations, TargetResult, both_populations, targets};
pub use relax::{LimitLifted, LimitToSave, Relaxing, ToSimulate};
pub use rules::{Denominators, Reading, Share, Spans, readings};
pub use streams::Streams;

use crate::slo::Contract;

/// The accounting of a set of requests.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Accounting {
    /// Good requests over offered, admitted and completed ones.
    pub denominators: Denominators,
    /// The same requests under other tools' rules.
    pub readings: Vec<Reading>,
    /// Misses of each limit, alone and together.
    pub marginals: Marginals,
    /// Which single limit would have saved how many.
    pub relaxing: Relaxing,
    /// The same for each class alone, in the order of the classes; empty where there is one.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub relaxing_by_class: Vec<Relaxing>,
    /// What made late first tokens late, and slow ones slow.
    pub causes: Causes,
    /// Events against tokens.
    pub streams: Streams,
    /// Percentiles over offered and over completed requests.
    pub percentiles: Vec<BothPopulations>,
    /// Percentile targets of the classes.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub percentile_targets: Vec<TargetResult>,
    /// Outcomes by each dimension alone.
    pub break_outs: Vec<BreakOut>,
    /// Outcomes by dimensions crossed, as asked for.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub crossed: Vec<BreakOut>,
}

/// What the cases are, beside themselves.
#[derive(Debug, Clone, Copy)]
pub struct Context<'a> {
    /// Contract of each class.
    pub contracts: &'a [Contract],
    /// The words for buckets.
    pub labels: &'a Labels,
    /// What rates are per second of.
    pub spans: Spans,
    /// What the causes leave out, in words.
    pub causes_not_known: &'a [&'a str],
}

impl Accounting {
    /// The accounting of `cases`.
    pub fn of(cases: &[Case], context: &Context) -> Self {
        let Context { contracts, labels, spans, causes_not_known } = *context;
        let of_class = |class: u32| -> Vec<Case> {
            cases.iter().filter(|case| case.class == Some(class)).copied().collect()
        };
        let several = contracts.len() > 1;
        let by_class = (0_u32..).zip(contracts).filter(|_| several).map(|(class, contract)| {
            Relaxing::of(&of_class(class), std::slice::from_ref(contract))
        });
        Self {
            denominators: Denominators::of(cases),
            readings: readings(cases, contracts, spans),
            marginals: Marginals::of(cases),
            relaxing: Relaxing::of(cases, contracts),
            relaxing_by_class: by_class.collect(),
            causes: Causes::of(cases, causes_not_known),
            streams: Streams::of(cases, contracts),
            percentiles: both_populations(cases),
            percentile_targets: targets(cases, contracts),
            break_outs: Dimension::ALL
                .into_iter()
                // Of one pool there is nothing to tell apart.
                .filter(|by| *by != Dimension::Pool || labels.pools.len() > 1)
                .map(|by| break_out(cases, &[by], labels))
                .collect(),
            crossed: Vec::new(),
        }
    }
}

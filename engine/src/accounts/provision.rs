//! What was provisioned: the replica time that is paid for, the part of it in which replicas
//! started, and when.

use crate::sim::{PoolRun, PoolSpec, Stint};
use crate::units::{PICOS_PER_S, Picos};

/// The replicas of a pool over a run.
#[derive(Debug, Clone, Copy)]
pub struct Provisioned<'a> {
    spec: &'a PoolSpec,
    did: &'a PoolRun,
}

impl<'a> Provisioned<'a> {
    /// Those of a pool that `did` so.
    pub fn new(spec: &'a PoolSpec, did: &'a PoolRun) -> Self {
        Self { spec, did }
    }

    /// Replica time paid for in `[from, to)`, seconds, and the part of it that was start-up; `None`
    /// where as many replicas as at first were there all the time, ready.
    pub fn scaled(&self, from: Picos, to: Picos) -> Option<(f64, f64)> {
        let stints = &self.did.stints;
        let within = |a: Picos, b: Picos| i128::from((b.min(to).0 - a.max(from).0).max(0));
        let paid: i128 = stints.iter().map(|stint| within(stint.from, stint.to)).sum();
        let start_up: i128 = stints.iter().map(|stint| within(stint.from, stint.ready)).sum();
        let all = i128::from(self.spec.replicas) * i128::from((to - from).0);
        let seconds = |picos: i128| picos as f64 / PICOS_PER_S as f64;
        let is_constant = stints.is_empty() || (paid == all && start_up == 0);
        (!is_constant).then(|| (seconds(paid), seconds(start_up)))
    }

    /// When at least one replica was starting: spans that do not touch, in order.
    pub fn starting(&self) -> Vec<(Picos, Picos)> {
        let mut spans: Vec<(Picos, Picos)> = Vec::new();
        for stint in self.did.stints.iter().filter(|stint| stint.ready > stint.from) {
            match spans.last_mut() {
                Some((_, to)) if stint.from <= *to => *to = (*to).max(stint.ready),
                _ => spans.push((stint.from, stint.ready)),
            }
        }
        spans
    }

    /// Whether the same replicas take requests all the time until `to`.
    pub fn is_constant(&self, to: Picos) -> bool {
        let whole = |stint: &Stint| stint.ready <= Picos::ZERO && stint.takes_until >= to;
        self.did.stints.iter().all(whole)
    }

    /// Replicas that take requests, mean over `[from, to)`.
    pub fn mean_taking(&self, from: Picos, to: Picos) -> f64 {
        if self.did.stints.is_empty() {
            return f64::from(self.spec.replicas);
        }
        let within = |stint: &Stint| (stint.takes_until.min(to).0 - stint.ready.max(from).0).max(0);
        let taking: i128 = self.did.stints.iter().map(|stint| i128::from(within(stint))).sum();
        taking as f64 / (to - from).0 as f64
    }

    /// When no replica takes requests, until `to`: spans that do not touch, in order.
    pub fn nobody_takes(&self, to: Picos) -> Vec<(Picos, Picos)> {
        if self.did.stints.is_empty() {
            return if self.spec.replicas > 0 { Vec::new() } else { vec![(Picos::ZERO, to)] };
        }
        let taking = self.did.stints.iter().map(|stint| (stint.ready, stint.takes_until));
        let mut taking: Vec<_> = taking.filter(|(from, until)| from < until).collect();
        taking.sort_unstable();
        let (mut spans, mut covered) = (Vec::new(), Picos::ZERO);
        for (from, until) in taking.into_iter().chain([(to, to)]) {
            if from.min(to) > covered {
                spans.push((covered, from.min(to)));
            }
            covered = covered.max(until);
        }
        spans
    }

    /// The most replicas that were there at once.
    pub fn most(&self) -> u32 {
        let stints = &self.did.stints;
        if stints.is_empty() {
            return self.spec.replicas;
        }
        // At one moment, whoever goes makes room for who comes.
        let ends = stints.iter().map(|stint| (stint.to, -1_i64));
        let mut changes: Vec<(Picos, i64)> =
            stints.iter().map(|stint| (stint.from, 1)).chain(ends).collect();
        changes.sort_unstable();
        let mut there = 0;
        let counts = changes.iter().map(|(_, change)| {
            there += change;
            there
        });
        counts.max().and_then(|most| u32::try_from(most).ok()).unwrap_or(0)
    }
}

/// The part of `[from, to)` that lies in `spans`, which do not touch and are in order.
pub fn overlap(spans: &[(Picos, Picos)], from: Picos, to: Picos) -> Picos {
    let first = spans.partition_point(|(_, end)| *end <= from);
    let within = spans[first..].iter().take_while(|(begin, _)| *begin < to);
    let each = within.map(|(begin, end)| end.min(&to).0 - begin.max(&from).0);
    Picos(each.sum())
}

/// Whether a moment lies in one of `spans`, which do not touch and are in order; their ends do not
/// belong to them.
pub fn is_within(spans: &[(Picos, Picos)], moment: Picos) -> bool {
    let first = spans.partition_point(|(_, end)| *end <= moment);
    spans.get(first).is_some_and(|(begin, _)| *begin <= moment)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sim::StintEnd;

    fn stint(from: i64, ready: i64, to: i64) -> Stint {
        let [from, ready, to] = [from, ready, to].map(Picos);
        Stint { replica: 0, from, ready, takes_until: to, to, end: StintEnd::RunEnded }
    }

    #[test]
    fn starts_that_overlap_are_one_span_and_time_in_it_is_counted_once() {
        let did = PoolRun {
            stints: vec![stint(0, 0, 50), stint(5, 10, 20), stint(8, 14, 60), stint(30, 40, 60)],
            ..PoolRun::default()
        };
        let coefficients = crate::step_time::StepCoefficients {
            c0_s: 1.0,
            cw_s: 0.0,
            cw_experts_s: 0.0,
            expert_share: 0.0,
            c1_s_per_token: 0.0,
            p: 1.0,
            c2_s_per_pair: 0.0,
            c3_s_per_decode_seq: 0.0,
            c4_s_per_kv_token: 0.0,
        };
        let replica = crate::sim::ReplicaSpec {
            law: crate::step_time::CompiledLaw::new(&coefficients.law(), 1, 1.0, 0.0),
            usable_blocks: 1,
            block_size: 1,
            window_blocks_per_seq: 0,
            max_num_seqs: 1,
            max_num_batched_tokens: 1,
            long_prefill_token_threshold: 0,
            stream_interval: 1,
            scheduling_policy: crate::sim::SchedulingPolicy::Fcfs,
            max_model_len: 1,
            chunked_prefill: true,
            prefix_caching: true,
            reserve_full_isl: true,
            async_scheduling: false,
            api_overhead: Picos::ZERO,
        };
        let spec = PoolSpec::constant(replica, 1);
        let provisioned = Provisioned::new(&spec, &did);
        let spans = provisioned.starting();
        assert_eq!(spans, [(Picos(5), Picos(14)), (Picos(30), Picos(40))]);
        assert_eq!(overlap(&spans, Picos(7), Picos(33)), Picos(7 + 3));
        assert_eq!(overlap(&spans, Picos(14), Picos(30)), Picos::ZERO);
        let within = [4, 5, 13, 14, 30, 39, 40].map(|moment| is_within(&spans, Picos(moment)));
        assert_eq!(within, [false, true, true, false, true, true, false]);
        assert_eq!(provisioned.most(), 3);
        let (paid, start_up) = provisioned.scaled(Picos::ZERO, Picos(60)).expect("it is scaled");
        assert!((paid - 147e-12).abs() < 1e-20 && (start_up - 21e-12).abs() < 1e-20);
        // Those that are ready from 0 to 50, 10 to 20, 14 to 60 and 40 to 60.
        assert!((provisioned.mean_taking(Picos(0), Picos(60)) - 126.0 / 60.0).abs() < 1e-12);
        assert!((provisioned.mean_taking(Picos(50), Picos(70)) - 1.0).abs() < 1e-12);
        assert!(!provisioned.is_constant(Picos(60)));
        assert_eq!(provisioned.nobody_takes(Picos(70)), [(Picos(60), Picos(70))]);
        assert_eq!(provisioned.nobody_takes(Picos(55)), []);
    }
}

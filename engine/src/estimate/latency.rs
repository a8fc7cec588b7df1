//! Latencies of mean requests, and the rate up to which they stay within the limits.

use super::demand::{ClassDemand, IntervalDemand};
use super::mean_field::{MeanField, MeanShape, Operating};
use super::report::ClassEstimate;
use super::service::ReplicaModel;
use super::timeline::Timeline;
use crate::scenario::Scenario;
use crate::slo::{Contract, Limit};
use crate::step_time::Load;
use crate::units::Picos;
use crate::workload::Hidden;

/// What the mean field says about latencies of one fleet.
#[derive(Debug, Clone)]
pub struct Latencies {
    /// Sequences decoding per replica at the mean rate; none above the sustainable rate.
    pub mean_batch: Option<f64>,
    /// TTFT of a mean request at the mean rate; none above the sustainable rate.
    pub ttft_ms: Option<f64>,
    /// TPOT at the mean rate; above the sustainable rate, of a full batch; none where every answer
    /// has one token.
    pub tpot_ms: Option<f64>,
    /// TTFT of a mean request on an idle replica.
    pub zero_load_ttft_ms: f64,
    /// TPOT of a request that is alone.
    pub zero_load_tpot_ms: Option<f64>,
    /// Each class alone.
    pub classes: Vec<ClassEstimate>,
    /// Rate of the fleet up to which the mean request of every class stays within its limits.
    pub deliverable_rps: f64,
    /// Whether they do in the busiest window, with errors and quality leaving enough good.
    pub within_limits_at_peak: bool,
    /// Where the steps leave the range that the law was fitted on.
    pub outside_measured_range: Vec<String>,
}

impl Latencies {
    /// `None` where only token rates are declared, or where no request fits.
    pub fn of(
        scenario: &Scenario,
        model: &ReplicaModel,
        classes: &[ClassDemand],
        mean: &IntervalDemand,
        timeline: &Timeline,
    ) -> Option<Self> {
        if mean.served_rps <= 0.0 {
            return None;
        }
        let field = model.steps(&mean.served)?;
        let replicas = f64::from(scenario.pool.most_replicas());
        let (full, _) = field.saturated();
        let at_mean = field.at_rate(mean.served_rps / replicas);
        let contracts = &scenario.contracts;
        let served = || classes.iter().zip(contracts).filter(|(c, _)| c.lengths.served_share > 0.0);
        let holds = |at: &Operating| served().all(|(c, contract)| within(&field, c, contract, at));
        let deliverable_rps = field.fastest_where(holds).map_or(0.0, |at| at.rate_rps * replicas);
        let peak = model.steps(&timeline.peak_demand.served)?;
        let at_peak = peak.at_rate(timeline.peak_demand.served_rps / replicas);
        let enough_good = |(class, contract): (&ClassDemand, &Contract)| {
            attainment_cap(class) >= contract.attainment_target && enough_ranked(class, contract)
        };
        let in_time = at_peak.is_some_and(|at| served().all(|(c, k)| within(&peak, c, k, &at)));
        let at = at_mean.unwrap_or(full);
        let streams = mean.served.output > 1.0;
        Some(Self {
            mean_batch: at_mean.map(|at| at.decode_seqs),
            ttft_ms: at_mean.map(|at| 1e3 * field.ttft_s(&mean.served, &at)),
            tpot_ms: streams.then_some(1e3 * at.step_s),
            zero_load_ttft_ms: 1e3 * field.zero_load_ttft_s(&mean.served),
            zero_load_tpot_ms: streams.then_some(1e3 * field.zero_load_tpot_s()),
            classes: classes
                .iter()
                .zip(contracts)
                .map(|(class, contract)| of_class(&field, class, contract, at_mean.as_ref()))
                .collect(),
            deliverable_rps,
            within_limits_at_peak: in_time && classes.iter().zip(contracts).all(enough_good),
            outside_measured_range: outside(scenario, mean, &at_peak.unwrap_or(full)),
        })
    }
}

/// Whether the mean request of a class is within its limits. A stream's longest gap is at least a
/// step with prefill.
pub fn within<F: Fn(MeanShape) -> f64>(
    field: &MeanField<F>,
    class: &ClassDemand,
    contract: &Contract,
    at: &Operating,
) -> bool {
    let lengths = &class.lengths.served;
    let ttft_s = field.ttft_s(lengths, at);
    let e2e_s = ttft_s + (lengths.output - 1.0) * at.step_s;
    let inside = |limit: Option<Picos>, seconds: f64| limit.is_none_or(|l| seconds <= l.as_secs());
    // Of a typical request: its lengths are means, and of what comes beside them the median.
    let hidden = match &class.class.hidden {
        Hidden::None => 0.0,
        Hidden::Share(share) => share * lengths.output,
        Hidden::Added(hidden) => f64::from(hidden.quantile(0.5)).min(lengths.output),
    };
    let hidden_s = hidden * at.step_s;
    let limit = |of| limit_of(contract, of);
    // One token has neither pace nor gaps.
    let streams = lengths.output > 1.0;
    // A percentile of the own gaps, from the median up, is a decode step at least.
    let paced = inside(limit(Limit::Itl), at.step_s)
        && inside(limit(Limit::Tpot), at.step_s)
        && inside(limit(Limit::Stall), at.mixed_step_s);
    inside(limit(Limit::Ttft), ttft_s)
        && inside(limit(Limit::Ttfvt), ttft_s + hidden_s)
        && (!streams || paced)
        && inside(limit(Limit::E2e), e2e_s)
}

/// What the typical request must be within: the limit of every request, and the targets on a
/// percentile that is no less than the median, where more than half must be.
pub fn limit_of(contract: &Contract, of: Limit) -> Option<Picos> {
    let targets = contract.percentile_targets.iter();
    let targets = targets.filter(|target| target.of == of && target.share >= 0.5);
    targets.map(|target| target.limit).chain(contract.limit(of)).min()
}

/// Whether so many come to what a percentile is of as its target needs: a request that fits no
/// replica gets no token, and one that fails does not complete.
fn enough_ranked(class: &ClassDemand, contract: &Contract) -> bool {
    let fit = class.lengths.served_share;
    let whole = fit * (1.0 - class.class.lasting_error_rate());
    contract.percentile_targets.iter().all(|target| {
        let come = if target.of == Limit::E2e { whole } else { fit };
        // Shares of laws are sums: what is equal but for rounding is enough.
        come >= target.share - 1e-9
    })
}

fn of_class<F: Fn(MeanShape) -> f64>(
    field: &MeanField<F>,
    class: &ClassDemand,
    contract: &Contract,
    at_mean: Option<&Operating>,
) -> ClassEstimate {
    let lengths = &class.lengths.served;
    let ttft_s = at_mean.map(|at| field.ttft_s(lengths, at));
    ClassEstimate {
        name: class.class.name.clone(),
        ttft_ms: ttft_s.map(|s| 1e3 * s),
        zero_load_ttft_ms: 1e3 * field.zero_load_ttft_s(lengths),
        e2e_ms: at_mean
            .zip(ttft_s)
            .map(|(at, ttft_s)| 1e3 * (ttft_s + (lengths.output - 1.0) * at.step_s)),
        attainment_cap: attainment_cap(class),
        attainment_target: contract.attainment_target,
    }
}

/// Share of requests that can be good at best: those that fit, do not fail and are answered well.
pub fn attainment_cap(class: &ClassDemand) -> f64 {
    let quality = class.class.pass_rate(class.lengths.served_truncated_share).unwrap_or(1.0);
    class.lengths.served_share * (1.0 - class.class.lasting_error_rate()) * quality
}

fn outside(scenario: &Scenario, mean: &IntervalDemand, at: &Operating) -> Vec<String> {
    let Some(step_time) = scenario.pool.step_time() else { return Vec::new() };
    let chunk = at.prefill_tokens.min(mean.served.input);
    step_time.resolved.extrapolations(&Load {
        prefill_tokens: whole(at.prefill_tokens),
        prefill_context: whole(mean.served.input - chunk),
        decode_seqs: whole(at.decode_seqs),
        kv_per_seq: whole(at.kv_per_decode),
    })
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "casts saturate")]
fn whole(x: f64) -> u64 {
    x.round() as u64
}

//! What the last per cent of attainment costs: fleets against the next larger ones.

use super::report::{FleetRow, MarginalStep};
use crate::units::MONTH_H;

/// The steps between `fleets`, which ascend.
pub fn steps(fleets: &[FleetRow]) -> Vec<MarginalStep> {
    fleets.windows(2).map(|pair| step(&pair[0], &pair[1])).collect()
}

fn step(smaller: &FleetRow, larger: &FleetRow) -> MarginalStep {
    let adds_points = 100.0 * (larger.attainment - smaller.attainment);
    let adds_good_rps = larger.good_rps - smaller.good_rps;
    let usd_per_month =
        larger.cost_per_month.zip(smaller.cost_per_month).map(|(more, less)| more - less);
    let per = |added: f64| usd_per_month.filter(|_| added > 0.0).map(|usd| usd / added);
    MarginalStep {
        from_replicas: smaller.replicas,
        to_replicas: larger.replicas,
        reaches_answer: larger.is_answer,
        adds_points,
        adds_good_rps,
        usd_per_month,
        usd_per_month_per_point: per(adds_points),
        usd_per_added_good_request: per(adds_good_rps * 3_600.0 * MONTH_H),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fleet(replicas: u32, attainment: f64, usd: Option<f64>) -> FleetRow {
        FleetRow {
            replicas,
            is_present: false,
            is_answer: replicas == 3,
            probability: 1.0,
            probability_low: 1.0,
            probability_high: 1.0,
            is_settled: true,
            measured_runs: 5,
            attainment,
            good_rps: 10.0 * attainment,
            holds_in: 5,
            runs: 5,
            undecided: 0,
            ttft_p95_ms: None,
            peak_debt_s: 0.0,
            cost_per_good_request: None,
            cost_per_month: usd.map(|usd| usd * f64::from(replicas)),
            judged: None,
            alpha: None,
            alpha_is_least: false,
        }
    }

    #[test]
    fn a_step_costs_its_replicas_over_what_they_add() {
        let fleets = [(2, 0.9), (3, 0.95), (6, 0.95)].map(|(n, good)| fleet(n, good, Some(730.0)));
        let [first, second] = &steps(&fleets)[..] else { panic!("two steps") };
        assert!(first.reaches_answer && !second.reaches_answer);
        // 1 USD an hour more for 5 points, and for half a good request a second: 1,800 an hour.
        let near = |seen: Option<f64>, wanted: f64| (seen.unwrap() / wanted - 1.0).abs() < 1e-9;
        assert!(near(first.usd_per_month_per_point, 730.0 / 5.0));
        assert!(near(first.usd_per_added_good_request, 1.0 / 1_800.0));
        // Three more add nothing: that is no price per point, least of all a free one.
        assert_eq!(second.usd_per_month, Some(3.0 * 730.0));
        assert_eq!(second.usd_per_month_per_point, None);
        assert_eq!(second.usd_per_added_good_request, None);
        let unpriced = steps(&[fleet(2, 0.9, None), fleet(3, 0.95, None)]);
        assert_eq!(unpriced[0].usd_per_month_per_point, None, "no price, no cost");
        assert!(unpriced[0].adds_points > 4.9);
    }
}

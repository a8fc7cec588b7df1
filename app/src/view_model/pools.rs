//! Pools of a simulated fleet in rows, and how their replicas came and went in sentences.

use goodput_engine::accounts::accounting::Cause;
use goodput_engine::accounts::report::{PoolReport, ReplicaTurnover, SimReport};
use goodput_engine::planner::report::{PlanAnswer, PlanReport};

use super::verdict;
use crate::format;

/// Heads of the table, after that of the pool itself.
pub const HEADS: [&str; 7] =
    ["State", "Offered", "Good", "Replicas", "Holds with", "Peak of supply", "Cost"];

/// A pool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PoolLine {
    /// Its name.
    pub name: String,
    /// Its GPUs and its model.
    pub what: String,
    /// Class of the shape of its state.
    pub state: &'static str,
    /// A cell under each head.
    pub cells: [String; 7],
    /// Whether it is the pool that the verdict is about.
    pub decides: bool,
}

/// A row for each pool; none where there is one.
pub fn lines(report: &SimReport, plan: Option<&PlanReport>) -> Vec<PoolLine> {
    let load = |pool: &PoolReport| {
        let supply = pool.supply.as_ref()?;
        let (required, sustainable) = supply.at_tightest();
        let share = required.rps / sustainable.rps;
        share.is_finite().then_some(share)
    };
    let most = report.pools.iter().filter_map(load).fold(0.0, f64::max);
    let line = |pool: &PoolReport| {
        let (state, word) = verdict::names(pool.state);
        let share = load(pool);
        let supply = match (share, &pool.supply) {
            (Some(share), Some(supply)) => {
                format!("{} of {}", format::percent(share), format::rps(supply.at_tightest().1.rps))
            }
            _ => format::NONE.to_owned(),
        };
        let cost = pool.cost.as_ref();
        PoolLine {
            name: pool.name.clone(),
            what: format!(
                "{} of {}, {}",
                format::plural(pool.gpus.into(), "GPU", "GPUs"),
                pool.gpu,
                pool.model
            ),
            state,
            cells: [
                word.to_owned(),
                format::count(pool.offered),
                if pool.offered > 0 {
                    format::percent(pool.attainment)
                } else {
                    format::NONE.into()
                },
                format::count(pool.replicas.into()),
                needs(plan, &pool.name),
                supply,
                cost.map_or_else(
                    || format::NONE.to_owned(),
                    |cost| format::usd_fixed(cost.total, super::books::decimals_of(cost.total)),
                ),
            ],
            decides: share.is_some_and(|share| share >= most),
        }
    };
    report.pools.iter().map(line).collect()
}

/// The replicas with which a pool holds the contract for its part, by its own plan.
fn needs(plan: Option<&PlanReport>, name: &str) -> String {
    let of_pool = plan.and_then(|plan| {
        let mut plans = std::iter::once(plan).chain(&plan.other_pools);
        plans.find(|plan| plan.pool.as_deref() == Some(name))
    });
    match of_pool.map(|plan| &plan.answer) {
        Some(PlanAnswer::Replicas { replicas, .. } | PlanAnswer::SupplyOnly { replicas, .. }) => {
            format::count((*replicas).into())
        }
        Some(PlanAnswer::Infeasible { .. } | PlanAnswer::NotFound { .. }) => "no number".to_owned(),
        Some(PlanAnswer::Undecided { .. }) | None => format::NONE.to_owned(),
    }
}

/// How the replicas of each pool in which any did came and went, and what that cost requests.
pub fn sentences(report: &SimReport) -> Vec<String> {
    let late = report.accounting.causes.late_first_token.get(&Cause::StartUp).copied().unwrap_or(0);
    let waited = (late > 0).then(|| {
        format!(
            "{} came late mainly because replicas were still starting",
            format::plural(late, "first token", "first tokens")
        )
    });
    report.turnover.iter().map(sentence).chain(waited).collect()
}

fn sentence(turnover: &ReplicaTurnover) -> String {
    let who = match turnover.pool.as_str() {
        "" => "Replicas".to_owned(),
        name => format!("Replicas of {name}"),
    };
    let events = [
        (turnover.ordered, "start", "starts"),
        (turnover.crashed, "failure", "failures"),
        (turnover.drained, "drained", "drained"),
        (turnover.cancelled, "cancelled before it was ready", "cancelled before they were ready"),
    ];
    let events = events.into_iter().filter(|(n, ..)| *n > 0);
    let events: Vec<String> = events.map(|(n, one, many)| format::plural(n, one, many)).collect();
    let events = if events.is_empty() { "none came or went".to_owned() } else { events.join(", ") };
    let meanwhile = match (turnover.due_while_starting, turnover.lost_while_starting) {
        (0, _) => String::new(),
        (due, 0) => format!(
            "; {} came while some started, all good",
            format::plural(due, "request", "requests")
        ),
        (due, lost) => format!(
            "; of {} that came while some started, {} lost or late",
            format::plural(due, "request", "requests"),
            format::plural(lost, "was", "were"),
        ),
    };
    format!(
        "{who}: {} on average, {} at most; {events}; {} of {} of replica time went into starting{meanwhile}",
        format::significant(turnover.mean),
        format::count(turnover.most.into()),
        hours(turnover.start_up_hours),
        hours(turnover.replica_hours),
    )
}

fn hours(hours: f64) -> String {
    format::seconds(hours * 3_600.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state::edit::tests::small_doc;
    use crate::state::edit::{ClassEdit, Edit, PoolEdit};
    use crate::view_model::route;
    use goodput_engine::{accounts, scenario};

    fn report(edits: &[Edit]) -> SimReport {
        let mut doc = small_doc();
        for edit in edits {
            edit.apply(&mut doc);
        }
        let scenario = scenario::check(&doc).expect("valid").scenario;
        accounts::answer(&scenario).expect("simulated").report
    }

    #[test]
    fn pools_are_rows_only_where_there_are_several() {
        assert!(lines(&report(&[]), None).is_empty());
        let mut doc = small_doc();
        Edit::AddPool.apply(&mut doc);
        let split = route::to(&doc, route::SPLIT).expect("a route");
        let report = report(&[Edit::AddPool, Edit::Class(0, ClassEdit::Route(split))]);
        let lines = lines(&report, None);
        let offered: u64 = lines
            .iter()
            .map(|line| line.cells[1].replace(',', "").parse::<u64>().expect("a count"))
            .sum();
        assert_eq!(offered, report.offered, "every request is of one pool");
        assert_eq!(lines[1].cells[3], "1");
        // One replica with half of the requests has less to spare than eight.
        assert_eq!((lines[0].decides, lines[1].decides), (false, true));
    }

    #[test]
    fn a_cold_start_is_said_with_whom_it_lost() {
        assert!(sentences(&report(&[])).is_empty(), "all were there all the time");
        let said = sentences(&report(&[Edit::Pool(0, PoolEdit::ColdStart(true))]));
        assert!(said[0].contains("8 starts"), "{said:?}");
        assert!(said[0].contains("while some started") && said[0].contains("lost or late"));
        assert!(said[1].contains("mainly because replicas were still starting"), "{said:?}");
    }
}

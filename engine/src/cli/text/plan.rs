//! The plan in words and rows.

use goodput_engine::accounts::words::{percent, plural, span_ms, thousands, three_digits};
use goodput_engine::planner::report::{FleetRow, PlanAnswer, PlanReport};

use super::{Page, mix, or_dash, usd};

/// The plan.
pub fn plan(report: &PlanReport) -> String {
    let mut page = Page::default();
    page.line(&report.sentence);
    if let PlanAnswer::Infeasible { lever, .. } | PlanAnswer::SupplyOnly { lever, .. } =
        &report.answer
    {
        page.line(&format!("  What would help: {lever}"));
    }
    if !report.undecided.is_empty() {
        page.line(&undecided(report));
    }
    for note in &report.notes {
        page.line(&format!("  {note}"));
    }
    if !report.fleets.is_empty() {
        page.heading("Fleet                        good      holds in   TTFT p95   cost per month");
        for row in &report.fleets {
            fleet(&mut page, row);
        }
    }
    marginal(&mut page, report);
    page.heading(&match &report.pool {
        None => "This fleet".to_owned(),
        Some(pool) => format!("Pool {pool}, which has the least to spare"),
    });
    page.row("supply floor, replicas", &report.replicas_floor.to_string());
    let open = report.undecided.iter().any(|name| name == "alpha");
    let up_to = match report.alpha {
        Some(alpha) if report.alpha_is_least => {
            format!("at least {} × this mix, the most that is tried", three_digits(alpha))
        }
        Some(alpha) => format!("{} × this mix", three_digits(alpha)),
        None if open => "not decided".to_owned(),
        None => "–".to_owned(),
    };
    page.row("holds up to", &up_to);
    page.row("deliverable", &report.deliverable.as_ref().map_or_else(|| "–".to_owned(), mix));
    for relaxation in &report.binding {
        let mark = if relaxation.binds { "  binds" } else { "" };
        let least = if relaxation.gain_is_least { "at least " } else { "" };
        page.row(&relaxation.label, &format!("{least}+{} ×{mark}", three_digits(relaxation.gain)));
    }
    page.into_text()
}

/// What the last per cent of attainment costs, fleet by fleet.
fn marginal(page: &mut Page, report: &PlanReport) {
    if report.marginal.iter().all(|step| step.usd_per_month.is_none()) {
        return; // no price, no cost
    }
    page.heading(
        "One step larger               adds good   per month    per 1 % more   per good more",
    );
    for step in &report.marginal {
        let mark = if step.reaches_answer { " (answer)" } else { "" };
        page.row(
            &format!("{} to {} replicas{mark}", step.from_replicas, step.to_replicas),
            &format!(
                "{:>9}  {:>10}  {:>14}  {:>14}",
                format!("{} %", three_digits(step.adds_points)),
                or_dash(step.usd_per_month, usd),
                or_dash(step.usd_per_month_per_point, usd),
                or_dash(step.usd_per_added_good_request, usd)
            ),
        );
    }
}

/// What the budget left open.
fn undecided(report: &PlanReport) -> String {
    let names: Vec<&str> = report
        .undecided
        .iter()
        .map(|name| match name.as_str() {
            "replicas" => "how many replicas hold",
            "fleets" => "some of the fleets below",
            "alpha" => "how far this fleet is from the cliff, and so what binds",
            constraint => constraint,
        })
        .collect();
    format!(
        "  Not decided within the budget ({} of {} units of work done): {}",
        thousands(report.budget.spent_work as f64),
        thousands(report.budget.max_work as f64),
        names.join(", ")
    )
}

fn fleet(page: &mut Page, row: &FleetRow) {
    let mark = match (row.is_answer, row.is_present) {
        (true, true) => " (answer, present)",
        (true, false) => " (answer)",
        (false, true) => " (present)",
        (false, false) => "",
    };
    let ttft = row.ttft_p95_ms.map_or_else(|| "never".to_owned(), span_ms);
    page.row(
        &format!("{}{mark}", plural(u64::from(row.replicas), "replica", "replicas")),
        &format!(
            "{:>7}  {:>9}  {ttft:>9}   {}",
            percent(row.attainment),
            format!("{} of {}", row.holds_in, row.runs),
            or_dash(row.cost_per_month, usd)
        ),
    );
}

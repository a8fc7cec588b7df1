//! The plan in words and rows.

use goodput_engine::accounts::words::{percent, plural, span_ms, thousands, three_digits};
use goodput_engine::planner::interval;
use goodput_engine::planner::report::{FleetRow, Inverse, PeakFloor, PlanAnswer, PlanReport};

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
    if matches!(report.answer, PlanAnswer::Replicas { .. }) {
        page.line(&format!("  Rule: {}", report.sizing.rule));
    }
    for note in &report.notes {
        page.line(&format!("  {note}"));
    }
    if !report.fleets.is_empty() {
        let of = report.pool.as_ref().map_or_else(|| "Fleet".to_owned(), |p| format!("Pool {p}"));
        page.heading(&format!(
            "{of:<29}holds in    Wilson      runs   good     TTFT p95   debt     cost per month"
        ));
        for row in &report.fleets {
            fleet(&mut page, row, report.present_is_most);
        }
    }
    failures(&mut page, report);
    marginal(&mut page, report);
    page.heading(&match &report.pool {
        None => "This fleet".to_owned(),
        Some(pool) => format!("Pool {pool}, which has the least to spare"),
    });
    let busiest = report.peak_floors.iter().map(|PeakFloor { window_s, rps, replicas }| {
        let (window, rps) = (span_ms(1e3 * window_s), three_digits(*rps));
        format!("{replicas} for the busiest {window} ({rps} req/s)")
    });
    let mean = format!("{} for the mean load", report.replicas_floor);
    let floors: Vec<String> = std::iter::once(mean).chain(busiest).collect();
    page.row("supply floor, replicas", &floors.join(", "));
    page.row("holds up to", &up_to(report));
    page.row("deliverable", &report.deliverable.as_ref().map_or_else(|| "–".to_owned(), mix));
    for relaxation in &report.binding {
        let mark = if relaxation.binds { "  binds" } else { "" };
        let least = if relaxation.gain_is_least { "at least " } else { "" };
        page.row(&relaxation.label, &format!("{least}+{} ×{mark}", three_digits(relaxation.gain)));
    }
    if let Some(inverse) = &report.inverse {
        could(&mut page, inverse);
    }
    page.into_text()
}

/// The largest multiple of the mix that the present fleet holds, and in which window.
fn up_to(report: &PlanReport) -> String {
    let window = report.alpha_seed.map_or(String::new(), |s| format!(" (the window of seed {s})"));
    match report.alpha.map(three_digits) {
        Some(alpha) if report.alpha_is_least => {
            format!("at least {alpha} × this mix, the most that is tried{window}")
        }
        Some(alpha) => format!("{alpha} × this mix{window}"),
        None if report.undecided.iter().any(|name| name == "alpha") => "not decided".to_owned(),
        None if report.alpha_seed.is_some() => format!("no load that is tried{window}"),
        None => "–".to_owned(),
    }
}

/// What the present fleet could do.
fn could(page: &mut Page, inverse: &Inverse) {
    let fleet = plural(u64::from(inverse.replicas), "replica holds", "replicas hold");
    page.heading(&format!("What the present {fleet}"));
    for row in &inverse.stretches {
        let text = match (row.alpha, &row.why_not) {
            (Some(alpha), _) => {
                let least = if row.alpha_is_least { "at least " } else { "" };
                let value = row.value.map_or(String::new(), |value| {
                    format!(", {} {}", three_digits(value), row.unit)
                });
                let share = row.probability.map_or(String::new(), percent);
                format!("{least}{} ×{value} ({share} of {})", three_digits(alpha), row.runs)
            }
            (None, Some(why)) => why.clone(),
            (None, None) => "–".to_owned(),
        };
        page.row(&row.label, &text);
    }
    if let Some(users) = inverse.users {
        page.row("users", &thousands(f64::from(users)));
    }
    let growth = percent(inverse.growth_per_month);
    let months = inverse.months_of_headroom.map_or_else(|| "none".to_owned(), three_digits);
    page.row("months of headroom", &format!("{months} at {growth} growth a month"));
    for row in &inverse.tightest {
        let limit = |ms: Option<f64>| ms.map_or_else(|| "none".to_owned(), span_ms);
        page.row(
            &format!("tightest for {}", row.class),
            &format!(
                "TTFT {} (limit {}), TPOT {} (limit {}), each at {} good",
                limit(row.ttft_ms),
                limit(row.ttft_limit_ms),
                limit(row.tpot_ms),
                limit(row.tpot_limit_ms),
                percent(row.attainment_target)
            ),
        );
    }
}

/// The answer with spare replicas while some fail.
fn failures(page: &mut Page, report: &PlanReport) {
    let Some(first) = report.failures.first() else { return };
    page.heading(&format!(
        "If replicas fail at {} (another takes requests {} later)",
        span_ms(1e3 * first.at_s),
        span_ms(1e3 * first.start_up_s)
    ));
    for row in &report.failures {
        let fleet = plural(u64::from(row.replicas), "replica", "replicas");
        let fail = if row.failing == 1 { "fails" } else { "fail" };
        page.row(
            &format!("{fleet}, {} {fail}", row.failing),
            &format!("{:>8}  of {} windows", percent(row.probability), row.runs),
        );
    }
    if first.start_up_s <= 0.0 {
        page.line(
            "  No start-up time is stated, so what fails is replaced at once and only what it held \
             is lost: give the pool its `start_up_s`",
        );
    }
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
            "confirmation" => "whether windows that did not choose it confirm the answer",
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

fn fleet(page: &mut Page, row: &FleetRow, present_is_most: bool) {
    let mark = match (row.is_answer, row.is_present) {
        (true, true) if present_is_most => " (answer, present at most)",
        (true, true) => " (answer, present)",
        (true, false) => " (answer)",
        (false, true) if present_is_most => " (present at most)",
        (false, true) => " (present)",
        (false, false) => "",
    };
    let ttft = row.ttft_p95_ms.map_or_else(|| "never".to_owned(), span_ms);
    page.row(
        &format!("{}{mark}", plural(u64::from(row.replicas), "replica", "replicas")),
        &format!(
            "{:>8}  {:>10}  {:>6}  {:>7}  {ttft:>9}  {:>7}   {}",
            percent(row.probability),
            interval(row),
            row.runs,
            percent(row.attainment),
            span_ms(1e3 * row.peak_debt_s),
            or_dash(row.cost_per_month, usd)
        ),
    );
}

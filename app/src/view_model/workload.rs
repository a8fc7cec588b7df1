//! Words about traffic classes.

use goodput_engine::scenario::doc::{ArrivalsDoc, ClassDoc, ScenarioDoc};

use super::arrivals;
use crate::format;

/// The contract of a class in one line.
pub fn contract_line(class: &ClassDoc) -> String {
    let slo = &class.slo;
    let itl = slo.itl_percentile;
    let gaps = itl.map_or_else(String::new, |limit| format!("ITL p{}", limit.percentile));
    let limits = [
        ("TTFT", slo.ttft_ms),
        ("visible", slo.ttfvt_ms),
        ("TPOT", slo.tpot_ms),
        ("stall", slo.longest_stall_ms),
        (gaps.as_str(), itl.map(|limit| limit.ms)),
        ("E2E", slo.e2e_ms),
    ];
    let mut parts: Vec<String> = limits
        .into_iter()
        .filter_map(|(name, ms)| ms.map(|ms| format!("{name} ≤ {}", format::millis(ms))))
        .collect();
    parts.push(format!("{} good", format::percent(slo.attainment_target)));
    parts.join(", ")
}

/// A row of the table of classes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClassRow {
    /// Its name.
    pub name: String,
    /// Whose traffic it is.
    pub tenant: String,
    /// Its mean rate; of a closed loop its users, of sessions how many begin; a dash where its
    /// arrivals are not valid.
    pub rate: String,
    /// Whether it is offered.
    pub enabled: bool,
}

/// The rows of the table of classes.
pub fn class_rows(doc: &ScenarioDoc) -> Vec<ClassRow> {
    let row = |class: &ClassDoc| {
        let rate = match &class.arrivals {
            ArrivalsDoc::ClosedLoop { users, .. } => {
                Some(format::plural(u64::from(*users), "user", "users"))
            }
            open => arrivals::mean_rps(open, doc.workload.horizon_s).map(|rate| {
                let of_sessions = if class.session.is_some() { " sessions" } else { "" };
                format!("{}{of_sessions}", format::significant(rate))
            }),
        };
        ClassRow {
            name: class.name.clone(),
            tenant: class.tenant.clone(),
            rate: rate.unwrap_or_else(|| "–".to_owned()),
            enabled: class.enabled,
        }
    };
    doc.workload.classes.iter().map(row).collect()
}

#[cfg(test)]
mod tests {
    use goodput_engine::scenario::doc::ThinkTimeDoc;

    use super::*;

    #[test]
    fn a_row_says_what_a_class_asks_for() {
        let preset = goodput_engine::scenario::presets::preset("multi-tenant");
        let mut doc = preset.expect("a preset of three classes").doc.clone();
        doc.workload.classes[0].arrivals = ArrivalsDoc::Poisson { rate_rps: 2.5 };
        doc.workload.classes[1].arrivals = ArrivalsDoc::Poisson { rate_rps: 0.0 };
        doc.workload.classes[1].enabled = false;
        let rows = class_rows(&doc);
        assert_eq!((rows[0].rate.as_str(), rows[0].enabled), ("2.5", true));
        assert_eq!((rows[1].rate.as_str(), rows[1].enabled), ("–", false));
        let think_time = ThinkTimeDoc::Fixed { s: 5.0 };
        doc.workload.classes[2].arrivals = ArrivalsDoc::ClosedLoop { users: 40, think_time };
        assert_eq!(class_rows(&doc)[2].rate, "40 users");
        assert_eq!(rows[2].name, doc.workload.classes[2].name);
    }
}

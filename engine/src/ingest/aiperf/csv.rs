//! The summary as CSV: tables stacked above each other, of metrics with statistics, of single
//! values, and of GPUs. Metrics carry their unit in the name, and become the tree the JSON is.
//!
//! genai-perf writes thousands marks into quoted numbers, always followed by two decimals, so here
//! they are known for what they are.

use crate::counted::plural;
use std::borrow::Cow;

use super::summary;
use crate::ingest::Refusal;
use crate::ingest::csv_table::{self, Delimiter, trimmed};
use crate::ingest::gathered::Gathered;
use crate::ingest::registry::Body;
use crate::ingest::tree::Node;

/// The first table's header.
pub(super) fn is_header(line: &str) -> bool {
    let cells = csv_table::header_cells(line, Delimiter::Comma);
    matches!(cells.as_slice(), [first, second, ..] if first == "Metric" && second == "avg")
}

type Entries<'t> = Vec<(Cow<'t, str>, Node<'t>)>;

pub(super) fn parse(text: &str) -> Result<Body, Refusal> {
    let mut header: Vec<String> = Vec::new();
    let mut metrics: Entries = Vec::new();
    let mut others = 0_u64;
    csv_table::for_each_row_of_any_width(text, Delimiter::Comma, |row| {
        let cells: Vec<&str> = row.cells.iter().map(trimmed).collect();
        match cells.first() {
            Some(&"Metric") => header = cells.iter().map(|cell| (*cell).to_owned()).collect(),
            // GPU tables have another first column.
            Some(&("Endpoint" | "GPU" | "GPU_Index")) => header.clear(),
            _ if header.is_empty() => others += 1,
            _ => metrics.push(metric(&header, &cells)),
        }
        Ok(())
    })?;
    let mut gathered = Gathered::default();
    summary::add(&mut gathered, 1, &Node::Map(metrics))?;
    gathered.remarks.add(1, "this CSV does not say the load; the JSON beside it does");
    if others > 0 {
        let remark =
            plural(others, "row of GPU tables was not read", "rows of GPU tables were not read");
        gathered.remarks.add(1, remark);
    }
    Ok(gathered.finish("runs"))
}

/// `Time to First Token (ms),1.00,…` as `time_to_first_token: {unit: ms, avg: 1, …}`.
fn metric<'t>(header: &[String], cells: &[&str]) -> (Cow<'t, str>, Node<'t>) {
    let name = cells.first().copied().unwrap_or_default();
    let (name, unit) = match name.rsplit_once(" (") {
        Some((name, unit)) if unit.ends_with(')') => (name, &unit[..unit.len() - 1]),
        _ => (name, ""),
    };
    let tag = name.to_lowercase().replace([' ', '-'], "_");
    let mut values: Entries = vec![("unit".into(), Node::Text(unit.to_owned().into()))];
    for (statistic, cell) in header.iter().zip(cells).skip(1) {
        let statistic = if statistic == "Value" { "avg" } else { statistic };
        if let Some(value) = number(cell) {
            values.push((statistic.to_owned().into(), value));
        }
    }
    (tag.into(), Node::Map(values))
}

/// A cell: nothing, a number with or without thousands marks, or what it says.
fn number<'t>(cell: &str) -> Option<Node<'t>> {
    if cell.is_empty() || cell.eq_ignore_ascii_case("n/a") {
        return None;
    }
    let whole = cell.split('.').next().unwrap_or_default();
    let mut groups = whole.trim_start_matches('-').split(',');
    let first = groups.next().map_or(0, str::len);
    let grouped = (1..=3).contains(&first) && groups.all(|group| group.len() == 3);
    let plain: Cow<str> = if grouped { cell.replace(',', "").into() } else { cell.into() };
    Some(plain.parse().map_or_else(|_| Node::Text(cell.to_owned().into()), Node::Number))
}

//! Requests of a simulation by LLMServingSim, one row each, as its `--output` writes them.
//!
//! Documented at <https://github.com/casys-kaist/LLMServingSim>; columns read in 2026-08. All times
//! are nanoseconds of the simulated clock, `arrival` and `end_time` since its start, the others
//! since the arrival; gaps between tokens stand as a list in one cell. Nothing of it was measured.

use csv::ByteRecord;

use super::csv_table::{self, Delimiter, trimmed};
use super::gathered::Gathered;
use super::quantity::{quantity, tokens};
use super::registry::{Body, FormatDescription, Head};
use super::{
    BenchmarkPoint, Definition, GapSummary, RecordOutcome, Refusal, RequestRecord, from_records,
};

pub(super) const FORMAT: FormatDescription = FormatDescription {
    id: "llmservingsim",
    title: "LLMServingSim simulated requests (CSV)",
    looks_for: "a CSV header with arrival, end_time, queuing_delay, TTFT and ITL",
    docs: "https://github.com/casys-kaist/LLMServingSim",
    sniff: |head: &Head| {
        head.json.is_none() && places(&csv_table::header_cells(head.first_line, COMMA)).is_some()
    },
    parse,
};

const COMMA: Delimiter = Delimiter::Comma;

/// Columns that are read; the model last.
const COLUMNS: [&str; 9] =
    ["input", "output", "arrival", "end_time", "latency", "queuing_delay", "TTFT", "ITL", "model"];

fn places(header: &[String]) -> Option<Vec<usize>> {
    COLUMNS.iter().map(|name| header.iter().position(|cell| cell == name)).collect()
}

fn parse(text: &str) -> Result<Body, Refusal> {
    let mut gathered = Gathered::default();
    let mut columns: Option<Vec<usize>> = None;
    let mut point = BenchmarkPoint { row: Some(1), ..BenchmarkPoint::default() };
    csv_table::for_each_row(text, COMMA, |row| {
        let Some(columns) = &columns else {
            let header: Vec<String> = row.cells.iter().map(|c| trimmed(c).to_owned()).collect();
            columns = places(&header);
            return Ok(());
        };
        gathered.make_room(1)?;
        let cells: Vec<&str> = columns.iter().map(|at| cell(row.cells, *at)).collect();
        let Some(record) = record(&cells) else {
            return Err(Refusal::broken(
                format!("line {}: a number of the row is missing or impossible", row.line),
                "upload the file as the simulator wrote it",
            )
            .at_line(row.line));
        };
        let model = cells.last().map(|&model| model.to_owned()).filter(|model| !model.is_empty());
        point.context.model = point.context.model.take().or(model);
        gathered.records.push(record);
        Ok(())
    })?;
    if gathered.records.is_empty() {
        return Err(Refusal::empty("the table has a header and no requests"));
    }
    let starts = gathered.records.iter().filter_map(|record| record.start_s);
    let first = starts.fold(f64::INFINITY, f64::min);
    for record in &mut gathered.records {
        record.start_s = record.start_s.map(|start| start - first);
    }
    gathered
        .records
        .sort_by(|a, b| a.start_s.unwrap_or_default().total_cmp(&b.start_s.unwrap_or_default()));
    from_records::complete(&mut point, &gathered.records);
    for (stats, definition) in [
        (&mut point.ttft, Definition::ArrivalToFirstToken),
        (&mut point.e2e, Definition::ArrivalToLastToken),
    ] {
        if let Some(stats) = stats {
            stats.definition = definition;
        }
    }
    point.list_missing();
    gathered.points.push(point);
    let note = "these requests were simulated by LLMServingSim: nothing was measured";
    Ok(gathered.finish("requests").noting(note))
}

fn cell(cells: &ByteRecord, at: usize) -> &str {
    trimmed(cells.get(at).unwrap_or_default())
}

fn record(cells: &[&str]) -> Option<RequestRecord> {
    let &[input, output, arrival, _, latency, queued, ttft, gaps, _] = cells else { return None };
    let seconds = |cell: &str| quantity(cell.parse::<f64>().ok()? / 1e9).ok();
    let count = |cell: &str| tokens(cell.parse().ok()?).ok();
    let mut gaps_s: Vec<f64> =
        gaps.trim_matches(['[', ']']).split(',').filter_map(|gap| seconds(gap.trim())).collect();
    Some(RequestRecord {
        start_s: Some(seconds(arrival)?),
        input_tokens: Some(count(input)?),
        output_tokens: Some(count(output)?),
        ttft_s: Some(seconds(ttft)?),
        e2e_s: Some(seconds(latency)?),
        queue_wait_s: Some(seconds(queued)?),
        gaps: GapSummary::of(&mut gaps_s),
        outcome: RecordOutcome::Ok,
        ..RequestRecord::untimed()
    })
}

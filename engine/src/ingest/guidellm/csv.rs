//! The CSV: one row per benchmark, with one header row (0.2, 0.3) or three (from 0.4). Percentiles
//! stand in one cell as a list without the median, which has a column of its own.

use crate::ingest::csv_table::{self, Delimiter, trimmed};
use crate::ingest::gathered::Gathered;
use crate::ingest::parsed::RowRemarks;
use crate::ingest::quantity::{count, quantity};
use crate::ingest::registry::Body;
use crate::ingest::stat::Stat;
use crate::ingest::{
    BenchmarkPoint, Definition, Latency, LatencyStats, Length, LengthSource, Load, Refusal,
    TokenKind, TokenRate, Weighting,
};

/// The column by which the older form is recognised.
pub(super) const ONE_ROW_MARK: &str = "Successful Requests per second mean";

/// Shares of the list of percentiles; the first and the last are the extremes.
const SHARES: [f64; 11] = [0.0, 0.001, 0.01, 0.05, 0.1, 0.25, 0.75, 0.9, 0.95, 0.99, 1.0];

pub(super) fn parse(text: &str) -> Result<Body, Refusal> {
    let three = csv_table::first_line(text).starts_with("Run Info");
    let header_rows = if three { 3 } else { 1 };
    let mut header: Vec<Vec<String>> = Vec::new();
    let mut gathered = Gathered::default();
    csv_table::for_each_row_of_any_width(text, Delimiter::Comma, |row| {
        let cells: Vec<&str> = row.cells.iter().map(trimmed).collect();
        if header.len() < header_rows {
            header.push(cells.iter().map(|cell| cell.to_lowercase()).collect());
            return Ok(());
        }
        gathered.make_room(1)?;
        let width = header.first().map_or(0, Vec::len);
        if cells.len() != width {
            // The tool takes the columns of the first benchmark for all of them.
            return Err(Refusal::broken(
                format!("line {} has {} cells where the header has {width}", row.line, cells.len()),
                "upload the JSON of this report: its statuses differ between benchmarks",
            )
            .at_line(row.line));
        }
        let values = Values { header: &header, cells: &cells, three };
        gathered.points.push(values.point(row.line, &mut gathered.remarks));
        Ok(())
    })?;
    if gathered.points.is_empty() {
        return Err(Refusal::empty("the table has a header and no benchmarks"));
    }
    Ok(gathered.finish("benchmarks"))
}

/// One row with its header.
struct Values<'a> {
    header: &'a [Vec<String>],
    cells: &'a [&'a str],
    three: bool,
}

impl Values<'_> {
    /// The cell below a path of header cells, or below their words in one cell.
    fn cell(&self, path: [&str; 3]) -> Option<&str> {
        let place = if self.three {
            (0..self.cells.len()).find(|&column| {
                let below = |row: usize| self.header[row].get(column).map_or("", String::as_str);
                (0..3).all(|row| below(row) == path[row])
            })
        } else {
            let words: Vec<&str> = path.into_iter().filter(|word| !word.is_empty()).collect();
            let name = words.join(" ");
            self.header[0].iter().position(|cell| *cell == name)
        };
        self.cells.get(place?).copied().filter(|cell| !cell.is_empty())
    }

    fn number(&self, path: [&str; 3]) -> Option<f64> {
        self.cell(path)?.parse().ok().and_then(|value| quantity(value).ok())
    }

    /// Mean, median, deviation and percentiles of one metric of the successful requests.
    fn stats(&self, metric: &Metric, remarks: &mut RowRemarks, line: u64) -> Option<LatencyStats> {
        let mut stats = LatencyStats::new(metric.definition, metric.weighting);
        let path = |statistic| {
            if self.three {
                [metric.group, metric.column, statistic]
            } else {
                ["successful", metric.old, statistic]
            }
        };
        for (statistic, stat) in
            [("mean", Stat::Mean), ("median", Stat::Percentile(0.5)), ("std dev", Stat::Std)]
        {
            if let Some(value) = self.number(path(statistic)) {
                stats.set(stat, value * metric.unit_ms);
            }
        }
        let list = if self.three { "percentiles" } else { OLD_LIST };
        match self.cell(path(list)).map(shares_in) {
            Some(Some(values)) => set_percentiles(&mut stats, &values, metric.unit_ms),
            Some(None) => remarks.add(
                line,
                format!("the percentiles of {} are not a list of eleven numbers", metric.old),
            ),
            None => {}
        }
        (!stats.is_empty()).then_some(stats)
    }

    fn point(&self, line: u64, remarks: &mut RowRemarks) -> BenchmarkPoint {
        let status = |name: &str| {
            let three = self.number(["request counts", name, ""]);
            three.or_else(|| self.number([name, "requests", ""])).and_then(|n| count(n).ok())
        };
        let mean = |group: &str, column: &str, old: &str| {
            self.number([group, column, "mean"])
                .or_else(|| self.number(["successful", old, "mean"]))
        };
        let length = |column: &str, old: &str| {
            let mean_tokens = mean("token metrics", column, old)?;
            Some(Length { mean_tokens, source: LengthSource::Measured })
        };
        let duration_s = self
            .number(["timings", "duration", "sec"])
            .or_else(|| self.number(["duration", "", ""]));
        let completed_rps =
            mean("server throughput", "successful requests/sec", "requests per second");
        let output = length("successful output tokens", "output token count");
        let input = length("successful input tokens", "prompt token count");
        let rate = |kind, length: Option<Length>| {
            Some(TokenRate { kind, tps: completed_rps? * length?.mean_tokens })
        };
        let mut point = BenchmarkPoint {
            row: Some(line),
            label: self.cell(["name", "", ""]).map(str::to_owned),
            load: self.load(remarks, line),
            completed_rps,
            duration_s,
            input,
            output,
            mean_in_flight: mean(
                "server throughput",
                "successful concurrency",
                "request concurrency",
            ),
            completed: status("successful"),
            failed: status("errored"),
            cancelled: status("incomplete"),
            num_prompts: status("total"),
            token_rates: [rate(TokenKind::Input, input), rate(TokenKind::Output, output)]
                .into_iter()
                .flatten()
                .collect(),
            ..BenchmarkPoint::default()
        };
        for metric in METRICS.iter().filter(|metric| self.three || metric.latency != Latency::Ntpot)
        {
            *point.latency_mut(metric.latency) = self.stats(metric, remarks, line);
        }
        point.drop_zeros_without_data();
        point.list_missing();
        point
    }

    /// The strategy, which only the kinds without a number state whole.
    fn load(&self, remarks: &mut RowRemarks, line: u64) -> Load {
        let strategy = self
            .cell(["benchmark", "strategy", ""])
            .or_else(|| self.cell(["name", "", ""]))
            .unwrap_or_default()
            .to_lowercase();
        let (kind, value) = strategy.split_once('@').unwrap_or((&strategy, ""));
        let number: Option<f64> = value.parse().ok().filter(|n: &f64| *n > 0.0);
        match (kind, number) {
            ("synchronous", _) => Load::Concurrency { requests: 1 },
            ("throughput", None) => Load::Unbounded,
            ("constant" | "poisson" | "async", Some(rps)) => Load::RequestRate { rps },
            ("concurrent", Some(streams)) => {
                count(streams).map_or(Load::Unstated, |requests| Load::Concurrency { requests })
            }
            _ => {
                let text =
                    format!("the CSV does not say the load of strategy \"{kind}\"; the JSON does");
                remarks.add(line, text);
                Load::Unstated
            }
        }
    }
}

const OLD_LIST: &str = "[min, 0.1, 1, 5, 10, 25, 75, 90, 95, 99, max]";

/// A metric by its names in both forms.
struct Metric {
    latency: Latency,
    group: &'static str,
    column: &'static str,
    old: &'static str,
    unit_ms: f64,
    definition: Definition,
    weighting: Weighting,
}

const METRICS: [Metric; 4] = [
    Metric {
        latency: Latency::E2e,
        group: "request latency",
        column: "successful sec",
        old: "request latency",
        unit_ms: 1e3,
        definition: Definition::SendToLastToken,
        weighting: Weighting::PerRequest,
    },
    Metric {
        latency: Latency::Ttft,
        group: "time to first token",
        column: "successful ms",
        old: "time to first token ms",
        unit_ms: 1.0,
        definition: Definition::SendToFirstToken,
        weighting: Weighting::PerRequest,
    },
    Metric {
        latency: Latency::Tpot,
        group: "inter token latency",
        column: "successful ms",
        old: "inter token latency ms",
        unit_ms: 1.0,
        definition: Definition::ExcludesFirstToken,
        weighting: Weighting::PerToken,
    },
    Metric {
        latency: Latency::Ntpot,
        group: "time per output token",
        column: "successful ms",
        old: "time per output token ms",
        unit_ms: 1.0,
        definition: Definition::IncludesFirstToken,
        weighting: Weighting::PerToken,
    },
];

/// The eleven numbers of a list cell.
fn shares_in(cell: &str) -> Option<Vec<f64>> {
    let inner = cell.strip_prefix('[')?.strip_suffix(']')?;
    let values: Option<Vec<f64>> = inner
        .split(',')
        .map(|text| text.trim().parse().ok().and_then(|value| quantity(value).ok()))
        .collect();
    values.filter(|values| values.len() == SHARES.len())
}

fn set_percentiles(stats: &mut LatencyStats, values: &[f64], unit_ms: f64) {
    for (share, value) in SHARES.into_iter().zip(values) {
        let stat = match share {
            0.0 => Stat::Min,
            1.0 => Stat::Max,
            share => Stat::Percentile(share),
        };
        stats.set(stat, value * unit_ms);
    }
}

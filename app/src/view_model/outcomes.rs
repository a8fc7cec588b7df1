//! Where the lost requests went: outcomes by one thing that a request is, or by two crossed.

use std::cmp::Reverse;

use goodput_engine::accounts::accounting::{BreakOut, Bucket, Cell as Part, Dimension};
use goodput_engine::slo::Outcome;

use super::words;
use crate::charts::{Cell, Column, HeatCell, HeatMapChart, Look, Table};
use crate::format;

/// A dimension as choices and heads of tables spell it.
pub fn dimension(by: Dimension) -> &'static str {
    match by {
        Dimension::Class => "class",
        Dimension::Tenant => "tenant",
        Dimension::Model => "model",
        Dimension::Prompt => "prompt tokens",
        Dimension::Output => "output tokens",
        Dimension::CacheHit => "cache hit",
        Dimension::Pool => "pool",
        Dimension::Replica => "replica",
        Dimension::Window => "time due",
    }
}

/// The requests of a bucket, in the middle of a sentence.
fn requests_of(by: Dimension, bucket: &Bucket) -> String {
    let label = &bucket.label;
    if bucket.from.is_none() && label == "not available" {
        return format!("requests without a known {}", dimension(by));
    }
    match by {
        Dimension::Class => format!("class {label}"),
        Dimension::Tenant => format!("tenant {label}"),
        Dimension::Model => format!("model {label}"),
        Dimension::Prompt => format!("prompts of {label} tokens"),
        Dimension::Output => format!("outputs of {label} tokens"),
        Dimension::CacheHit if label == "no hit" => "requests without a cache hit".to_owned(),
        Dimension::CacheHit if label == "most" => {
            "prompts found cached for most of them".to_owned()
        }
        Dimension::CacheHit => "prompts found cached up to half".to_owned(),
        Dimension::Pool => format!("pool {label}"),
        Dimension::Replica => format!("replica {label}"),
        Dimension::Window => format!("requests due at {label}"),
    }
}

/// One bucket.
#[derive(Debug, Clone, PartialEq)]
pub struct LostRow {
    /// Look, start and width of the pieces of its bar, per cent.
    pub pieces: Vec<(Look, f64, f64)>,
    /// Whether it meets the target.
    pub holds: bool,
}

/// Outcomes by one dimension.
#[derive(Debug, Clone, PartialEq)]
pub struct Lost {
    /// The finding.
    pub caption: String,
    /// The numbers: bucket, offered, good, share good, and every outcome that occurs.
    pub table: Table,
    /// Looks of the outcomes, for the last columns.
    pub looks: Vec<Look>,
    /// What else a row shows.
    pub rows: Vec<LostRow>,
}

/// Outcomes broken out by one dimension.
pub fn lost(out: &BreakOut, target: f64) -> Option<Lost> {
    let by = *out.by.first()?;
    let occurs = |o: &Outcome| out.cells.iter().any(|cell| cell.outcomes.contains_key(o));
    let mut losses: Vec<Outcome> =
        Outcome::ALL.into_iter().filter(|o| *o != Outcome::Good && occurs(o)).collect();
    let total = |o: &Outcome| out.cells.iter().map(|cell| count(cell, *o)).sum::<u64>();
    losses.sort_by_key(|o| Reverse(total(o)));
    let mut columns = vec![
        Column::new(dimension(by), ""),
        Column::new("offered", ""),
        Column::new("good", ""),
        Column::new("good", "%"),
    ];
    columns.extend(losses.iter().map(|o| Column::new(words::outcome(*o), "")));
    let numbers = out.cells.iter().map(|cell| {
        let label = cell.key.first().map_or_else(String::new, |bucket| bucket.label.clone());
        let known = [
            Cell::Text(label),
            Cell::Count(cell.offered),
            Cell::Count(cell.good),
            Cell::Number(100.0 * cell.attainment),
        ];
        known.into_iter().chain(losses.iter().map(|o| Cell::Count(count(cell, *o)))).collect()
    });
    Some(Lost {
        caption: lost_caption(out, by),
        table: Table { columns, rows: numbers.collect() },
        looks: losses.iter().map(|o| Look::of(*o)).collect(),
        rows: out.cells.iter().map(|cell| lost_row(cell, &losses, target)).collect(),
    })
}

fn lost_row(cell: &Part, losses: &[Outcome], target: f64) -> LostRow {
    let mut start = 0.0;
    let mut piece = |outcome: Outcome| {
        let width = 100.0 * count(cell, outcome) as f64 / cell.offered.max(1) as f64;
        let piece = (Look::of(outcome), start, width);
        start += width;
        piece
    };
    let pieces = std::iter::once(Outcome::Good).chain(losses.iter().copied()).map(&mut piece);
    LostRow {
        pieces: pieces.filter(|(_, _, width)| *width > 0.0).collect(),
        holds: cell.attainment >= target,
    }
}

fn count(cell: &Part, outcome: Outcome) -> u64 {
    cell.outcomes.get(&outcome).copied().unwrap_or(0)
}

fn lost_caption(out: &BreakOut, by: Dimension) -> String {
    let lost = |cell: &Part| cell.offered - cell.good;
    let all: u64 = out.cells.iter().map(lost).sum();
    if !out.available {
        return format!("No request says its {}", dimension(by));
    }
    let worst = out.cells.iter().max_by_key(|cell| (lost(cell), cell.offered));
    match worst.and_then(|cell| Some((cell, cell.key.first()?))) {
        None => "No request to look at".to_owned(),
        Some(_) if all == 0 => "No request is lost".to_owned(),
        Some((cell, bucket)) => format!(
            "Most are lost of {}: {} of {} lost, {} of them good",
            requests_of(by, bucket),
            format::count(lost(cell)),
            format::count(all),
            format::percent(cell.attainment),
        ),
    }
}

/// Outcomes by two dimensions as a heat map, and the finding; `None` if they are not two.
pub fn heat_map(out: &BreakOut, target: f64, counts: bool) -> Option<(HeatMapChart, String)> {
    let [down, across] = *out.by.as_slice() else { return None };
    let rows = buckets(out, 0);
    let columns = buckets(out, 1);
    let mut cells = vec![None; rows.len() * columns.len()];
    for cell in &out.cells {
        let place = |labels: &[Bucket], at: usize| {
            labels.iter().position(|bucket| Some(bucket) == cell.key.get(at))
        };
        if let Some((row, column)) = place(&rows, 0).zip(place(&columns, 1)) {
            cells[row * columns.len() + column] =
                Some(HeatCell { offered: cell.offered, good: cell.good });
        }
    }
    let labels = |buckets: Vec<Bucket>| buckets.into_iter().map(|bucket| bucket.label).collect();
    let chart = HeatMapChart {
        names: [dimension(down), dimension(across)],
        rows: labels(rows),
        columns: labels(columns),
        cells,
        target,
        counts,
        at: None,
    };
    Some((chart, heat_caption(out, target)))
}

/// The buckets of a dimension, in their order: cells are in the order of their keys, so that those
/// of the first are in order; those of the second are ranges, or names as they come.
fn buckets(out: &BreakOut, at: usize) -> Vec<Bucket> {
    let mut found: Vec<Bucket> = Vec::new();
    for bucket in out.cells.iter().filter_map(|cell| cell.key.get(at)) {
        if !found.contains(bucket) {
            found.push(bucket.clone());
        }
    }
    let place = |bucket: &Bucket| bucket.from.unwrap_or(f64::INFINITY);
    found.sort_by(|a, b| place(a).total_cmp(&place(b)));
    found
}

fn heat_caption(out: &BreakOut, target: f64) -> String {
    let short = out.cells.iter().filter(|cell| cell.attainment < target).count();
    let words_of = |cell: &Part| {
        let both: Vec<String> =
            out.by.iter().zip(&cell.key).map(|(by, bucket)| requests_of(*by, bucket)).collect();
        both.join(", ")
    };
    let worst = out.cells.iter().max_by_key(|cell| (cell.offered - cell.good, cell.offered));
    let target = format::percent(target);
    match worst {
        None => "No request to look at".to_owned(),
        Some(_) if short == 0 => format!("Every cell meets the target of {target}"),
        Some(cell) => format!(
            "{short} of {} cells are below {target}; most are lost of {}: {} of {}",
            out.cells.len(),
            words_of(cell),
            format::count(cell.offered - cell.good),
            format::count(cell.offered),
        ),
    }
}

/// What a cell of a heat map says.
pub fn heat_readout(chart: &HeatMapChart, at: usize) -> Option<(String, String)> {
    let cell = (*chart.cells.get(at)?)?;
    let columns = chart.columns.len().max(1);
    let [down, across] = chart.names;
    let (row, column) = (chart.rows.get(at / columns)?, chart.columns.get(at % columns)?);
    Some((
        format!("{down} {row}, {across} {column}"),
        format!(
            "{} good of {}, {} lost",
            format::percent(cell.attainment()),
            format::count(cell.offered),
            format::count(cell.lost())
        ),
    ))
}

/// The cell that an arrow key leads to, over those where nobody asked.
pub fn heat_step(chart: &HeatMapChart, from: usize, (rows, columns): (isize, isize)) -> usize {
    let width = chart.columns.len();
    let mut at = from;
    loop {
        let (row, column) = ((at / width.max(1)).checked_add_signed(rows), at % width.max(1));
        let column = column.checked_add_signed(columns).filter(|column| *column < width);
        let Some(next) = row.zip(column).map(|(row, column)| row * width + column) else {
            return from;
        };
        match chart.cells.get(next) {
            None => return from,
            Some(Some(_)) => return next,
            Some(None) => at = next,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bucket(label: &str, from: Option<f64>) -> Bucket {
        Bucket { label: label.to_owned(), from, to: from }
    }

    fn part(key: Vec<Bucket>, counts: &[(Outcome, u64)]) -> Part {
        let offered = counts.iter().map(|(_, n)| n).sum();
        let good = counts.iter().find(|(o, _)| *o == Outcome::Good).map_or(0, |(_, n)| *n);
        Part {
            key,
            offered,
            good,
            attainment: good as f64 / offered as f64,
            outcomes: counts.iter().copied().collect(),
        }
    }

    fn crossed() -> BreakOut {
        let class = |name: &str| bucket(name, None);
        let long = bucket("65–128", Some(65.0));
        let short = bucket("33–64", Some(33.0));
        BreakOut {
            by: vec![Dimension::Class, Dimension::Output],
            available: true,
            cells: vec![
                part(
                    vec![class("chat"), long.clone()],
                    &[(Outcome::Good, 90), (Outcome::Stalled, 10)],
                ),
                part(vec![class("batch"), short], &[(Outcome::Good, 50)]),
                part(vec![class("batch"), long], &[(Outcome::SlowTokens, 4)]),
            ],
        }
    }

    #[test]
    fn a_heat_map_has_every_cell_at_its_row_and_column() {
        let (chart, caption) = heat_map(&crossed(), 0.95, false).expect("two dimensions");
        assert_eq!((chart.rows.len(), chart.columns.len()), (2, 2));
        // Ranges in their order, though the longer one came first.
        assert_eq!(chart.columns, ["33–64", "65–128"]);
        let cell = |offered, good| Some(HeatCell { offered, good });
        assert_eq!(chart.cells, [None, cell(100, 90), cell(50, 50), cell(4, 0)]);
        assert!(caption.starts_with("2 of 3 cells are below 95"), "{caption}");
        assert!(
            caption.contains("most are lost of class chat, outputs of 65–128 tokens: 10 of 100")
        );
        assert!(
            heat_map(&BreakOut { by: vec![Dimension::Class], ..crossed() }, 0.9, true).is_none()
        );
    }

    #[test]
    fn arrows_pass_over_cells_where_nobody_asked_and_stop_at_the_edge() {
        let (chart, _) = heat_map(&crossed(), 0.95, false).expect("two dimensions");
        for (from, step, to) in [
            (1, (0, -1), 1),
            (1, (1, 0), 3),
            (3, (0, -1), 2),
            (2, (-1, 0), 2),
            (3, (1, 0), 3),
            (3, (0, 1), 3),
        ] {
            assert_eq!(heat_step(&chart, from, step), to, "{from} {step:?}");
        }
        let (words, values) = heat_readout(&chart, 1).expect("a cell");
        assert_eq!(words, "class chat, output tokens 65–128");
        assert_eq!(values, "90\u{202f}% good of 100, 10 lost");
        assert_eq!(heat_readout(&chart, 0), None);
    }

    #[test]
    fn rows_sum_to_what_was_offered() {
        let out = BreakOut { by: vec![Dimension::Class], ..crossed() };
        let lost = lost(&out, 0.9).expect("one dimension");
        assert!(lost.caption.starts_with("Most are lost of class chat: 10 of 14 lost, 90"));
        assert_eq!(lost.looks, [Look::Stalled, Look::Slow]);
        for (cells, row) in lost.table.rows.iter().zip(&lost.rows) {
            let number = |cell: &Cell| cell.exact().and_then(|n| n.parse::<f64>().ok());
            let counts: f64 = cells[2..3].iter().chain(&cells[4..]).filter_map(number).sum();
            assert_eq!(Some(counts), number(&cells[1]));
            let width: f64 = row.pieces.iter().map(|(_, _, width)| width).sum();
            assert!((width - 100.0).abs() < 1e-9);
        }
        assert_eq!(lost.rows.iter().map(|row| row.holds).collect::<Vec<_>>(), [true, true, false]);
        let nobody = BreakOut { available: false, ..out };
        assert_eq!(super::lost(&nobody, 0.9).expect("one").caption, "No request says its class");
    }
}

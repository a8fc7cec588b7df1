//! Tables that do not lie as the template does, or do not say what their columns are: transposed,
//! keys of JSON objects, other names, other marks.

use goodput_engine::ingest::{
    BenchmarkPoint, Decimals, Definition, Load, Parsed, RefusalKind, TableReading, TokenKind, read,
    read_as,
};
use proptest::prelude::*;

const TRANSPOSED: &[u8] = include_bytes!("fixtures/ingest/points_transposed.csv");
const FLAT: &[u8] = include_bytes!("fixtures/ingest/points_flat.json");
const SEMICOLONS: &[u8] = include_bytes!("fixtures/ingest/points_semicolons.csv");

fn parsed(bytes: &[u8]) -> Parsed {
    read("table", bytes).unwrap_or_else(|refusal| panic!("{refusal}"))
}

fn saying(decimals: Option<Decimals>, columns: &[(&str, &str)]) -> TableReading {
    let mut reading = TableReading::default();
    reading.decimals = decimals;
    for (name, header) in columns {
        reading.rename(name, header).expect("a name that is known");
    }
    reading
}

/// Points without the place they come from.
fn placeless(parsed: &Parsed) -> Vec<BenchmarkPoint> {
    let points = parsed.points().iter().cloned();
    points.map(|point| BenchmarkPoint { row: None, ..point }).collect()
}

#[test]
fn a_transposed_table_is_a_point_a_column() {
    let parsed = parsed(TRANSPOSED);
    assert_eq!(parsed.format.id(), "benchmark_csv");
    assert_eq!((parsed.notes.counted.as_str(), parsed.notes.rows_read), ("columns", 3));
    let [one, .., eight] = parsed.points() else { panic!("three columns") };
    assert_eq!((one.row, one.load), (Some(2), Load::Concurrency { requests: 1 }));
    assert_eq!(eight.load, Load::Concurrency { requests: 8 });
    assert_eq!(eight.completed_rps, Some(2.0), "120 a minute");
    assert_eq!(eight.tps(TokenKind::Output), Some(320.0));
    assert_eq!(eight.ttft.as_ref().and_then(|ttft| ttft.mean_ms), Some(250.0));
    let ntpot = eight.ntpot.as_ref().expect("llmperf's time per token");
    assert_eq!((ntpot.mean_ms, ntpot.definition), (Some(32.0), Definition::IncludesFirstToken));
    assert!(eight.itl.is_none() && eight.tpot.is_none());
    let remarks = parsed.notes.remarks.join("\n");
    for words in ["transposed", "row 1 (unnamed)", "hourly_price"] {
        assert!(remarks.contains(words), "{words}: {remarks}");
    }
}

/// Turning a table changes nothing but where its points come from.
#[test]
fn a_table_turned_over_has_the_same_points() {
    let text = std::str::from_utf8(TRANSPOSED).expect("a table");
    let cells: Vec<Vec<&str>> = text.lines().map(|line| line.split(',').collect()).collect();
    let turned: Vec<String> = (0..cells[0].len())
        .map(|column| cells.iter().map(|row| row[column]).collect::<Vec<_>>().join(","))
        .collect();
    let straight = parsed(turned.join("\n").as_bytes());
    assert_eq!(placeless(&straight), placeless(&parsed(TRANSPOSED)));
    assert_eq!(straight.notes.counted, "rows");
}

#[test]
fn a_cell_of_a_transposed_table_is_found_by_column_and_row() {
    let text = String::from_utf8_lossy(TRANSPOSED).replace("250.0", "soon");
    let refusal = read("table", text.as_bytes()).expect_err("no number");
    assert!(refusal.message.starts_with("column 4, row \"first-time"), "{refusal}");
}

#[test]
fn flat_objects_are_read_by_the_names_of_their_keys() {
    let parsed = parsed(FLAT);
    let [one, other] = parsed.points() else { panic!("two objects") };
    assert_eq!(one.load, Load::Concurrency { requests: 16 });
    assert_eq!(one.ttft.as_ref().and_then(|ttft| ttft.percentile(0.95)), Some(780.0));
    assert_eq!((one.completed, one.failed), (Some(112), Some(0)));
    assert_eq!(other.ttft.as_ref().and_then(|ttft| ttft.percentile(0.95)), Some(990.0));
    assert_eq!(other.load, Load::Unstated, "each object has its own keys");
}

#[test]
fn a_column_is_what_the_user_says_it_is() {
    let text = "Users,First token (s),,notes\n4,0.25,320,a\n8,0.5,500,b\n";
    assert_eq!(read("t", text.as_bytes()).expect_err("unknown").kind, RefusalKind::NotRecognised);
    let columns =
        [("concurrency", "Users"), ("ttft_mean", "First token (s)"), ("output_tps", "column 3")];
    let parsed = read_as("t", text.as_bytes(), &saying(None, &columns)).expect("three names");
    let [_, eight] = parsed.points() else { panic!("two rows") };
    assert_eq!(eight.load, Load::Concurrency { requests: 8 });
    assert_eq!(eight.ttft.as_ref().and_then(|ttft| ttft.mean_ms), Some(500.0));
    assert_eq!(eight.tps(TokenKind::Output), Some(500.0));
    assert_eq!(parsed.notes.remarks, ["columns not used: notes"]);
    // What is not in the table is said, and another file is none of it.
    let more = [&columns[..], &[("gpu", "Card")]].concat();
    let parsed = read_as("t", text.as_bytes(), &saying(None, &more)).expect("three names");
    assert!(parsed.notes.remarks[1].ends_with("not there: Card"), "{:?}", parsed.notes.remarks);
}

#[test]
fn a_name_that_says_nothing_or_another_unit_is_refused() {
    let mut reading = TableReading::default();
    for (name, header, words) in [
        ("speed", "Speed", "no column is known as \"speed\""),
        ("ttft_ms", "First token", "which statistic"),
        ("ttft_mean", "First token", "does not say its unit"),
        ("ttft_mean_ms", "First token (s)", "says another"),
    ] {
        let why = reading.rename(name, header).expect_err(name);
        assert!(why.contains(words), "{why}");
    }
    assert_eq!(reading, TableReading::default(), "nothing of it was taken");
    reading.rename("ttft_mean_ms", "First").expect("known");
    assert!(reading.rename("ttft_mean_ms", "Second").is_err(), "one name, two columns");
    assert!(reading.rename("ttft_p50_ms", "First").is_err(), "one column, two names");
}

#[test]
fn semicolons_and_decimal_commas_are_read_when_the_user_says_so() {
    let asked = read("t", SEMICOLONS).expect_err("open");
    assert_eq!(asked.kind, RefusalKind::Ambiguous);
    let parsed = read_as("t", SEMICOLONS, &saying(Some(Decimals::Comma), &[])).expect("said");
    let [one, other] = parsed.points() else { panic!("two rows") };
    assert_eq!(one.ttft.as_ref().and_then(|ttft| ttft.percentile(0.5)), Some(45.5));
    assert_eq!(one.tps(TokenKind::Output), Some(1234.5));
    assert_eq!(other.tps(TokenKind::Output), Some(1_002_003.0));
    let wrong = read_as("t", SEMICOLONS, &saying(Some(Decimals::Point), &[])).expect_err("wrong");
    assert!(wrong.message.contains("do not part thousands"), "{wrong}");
}

/// Text of the marks tables and objects are made of.
fn marks() -> impl Strategy<Value = String> {
    let marks: Vec<char> = "abc0123456789,,;.-:\"{}[]\n\n".chars().collect();
    let marks = prop::collection::vec(prop::sample::select(marks), 0..120);
    marks.prop_map(|marks| marks.into_iter().collect())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    /// A number comes back whatever marks it is written with, once they are said.
    #[test]
    fn a_number_is_the_same_in_either_dialect(whole in 0_u32..2_000_000, rest in 0_u32..100) {
        let grouped = |mark: &str| {
            let digits = whole.to_string();
            let first = digits.len() % 3;
            let groups = digits.as_bytes()[first..].chunks(3).map(|g| String::from_utf8_lossy(g));
            let head = (first > 0).then(|| digits[..first].to_owned());
            head.into_iter().chain(groups.map(Into::into)).collect::<Vec<String>>().join(mark)
        };
        let table = |cell: String| format!("concurrency\tttft_p50_ms\toutput_tps\n8\t{cell}\t5\n");
        let ms = |text: &str, decimals| {
            let parsed = read_as("t", text.as_bytes(), &saying(decimals, &[])).expect("a table");
            parsed.points()[0].ttft.as_ref().and_then(|ttft| ttft.percentile(0.5)).expect("stated")
        };
        let plain = ms(&table(format!("{whole}.{rest:02}")), None);
        for (decimals, text) in [
            (Decimals::Comma, format!("{},{rest:02}", grouped("."))),
            (Decimals::Point, format!("{}.{rest:02}", grouped(","))),
            (Decimals::Comma, format!("{whole},{rest:02}")),
        ] {
            prop_assert_eq!(ms(&table(text), Some(decimals)).to_bits(), plain.to_bits());
        }
    }

    /// Whatever the user says of whatever table, reading ends.
    #[test]
    fn any_table_is_read_or_refused_under_any_reading(text in marks(), comma in any::<bool>()) {
        let decimals = if comma { Decimals::Comma } else { Decimals::Point };
        let columns = [("concurrency", "a"), ("ttft_p50_ms", "b"), ("output_tps", "column 3")];
        let reading = saying(Some(decimals), &columns);
        for text in [text.clone(), format!("a,b,\n{text}"), format!("a;b;\n{text}"), format!("a,{text}\nb,{text}\n,{text}")] {
            if let Ok(parsed) = read_as("any", text.as_bytes(), &reading) {
                prop_assert!(parsed.notes.rows_used > 0);
            }
        }
    }
}

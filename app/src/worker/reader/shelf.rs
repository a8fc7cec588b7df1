//! What the reader does, in the worker: files in, reviews out. It keeps the rows that it parsed, of
//! traces and of benchmarks: they need not travel before somebody uses them.

use std::collections::BTreeMap;

use goodput_engine::accounts::accounting::Dimension;
use goodput_engine::calibration::sha256_hex;
use goodput_engine::ingest::{self, Contents, ParsedFile, RequestTrace};
use goodput_engine::review;
use goodput_engine::scenario::doc::SloDoc;
use goodput_engine::scenario::{LengthsWorkload, TraceForm, TraceWorkload, contract_of, doc};

use super::{FileId, Judged, JudgedPoint, ReadFile};
use crate::worker::protocol::{FromReader, ToReader};

/// A file that came beside a message.
pub trait Attached {
    /// Its size, bytes, without loading it.
    fn size(&self) -> u64;
    /// All of it, or why the browser does not give it.
    fn load(&self) -> Result<Vec<u8>, String>;
}

/// What was read and may be asked for again.
#[derive(Debug, Default)]
pub struct Shelf {
    traces: BTreeMap<FileId, RequestTrace>,
    /// Benchmarks that hold requests one by one.
    records: BTreeMap<FileId, ParsedFile>,
}

impl Shelf {
    /// Carries out one message.
    pub fn handle(&mut self, message: &str, file: Option<&dyn Attached>) -> Option<FromReader> {
        match serde_json::from_str(message) {
            Ok(ToReader::Read { file: id, name }) => Some(self.read_file(id, &name, file)),
            Ok(ToReader::ReadText { file: id, name, text }) => {
                Some(self.read(id, &name, text.as_bytes()))
            }
            Ok(ToReader::UseTrace { file: id, form }) => Some(self.workload(id, form)),
            Ok(ToReader::Judge { file: id, slo, cross }) => Some(self.judge(id, *slo, cross)),
            Ok(ToReader::Forget { file: id }) => {
                self.traces.remove(&id);
                self.records.remove(&id);
                None
            }
            Err(error) => Some(FromReader::Panicked {
                message: format!("the page said something unreadable: {error}"),
            }),
        }
    }

    fn read_file(&mut self, id: FileId, name: &str, file: Option<&dyn Attached>) -> FromReader {
        let Some(file) = file else {
            return FromReader::Failed { file: id, message: "no file came with it".to_owned() };
        };
        if let Some(refusal) = ingest::refuse_size(file.size()) {
            let name = name.to_owned();
            let refused = ParsedFile { file: name, parsed: None, refused: Some(refusal) };
            return self.put(id, refused, None);
        }
        match file.load() {
            Ok(bytes) => self.read(id, name, &bytes),
            Err(message) => FromReader::Failed { file: id, message },
        }
    }

    fn read(&mut self, id: FileId, name: &str, bytes: &[u8]) -> FromReader {
        if let Some(doc) = scenario_in(bytes) {
            return FromReader::Scenario { file: id, doc: Box::new(doc) };
        }
        let file = ingest::read_file(name, bytes);
        self.put(id, file, Some(sha256_hex(bytes)))
    }

    /// Keeps the rows of a trace, and says everything but rows.
    fn put(&mut self, id: FileId, mut file: ParsedFile, sha256: Option<String>) -> FromReader {
        let findings = review::review(std::slice::from_ref(&file));
        let requests = file.parsed.as_ref().map_or(0, |parsed| parsed.requests() as u64);
        let (mut summary, mut lengths) = (None, None);
        match file.parsed.as_mut().map(|parsed| &mut parsed.contents) {
            Some(Contents::Trace(trace)) => {
                summary = trace.summary();
                self.traces.insert(id, std::mem::take(trace));
            }
            Some(Contents::Benchmark { .. }) if requests > 0 => {
                self.records.insert(id, file.clone());
            }
            Some(Contents::Lengths(served)) => lengths = Some(LengthsWorkload::of(served)),
            Some(Contents::Benchmark { .. }) | None => {}
        }
        let contents = file.parsed.as_mut().map(|parsed| &mut parsed.contents);
        if let Some(Contents::Benchmark { records, .. }) = contents {
            records.clear();
        }
        let read = ReadFile { file, sha256, trace: summary, lengths, requests, findings };
        FromReader::Read { file: id, read: Box::new(read) }
    }

    fn judge(&self, id: FileId, slo: SloDoc, cross: Vec<Dimension>) -> FromReader {
        let crossings = if cross.is_empty() { Vec::new() } else { vec![cross.clone()] };
        let mut judged = Judged { slo, cross, points: Vec::new(), remarks: Vec::new() };
        match (self.records.get(&id), contract_of(&judged.slo)) {
            (Some(file), Ok(contract)) => {
                let report =
                    review::report_under(std::slice::from_ref(file), &contract, &crossings);
                let of_file = report.files.into_iter().next();
                let points = of_file.map(|file| file.goodput).unwrap_or_default();
                judged.points = points.into_iter().map(JudgedPoint::from).collect();
                let warnings =
                    judged.points.iter().flat_map(|point| &point.accounting.streams.warnings);
                judged.remarks = warnings.cloned().collect();
            }
            (None, _) => judged.remarks.push("the file holds no requests one by one".to_owned()),
            (_, Err(problems)) => {
                judged.remarks.extend(problems.into_iter().map(|problem| problem.message));
            }
        }
        FromReader::Judged { file: id, judged: Box::new(judged) }
    }

    fn workload(&self, id: FileId, form: TraceForm) -> FromReader {
        match self.traces.get(&id).and_then(|trace| TraceWorkload::of(trace, form)) {
            Some(workload) => FromReader::Trace { file: id, form, workload: Box::new(workload) },
            None => FromReader::Failed {
                file: id,
                message: "the trace is not in memory any more: add the file again".to_owned(),
            },
        }
    }
}

/// A scenario document that was saved as a file.
fn scenario_in(bytes: &[u8]) -> Option<doc::ScenarioDoc> {
    if bytes.len() > doc::MAX_TEXT_BYTES {
        return None;
    }
    doc::parse(std::str::from_utf8(bytes).ok()?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TRACE: &str = "TIMESTAMP,ContextTokens,GeneratedTokens\r\n\
                         2023-11-16 18:17:03.9799600,400,40\r\n\
                         2023-11-16 18:17:04.9799600,500,50\r\n";

    struct File(u64, Result<Vec<u8>, String>);

    impl Attached for File {
        fn size(&self) -> u64 {
            self.0
        }
        fn load(&self) -> Result<Vec<u8>, String> {
            self.1.clone()
        }
    }

    fn say(shelf: &mut Shelf, message: &ToReader, file: Option<&File>) -> Option<FromReader> {
        let text = serde_json::to_string(message).expect("text");
        shelf.handle(&text, file.map(|file| file as &dyn Attached))
    }

    fn read(bytes: &[u8]) -> Option<FromReader> {
        let file = File(bytes.len() as u64, Ok(bytes.to_vec()));
        say(&mut Shelf::default(), &ToReader::Read { file: 1, name: "x".into() }, Some(&file))
    }

    #[test]
    fn a_trace_is_kept_and_given_as_a_workload_until_it_is_forgotten() {
        let mut shelf = Shelf::default();
        let message = ToReader::ReadText { file: 7, name: "t".into(), text: TRACE.into() };
        let Some(FromReader::Read { read, .. }) = say(&mut shelf, &message, None) else {
            panic!("not read");
        };
        assert_eq!(read.trace.as_ref().map(|trace| trace.requests), Some(2));
        assert_eq!(read.sha256, Some(sha256_hex(TRACE.as_bytes())));
        assert_eq!(read.requests, 2);
        for form in [TraceForm::Replay, TraceForm::Profile] {
            let answer = say(&mut shelf, &ToReader::UseTrace { file: 7, form }, None);
            let Some(FromReader::Trace { workload, .. }) = answer else { panic!("{answer:?}") };
            assert!((workload.horizon_s - 2.0).abs() < 1e-12);
        }
        assert_eq!(say(&mut shelf, &ToReader::Forget { file: 7 }, None), None);
        let answer =
            say(&mut shelf, &ToReader::UseTrace { file: 7, form: TraceForm::Replay }, None);
        assert!(matches!(answer, Some(FromReader::Failed { file: 7, .. })), "{answer:?}");
    }

    #[test]
    fn requests_of_a_benchmark_are_kept_and_judged_until_it_is_forgotten() {
        let mut shelf = Shelf::default();
        let table = "input_tokens,output_tokens,arrival_s,ttft_ms,e2e_ms\n\
                     100,11,0.0,200,700\n100,11,1.0,1400,1900\n";
        let message = ToReader::ReadText { file: 7, name: "t".into(), text: table.into() };
        let Some(FromReader::Read { read, .. }) = say(&mut shelf, &message, None) else {
            panic!("not read");
        };
        assert_eq!(read.requests, 2);
        let mut judge = |ttft_ms: f64| {
            let slo = Box::new(SloDoc { ttft_ms: Some(ttft_ms), ..SloDoc::default() });
            let cross = vec![Dimension::Prompt, Dimension::Output];
            match say(&mut shelf, &ToReader::Judge { file: 7, slo, cross }, None) {
                Some(FromReader::Judged { file: 7, judged }) => *judged,
                other => panic!("{other:?}"),
            }
        };
        let good_of = |judged: &Judged| judged.points[0].accounting.denominators.offered.good;
        for (ttft_ms, good) in [(1_000.0, 1), (2_000.0, 2), (1_399.0, 1), (1_400.0, 2)] {
            let judged = judge(ttft_ms);
            assert_eq!((judged.points[0].offered, good_of(&judged)), (2, good), "{ttft_ms}");
            let [crossed] = judged.points[0].accounting.crossed.as_slice() else { panic!() };
            assert_eq!(crossed.cells.iter().map(|cell| cell.good).sum::<u64>(), good);
        }
        let refused = judge(-1.0);
        assert!(refused.points.is_empty() && !refused.remarks.is_empty(), "{refused:?}");
        assert_eq!(say(&mut shelf, &ToReader::Forget { file: 7 }, None), None);
        let slo = Box::new(SloDoc::default());
        let answer = say(&mut shelf, &ToReader::Judge { file: 7, slo, cross: Vec::new() }, None);
        let Some(FromReader::Judged { judged, .. }) = answer else { panic!("{answer:?}") };
        assert!(judged.points.is_empty() && judged.remarks.len() == 1);
    }

    #[test]
    fn what_is_no_file_of_ours_is_refused_with_a_reason() {
        for bytes in [&b""[..], b"\x00\x01\x02\x03", b"{\"a\":", b"hello"] {
            let Some(FromReader::Read { read, .. }) = read(bytes) else { panic!("{bytes:?}") };
            assert!(read.refused().is_some(), "{bytes:?}");
        }
    }

    #[test]
    fn a_huge_file_is_refused_without_being_loaded() {
        let file = File(9_000_000_000, Err("must not be loaded".into()));
        let message = ToReader::Read { file: 1, name: "huge.json".into() };
        let answer = say(&mut Shelf::default(), &message, Some(&file));
        let Some(FromReader::Read { read, .. }) = answer else { panic!("{answer:?}") };
        let kind = read.refused().map(|refusal| refusal.kind);
        assert_eq!((kind, read.sha256), (Some(ingest::RefusalKind::TooLarge), None));
    }

    #[test]
    fn a_file_that_the_browser_does_not_give_says_so() {
        let file = File(10, Err("NotReadableError".into()));
        let message = ToReader::Read { file: 3, name: "gone".into() };
        let answer = say(&mut Shelf::default(), &message, Some(&file));
        let message = "NotReadableError".to_owned();
        assert_eq!(answer, Some(FromReader::Failed { file: 3, message }));
    }

    #[test]
    fn a_saved_scenario_is_a_scenario() {
        let saved = br#"{"version":1,"workload":{"classes":[{"name":"chat",
            "arrivals":{"kind":"poisson","rate_rps":1.0},
            "input_tokens":{"kind":"fixed","tokens":512},
            "output_tokens":{"kind":"fixed","tokens":256}}]},
            "fleet":{"pools":[{"gpu":"h100-sxm","model":"llama-3.1-8b","replicas":1}]}}"#;
        let answer = read(saved);
        assert!(matches!(answer, Some(FromReader::Scenario { .. })), "{answer:?}");
    }
}

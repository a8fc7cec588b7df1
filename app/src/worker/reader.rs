//! What the reader worker does: files in, reviews out. It keeps what it parsed.

use std::collections::BTreeMap;

use goodput_engine::ingest::{self, Contents, ParsedFile};
use goodput_engine::{review, scenario};

use super::protocol::{FromReader, ToReader};

/// What was read so far.
#[derive(Debug, Default)]
pub struct Reader {
    files: BTreeMap<u64, ParsedFile>,
}

impl Reader {
    /// Carries out one message; `bytes` of the file that came with it.
    pub fn handle(&mut self, message: &str, bytes: Option<&[u8]>) -> Option<FromReader> {
        match serde_json::from_str(message) {
            Ok(ToReader::Read { file, name }) => Some(self.read(file, &name, bytes)),
            Ok(ToReader::UseTrace { file, exactly }) => Some(self.workload(file, exactly)),
            Ok(ToReader::Forget { file }) => {
                self.files.remove(&file);
                None
            }
            Err(error) => Some(FromReader::Panicked {
                message: format!("the page said something unreadable: {error}"),
            }),
        }
    }

    fn read(&mut self, file: u64, name: &str, bytes: Option<&[u8]>) -> FromReader {
        let Some(bytes) = bytes else {
            let message = "The browser gave no access to the file".to_owned();
            return FromReader::Failed { file, message };
        };
        if let Some(doc) = scenario_in(bytes) {
            return FromReader::Scenario { file, doc: Box::new(doc) };
        }
        let parsed = ingest::read_file(name, bytes);
        let report = review::report(std::slice::from_ref(&parsed));
        self.files.insert(file, parsed);
        FromReader::Read { file, review: Box::new(report) }
    }

    fn workload(&self, file: u64, exactly: bool) -> FromReader {
        let parsed = self.files.get(&file).and_then(|file| file.parsed.as_ref());
        let trace = parsed.and_then(|parsed| match &parsed.contents {
            Contents::Trace(trace) => Some(trace),
            Contents::Benchmark { .. } => None,
        });
        let workload = trace.and_then(|t| if exactly { t.replayed() } else { t.as_profile() });
        match workload {
            Some(workload) => FromReader::Trace { file, workload: Box::new(workload) },
            None => FromReader::Failed {
                file,
                message: "The file is no longer in memory: add it again".to_owned(),
            },
        }
    }
}

/// A scenario document that was saved as a file.
fn scenario_in(bytes: &[u8]) -> Option<scenario::doc::ScenarioDoc> {
    if bytes.len() > scenario::doc::MAX_TEXT_BYTES {
        return None;
    }
    let text = std::str::from_utf8(bytes).ok()?;
    scenario::doc::parse(text).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn say(reader: &mut Reader, message: &ToReader, bytes: Option<&[u8]>) -> Option<FromReader> {
        reader.handle(&serde_json::to_string(message).expect("text"), bytes)
    }

    #[test]
    fn a_trace_is_read_kept_and_given_as_a_workload() {
        let csv = "TIMESTAMP,ContextTokens,GeneratedTokens\r\n\
                   2023-11-16 18:17:03.9799600,400,40\r\n\
                   2023-11-16 18:17:04.9799600,500,50\r\n";
        let mut reader = Reader::default();
        let read = ToReader::Read { file: 7, name: "trace.csv".into() };
        let Some(FromReader::Read { review, .. }) = say(&mut reader, &read, Some(csv.as_bytes()))
        else {
            panic!("not read");
        };
        assert_eq!(review.files[0].trace.as_ref().map(|t| t.requests), Some(2));
        for exactly in [true, false] {
            let answer = say(&mut reader, &ToReader::UseTrace { file: 7, exactly }, None);
            assert!(matches!(answer, Some(FromReader::Trace { file: 7, .. })), "{answer:?}");
        }
        assert_eq!(say(&mut reader, &ToReader::Forget { file: 7 }, None), None);
        let answer = say(&mut reader, &ToReader::UseTrace { file: 7, exactly: true }, None);
        assert!(matches!(answer, Some(FromReader::Failed { .. })), "{answer:?}");
    }

    #[test]
    fn what_is_no_file_of_ours_is_refused_with_a_reason() {
        for bytes in [&b""[..], b"\x00\x01\x02", b"{\"a\":", b"hello"] {
            let read = ToReader::Read { file: 1, name: "x".into() };
            let answer = say(&mut Reader::default(), &read, Some(bytes));
            let Some(FromReader::Read { review, .. }) = answer else { panic!("{answer:?}") };
            assert!(review.files[0].refused.is_some(), "{bytes:?}");
        }
    }
}

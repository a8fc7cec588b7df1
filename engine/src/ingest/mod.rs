//! Files in: the bytes of a request trace or a benchmark result become typed, checked values.
//!
//! Nothing here opens a file, guesses a unit or drops a row without saying so. Reading order:
//! [`read`] below, then `registry` (which formats there are), then one format module.
//!
//! A format is one module with a `FORMAT` constant (how to recognise it, how to parse it) and one
//! line in `registry`. What a file does not say stays `None` and is listed in
//! [`BenchmarkPoint::missing`]; whether what it says can be true is for the `review` module.

mod aiperf;
mod console_block;
pub mod csv_points;
mod csv_table;
mod decode;
mod engine_log;
mod from_records;
mod gathered;
mod guidellm;
mod gzip;
mod hash_trace;
mod inference_benchmarker;
mod inference_perf;
mod inferencex;
mod json;
mod known_others;
mod latency;
mod llama_bench;
mod llm_d;
mod llmperf;
mod llmservingsim;
mod mlperf;
mod ollama;
mod parsed;
mod point;
mod prometheus;
mod quantity;
mod reading;
mod record;
mod refusal;
mod registry;
mod request_outcome;
mod request_run;
mod request_table;
mod runs;
mod sglang;
mod stat;
mod timestamp;
mod trace;
mod trace_rows;
mod trace_table;
mod tree;
mod trtllm_bench;
mod vllm_offline;
mod vllm_serve;
mod yaml;
mod zip;

pub use csv_points::{Decimals, TableReading};
pub use latency::{Definition, Latency, LatencyStats, Percentile, Weighting};
pub use parsed::{Contents, Exclusion, Format, Notes, Parsed, ParsedFile};
pub use point::{
    BenchmarkPoint, DeclaredContext, EngineGauges, Length, LengthSource, Load, MissingFact,
    TokenKind, TokenRate,
};
pub use prometheus::{
    GENERATION_TOKENS, LengthHistogram, PROMPT_TOKENS, ServedLengths, length_histogram,
};
pub use record::{GapSummary, RecordClass, RecordOutcome, RequestRecord};
pub use refusal::{Refusal, RefusalKind};
pub use registry::{FormatDescription, formats};
pub use trace::{LengthSummary, RequestTrace, TraceSummary};

/// The largest file read, in bytes as it lies on disk and again after unpacking.
pub const MAX_FILE_BYTES: usize = 200_000_000;

/// The most rows (trace rows, requests or benchmark rows) read from one file.
pub const MAX_ROWS: usize = 2_000_000;

/// Reads one file. `name` is used in messages only: what a file is, its content decides.
///
/// The same bytes always give the same value, and no bytes make it panic.
pub fn read(name: &str, bytes: &[u8]) -> Result<Parsed, Refusal> {
    read_as(name, bytes, &TableReading::default())
}

/// [`read`], with what the user says about tables of benchmark rows.
pub fn read_as(name: &str, bytes: &[u8], tables: &TableReading) -> Result<Parsed, Refusal> {
    if bytes.is_empty() {
        return Err(Refusal::empty(format!("the file {name} is empty")));
    }
    if let Some(refusal) = refuse_size(bytes.len() as u64) {
        return Err(refusal);
    }
    let unpacked = decode::unpack(bytes)?;
    let text = decode::text(&unpacked)?;
    registry::parse(&text, tables)
}

/// The refusal of a file of so many bytes, if it is too large: to be asked before it is loaded.
pub fn refuse_size(bytes: u64) -> Option<Refusal> {
    let too_large = bytes > MAX_FILE_BYTES as u64;
    too_large.then(|| Refusal::too_many_bytes(Some(bytes), MAX_FILE_BYTES))
}

/// [`read`], keeping the name and the refusal: what the page's list of files and `review` take.
pub fn read_file(name: &str, bytes: &[u8]) -> ParsedFile {
    read_file_as(name, bytes, &TableReading::default())
}

fn read_file_as(name: &str, bytes: &[u8], tables: &TableReading) -> ParsedFile {
    match read_as(name, bytes, tables) {
        Ok(parsed) => ParsedFile { file: name.to_owned(), parsed: Some(parsed), refused: None },
        Err(refusal) => ParsedFile { file: name.to_owned(), parsed: None, refused: Some(refusal) },
    }
}

/// [`read_file`] for a file that may be a zip archive: every file in it, named by the archive and
/// its path there. An archive that cannot be read is one refused file.
pub fn read_files(name: &str, bytes: &[u8]) -> Vec<ParsedFile> {
    read_files_as(name, bytes, &TableReading::default())
}

/// [`read_files`], with what the user says about tables of benchmark rows.
pub fn read_files_as(name: &str, bytes: &[u8], tables: &TableReading) -> Vec<ParsedFile> {
    if !bytes.starts_with(zip::MAGIC) || refuse_size(bytes.len() as u64).is_some() {
        return vec![read_file_as(name, bytes, tables)];
    }
    let mut files = Vec::new();
    let outcome = zip::for_each_member(bytes, |path, member| {
        let name = format!("{name}/{path}");
        files.push(match member {
            Ok(bytes) => read_file_as(&name, bytes, tables),
            Err(refusal) => ParsedFile { file: name, parsed: None, refused: Some(refusal) },
        });
    });
    let nothing = || Refusal::empty("the zip archive holds no files");
    let refusal = outcome.err().or_else(|| files.is_empty().then(nothing));
    if let Some(refusal) = refusal {
        files.push(ParsedFile { file: name.to_owned(), parsed: None, refused: Some(refusal) });
    }
    files
}

//! What comes in: scenarios by file, standard input or link, and benchmark files.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use goodput_engine::accounts::words::plural;
use goodput_engine::calibration::{BenchmarkFile, sha256_hex};
use goodput_engine::ingest::{self, MAX_FILE_BYTES, ParsedFile, TableReading};
use goodput_engine::problem::{Problem, Severity};
use goodput_engine::scenario::doc::{self, MAX_TEXT_BYTES, ScenarioDoc};
use goodput_engine::scenario::{Scenario, check, link};

use super::output::{Failure, warn};

/// A checked scenario with what may mislead in it, which has gone to standard error.
#[derive(Debug)]
pub struct Checked {
    /// The scenario.
    pub scenario: Scenario,
    warnings: Vec<Problem>,
}

impl Checked {
    /// How grave the warnings are.
    pub fn severities(&self) -> Vec<Severity> {
        self.warnings.iter().map(|warning| warning.severity).collect()
    }
}

/// A scenario document and warnings about how it came: a JSON file, `-`, or a share link or its
/// fragment.
pub fn scenario_doc(source: &str) -> Result<(ScenarioDoc, Vec<Problem>), Failure> {
    if source != "-" && !Path::new(source).exists() && looks_like_link(source) {
        return opened(source);
    }
    let text = text(source)?;
    if looks_like_link(text.trim()) {
        return opened(text.trim());
    }
    Ok((doc::parse(&text)?, Vec::new()))
}

/// A checked scenario.
pub fn scenario(source: &str) -> Result<Checked, Failure> {
    scenario_and_doc(source).map(|(checked, _)| checked)
}

/// A checked scenario with its document.
pub fn scenario_and_doc(source: &str) -> Result<(Checked, ScenarioDoc), Failure> {
    let (doc, mut warnings) = scenario_doc(source)?;
    warn(&warnings);
    let mut checked = checked(&doc)?;
    warnings.append(&mut checked.warnings);
    Ok((Checked { warnings, ..checked }, doc))
}

/// A checked document.
pub fn checked(doc: &ScenarioDoc) -> Result<Checked, Failure> {
    let checked = check(doc)?;
    warn(&checked.warnings);
    Ok(Checked { scenario: checked.scenario, warnings: checked.warnings })
}

/// A benchmark or trace file, or every file of a zip archive of them, read or refused. The
/// fingerprint is of what was given.
pub fn benchmark_files(path: &Path, tables: &TableReading) -> Result<Vec<BenchmarkFile>, Failure> {
    let bytes = bytes(path, MAX_FILE_BYTES)?;
    let name = if path == Path::new("-") {
        "standard input".to_owned()
    } else {
        path.display().to_string()
    };
    let sha256 = sha256_hex(&bytes);
    let files = ingest::read_files_as(&name, &bytes, tables).into_iter();
    Ok(files.map(|file| BenchmarkFile { file, sha256: sha256.clone() }).collect())
}

/// The only file there is, read.
pub fn one_benchmark_file(path: &Path) -> Result<ParsedFile, Failure> {
    let name = path.display().to_string();
    let mut files = benchmark_files(path, &TableReading::default())?;
    if files.len() != 1 {
        let message = format!("it holds {}", plural(files.len() as u64, "file", "files"));
        return Err(Problem::error(name, message, "unpack it and give one of them").into());
    }
    let file = files.swap_remove(0).file;
    match &file.refused {
        Some(refused) => {
            Err(Problem::error(name, refused.message.clone(), refused.hint.clone()).into())
        }
        None => Ok(file),
    }
}

/// The text of a file, or of standard input for `-`.
pub fn text(source: &str) -> Result<String, Failure> {
    text_within(source, MAX_TEXT_BYTES)
}

/// The same of many scenarios.
pub fn text_of_many(source: &str) -> Result<String, Failure> {
    text_within(source, MAX_FILE_BYTES)
}

fn text_within(source: &str, limit: usize) -> Result<String, Failure> {
    let bytes = bytes(Path::new(source), limit)?;
    String::from_utf8(bytes).map_err(|error| {
        Problem::error(
            source,
            format!("byte {} is no UTF-8", error.utf8_error().valid_up_to()),
            "give a JSON document in UTF-8, or a share link",
        )
        .into()
    })
}

fn opened(text: &str) -> Result<(ScenarioDoc, Vec<Problem>), Failure> {
    let opened = link::decode(text).map_err(|error| error.problems())?;
    Ok((opened.doc, opened.warnings))
}

/// A link, its fragment or a damaged one, as opposed to a file name or a document.
fn looks_like_link(text: &str) -> bool {
    link::is_link(text) || text.starts_with('#') || text.contains("://") && !text.starts_with('{')
}

/// At most `limit` bytes of a file, or of standard input for `-`.
fn bytes(path: &Path, limit: usize) -> Result<Vec<u8>, Failure> {
    let name = path.display().to_string();
    let cannot = |error: io::Error| {
        Failure::from(Problem::error(
            name.clone(),
            format!("the file cannot be read: {error}"),
            "give a file that exists and may be read, or - for standard input",
        ))
    };
    let mut reader: Box<dyn Read> = if path == Path::new("-") {
        Box::new(io::stdin().lock())
    } else {
        Box::new(File::open(path).map_err(cannot)?)
    };
    let mut bytes = Vec::new();
    let most = u64::try_from(limit).unwrap_or(u64::MAX).saturating_add(1);
    reader.by_ref().take(most).read_to_end(&mut bytes).map_err(cannot)?;
    if bytes.len() > limit {
        return Err(Problem::error(
            name,
            format!("the file holds more than {limit} bytes"),
            "split it, or leave out what is not needed",
        )
        .into());
    }
    Ok(bytes)
}

//! Share links: the whole scenario in a URL's fragment, which never reaches a server.
//!
//! `#s=1.<fingerprint>.<payload>`: the document's version; a hash of the catalogue rows it refers
//! to; and the document as minimal JSON (defaults left out), compressed by zlib, in base64url
//! without padding. A link either opens as it was written or says why it does not: cut short,
//! altered, of a newer version, not a link, or too large. It never opens in part.

use std::fmt;

use data_encoding::BASE64URL_NOPAD;
use miniz_oxide::deflate::compress_to_vec_zlib;
use miniz_oxide::inflate::TINFLStatus;
use miniz_oxide::inflate::core::{DecompressorOxide, decompress, inflate_flags};

use super::doc::{self, ScenarioDoc, VERSION};
use super::fingerprint::{FINGERPRINT_CHARS, fingerprint};
use crate::problem::Problem;

/// The longest fragment that is written or read, characters. Browsers carry more; mail, chat and
/// office programs do not.
pub const MAX_LINK_CHARS: usize = 8_000;

/// Above this some chat programs and spreadsheets cut a link short, characters.
pub const LONG_LINK_CHARS: usize = 2_000;

/// The longest document a link may unpack to, bytes.
const MAX_UNPACKED_BYTES: usize = 1 << 20;

/// Fixed, so that the same scenario always gives the same link.
const COMPRESSION_LEVEL: u8 = 9;

/// What a fragment of ours begins with.
const KEY: &str = "s=";

/// A scenario as a link.
#[derive(Debug, Clone, PartialEq)]
pub struct Link {
    /// `#s=1.…`: goes behind the address of any Goodput page.
    pub fragment: String,
    /// What may go wrong on the way, e.g. that it is long.
    pub warnings: Vec<Problem>,
}

/// A scenario from a link.
#[derive(Debug, Clone, PartialEq)]
pub struct Opened {
    /// The document, as it was when the link was made.
    pub doc: ScenarioDoc,
    /// That the catalogue behind it has changed since.
    pub warnings: Vec<Problem>,
}

/// Why a link does not open.
#[derive(Debug, Clone, PartialEq)]
pub enum LinkError {
    /// Nothing in it is a Goodput link.
    NotOurs,
    /// A newer Goodput wrote it.
    Newer {
        /// Its version.
        version: u64,
    },
    /// Its end is missing.
    Truncated,
    /// Its characters are not those that were written.
    Broken,
    /// Longer, or holding more, than any link that Goodput writes.
    TooLarge,
    /// It unpacks to something that is no scenario document.
    Document(Vec<Problem>),
}

impl LinkError {
    /// What is wrong and how to mend it, for people.
    pub fn problems(&self) -> Vec<Problem> {
        let hint = match self {
            Self::NotOurs => "a Goodput link has `#s=` followed by a version, e.g. `#s=1.…`".into(),
            Self::Newer { .. } => {
                format!("open it with a newer Goodput; this one reads version {VERSION}")
            }
            Self::Truncated => "copy the whole link again: programs cut long links short".into(),
            Self::Broken => "copy the link again, or ask for the scenario as a file".into(),
            Self::TooLarge => "ask for the scenario as a file".into(),
            Self::Document(problems) => return problems.clone(),
        };
        vec![Problem::error("link", self.to_string(), hint)]
    }
}

impl fmt::Display for LinkError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotOurs => f.write_str("this is not a Goodput link"),
            Self::Newer { version } => {
                write!(f, "this link is of version {version}, newer than this Goodput reads")
            }
            Self::Truncated => f.write_str("this link is cut short: its end is missing"),
            Self::Broken => f.write_str("this link is damaged: some of its characters changed"),
            Self::TooLarge => f.write_str("this link holds more than any link that Goodput writes"),
            Self::Document(_) => f.write_str("this link holds no valid scenario document"),
        }
    }
}

impl std::error::Error for LinkError {}

/// Writes `doc`, valid or not, as a link.
///
/// # Errors
/// The document does not fit in a link, or holds a number that is not finite.
pub fn encode(doc: &ScenarioDoc) -> Result<Link, Problem> {
    let json = doc::to_minimal_json(doc);
    if json.len() > MAX_UNPACKED_BYTES {
        return Err(too_long(json.len() / 1000, "kB of text"));
    }
    // NaN and the infinities have no JSON; what would not come back is not sent.
    if doc::parse(&json).as_ref() != Ok(doc) {
        return Err(Problem::error(
            "link",
            "the scenario does not survive being written as text",
            "give every number a finite value",
        ));
    }
    let payload = BASE64URL_NOPAD.encode(&compress_to_vec_zlib(json.as_bytes(), COMPRESSION_LEVEL));
    let fragment = format!("#{KEY}{VERSION}.{}.{payload}", fingerprint(doc));
    if fragment.len() > MAX_LINK_CHARS {
        return Err(too_long(fragment.len(), "characters"));
    }
    let mut warnings = Vec::new();
    if fragment.len() > LONG_LINK_CHARS {
        warnings.push(Problem::warning(
            "link",
            format!("the link is {} characters long, and some programs cut it", fragment.len()),
            "send it as a file where that matters",
        ));
    }
    Ok(Link { fragment, warnings })
}

fn too_long(length: usize, unit: &str) -> Problem {
    Problem::error(
        "link",
        format!("the scenario needs {length} {unit}, more than fit in a link"),
        format!("save it as a file: a link has at most {MAX_LINK_CHARS} characters"),
    )
}

/// Whether `text` is meant as a link, or as what follows `#s=` in one, rather than as a document or
/// a file name such as `1.json`.
pub fn is_link(text: &str) -> bool {
    if text.trim_start().starts_with('{') || text.len() > 2 * MAX_LINK_CHARS {
        return false;
    }
    let text = unwrapped(text);
    let Some((_, rest)) = split(&text) else { return false };
    let is_hex = |part: &str| part.bytes().all(|byte| byte.is_ascii_hexdigit());
    let whole =
        |(made_with, _): (&str, &str)| made_with.len() == FINGERPRINT_CHARS && is_hex(made_with);
    text.contains("#s=") || rest.split_once('.').is_some_and(whole)
}

/// Opens a full URL, a fragment or what follows `#s=`.
pub fn decode(text: &str) -> Result<Opened, LinkError> {
    // An address may precede the fragment, and mail programs may have wrapped the line.
    if text.len() > 2 * MAX_LINK_CHARS {
        return Err(LinkError::TooLarge);
    }
    let text = unwrapped(text);
    let (version, rest) = split(&text).ok_or(LinkError::NotOurs)?;
    if version > u64::from(VERSION) {
        return Err(LinkError::Newer { version });
    }
    if version < u64::from(VERSION) {
        return Err(LinkError::NotOurs);
    }
    if rest.len() > MAX_LINK_CHARS {
        return Err(LinkError::TooLarge);
    }
    let (made_with, payload) = rest.split_once('.').ok_or(LinkError::Truncated)?;
    let payload = without_punctuation(payload);
    if made_with.len() != FINGERPRINT_CHARS {
        return Err(LinkError::Broken);
    }
    let json = unpack(payload)?;
    let doc = doc::parse(&json).map_err(LinkError::Document)?;
    let mut warnings = Vec::new();
    if fingerprint(&doc) != made_with {
        warnings.push(Problem::warning(
            "link",
            "the catalogue behind this link has changed since it was made: its numbers may differ",
            "compare with whoever sent it, or enter GPU, model and step time by numbers",
        ));
    }
    Ok(Opened { doc, warnings })
}

/// A payload without what prose put behind it: a full stop, a bracket, a quotation mark. None of
/// these can be the end of one.
fn without_punctuation(payload: &str) -> &str {
    payload.trim_end_matches(|c: char| !(c.is_ascii_alphanumeric() || c == '-' || c == '_'))
}

fn unwrapped(text: &str) -> String {
    text.chars().filter(|c| !c.is_ascii_whitespace()).collect()
}

/// Version and the rest of a link.
fn split(text: &str) -> Option<(u64, &str)> {
    let ours = match text.split_once('#') {
        Some((_, fragment)) => fragment.split('&').find_map(|part| part.strip_prefix(KEY))?,
        None => text.strip_prefix(KEY).unwrap_or(text),
    };
    let digits = ours.find(|c: char| !c.is_ascii_digit()).unwrap_or(ours.len());
    let version = ours[..digits].parse().ok()?;
    match ours[digits..].strip_prefix('.') {
        Some(rest) => Some((version, rest)),
        // A link that ends with its version is cut short; a number on its own is none.
        None if ours.len() == digits && ours.len() < text.len() => Some((version, "")),
        None => None,
    }
}

fn unpack(payload: &str) -> Result<String, LinkError> {
    if payload.is_empty() {
        return Err(LinkError::Truncated);
    }
    let packed = BASE64URL_NOPAD.decode(payload.as_bytes()).or_else(|error| {
        use data_encoding::DecodeKind::{Length, Trailing};
        match error.kind {
            // What remains of the last, incomplete group: the stream within will tell how much
            // is missing.
            Length | Trailing => BASE64URL_NOPAD
                .decode(&payload.as_bytes()[..payload.len() / 4 * 4])
                .map_err(|_error| LinkError::Broken),
            _ => Err(LinkError::Broken),
        }
    })?;
    let mut unpacked = vec![0; MAX_UNPACKED_BYTES];
    let flags = inflate_flags::TINFL_FLAG_PARSE_ZLIB_HEADER
        | inflate_flags::TINFL_FLAG_USING_NON_WRAPPING_OUTPUT_BUF;
    let (status, consumed, produced) =
        decompress(&mut DecompressorOxide::new(), &packed, &mut unpacked, 0, flags);
    match status {
        TINFLStatus::Done if consumed == packed.len() => {}
        TINFLStatus::FailedCannotMakeProgress | TINFLStatus::NeedsMoreInput => {
            return Err(LinkError::Truncated);
        }
        TINFLStatus::HasMoreOutput => return Err(LinkError::TooLarge),
        _ => return Err(LinkError::Broken),
    }
    unpacked.truncate(produced);
    String::from_utf8(unpacked).map_err(|_bytes| LinkError::Broken)
}

#[cfg(test)]
mod tests;

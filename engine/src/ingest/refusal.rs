//! Why a file was not read: which kind of trouble, where, and what would help.

use serde::{Deserialize, Serialize};

use super::{Format, registry};

/// Which kind of trouble.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RefusalKind {
    /// It could not be opened: no such file, a folder, or not allowed.
    Unreadable,
    /// No bytes, or nothing but blanks, `[]` or `{}`.
    Empty,
    /// Begins well and stops in the middle.
    Truncated,
    /// Not text.
    Binary,
    /// Over a stated limit, on disk, unpacked or in rows.
    TooLarge,
    /// No known format.
    NotRecognised,
    /// A known format with something in it that cannot be.
    Broken,
    /// A known format that can be read in more than one way; the message asks which.
    Ambiguous,
}

/// A file that was not read. Whatever was on screen before stays.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("{message} ({hint})")]
pub struct Refusal {
    /// Which kind of trouble.
    pub kind: RefusalKind,
    /// What is wrong, in one sentence without a full stop.
    pub message: String,
    /// What would help.
    pub hint: String,
    /// The format it was recognised as, if it was.
    pub format: Option<Format>,
    /// Line the trouble is on, counted from 1 in the unpacked text.
    pub line: Option<u64>,
    /// What was looked for, when nothing matched.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub looked_for: Vec<String>,
}

impl Refusal {
    /// Could not be opened, by whoever has it: the library opens no file.
    pub fn unreadable(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::new(RefusalKind::Unreadable, message, hint)
    }

    /// Nothing in it.
    pub(super) fn empty(message: impl Into<String>) -> Self {
        Self::new(RefusalKind::Empty, message, "export the file again")
    }

    /// Stops in the middle.
    pub(super) fn truncated(message: impl Into<String>) -> Self {
        Self::new(
            RefusalKind::Truncated,
            message,
            "copy or download the file again; nothing of it was used",
        )
    }

    /// Not text.
    pub(super) fn binary(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::new(RefusalKind::Binary, message, hint)
    }

    /// `found` of `what` where `limit` are allowed; of bytes, [`Self::too_many_bytes`].
    pub(super) fn too_large(found: impl std::fmt::Display, what: &str, limit: usize) -> Self {
        Self::new(
            RefusalKind::TooLarge,
            format!("the file has {found} {what}; at most {limit} are read"),
            "split the file or leave out the per-request part",
        )
    }

    /// More bytes than the `limit` that are read; `None` where a packed file unpacks to more.
    pub(super) fn too_many_bytes(found: Option<u64>, limit: usize) -> Self {
        let megabytes = |bytes: u64| (bytes as f64 / 1e5).ceil() / 10.0;
        let most = megabytes(limit as u64);
        let message = match found {
            Some(bytes) => {
                format!(
                    "the file has {} MB, more than the {most} MB that are read",
                    megabytes(bytes)
                )
            }
            None => format!("unpacked, the file has more than the {most} MB that are read"),
        };
        let hint = "split the file or leave out the per-request part";
        Self::new(RefusalKind::TooLarge, message, hint)
    }

    /// No format matched.
    pub(super) fn not_recognised(message: impl Into<String>, hint: impl Into<String>) -> Self {
        let mut refusal = Self::new(RefusalKind::NotRecognised, message, hint);
        refusal.looked_for = registry::formats()
            .iter()
            .map(|format| format!("{}: {}", format.title, format.looks_for))
            .collect();
        refusal
    }

    /// Recognised, but something in it cannot be.
    pub(super) fn broken(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::new(RefusalKind::Broken, message, hint)
    }

    /// Recognised, but it can be read in more than one way.
    pub(super) fn ambiguous(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::new(RefusalKind::Ambiguous, message, hint)
    }

    /// Says on which line.
    pub(super) fn at_line(mut self, line: u64) -> Self {
        self.line = Some(line);
        self
    }

    /// Says of which format.
    pub(super) fn of(mut self, format: Format) -> Self {
        self.format = Some(format);
        self
    }

    fn new(kind: RefusalKind, message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self {
            kind,
            message: message.into(),
            hint: hint.into(),
            format: None,
            line: None,
            looked_for: Vec::new(),
        }
    }
}

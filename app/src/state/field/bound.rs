//! Bounds of what is expected of a headline number.

use goodput_engine::scenario::doc::ExpectationDoc;

use super::{FieldKind, Slot};
use crate::parse::Quantity;

/// A bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Bound {
    /// The least that it may be.
    AtLeast,
    /// The most that it may be.
    AtMost,
}

impl Bound {
    pub(super) fn kind(self) -> FieldKind {
        let label = match self {
            Self::AtLeast => "At least",
            Self::AtMost => "At most",
        };
        FieldKind::real(label, "", Quantity::Plain).or_empty("no such bound")
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::AtLeast => "at_least",
            Self::AtMost => "at_most",
        }
    }

    pub(super) fn of(self, expected: &mut ExpectationDoc) -> Slot<'_> {
        Slot::MaybeReal(match self {
            Self::AtLeast => &mut expected.at_least,
            Self::AtMost => &mut expected.at_most,
        })
    }
}

//! Where a class has lengths, and their numbers.

use goodput_engine::scenario::doc::{ClassDoc, HiddenTokensDoc, LengthsDoc};

use super::numbers::{self, Named};
use super::{FieldKind, Slot};
use crate::parse::Quantity;

/// What has lengths.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Side {
    /// Prompts.
    Input,
    /// Answers.
    Output,
    /// What a reasoning model generates before the answer.
    Hidden,
    /// Turns of a session, which are no tokens but have a law alike.
    Turns,
    /// What is new in each later turn of a session.
    NewTokens,
}

/// Lengths of a class: those of a side, or of one part of a mixture there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// Whose.
    pub side: Side,
    /// Which part of a mixture; `None` for the whole.
    pub part: Option<usize>,
}

/// Numbers of lengths.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum LengthField {
    /// One of the law.
    Number(Named),
    /// Share at or below a row of a quantile table.
    QuantileP(usize),
    /// Length of a row of a quantile table.
    QuantileTokens(usize),
    /// Weight of the part of a mixture.
    Weight,
}

impl Side {
    /// Its name in element ids.
    pub fn id(self) -> &'static str {
        match self {
            Self::Input => "input",
            Self::Output => "output",
            Self::Hidden => "hidden",
            Self::Turns => "turns",
            Self::NewTokens => "new-tokens",
        }
    }

    /// What its numbers count.
    pub fn unit(self) -> &'static str {
        if self == Self::Turns { "turns" } else { "tokens" }
    }
}

impl Place {
    /// All lengths of a side.
    pub const fn whole(side: Side) -> Self {
        Self { side, part: None }
    }

    /// Its path within the class.
    pub fn path(self) -> String {
        let side = match self.side {
            Side::Input => "input_tokens",
            Side::Output => "output_tokens",
            Side::Hidden => "hidden_tokens.tokens",
            Side::Turns => "session.turns",
            Side::NewTokens => "session.new_tokens",
        };
        self.part.map_or_else(|| side.to_owned(), |part| format!("{side}.parts[{part}].tokens"))
    }

    /// A piece of element ids.
    pub fn id(self) -> String {
        let side = self.side.id();
        self.part.map_or_else(|| side.to_owned(), |part| format!("{side}-part-{part}"))
    }

    /// The lengths there; `None` where the class has none.
    pub fn get(self, class: &ClassDoc) -> Option<&LengthsDoc> {
        let whole = match self.side {
            Side::Input => &class.input_tokens,
            Side::Output => &class.output_tokens,
            Side::Hidden => match &class.hidden_tokens {
                Some(HiddenTokensDoc::Added { tokens }) => tokens,
                _ => return None,
            },
            Side::Turns => &class.session.as_ref()?.turns,
            Side::NewTokens => class.session.as_ref()?.new_tokens.as_ref()?,
        };
        match (self.part, whole) {
            (None, whole) => Some(whole),
            (Some(part), LengthsDoc::Mixture { parts, .. }) => {
                parts.get(part).map(|part| &part.tokens)
            }
            (Some(_), _) => None,
        }
    }

    /// The lengths there, to write.
    pub fn get_mut(self, class: &mut ClassDoc) -> Option<&mut LengthsDoc> {
        let whole = match self.side {
            Side::Input => &mut class.input_tokens,
            Side::Output => &mut class.output_tokens,
            Side::Hidden => match &mut class.hidden_tokens {
                Some(HiddenTokensDoc::Added { tokens }) => tokens,
                _ => return None,
            },
            Side::Turns => &mut class.session.as_mut()?.turns,
            Side::NewTokens => class.session.as_mut()?.new_tokens.as_mut()?,
        };
        match (self.part, whole) {
            (None, whole) => Some(whole),
            (Some(part), LengthsDoc::Mixture { parts, .. }) => {
                parts.get_mut(part).map(|part| &mut part.tokens)
            }
            (Some(_), _) => None,
        }
    }
}

impl LengthField {
    pub(super) fn kind(self, place: Place) -> FieldKind {
        match self {
            Self::Number(Named { kind, .. }) if kind.unit == "tokens" => {
                FieldKind { unit: place.side.unit(), ..kind }
            }
            Self::Number(named) => named.kind,
            Self::QuantileP(_) => FieldKind::real("Share at or below", "%", Quantity::Share),
            Self::QuantileTokens(_) => {
                FieldKind::real("Length", place.side.unit(), Quantity::Tokens)
            }
            Self::Weight => FieldKind::real("Weight", "", Quantity::Plain),
        }
    }

    pub(super) fn path(self, place: Place) -> String {
        let lengths = place.path();
        match self {
            Self::Number(named) => format!("{lengths}.{}", named.name),
            Self::QuantileP(i) => format!("{lengths}.table[{i}].p"),
            Self::QuantileTokens(i) => format!("{lengths}.table[{i}].tokens"),
            Self::Weight => format!("{}.weight", lengths.trim_end_matches(".tokens")),
        }
    }

    pub(super) fn get(self, class: &ClassDoc, place: Place) -> Option<f64> {
        if self == Self::Weight {
            let (whole, part) = (Place::whole(place.side).get(class)?, place.part?);
            let LengthsDoc::Mixture { parts, .. } = whole else { return None };
            return parts.get(part).map(|part| part.weight);
        }
        match (self, place.get(class)?) {
            (Self::Number(named), lengths) => numbers::get_of_lengths(lengths, named),
            (Self::QuantileP(i), LengthsDoc::Quantiles { table }) => Some(table.get(i)?.p),
            (Self::QuantileTokens(i), LengthsDoc::Quantiles { table }) => {
                Some(table.get(i)?.tokens)
            }
            _ => None,
        }
    }

    pub(super) fn slot(self, class: &mut ClassDoc, place: Place) -> Option<Slot<'_>> {
        if self == Self::Weight {
            let whole = Place::whole(place.side).get_mut(class)?;
            let LengthsDoc::Mixture { parts, .. } = whole else { return None };
            return Some(Slot::Real(&mut parts.get_mut(place.part?)?.weight));
        }
        match (self, place.get_mut(class)?) {
            (Self::Number(named), lengths) => numbers::place_in_lengths(lengths, named),
            (Self::QuantileP(i), LengthsDoc::Quantiles { table }) => {
                Some(Slot::Real(&mut table.get_mut(i)?.p))
            }
            (Self::QuantileTokens(i), LengthsDoc::Quantiles { table }) => {
                Some(Slot::Real(&mut table.get_mut(i)?.tokens))
            }
            _ => None,
        }
    }
}

//! Who asks: arrivals, lengths and the requests they give.
//!
//! [`generate`] turns traffic classes into a list of [`OfferedRequest`]s, once per scenario; every
//! fleet that is tried for it serves the same list.

use crate::units::Picos;

/// One request as its user makes it. Nothing here depends on the fleet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OfferedRequest {
    /// Index of its class.
    pub class: u32,
    /// When it is due; its clock runs from here.
    pub due: Picos,
    /// Prompt length.
    pub input_tokens: u32,
    /// Tokens it will generate: the model's answer cut at the output budget, at least one.
    /// Policies never see this.
    pub output_tokens: u32,
    /// How long its user waits for the first token; `None` waits for ever.
    pub patience: Option<Picos>,
    /// The server fails it after serving it.
    pub fails: bool,
    /// The answer is acceptable (drawn, or assumed so where quality is not checked).
    pub acceptable: bool,
}

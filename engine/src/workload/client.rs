//! What the clients of a class do beside asking: when they leave, and when they ask again.
//!
//! None of it is drawn with the list of requests: it depends on what the fleet does. Draws are
//! keyed by request and attempt all the same, so that two fleets meet the same people.

use super::Patience;
use crate::units::Picos;

/// The people of a class and their software. The default waits for ever and never asks again.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ClientBehaviour {
    /// How long a user who has a first token waits for the next one before leaving.
    pub stall_patience: Option<Patience>,
    /// From sending an attempt to its last token: what is not complete by then is cut off, by the
    /// client's time-out or a gateway's.
    pub timeout: Option<Picos>,
}

//! How long one engine iteration takes, and where that number comes from.
//!
//! One form of law for every source: terms that depend on the step's tokens alone, and one
//! linear term each for attention pairs, decode sequences and cached tokens. A replica compiles
//! it once into integer picoseconds.

mod coefficients;
mod compiled;
mod declared;
mod law;
mod provenance;
mod resolved;
mod roofline;

pub use coefficients::StepCoefficients;
pub use compiled::{BatchShape, CompiledLaw, StepParts};
pub use declared::DeclaredThroughput;
pub use law::{SoftRoofline, StepLaw, TokenTerm};
pub use provenance::{ErrorBand, Hull, Load, Origin, Provenance};
pub use resolved::{PassedOver, ResolvedStepTime};
pub use roofline::{Efficiencies, Served, roofline_law};

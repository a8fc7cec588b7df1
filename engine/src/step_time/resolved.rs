//! A step law together with everything a reader needs to judge it.

use serde::Serialize;

use super::coefficients::StepCoefficients;
use super::compiled::CompiledLaw;
use super::law::StepLaw;
use super::provenance::{ErrorBand, Hull, Load, Origin, Provenance};

/// The step time of a replica, chosen from the best source there is.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ResolvedStepTime {
    /// The law.
    pub law: StepLaw,
    /// Its coefficients where the source has them in that form.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub coefficients: Option<StepCoefficients>,
    /// Where it comes from and how far off it may be.
    pub provenance: Provenance,
    /// Batch shapes it was fitted on; none for declared numbers and datasheets.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hull: Option<Hull>,
    /// What to bear in mind, in sentences.
    pub notes: Vec<String>,
    /// Better sources and why they do not apply.
    pub passed_over: Vec<PassedOver>,
}

/// A better source that does not apply.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PassedOver {
    /// Kind of source.
    pub origin: Origin,
    /// Why it does not apply.
    pub reason: String,
}

impl ResolvedStepTime {
    /// Coefficients that somebody typed; they must have passed [`StepCoefficients::check`].
    pub fn declared(coefficients: StepCoefficients, source: impl Into<String>) -> Self {
        Self::from_coefficients(
            coefficients,
            Provenance {
                origin: Origin::Declared,
                source: source.into(),
                licence: None,
                band: None,
                band_basis: None,
            },
            None,
        )
    }

    /// Coefficients fitted from the user's files, with the error and range of the fit.
    pub fn measured(
        coefficients: StepCoefficients,
        source: impl Into<String>,
        band: Option<ErrorBand>,
        band_basis: Option<String>,
        hull: Option<Hull>,
    ) -> Self {
        Self::from_coefficients(
            coefficients,
            Provenance {
                origin: Origin::Measured,
                source: source.into(),
                licence: None,
                band,
                band_basis,
            },
            hull,
        )
    }

    /// A law given by coefficients.
    pub fn from_coefficients(
        coefficients: StepCoefficients,
        provenance: Provenance,
        hull: Option<Hull>,
    ) -> Self {
        Self {
            law: coefficients.law(),
            coefficients: Some(coefficients),
            provenance,
            hull,
            notes: Vec::new(),
            passed_over: Vec::new(),
        }
    }

    /// The law in picoseconds; see [`CompiledLaw::new`].
    pub fn compile(&self, max_tokens: u64, scale: f64, step_overhead_s: f64) -> CompiledLaw {
        CompiledLaw::new(&self.law, max_tokens, scale, step_overhead_s)
    }

    /// In which respects a load lies outside what was measured.
    pub fn extrapolations(&self, load: &Load) -> Vec<String> {
        self.hull.map_or_else(Vec::new, |hull| hull.extrapolations(load))
    }
}

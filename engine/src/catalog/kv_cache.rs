//! What attention costs on a cache in 8 bits against one in 16, measured on the same kernels.
//!
//! Half the bytes do not take half the time: values are widened before they are multiplied, and
//! prompts pay for that without reading less. `engine/examples/kv_cache_fp8.rs` derives the table.

use super::CATALOG;
use super::rows::{Citation, Sources, cite, filled};
use super::table::{Row, Table};
use crate::fleet::{KvPrecision, LayerGroup};
use crate::step_time::{Served, StepCoefficients, StepLaw};

/// Factors of one GPU and width of heads.
#[derive(Debug, Clone, PartialEq)]
pub struct KvCacheFactors {
    /// Id of the GPU.
    pub gpu: &'static str,
    /// Width of a head.
    pub head_dim: u32,
    /// Time to read a cached token in 8 bits over that in 16.
    pub decode: f64,
    /// Time of an attention pair of a prompt over that with a cache in 16 bits.
    pub prefill: f64,
    /// Where the kernel timings come from.
    pub citation: Citation,
}

pub(super) fn factors(
    text: &'static str,
    sources: &Sources,
) -> Result<Vec<KvCacheFactors>, String> {
    let factors = |row: Row<'_, 'static>| {
        Ok(KvCacheFactors {
            gpu: filled(row, "gpu")?,
            head_dim: row.count("head_dim")?.ok_or("no head_dim")?,
            decode: row.number("decode_factor")?,
            prefill: row.number("prefill_factor")?,
            citation: cite(filled(row, "source")?, sources)?,
        })
    };
    Table::parse(text)?.rows().map(factors).collect()
}

impl KvCacheFactors {
    /// Of a replica with its cache in 8 bits, if its GPU and the width of its heads were measured.
    pub(super) fn of(served: &Served<'_>, gpu: &str) -> Option<&'static Self> {
        let width = |group: &LayerGroup| match group {
            LayerGroup::Full { head_dim, .. } => Some(*head_dim),
            _ => None,
        };
        let head_dim = served.model.layer_groups.iter().find_map(width)?;
        let measured = |row: &&Self| row.gpu == gpu && row.head_dim == head_dim;
        CATALOG.kv_cache.iter().find(measured).filter(|_| served.precision.kv == KvPrecision::Fp8)
    }

    /// Coefficients measured with a cache in 16 bits, for one in 8.
    pub(super) fn applied(&self, coefficients: &StepCoefficients) -> StepCoefficients {
        StepCoefficients {
            c2_s_per_pair: self.prefill * coefficients.c2_s_per_pair,
            c4_s_per_kv_token: self.decode * coefficients.c4_s_per_kv_token,
            ..coefficients.clone()
        }
    }

    /// A law that takes time for bytes, so that reading half of them takes half, as it was measured.
    pub(super) fn corrected(&self, law: StepLaw) -> StepLaw {
        StepLaw {
            s_per_pair: self.prefill * law.s_per_pair,
            s_per_kv_token: 2.0 * self.decode * law.s_per_kv_token,
            ..law
        }
    }

    /// What was done, for the notes of a step time.
    pub(super) fn note(&self) -> String {
        format!(
            "The cache in 8 bits: reading a cached token takes {:.0} % of the time of one in 16 bits \
             and an attention pair of a prompt {:.0} %, as kernels of {} measured.",
            100.0 * self.decode,
            100.0 * self.prefill,
            self.gpu
        )
    }
}

//! A GPU by its datasheet numbers.

use serde::{Deserialize, Serialize};

use crate::problem::Problem;

/// One GPU. Rates are dense (never 2:4 sparse) peaks; links are per GPU and per direction.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GpuSpec {
    /// Catalogue id, or any name for a GPU entered by numbers.
    pub name: String,
    /// Memory as the vendor prints it, GiB.
    pub memory_gib: f64,
    /// Memory that the driver reports as usable, GiB; used instead of the printed figure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_usable_gib: Option<f64>,
    /// Memory bandwidth, TB/s (1e12 bytes per second).
    pub memory_bandwidth_tb_s: f64,
    /// Dense 16-bit matrix rate, TFLOPS.
    pub bf16_tflops: f64,
    /// Dense 8-bit floating-point matrix rate, TFLOPS; none if the GPU has no such units.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fp8_tflops: Option<f64>,
    /// Dense 4-bit floating-point matrix rate, TFLOPS; none if the GPU has no such units.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fp4_tflops: Option<f64>,
    /// Scale-up link (`NVLink`, Infinity Fabric, ICI), GB/s per direction; none over PCIe only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scale_up_gb_s: Option<f64>,
    /// GPUs joined by the scale-up link; 1 without one.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub scale_up_gpus: u32,
    /// PCIe, GB/s per direction.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pcie_gb_s: Option<f64>,
}

fn one() -> u32 {
    1
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands over a reference")]
fn is_one(n: &u32) -> bool {
    *n == 1
}

impl GpuSpec {
    /// Memory the engine can address, GiB: the reported figure where known, else the nominal one.
    pub fn addressable_gib(&self) -> f64 {
        self.memory_usable_gib.unwrap_or(self.memory_gib)
    }

    /// Memory bandwidth, bytes per second.
    pub fn memory_bandwidth_bytes_per_s(&self) -> f64 {
        self.memory_bandwidth_tb_s * 1e12
    }

    /// The link that a group of `gpus` exchanges activations over, bytes per second and
    /// direction: the scale-up link while the group fits inside its domain, else PCIe.
    pub fn group_link_bytes_per_s(&self, gpus: u32) -> Option<f64> {
        let scale_up = self.scale_up_gb_s.filter(|_| gpus <= self.scale_up_gpus);
        scale_up.or(self.pcie_gb_s).map(|gb_s| gb_s * 1e9)
    }

    /// Everything that is wrong with the numbers; paths are relative to the GPU.
    pub fn check(&self) -> Vec<Problem> {
        let mut problems = Vec::new();
        let mut positive = |path: &str, value: Option<f64>, unit: &str| {
            if value.is_some_and(|v| !(v.is_finite() && v > 0.0)) {
                problems.push(Problem::error(
                    path,
                    format!("{} is no {unit}", value.unwrap_or_default()),
                    "a number above 0",
                ));
            }
        };
        positive("memory_gib", Some(self.memory_gib), "memory size in GiB");
        positive("memory_usable_gib", self.memory_usable_gib, "memory size in GiB");
        positive("memory_bandwidth_tb_s", Some(self.memory_bandwidth_tb_s), "bandwidth in TB/s");
        positive("bf16_tflops", Some(self.bf16_tflops), "rate in TFLOPS");
        positive("fp8_tflops", self.fp8_tflops, "rate in TFLOPS");
        positive("fp4_tflops", self.fp4_tflops, "rate in TFLOPS");
        positive("scale_up_gb_s", self.scale_up_gb_s, "link rate in GB/s");
        positive("pcie_gb_s", self.pcie_gb_s, "link rate in GB/s");
        if self.scale_up_gpus == 0 {
            problems.push(Problem::error(
                "scale_up_gpus",
                "a scale-up domain of 0 GPUs does not exist",
                "1 without a scale-up link, else the GPUs it joins (8 for an HGX board)",
            ));
        }
        if self.memory_usable_gib.is_some_and(|usable| usable > self.memory_gib) {
            problems.push(Problem::error(
                "memory_usable_gib",
                "more memory is usable than the GPU has",
                format!("at most memory_gib, {}", self.memory_gib),
            ));
        }
        problems
    }
}

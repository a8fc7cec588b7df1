//! A GPU by its datasheet numbers.

use serde::{Deserialize, Serialize};

use crate::counted::typed;
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

/// Memory that a GPU may have, GiB; like the ranges below far wider than any GPU's, so that a typing
/// error in the unit is caught and no time or size that follows can overflow.
const MEMORY_GIB: (f64, f64) = (0.1, 1e5);
const BANDWIDTH_TB_S: (f64, f64) = (1e-3, 1e4);
const TFLOPS: (f64, f64) = (1e-2, 1e7);
const LINK_GB_S: (f64, f64) = (1e-2, 1e6);

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
        let mut within = |path: &str, value: Option<f64>, unit: &str, (low, high): (f64, f64)| {
            if let Some(value) = value.filter(|value| !(low..=high).contains(value)) {
                problems.push(Problem::error(
                    path,
                    format!("{value} is no {unit}", value = typed(value)),
                    format!("{low} to {high}"),
                ));
            }
        };
        within("memory_gib", Some(self.memory_gib), "memory size in GiB", MEMORY_GIB);
        within("memory_usable_gib", self.memory_usable_gib, "memory size in GiB", MEMORY_GIB);
        let bandwidth = Some(self.memory_bandwidth_tb_s);
        within("memory_bandwidth_tb_s", bandwidth, "bandwidth in TB/s", BANDWIDTH_TB_S);
        within("bf16_tflops", Some(self.bf16_tflops), "rate in TFLOPS", TFLOPS);
        within("fp8_tflops", self.fp8_tflops, "rate in TFLOPS", TFLOPS);
        within("fp4_tflops", self.fp4_tflops, "rate in TFLOPS", TFLOPS);
        within("scale_up_gb_s", self.scale_up_gb_s, "link rate in GB/s", LINK_GB_S);
        within("pcie_gb_s", self.pcie_gb_s, "link rate in GB/s", LINK_GB_S);
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

#[cfg(test)]
mod tests {
    use super::*;

    type Set = fn(&mut GpuSpec, f64);

    #[test]
    fn every_number_has_a_range_and_says_it() {
        let fields: [(&str, Set); 8] = [
            ("memory_gib", |gpu, v| gpu.memory_gib = v),
            ("memory_usable_gib", |gpu, v| gpu.memory_usable_gib = Some(v)),
            ("memory_bandwidth_tb_s", |gpu, v| gpu.memory_bandwidth_tb_s = v),
            ("bf16_tflops", |gpu, v| gpu.bf16_tflops = v),
            ("fp8_tflops", |gpu, v| gpu.fp8_tflops = Some(v)),
            ("fp4_tflops", |gpu, v| gpu.fp4_tflops = Some(v)),
            ("scale_up_gb_s", |gpu, v| gpu.scale_up_gb_s = Some(v)),
            ("pcie_gb_s", |gpu, v| gpu.pcie_gb_s = Some(v)),
        ];
        let known = GpuSpec {
            name: "a GPU".to_owned(),
            memory_gib: 80.0,
            memory_usable_gib: None,
            memory_bandwidth_tb_s: 3.0,
            bf16_tflops: 900.0,
            fp8_tflops: None,
            fp4_tflops: None,
            scale_up_gb_s: None,
            scale_up_gpus: 1,
            pcie_gb_s: None,
        };
        assert_eq!(known.check(), vec![]);
        for (path, set) in fields {
            for wrong in [0.0, -1.0, 1e-9, 5e-324, 1e9, 1e308, f64::INFINITY, f64::NAN] {
                let mut gpu = known.clone();
                set(&mut gpu, wrong);
                let problems = gpu.check();
                let problem = problems.iter().find(|p| p.path == path).expect(path);
                assert!(problem.hint.contains(" to "), "{problem:?}");
            }
        }
    }
}

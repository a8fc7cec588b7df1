//! The statistics tools print of a latency, by the names they print them under.

use super::LatencyStats;

/// One statistic.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Stat {
    Mean,
    Std,
    Min,
    Max,
    /// Share of the sample at or below; 0.5 is the median.
    Percentile(f64),
}

impl Stat {
    /// `mean`, `median`, `p99`, `p99.9`, `p99p9` and their like, in lower case.
    pub(super) fn parse(name: &str) -> Option<Self> {
        match name {
            "mean" | "avg" | "average" => return Some(Self::Mean),
            "median" => return Some(Self::Percentile(0.5)),
            "std" | "stddev" | "std_dev" | "stdev" => return Some(Self::Std),
            "min" | "minimum" => return Some(Self::Min),
            "max" | "maximum" => return Some(Self::Max),
            _ => {}
        }
        let rank = name.strip_prefix('p')?.replace('p', ".");
        let plain = rank.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
        let percent: f64 = plain.then(|| rank.parse().ok()).flatten()?;
        // `p999` and `p001` are 99.9 and 0.1.
        let thousandths = rank.len() == 3 && (rank.starts_with("99") || rank.starts_with("00"));
        let percent = if thousandths { percent / 10.0 } else { percent };
        (percent > 0.0 && percent < 100.0).then_some(Self::Percentile(percent / 100.0))
    }
}

impl LatencyStats {
    pub(super) fn set(&mut self, stat: Stat, ms: f64) {
        match stat {
            Stat::Mean => self.mean_ms = Some(ms),
            Stat::Std => self.std_ms = Some(ms),
            Stat::Min => self.min_ms = Some(ms),
            Stat::Max => self.max_ms = Some(ms),
            Stat::Percentile(share) => self.set_percentile(share, ms),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_spelling_of_a_percentile_is_known() {
        for (name, share) in [
            ("p50", 0.5),
            ("median", 0.5),
            ("p99", 0.99),
            ("p99.9", 0.999),
            ("p99p9", 0.999),
            ("p999", 0.999),
            ("p001", 0.001),
            ("p05", 0.05),
        ] {
            let Some(Stat::Percentile(found)) = Stat::parse(name) else { panic!("{name}") };
            assert!((found - share).abs() < 1e-12, "{name}");
        }
    }

    #[test]
    fn what_is_no_statistic_is_none() {
        for name in ["", "p", "p0", "p100", "p101", "pinf", "p-1", "p9.9.9", "p1e1", "prompt"] {
            assert_eq!(Stat::parse(name), None, "{name}");
        }
    }
}

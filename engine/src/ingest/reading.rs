//! Reading values out of a tree: what cannot be is left out and said once.

use super::parsed::RowRemarks;
use super::quantity::{Unusable, count, quantity};
use super::stat::Stat;
use super::tree::Node;
use super::{Definition, LatencyStats, Length, LengthSource, Weighting};

/// Where remarks about the values of one run go.
pub(super) struct Reading<'r> {
    /// Line the run begins on.
    pub line: u64,
    pub remarks: &'r mut RowRemarks,
}

impl Reading<'_> {
    pub(super) fn remark(&mut self, text: impl Into<String>) {
        self.remarks.add(self.line, text);
    }

    /// The first of several paths, as a quantity that cannot be negative.
    pub(super) fn quantity(&mut self, node: &Node, paths: &[&str]) -> Option<f64> {
        self.checked(node, paths, quantity)
    }

    /// The same, as a count.
    pub(super) fn count(&mut self, node: &Node, paths: &[&str]) -> Option<u64> {
        self.checked(node, paths, count)
    }

    /// A mean length, measured.
    pub(super) fn length(&mut self, node: &Node, paths: &[&str]) -> Option<Length> {
        let mean_tokens = self.quantity(node, paths)?;
        Some(Length { mean_tokens, source: LengthSource::Measured })
    }

    fn checked<T>(
        &mut self,
        node: &Node,
        paths: &[&str],
        check: impl Fn(f64) -> Result<T, Unusable>,
    ) -> Option<T> {
        let (path, value) = paths.iter().find_map(|path| Some((*path, node.at(path)?)))?;
        self.usable(path, value, check)
    }

    fn usable<T>(
        &mut self,
        path: &str,
        value: &Node,
        check: impl Fn(f64) -> Result<T, Unusable>,
    ) -> Option<T> {
        let Some(number) = value.number() else {
            self.remark(format!("{path} is not a number and was left out"));
            return None;
        };
        check(number)
            .map_err(|unusable| {
                self.remark(format!("{path} is {} and was left out", unusable.words()));
            })
            .ok()
    }

    /// The statistics at `path`, a map from `mean`, `p99` … to values of `unit_ms` milliseconds.
    pub(super) fn stats(
        &mut self,
        node: &Node,
        path: &str,
        unit_ms: f64,
        tags: (Definition, Weighting),
    ) -> Option<LatencyStats> {
        self.stats_of(node.at(path)?, &Stat::parse, &format!("{path}/"), unit_ms, tags)
    }

    /// The same of keys that stand beside others, where `stat_of` knows the statistic of a key.
    pub(super) fn flat_stats(
        &mut self,
        node: &Node,
        stat_of: &dyn Fn(&str) -> Option<Stat>,
        unit_ms: f64,
        tags: (Definition, Weighting),
    ) -> Option<LatencyStats> {
        self.stats_of(node, stat_of, "", unit_ms, tags)
    }

    fn stats_of(
        &mut self,
        node: &Node,
        stat_of: &dyn Fn(&str) -> Option<Stat>,
        within: &str,
        unit_ms: f64,
        (definition, weighting): (Definition, Weighting),
    ) -> Option<LatencyStats> {
        let mut stats = LatencyStats::new(definition, weighting);
        for (name, value) in node.entries().iter().filter(|(_, value)| *value != Node::Null) {
            let Some(stat) = stat_of(name) else { continue };
            if let Some(value) = self.usable(&format!("{within}{name}"), value, quantity) {
                stats.set(stat, value * unit_ms);
            }
        }
        (!stats.is_empty()).then_some(stats)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statistics_are_scaled_and_what_cannot_be_is_told() {
        let text = r#"{"ttft": {"mean": 0.5, "median": 0.4, "p99.9": 2, "min": -1, "p90": "NaN",
            "max": null, "unit": "s"}}"#;
        let node: Node = serde_json::from_str(text).unwrap();
        let mut remarks = RowRemarks::default();
        let mut reading = Reading { line: 7, remarks: &mut remarks };
        let tags = (Definition::SendToFirstToken, Weighting::PerRequest);
        let stats = reading.stats(&node, "ttft", 1e3, tags).unwrap();
        assert_eq!((stats.mean_ms, stats.min_ms, stats.max_ms), (Some(500.0), None, None));
        assert_eq!((stats.percentile(0.5), stats.percentile(0.999)), (Some(400.0), Some(2000.0)));
        assert_eq!(stats.percentile(0.9), None);
        assert_eq!(reading.stats(&node, "tpot", 1e3, tags), None);
        let mut notes = super::super::Notes::new("runs");
        notes.remark_all(remarks);
        let told = [
            "ttft/min is negative and was left out (line 7)",
            "ttft/p90 is not finite and was left out (line 7)",
        ];
        assert_eq!(notes.remarks, told);
    }
}

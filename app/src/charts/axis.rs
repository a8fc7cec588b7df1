//! Scales and their ticks: always finite, ordered and of some width, whatever the data.

use goodput_engine::math;

/// A value on an axis and the text beside it.
#[derive(Debug, Clone, PartialEq)]
pub struct Tick {
    /// Where.
    pub at: f64,
    /// What it says.
    pub label: String,
}

/// A linear axis from zero with three to five gridlines above it.
#[derive(Debug, Clone, PartialEq)]
pub struct LinearAxis {
    /// The last gridline.
    pub top: f64,
    /// Zero and the gridlines.
    pub ticks: Vec<Tick>,
}

impl LinearAxis {
    /// An axis that holds `max`; labels by `label`.
    pub fn holding(max: f64, label: impl Fn(f64) -> String) -> Self {
        let max = if max.is_finite() && max > 0.0 { max } else { 1.0 };
        // Of the steps that give three to five gridlines, the one that ends closest above.
        let lines = |step: f64| (max / step - 1e-9).ceil().max(1.0);
        let step = [4.0, 5.0, 3.0]
            .map(|n| nice_step(max / n))
            .into_iter()
            .min_by(|a, b| (lines(*a) * a).total_cmp(&(lines(*b) * b)))
            .unwrap_or(1.0);
        let count = lines(step);
        let ticks = (0_u8..=20)
            .map(f64::from)
            .take_while(|i| *i <= count)
            .map(|i| Tick { at: i * step, label: label(i * step) })
            .collect();
        Self { top: count * step, ticks }
    }
}

/// The smallest of 1, 2, 2.5, 5, 10 × 10ⁿ that is not below `rough`.
fn nice_step(rough: f64) -> f64 {
    let magnitude = math::pow(10.0, math::log10(rough).floor());
    let scaled = rough / magnitude;
    let nice = [1.0, 2.0, 2.5, 5.0, 10.0].into_iter().find(|n| *n >= scaled - 1e-9).unwrap_or(10.0);
    nice * magnitude
}

/// A logarithmic axis in milliseconds with a tick at each decade.
#[derive(Debug, Clone, PartialEq)]
pub struct LogAxis {
    /// Lower end, above zero.
    pub low: f64,
    /// Upper end, above `low`.
    pub high: f64,
    /// Decades in between.
    pub ticks: Vec<Tick>,
}

impl LogAxis {
    /// From `low` to `high`, mended where they are not positive, finite and ordered.
    pub fn between(low: f64, high: f64, label: impl Fn(f64) -> String) -> Self {
        let low = if low.is_finite() && low > 1e-9 { low } else { 1.0 };
        let high = if high.is_finite() && high > low * 1.01 { high } else { low * 10.0 };
        let first = math::log10(low).ceil();
        let ticks = (0_u8..40)
            .map(|i| math::pow(10.0, first + f64::from(i)).min(f64::MAX))
            .take_while(|at| *at <= high * (1.0 + 1e-9))
            .map(|at| Tick { at, label: label(at) })
            .collect();
        Self { low, high, ticks }
    }

    /// Position of a value, 0 at the lower and 1 at the upper end; outside values go to the ends.
    pub fn place(&self, value: f64) -> f64 {
        if value.is_nan() || value <= self.low {
            return 0.0;
        }
        let span = math::ln(self.high / self.low);
        (math::ln(value.min(self.high) / self.low) / span).clamp(0.0, 1.0)
    }
}

/// An axis of time from zero, in the unit that fits its length.
#[derive(Debug, Clone, PartialEq)]
pub struct TimeAxis {
    /// End, seconds.
    pub end_s: f64,
    /// At round moments, the last with the unit.
    pub ticks: Vec<Tick>,
}

impl TimeAxis {
    /// From zero to `end_s`.
    pub fn to(end_s: f64) -> Self {
        let end_s = if end_s.is_finite() && end_s > 0.0 { end_s } else { 1.0 };
        let (unit_s, unit) = match end_s {
            e if e <= 180.0 => (1.0, "s"),
            e if e <= 10_800.0 => (60.0, "min"),
            e if e <= 172_800.0 => (3_600.0, "h"),
            _ => (86_400.0, "d"),
        };
        let units = end_s / unit_s;
        let step = nice_time_step(units / 6.0, unit);
        let mut ticks: Vec<Tick> = (0_u8..=12)
            .map(|i| f64::from(i) * step)
            .take_while(|at| *at <= units * (1.0 + 1e-9))
            .map(|at| Tick { at: at * unit_s, label: crate::format::significant(at) })
            .collect();
        if let Some(last) = ticks.last_mut() {
            last.label = format!("{} {unit}", last.label);
        }
        Self { end_s, ticks }
    }
}

/// A step that clocks have: 1, 2, 5, 10, 15, 20, 30 of a unit; 1, 2, 3, 4, 6, 12 hours.
fn nice_time_step(rough: f64, unit: &str) -> f64 {
    let steps: &[f64] = match unit {
        "h" => &[0.5, 1.0, 2.0, 3.0, 4.0, 6.0, 12.0],
        "d" => &[0.5, 1.0, 2.0, 5.0],
        _ => &[0.1, 0.2, 0.5, 1.0, 2.0, 3.0, 5.0, 6.0, 10.0, 15.0, 20.0, 30.0],
    };
    steps.iter().copied().find(|s| *s >= rough - 1e-9).unwrap_or_else(|| nice_step(rough))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format;

    #[test]
    fn round_steps_hold_the_data() {
        let axis = LinearAxis::holding(100_000.0, format::short);
        let labels: Vec<&str> = axis.ticks.iter().map(|t| t.label.as_str()).collect();
        assert_eq!(labels, ["0", "25k", "50k", "75k", "100k"]);
        let axis = TimeAxis::to(2_160.0);
        let labels: Vec<&str> = axis.ticks.iter().map(|t| t.label.as_str()).collect();
        assert_eq!(labels, ["0", "6", "12", "18", "24", "30", "36 min"]);
        let axis = LogAxis::between(8.0, 120_000.0, format::millis);
        assert_eq!(axis.ticks.len(), 5);
        assert!((axis.place(8.0), axis.place(1e9)) == (0.0, 1.0));
    }

    #[test]
    fn no_input_gives_an_axis_without_width() {
        let odd = [0.0, -5.0, f64::NAN, f64::INFINITY, 1e-300, 1e300, 3.3, 1e-7];
        for a in odd {
            let linear = LinearAxis::holding(a, format::short);
            assert!(linear.top.is_finite() && linear.top > 0.0, "{a}");
            assert!((2..=7).contains(&linear.ticks.len()), "{a}: {}", linear.ticks.len());
            let time = TimeAxis::to(a);
            assert!(time.end_s.is_finite() && !time.ticks.is_empty(), "{a}");
            for b in odd {
                let log = LogAxis::between(a, b, format::millis);
                assert!(log.low > 0.0 && log.high > log.low && log.high.is_finite(), "{a} {b}");
                for x in odd {
                    assert!((0.0..=1.0).contains(&log.place(x)), "{a} {b} {x}");
                }
            }
        }
    }
}

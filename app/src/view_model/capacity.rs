//! Capacity is not a constant: what changes as answers or prompts grow, or as batches fill.

use goodput_engine::estimate::{Capacity, CapacityAxis};

use crate::charts::{CapacityChart, CapacityUnit};
use crate::format;

/// What is varied: its name in choices, and as below the axis.
pub const AXES: [(&str, &str, CapacityAxis); 3] = [
    ("output", "mean output tokens", CapacityAxis::Output),
    ("prompt", "mean prompt tokens", CapacityAxis::Prompt),
    ("batch", "sequences decoding on one replica", CapacityAxis::Batch),
];

/// In what it is drawn.
pub const UNITS: [(&str, CapacityUnit); 3] = [
    ("decode", CapacityUnit::Decode),
    ("prefill", CapacityUnit::Prefill),
    ("requests", CapacityUnit::Requests),
];

/// The chart of a table, and its finding.
pub fn chart(capacity: &Capacity, unit: CapacityUnit) -> (CapacityChart, String) {
    let named = AXES.iter().find(|(_, _, axis)| *axis == capacity.over);
    let over = named.map_or("", |(_, over, _)| *over);
    let chart = CapacityChart { over, unit, points: capacity.points.clone() };
    let caption = caption(&chart);
    (chart, caption)
}

/// `From 5,120 to 25,000 output tokens per second, most at 256 …`.
fn caption(chart: &CapacityChart) -> String {
    let sustained = || chart.points.iter().map(|p| (chart.unit.of(p).0, p));
    let by_rate = |a: &(f64, _), b: &(f64, _)| a.0.total_cmp(&b.0);
    let Some((most, least)) = sustained().max_by(by_rate).zip(sustained().min_by(by_rate)) else {
        return "There is no point to compute".to_owned();
    };
    let mut text = format!(
        "The same fleet sustains from {} to {} {}: most at {} {}",
        format::significant(least.0),
        format::significant(most.0),
        chart.unit.phrase(),
        format::significant(most.1.value),
        chart.over,
    );
    if let Some(here) = chart.points.iter().find(|p| p.is_present) {
        let (sustained, in_time) = chart.unit.of(here);
        let within = in_time.map_or_else(String::new, |rate| {
            format!(", {} of it within the limits", format::significant(rate))
        });
        text = format!("{text}; here {}{within}", format::significant(sustained));
    }
    // An estimate of the mean request: said where the numbers are read.
    format!("{text}. By arithmetic: no queues, no bursts")
}

#[cfg(test)]
mod tests {
    use super::*;
    use goodput_engine::estimate::capacity;
    use goodput_engine::scenario::{check, presets};

    #[test]
    fn the_caption_names_the_best_point_and_the_present_one() {
        let doc = &presets::presets()[0].doc;
        let scenario = check(doc).expect("a preset").scenario;
        for (_, over, axis) in AXES {
            let table = capacity(&scenario, axis).expect("a table");
            let (chart, caption) = chart(&table, CapacityUnit::Decode);
            assert_eq!(chart.over, over);
            assert!(caption.contains(over) && caption.contains("; here "), "{caption}");
        }
    }
}

//! Rate profiles by their shape: a wave, a spike, a ramp, days and weeks.
//!
//! Each is drawn in straight pieces, so that its count stays exactly invertible; means are exact,
//! curves are followed within a thousandth of their height.

use std::f64::consts::TAU;

use super::profile::RateProfile;
use crate::counted::typed;
use crate::math;
use crate::problem::Problem;
use crate::units::MAX_HORIZON_S;

/// Straight pieces of one wave.
const WAVE_PIECES: u32 = 180;

/// Straight pieces of a day: five minutes each.
const DAY_PIECES: u32 = 288;

const DAY_S: f64 = 86_400.0;

/// The highest peak of a day over its mean.
pub const MAX_PEAK_OVER_MEAN: f64 = 8.0;

/// A wave between `min_rps` and `max_rps`, requests per second, once every `period_s`. It begins
/// `phase` of a period after its minimum, 0 to below 1.
pub fn sinusoid(
    min_rps: f64,
    max_rps: f64,
    period_s: f64,
    phase: f64,
) -> Result<RateProfile, Vec<Problem>> {
    let mut problems = Vec::new();
    rate("min_rps", min_rps, &mut problems);
    rate("max_rps", max_rps, &mut problems);
    if problems.is_empty() && max_rps < min_rps {
        problems.push(Problem::error(
            "max_rps",
            format!(
                "the highest rate of {max_rps} is below the lowest of {min_rps}",
                max_rps = typed(max_rps),
                min_rps = typed(min_rps)
            ),
            "give a highest rate of at least the lowest",
        ));
    } else if problems.is_empty() && max_rps <= 0.0 {
        problems.push(nobody("max_rps"));
    }
    span("period_s", "the period", period_s, &mut problems);
    if !(0.0..1.0).contains(&phase) {
        problems.push(Problem::error(
            "phase",
            format!("the phase is {phase} of a period", phase = typed(phase)),
            "give 0 (at the minimum) to below 1; half a period is at the maximum",
        ));
    }
    refuse(problems)?;
    let (middle, swing) = (f64::midpoint(min_rps, max_rps), (max_rps - min_rps) / 2.0);
    let points: Vec<_> = (0..=WAVE_PIECES)
        .map(|i| {
            let share = f64::from(i) / f64::from(WAVE_PIECES);
            let rate = middle - swing * math::cos(TAU * (share + phase));
            (share * period_s, rate.clamp(min_rps, max_rps))
        })
        .collect();
    RateProfile::repeating(&points)
}

/// `base_rps`, and from `start_s` for `duration_s` a peak of `peak_rps`, reached and left in
/// `ramp_s` each; 0 jumps.
pub fn spike(
    base_rps: f64,
    peak_rps: f64,
    start_s: f64,
    duration_s: f64,
    ramp_s: f64,
) -> Result<RateProfile, Vec<Problem>> {
    let mut problems = Vec::new();
    rate("base_rps", base_rps, &mut problems);
    rate("peak_rps", peak_rps, &mut problems);
    moment("start_s", "the spike begins at", start_s, &mut problems);
    span("duration_s", "the spike", duration_s, &mut problems);
    moment("ramp_s", "each side of the spike takes", ramp_s, &mut problems);
    if problems.is_empty() && base_rps.max(peak_rps) <= 0.0 {
        problems.push(nobody("peak_rps"));
    }
    refuse(problems)?;
    let (up, down) = (start_s + ramp_s, start_s + ramp_s + duration_s);
    RateProfile::new(&[
        (start_s, base_rps),
        (up, peak_rps),
        (down, peak_rps),
        (down + ramp_s, base_rps),
    ])
}

/// `from_rps` until `start_s`, then evenly to `to_rps` within `duration_s`, and so it stays.
pub fn ramp(
    from_rps: f64,
    to_rps: f64,
    start_s: f64,
    duration_s: f64,
) -> Result<RateProfile, Vec<Problem>> {
    let mut problems = Vec::new();
    rate("from_rps", from_rps, &mut problems);
    rate("to_rps", to_rps, &mut problems);
    moment("start_s", "the ramp begins at", start_s, &mut problems);
    span("duration_s", "the ramp", duration_s, &mut problems);
    if problems.is_empty() && from_rps.max(to_rps) <= 0.0 {
        problems.push(nobody("to_rps"));
    }
    refuse(problems)?;
    RateProfile::new(&[(start_s, from_rps), (start_s + duration_s, to_rps)])
}

/// Days, one like the other, from midnight on: `mean_rps`, at `peak_hour` `peak_over_mean` times
/// that.
///
/// The shape is exp(κ·cos θ), the von Mises density: one hump of any sharpness (Fisher 1993,
/// *Statistical Analysis of Circular Data*). A peak of 1 is a flat day.
pub fn days(
    mean_rps: f64,
    peak_over_mean: f64,
    peak_hour: f64,
) -> Result<RateProfile, Vec<Problem>> {
    weeks(mean_rps, peak_over_mean, peak_hour, 1.0)
}

/// Weeks from Monday midnight on: as [`days`], with `weekend_factor` times the rates of a working
/// day on Saturday and Sunday. `mean_rps` is the mean of the week, `peak_over_mean` that of a day.
pub fn weeks(
    mean_rps: f64,
    peak_over_mean: f64,
    peak_hour: f64,
    weekend_factor: f64,
) -> Result<RateProfile, Vec<Problem>> {
    let mut problems = Vec::new();
    rate("mean_rps", mean_rps, &mut problems);
    if problems.is_empty() && mean_rps <= 0.0 {
        problems.push(nobody("mean_rps"));
    }
    let mut within = |field: &str, what: &str, value: f64, low: f64, high: f64| {
        if !(low..=high).contains(&value) {
            problems.push(Problem::error(
                field,
                format!("{what} {value}", value = typed(value)),
                format!("give {low} to {high}"),
            ));
        }
    };
    within(
        "peak_over_mean",
        "the peak over the mean of a day is",
        peak_over_mean,
        1.0,
        MAX_PEAK_OVER_MEAN,
    );
    within("peak_hour", "the hour of the peak is", peak_hour, 0.0, 24.0);
    within("weekend_factor", "weekends over working days are", weekend_factor, 0.0, 10.0);
    refuse(problems)?;
    let day = day_over_mean(peak_over_mean, peak_hour);
    let working = mean_rps * 7.0 / (5.0 + 2.0 * weekend_factor);
    let mut points = Vec::new();
    for weekday in 0..7_u32 {
        let rate = if weekday < 5 { working } else { working * weekend_factor };
        let midnight = f64::from(weekday) * DAY_S;
        points.extend((0_u32..).zip(&day).map(|(i, over_mean)| {
            (midnight + f64::from(i) * DAY_S / f64::from(DAY_PIECES), rate * over_mean)
        }));
    }
    RateProfile::repeating(&points)
}

/// A day's rates over their mean at the edges of its pieces, from midnight to midnight.
fn day_over_mean(peak_over_mean: f64, peak_hour: f64) -> Vec<f64> {
    let hump = |kappa: f64| {
        let edges = (0..=DAY_PIECES).map(|i| {
            let angle = TAU * (f64::from(i) / f64::from(DAY_PIECES) - peak_hour / 24.0);
            math::exp(kappa * (math::cos(angle) - 1.0))
        });
        edges.collect::<Vec<_>>()
    };
    // The first and the last edge are the same moment of the day.
    let mean = |edges: &[f64]| edges[1..].iter().sum::<f64>() / f64::from(DAY_PIECES);
    // Peak over mean grows with κ: 1 at 0, above the limit at 64.
    let (mut low, mut high) = (0.0, 64.0);
    for _ in 0..50 {
        let middle = f64::midpoint(low, high);
        if mean(&hump(middle)) * peak_over_mean > 1.0 { low = middle } else { high = middle }
    }
    let edges = hump(low);
    let mean = mean(&edges);
    edges.into_iter().map(|edge| edge / mean).collect()
}

fn rate(field: &str, rate_rps: f64, problems: &mut Vec<Problem>) {
    if !rate_rps.is_finite() || rate_rps < 0.0 {
        problems.push(Problem::error(
            field,
            format!("the rate is {rate_rps} requests per second", rate_rps = typed(rate_rps)),
            "give a rate of 0 or more",
        ));
    }
}

fn nobody(field: &str) -> Problem {
    Problem::error(field, "the rate is 0 always, so nobody ever asks", "give a rate above 0")
}

fn span(field: &str, what: &str, seconds: f64, problems: &mut Vec<Problem>) {
    if !(1e-3..=MAX_HORIZON_S).contains(&seconds) {
        problems.push(Problem::error(
            field,
            format!("{what} is {seconds} s long", seconds = typed(seconds)),
            format!("give 0.001 to {longest} s", longest = typed(MAX_HORIZON_S)),
        ));
    }
}

fn moment(field: &str, what: &str, seconds: f64, problems: &mut Vec<Problem>) {
    if !(0.0..=MAX_HORIZON_S).contains(&seconds) {
        problems.push(Problem::error(
            field,
            format!("{what} {seconds} s", seconds = typed(seconds)),
            format!("give 0 to {longest} s", longest = typed(MAX_HORIZON_S)),
        ));
    }
}

fn refuse(problems: Vec<Problem>) -> Result<(), Vec<Problem>> {
    if problems.is_empty() { Ok(()) } else { Err(problems) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(a: f64, b: f64, tolerance: f64) {
        assert!((a - b).abs() <= tolerance * b.abs().max(1e-9), "{a} is not {b}");
    }

    /// The wave of a published case: 1 to 8 requests per second over 900 s, from its minimum.
    #[test]
    fn a_wave_has_its_extremes_its_mean_and_its_debt_over_a_capacity() {
        let wave = sinusoid(1.0, 8.0, 900.0, 0.0).unwrap();
        for (t_s, rate) in [(0.0, 1.0), (225.0, 4.5), (450.0, 8.0), (675.0, 4.5), (900.0, 1.0)] {
            close(wave.rate_at(t_s), rate, 1e-9);
        }
        close(wave.count_at(900.0), 4_050.0, 1e-12);
        close(wave.count_at(27.0 * 900.0 + 450.0), 27.5 * 4_050.0, 1e-12);
        // Above 4.5 from 225 s to 675 s: debt 7·900/(2π).
        let debt = wave.count_at(675.0) - wave.count_at(225.0) - 450.0 * 4.5;
        close(debt, 1_002.7, 1e-3);
        let from_the_top = sinusoid(1.0, 8.0, 900.0, 0.5).unwrap();
        close(from_the_top.rate_at(0.0), 8.0, 1e-9);
        close(from_the_top.rate_at(100.0), wave.rate_at(550.0), 1e-9);
    }

    #[test]
    fn a_repeated_profile_inverts_its_count_in_every_lap() {
        let wave = sinusoid(0.0, 3.0, 60.0, 0.25).unwrap();
        for i in 0..4_000 {
            let t_s = f64::from(i) * 0.737;
            let back = wave.time_of(wave.count_at(t_s)).unwrap();
            assert!((back - t_s).abs() < 1e-3, "{t_s} came back as {back}");
        }
        let doubled = wave.scaled(2.0);
        close(doubled.count_at(1_234.5), 2.0 * wave.count_at(1_234.5), 1e-12);
    }

    #[test]
    fn a_spike_and_a_ramp_have_their_corners() {
        let spike = spike(2.0, 20.0, 100.0, 30.0, 10.0).unwrap();
        for (t_s, rate) in [(0.0, 2.0), (105.0, 11.0), (120.0, 20.0), (145.0, 11.0), (1e4, 2.0)] {
            close(spike.rate_at(t_s), rate, 1e-9);
        }
        close(spike.count_at(200.0), 2.0 * 200.0 + 18.0 * 40.0, 1e-12);
        let ramp = ramp(1.0, 5.0, 10.0, 20.0).unwrap();
        for (t_s, rate) in [(0.0, 1.0), (20.0, 3.0), (30.0, 5.0), (1e6, 5.0)] {
            close(ramp.rate_at(t_s), rate, 1e-9);
        }
    }

    #[test]
    fn a_day_has_the_mean_and_the_peak_asked_for() {
        for (peak_over_mean, peak_hour) in [(1.0, 0.0), (1.5, 14.0), (2.98, 9.3), (8.0, 24.0)] {
            let day = days(7.0, peak_over_mean, peak_hour).unwrap();
            close(day.count_at(DAY_S), 7.0 * DAY_S, 1e-9);
            close(day.count_at(5.0 * DAY_S), 35.0 * DAY_S, 1e-9);
            close(day.rate_at(peak_hour * 3_600.0), 7.0 * peak_over_mean, 1e-3);
            close(day.peak_rps(), 7.0 * peak_over_mean, 1e-3);
        }
    }

    #[test]
    fn a_week_keeps_its_mean_and_rests_at_the_weekend() {
        let week = weeks(10.0, 2.0, 12.0, 0.3).unwrap();
        close(week.count_at(7.0 * DAY_S), 70.0 * DAY_S, 1e-9);
        let noon = |day: f64| week.rate_at((day + 0.5) * DAY_S);
        close(noon(5.0), 0.3 * noon(4.0), 1e-9);
        close(noon(7.0), noon(0.0), 1e-9);
    }

    #[test]
    fn every_shape_says_which_number_is_wrong() {
        type Case = (Result<RateProfile, Vec<Problem>>, &'static [&'static str]);
        let nan = f64::NAN;
        let cases: Vec<Case> = vec![
            (sinusoid(-1.0, nan, 0.0, 1.0), &["min_rps", "max_rps", "period_s", "phase"]),
            (sinusoid(5.0, 4.0, 60.0, 0.0), &["max_rps"]),
            (sinusoid(0.0, 0.0, 60.0, 0.0), &["max_rps"]),
            (
                spike(nan, -1.0, -1.0, 0.0, nan),
                &["base_rps", "peak_rps", "start_s", "duration_s", "ramp_s"],
            ),
            (spike(0.0, 0.0, 0.0, 1.0, 0.0), &["peak_rps"]),
            (ramp(-1.0, f64::INFINITY, nan, nan), &["from_rps", "to_rps", "start_s", "duration_s"]),
            (ramp(0.0, 0.0, 0.0, 1.0), &["to_rps"]),
            (days(0.0, 0.5, 25.0), &["mean_rps", "peak_over_mean", "peak_hour"]),
            (weeks(1.0, 9.0, 1.0, -1.0), &["peak_over_mean", "weekend_factor"]),
        ];
        for (result, paths) in cases {
            let problems = result.unwrap_err();
            assert_eq!(problems.iter().map(|p| p.path.as_str()).collect::<Vec<_>>(), paths);
            assert!(problems.iter().all(|p| !p.hint.is_empty()));
        }
    }
}

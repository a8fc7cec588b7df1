//! A fifth more arrivals, at the same times.

use crate::scenario::doc::ArrivalsDoc;

/// Factor on every rate.
const MORE: f64 = 1.2;

/// Raises every rate by a fifth; users of a closed loop are whole, and rounded up.
pub fn a_fifth_more(arrivals: &mut ArrivalsDoc) {
    use ArrivalsDoc as A;
    match arrivals {
        A::Poisson { rate_rps } | A::Constant { rate_rps } | A::Gamma { rate_rps, .. } => {
            *rate_rps *= MORE;
        }
        A::Bursts { quiet_rps, burst_rps, .. } => each([quiet_rps, burst_rps]),
        A::Profile { points, .. } => points.iter_mut().for_each(|point| point.rate_rps *= MORE),
        A::Sinusoid { min_rps, max_rps, .. } => each([min_rps, max_rps]),
        A::Spike { base_rps, peak_rps, .. } => each([base_rps, peak_rps]),
        A::Ramp { from_rps, to_rps, .. } => each([from_rps, to_rps]),
        A::Day { mean_rps, .. } | A::Week { mean_rps, .. } => *mean_rps *= MORE,
        A::Trace { rate_factor, .. } => *rate_factor *= MORE,
        A::ClosedLoop { users, .. } => {
            *users = users.saturating_add(users.div_ceil(5));
        }
    }
}

fn each<const N: usize>(rates: [&mut f64; N]) {
    for rate in rates {
        *rate *= MORE;
    }
}

//! Nelder–Mead: the minimum of a function that has no derivative, such as the error of a
//! simulation.
//!
//! Nelder, J. A. and Mead, R. (1965), A simplex method for function minimization, with the usual
//! coefficients: reflect 1, expand 2, contract ½, shrink ½.

/// Where a search ended.
#[derive(Debug, Clone, PartialEq)]
pub struct Minimum {
    /// The best point.
    pub at: Vec<f64>,
    /// The function there.
    pub value: f64,
    /// How often the function was asked.
    pub evaluations: usize,
}

/// The best and the worst corner differ by less than this share: nothing more is to be found.
const FLAT: f64 = 1e-7;

/// Goes downhill from `start` with a first simplex of edges `step`, for about `evaluations`
/// evaluations of `f` at most. Deterministic; a value that is not a number counts as infinite.
pub fn minimize(
    f: &mut dyn FnMut(&[f64]) -> f64,
    start: &[f64],
    step: f64,
    evaluations: usize,
) -> Minimum {
    let mut simplex = Simplex { f, corners: Vec::new(), evaluations: 0 };
    simplex.around(start, step);
    while simplex.evaluations < evaluations && !simplex.is_flat() {
        simplex.improve();
    }
    let evaluations = simplex.evaluations;
    let (at, value) = simplex.corners.swap_remove(0);
    Minimum { at, value, evaluations }
}

type Corner = (Vec<f64>, f64);

struct Simplex<'f> {
    f: &'f mut dyn FnMut(&[f64]) -> f64,
    /// In ascending order of value.
    corners: Vec<Corner>,
    evaluations: usize,
}

impl Simplex<'_> {
    fn around(&mut self, start: &[f64], step: f64) {
        let first = self.corner(start.to_vec());
        self.corners.push(first);
        for axis in 0..start.len() {
            let mut at = start.to_vec();
            at[axis] += step;
            let corner = self.corner(at);
            self.corners.push(corner);
        }
        self.sort();
    }

    fn corner(&mut self, at: Vec<f64>) -> Corner {
        self.evaluations += 1;
        let value = (self.f)(&at);
        (at, if value.is_nan() { f64::INFINITY } else { value })
    }

    /// A stable sort: of equal corners the older one stays the better.
    fn sort(&mut self) {
        self.corners.sort_by(|a, b| a.1.total_cmp(&b.1));
    }

    fn is_flat(&self) -> bool {
        let (best, worst) = (self.corners[0].1, self.corners[self.corners.len() - 1].1);
        worst - best <= FLAT * best.abs()
    }

    /// Replaces the worst corner, or draws all corners to the best.
    fn improve(&mut self) {
        let last = self.corners.len() - 1;
        let (best, next_worst, worst) =
            (self.corners[0].1, self.corners[last.saturating_sub(1)].1, self.corners[last].1);
        let reflected = self.along(-1.0);
        let better = if reflected.1 < best {
            let expanded = self.along(-2.0);
            if expanded.1 < reflected.1 { expanded } else { reflected }
        } else if reflected.1 < next_worst {
            reflected
        } else {
            let contracted = self.along(if reflected.1 < worst { -0.5 } else { 0.5 });
            if contracted.1 >= worst.min(reflected.1) {
                self.shrink();
                return;
            }
            contracted
        };
        self.corners[last] = better;
        self.sort();
    }

    /// The corner on the line from the centre of the others through the worst: 1 is the worst
    /// itself, −1 its reflection.
    fn along(&mut self, factor: f64) -> Corner {
        let (worst, others) = self.corners.split_last().expect("a simplex has corners");
        let at = (0..worst.0.len())
            .map(|axis| {
                let sum: f64 = others.iter().map(|corner| corner.0[axis]).sum();
                let centre = sum / others.len() as f64;
                centre + factor * (worst.0[axis] - centre)
            })
            .collect();
        self.corner(at)
    }

    fn shrink(&mut self) {
        let best = self.corners[0].0.clone();
        for index in 1..self.corners.len() {
            let old = &self.corners[index].0;
            let at = old.iter().zip(&best).map(|(x, b)| (x + b) / 2.0).collect();
            self.corners[index] = self.corner(at);
        }
        self.sort();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bottom_of_a_bowl_is_found_from_any_side() {
        let mut bowl = |x: &[f64]| (x[0] - 3.0) * (x[0] - 3.0) + 10.0 * (x[1] + 1.0) * (x[1] + 1.0);
        for start in [[0.0, 0.0], [10.0, -20.0], [3.0, -1.0]] {
            let found = minimize(&mut bowl, &start, 1.0, 400);
            assert!((found.at[0] - 3.0).abs() < 1e-3 && (found.at[1] + 1.0).abs() < 1e-3);
            assert!(found.value < 1e-6, "{found:?}");
        }
    }

    #[test]
    fn a_bent_valley_is_followed_to_its_end() {
        // Rosenbrock (1960): the minimum is at (1, 1).
        let mut valley = |x: &[f64]| {
            let (along, off) = (1.0 - x[0], x[1] - x[0] * x[0]);
            along * along + 100.0 * off * off
        };
        let found = minimize(&mut valley, &[-1.2, 1.0], 0.5, 1_000);
        assert!((found.at[0] - 1.0).abs() < 1e-3, "{found:?}");
    }

    #[test]
    fn it_stops_at_its_budget_and_passes_what_is_no_number() {
        let mut asked = 0_usize;
        let mut cliff = |x: &[f64]| {
            asked += 1;
            if x[0] < 0.0 { f64::NAN } else { x[0] }
        };
        let found = minimize(&mut cliff, &[1.0], 0.5, 50);
        assert!(found.value >= 0.0 && found.value < 0.1, "{found:?}");
        assert_eq!(found.evaluations, asked);
        assert!(asked <= 53, "{asked}");
    }
}

//! Small symmetric systems.

use super::terms::{Logs, TERMS};

/// A square matrix over the terms of a law.
pub type Matrix = [[f64; TERMS]; TERMS];

/// A matrix with these values on its diagonal and nothing beside it.
pub fn diagonal(values: Logs) -> Matrix {
    let mut matrix = [[0.0; TERMS]; TERMS];
    for (at, value) in values.into_iter().enumerate() {
        matrix[at][at] = value;
    }
    matrix
}

/// The inverse of a positive definite matrix; `None` of another.
pub fn inverse(matrix: &Matrix) -> Option<Matrix> {
    let lower = cholesky(matrix)?;
    let mut inverse = [[0.0; TERMS]; TERMS];
    for column in 0..TERMS {
        let mut unit = [0.0; TERMS];
        unit[column] = 1.0;
        let solution = solve(&lower, unit);
        for (row, value) in inverse.iter_mut().zip(solution) {
            row[column] = value;
        }
    }
    Some(inverse)
}

/// v′ M v, at least zero.
pub fn quadratic(matrix: &Matrix, v: &Logs) -> f64 {
    let rows = matrix.iter().map(|row| row.iter().zip(v).map(|(cell, x)| cell * x).sum::<f64>());
    rows.zip(v).map(|(row, x)| row * x).sum::<f64>().max(0.0)
}

/// L with L L′ = the matrix.
fn cholesky(matrix: &Matrix) -> Option<Matrix> {
    let mut lower = [[0.0; TERMS]; TERMS];
    for row in 0..TERMS {
        for column in 0..=row {
            let known: f64 = (0..column).map(|k| lower[row][k] * lower[column][k]).sum();
            let rest = matrix[row][column] - known;
            lower[row][column] = if row == column {
                (rest > 0.0).then(|| rest.sqrt())?
            } else {
                rest / lower[column][column]
            };
        }
    }
    Some(lower)
}

/// x with L L′ x = b.
fn solve(lower: &Matrix, b: Logs) -> Logs {
    let mut x = b;
    for row in 0..TERMS {
        let known: f64 = (0..row).map(|k| lower[row][k] * x[k]).sum();
        x[row] = (x[row] - known) / lower[row][row];
    }
    for row in (0..TERMS).rev() {
        let known: f64 = (row + 1..TERMS).map(|k| lower[k][row] * x[k]).sum();
        x[row] = (x[row] - known) / lower[row][row];
    }
    x
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_matrix_times_its_inverse_is_one() {
        let mut matrix = [[0.0; TERMS]; TERMS];
        for (i, row) in matrix.iter_mut().enumerate() {
            for (j, cell) in row.iter_mut().enumerate() {
                let near = 1.0 / (1.0 + i.abs_diff(j) as f64);
                *cell = if i == j { 2.0 + i as f64 } else { near };
            }
        }
        let inverse = inverse(&matrix).unwrap();
        for (i, row) in matrix.iter().enumerate() {
            for j in 0..TERMS {
                let cell: f64 = row.iter().zip(&inverse).map(|(cell, of)| cell * of[j]).sum();
                assert!((cell - f64::from(u8::from(i == j))).abs() < 1e-12, "{i} {j} {cell}");
            }
        }
        assert!(quadratic(&matrix, &[1.0; TERMS]) > 0.0);
        matrix[0][0] = -1.0;
        assert_eq!(super::inverse(&matrix), None);
    }
}

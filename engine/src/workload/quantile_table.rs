//! Lengths by a table of quantiles.

use super::lengths::MAX_LENGTH_TOKENS;
use crate::counted::typed;
use crate::problem::Problem;

/// Quantiles of a length: linear between rows, flat beyond the first and the last.
#[derive(Debug, Clone, PartialEq)]
pub struct QuantileTable {
    rows: Vec<(f64, f64)>,
}

impl QuantileTable {
    /// A table of `(p, tokens)` rows in ascending order of both.
    pub fn new(rows: &[(f64, f64)]) -> Result<Self, Vec<Problem>> {
        let mut problems = Vec::new();
        if rows.is_empty() {
            problems.push(Problem::error(
                "table",
                "the table of quantiles has no rows",
                "give at least one row with `p` and `tokens`",
            ));
        }
        let mut before: Option<(f64, f64)> = None;
        for (i, &(p, tokens)) in rows.iter().enumerate() {
            if !(0.0..=1.0).contains(&p) || before.is_some_and(|(last, _)| p <= last) {
                problems.push(Problem::error(
                    format!("table[{i}].p"),
                    format!("the share of requests of this row is {p}", p = typed(p)),
                    "give shares from 0 to 1, each above the one before",
                ));
            }
            let in_range = (1.0..=f64::from(MAX_LENGTH_TOKENS)).contains(&tokens);
            if !in_range || before.is_some_and(|(_, last)| tokens < last) {
                problems.push(Problem::error(
                    format!("table[{i}].tokens"),
                    format!("the length of this row is {tokens} tokens", tokens = typed(tokens)),
                    format!(
                        "give 1 to {most} tokens, none below the row before",
                        most = typed(f64::from(MAX_LENGTH_TOKENS))
                    ),
                ));
            }
            before = Some((p, tokens));
        }
        if problems.is_empty() { Ok(Self { rows: rows.to_vec() }) } else { Err(problems) }
    }

    /// Every length times `factor`.
    #[must_use]
    pub(super) fn scaled(&self, factor: f64) -> Self {
        Self {
            rows: self.rows.iter().map(|(p, tokens)| (*p, (tokens * factor).max(1.0))).collect(),
        }
    }

    /// The shares of its rows, ascending.
    pub fn shares(&self) -> impl Iterator<Item = f64> + '_ {
        self.rows.iter().map(|(p, _)| *p)
    }

    /// The length that a share `p` of requests stay at or below, tokens.
    pub fn at(&self, p: f64) -> f64 {
        let next = self.rows.partition_point(|(row, _)| *row <= p);
        match (next.checked_sub(1).and_then(|i| self.rows.get(i)), self.rows.get(next)) {
            (Some(&(p0, low)), Some(&(p1, high))) => low + (high - low) * (p - p0) / (p1 - p0),
            (Some(&(_, tokens)), None) | (None, Some(&(_, tokens))) => tokens,
            (None, None) => 1.0,
        }
    }

    /// The share of requests that stay at or below `tokens`: the inverse of [`Self::at`].
    pub(super) fn share_at(&self, tokens: f64) -> f64 {
        let next = self.rows.partition_point(|(_, row)| *row <= tokens);
        match (next.checked_sub(1).and_then(|i| self.rows.get(i)), self.rows.get(next)) {
            (Some(&(p0, low)), Some(&(p1, high))) => p0 + (p1 - p0) * (tokens - low) / (high - low),
            // Flat beyond the last row.
            (Some(_), None) => 1.0,
            (None, _) => 0.0,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_quantile_table_gives_back_its_rows() {
        let table = QuantileTable::new(&[(0.1, 10.0), (0.5, 50.0), (0.9, 450.0)]).unwrap();
        for (p, tokens) in
            [(0.0, 10.0), (0.1, 10.0), (0.3, 30.0), (0.5, 50.0), (0.7, 250.0), (0.95, 450.0)]
        {
            assert!((table.at(p) - tokens).abs() < 1e-9, "{p}");
        }
        for (tokens, share) in [(9.0, 0.0), (10.0, 0.1), (30.0, 0.3), (450.0, 1.0)] {
            assert!((table.share_at(tokens) - share).abs() < 1e-12, "{tokens}");
        }
    }

    #[test]
    fn bad_tables_say_which_row() {
        let table = [(0.5, 10.0), (0.5, 9.0), (1.5, f64::NAN), (f64::NAN, 0.0)];
        let paths: Vec<_> =
            QuantileTable::new(&table).unwrap_err().into_iter().map(|p| p.path).collect();
        assert_eq!(
            paths,
            [
                "table[1].p",
                "table[1].tokens",
                "table[2].p",
                "table[2].tokens",
                "table[3].p",
                "table[3].tokens"
            ]
        );
        assert_eq!(QuantileTable::new(&[]).unwrap_err()[0].path, "table");
    }

    proptest! {
        #[test]
        fn quantiles_never_fall(p in 0.0..1.0_f64, q in 0.0..1.0_f64, low in 1.0..100.0_f64) {
            let table = QuantileTable::new(&[(0.2, low), (0.6, low * 2.0), (1.0, 900.0)]).unwrap();
            prop_assert!(table.at(p.min(q)) <= table.at(p.max(q)));
        }
    }
}

//! Numbers that are typed or pasted together: lists of lengths, and tables of two columns.

use crate::format;
use crate::parse::{self, Quantity};

/// Lengths that may be pasted.
const MAX_LENGTHS: usize = 10_000;

/// Rows that a table may have.
const MAX_ROWS: usize = 2_000;

/// Faults that are named; more are counted.
const MAX_FAULTS: usize = 3;

/// Lengths as text, for editing.
pub fn list(samples: &[u32]) -> String {
    samples.iter().map(u32::to_string).collect::<Vec<_>>().join(" ")
}

/// Pasted lengths, separated by white space, `;` or `,` with a space; or why they are none.
pub fn read_list(text: &str) -> Result<Vec<u32>, String> {
    let parts = text.split(|c: char| c.is_whitespace() || c == ';');
    let words: Vec<&str> =
        parts.map(|part| part.trim_end_matches(',')).filter(|part| !part.is_empty()).collect();
    if words.is_empty() {
        return Err("Nothing is pasted: give lengths in tokens, separated by spaces".into());
    }
    if words.len() > MAX_LENGTHS {
        let max = format::count(MAX_LENGTHS as u64);
        return Err(format!("{} lengths: at most {max} are read here", words.len()));
    }
    all(words.iter().map(|word| length(word)))
}

fn length(word: &str) -> Result<u32, String> {
    let value = parse::whole(word, Quantity::Tokens).map_err(|why| format!("“{word}” {why}"))?;
    whole(value).ok_or_else(|| format!("“{word}” is no length: give 1 token or more"))
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "whole, as read, and just found to be in range"
)]
fn whole(tokens: f64) -> Option<u32> {
    (1.0..=f64::from(u32::MAX)).contains(&tokens).then_some(tokens as u32)
}

/// A table as text: one row a line.
pub fn table(rows: impl IntoIterator<Item = (f64, f64)>, columns: [Quantity; 2]) -> String {
    let line = |(a, b): (f64, f64)| {
        format!("{}\t{}", parse::text(a, columns[0]), parse::text(b, columns[1]))
    };
    rows.into_iter().map(line).collect::<Vec<_>>().join("\n")
}

/// A table of two columns, one row a line, in the units of `columns`; or the lines that are none.
/// A first line without any digit is its head. Shares of which none is above 1 are shares of one,
/// not per cent.
pub fn read_table(text: &str, columns: [Quantity; 2]) -> Result<Vec<(f64, f64)>, String> {
    let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    let mut lines: Vec<(usize, &str)> = lines.collect();
    if lines.first().is_some_and(|(_, line)| !line.contains(|c: char| c.is_ascii_digit())) {
        lines.remove(0);
    }
    if lines.is_empty() {
        return Err("Nothing is pasted: give two numbers a line".into());
    }
    if lines.len() > MAX_ROWS {
        let max = format::count(MAX_ROWS as u64);
        return Err(format!("{} rows: at most {max} are read here", lines.len()));
    }
    let read = |(number, line): (usize, &str)| {
        row(line, columns).map_err(|why| format!("line {}: {why}", number + 1))
    };
    let mut rows = all(lines.iter().copied().map(read))?;
    let of_one = columns[0] == Quantity::Share
        && !lines.iter().any(|(_, line)| line.contains(['%', 'p', 'P']))
        && rows.iter().all(|(share, _)| *share <= 0.01);
    if of_one {
        for (share, _) in &mut rows {
            // Exactly: 0.07 was read as 0.07 % and is 0.07.
            *share = parse::text(*share, Quantity::Share).parse().unwrap_or(*share * 100.0);
        }
    }
    Ok(rows)
}

/// Pairs of lengths as text, one a line; what has no partner stands alone.
pub fn pairs(first: &[u32], second: &[u32]) -> String {
    let cell = |side: &[u32], i: usize| side.get(i).map(u32::to_string).unwrap_or_default();
    let line = |i: usize| format!("{} {}", cell(first, i), cell(second, i)).trim().to_owned();
    (0..first.len().max(second.len())).map(line).collect::<Vec<_>>().join("\n")
}

/// Pairs of lengths, one a line.
pub fn read_pairs(text: &str) -> Result<(Vec<u32>, Vec<u32>), String> {
    let rows = read_table(text, [Quantity::Tokens, Quantity::Tokens])?;
    let pair = |(a, b): (f64, f64)| {
        let fits = |x: f64| whole(x).filter(|_| x.fract() == 0.0);
        fits(a)
            .zip(fits(b))
            .ok_or_else(|| format!("{a} and {b} are no two lengths in whole tokens"))
    };
    Ok(all(rows.into_iter().map(pair))?.into_iter().unzip())
}

fn row(line: &str, columns: [Quantity; 2]) -> Result<(f64, f64), String> {
    let by = |separator: char| line.split(separator).map(str::trim).collect::<Vec<_>>();
    // The first that is there: a comma may also stand within a number.
    let cells = if line.contains('\t') {
        by('\t')
    } else if line.contains(';') {
        by(';')
    } else if line.trim().contains(char::is_whitespace) {
        line.split_whitespace().map(|word| word.trim_end_matches(',')).collect()
    } else {
        by(',')
    };
    let [first, second] = cells.as_slice() else {
        return Err(format!("“{}” has not two columns", line.trim()));
    };
    // p90 is the share of 90 %.
    let first = match columns[0] {
        Quantity::Share => first.trim_start_matches(['p', 'P']),
        _ => first,
    };
    let number = |word: &str, quantity| {
        parse::number(word, quantity).map_err(|why| format!("“{word}” {why}"))
    };
    Ok((number(first, columns[0])?, number(second, columns[1])?))
}

/// All of them, or the first faults and how many more there are.
fn all<T>(results: impl Iterator<Item = Result<T, String>>) -> Result<Vec<T>, String> {
    let (mut values, mut faults) = (Vec::new(), Vec::new());
    for result in results {
        match result {
            Ok(value) => values.push(value),
            Err(fault) => faults.push(fault),
        }
    }
    if faults.is_empty() {
        return Ok(values);
    }
    let more = faults.len().saturating_sub(MAX_FAULTS);
    faults.truncate(MAX_FAULTS);
    if more > 0 {
        faults.push(format!("and {more} more"));
    }
    Err(faults.join("; "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pasted_lengths_are_read_or_refused_with_the_word() {
        assert_eq!(read_list("12 2k\n300; 4,000, 5"), Ok(vec![12, 2_000, 300, 4_000, 5]));
        assert!(read_list(" ").is_err());
        assert!(read_list("12 1.5 3").is_err_and(|why| why.contains("“1.5”")));
        assert!(read_list("0").is_err_and(|why| why.contains("1 token")));
        let many = read_list("1 a b c d e").expect_err("five are no numbers");
        assert!(many.contains("“a”") && many.ends_with("and 2 more"), "{many}");
    }

    #[test]
    fn tables_are_read_with_any_usual_separator() {
        let columns = [Quantity::Seconds, Quantity::Rate];
        let rows = Ok(vec![(0.0, 10.0), (120.0, 1_500.0)]);
        for text in [
            "0\t10\n120\t1,500",
            "time;rate\n0;10\n2 min;1.5k",
            "0, 10\n\n120, 1,500\n",
            "0 10\n120 1500",
            "t,rps\n0,10\n120,1500",
        ] {
            assert_eq!(read_table(text, columns), rows, "{text}");
        }
        let shown = table([(0.0, 10.0), (120.0, 1_500.0)], columns);
        assert_eq!(read_table(&shown, columns), rows);
    }

    #[test]
    fn shares_are_per_cent_unless_all_are_of_one() {
        let columns = [Quantity::Share, Quantity::Tokens];
        let rows = Ok(vec![(0.07, 40.0), (0.5, 200.0), (1.0, 1_200.0)]);
        for text in
            ["7 40\n50 200\n100 1.2k", "p7 40\np50 200\np100 1.2k", "0.07 40\n0.5 200\n1 1200"]
        {
            assert_eq!(read_table(text, columns), rows, "{text}");
        }
        assert_eq!(read_table("0.5% 40", columns), Ok(vec![(0.005, 40.0)]));
    }

    #[test]
    fn every_line_that_is_no_row_is_named() {
        let columns = [Quantity::Seconds, Quantity::Rate];
        let why = read_table("0 10\n1 2 3\n5 x", columns).expect_err("two lines are none");
        assert!(why.contains("line 2: “1 2 3”") && why.contains("line 3: “x”"), "{why}");
        assert!(read_table("time rate", columns).is_err());
    }

    #[test]
    fn pairs_are_two_lengths_a_line() {
        let both = (vec![512, 2_000], vec![20, 300]);
        assert_eq!(read_pairs("512 20\n2k 300"), Ok(both.clone()));
        assert_eq!(read_pairs(&pairs(&both.0, &both.1)), Ok(both));
        assert!(read_pairs("512 1.5").is_err());
    }
}

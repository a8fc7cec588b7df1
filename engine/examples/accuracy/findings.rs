//! Where predictions are off: by group of experiments, with a likely reason where one is known.

use super::check::{Errors, Pair};

/// One line per group, the worst first: its errors and on which side.
pub fn by_group(groups: &[&str], pairs: &[Pair]) -> Vec<String> {
    let mut names = groups.to_vec();
    names.sort_unstable();
    names.dedup();
    let mut rows: Vec<(f64, String)> = Vec::new();
    for name in names {
        let of_group = groups.iter().zip(pairs).filter(|(group, _)| **group == name);
        let Some(errors) = Errors::of(of_group.map(|(_, pair)| pair)) else { continue };
        rows.push((errors.mean, line(name, &errors)));
    }
    rows.sort_by(|a, b| b.0.total_cmp(&a.0));
    rows.into_iter().map(|(_, line)| line).collect()
}

fn line(name: &str, errors: &Errors) -> String {
    let per_cent = |share: f64| format!("{:.1} %", 100.0 * share);
    let Errors { count, mean, worst, bias, .. } = *errors;
    let runs = if count == 1 { "1 run".to_owned() } else { format!("{count} runs") };
    format!(
        "{name} ({runs}): mean {}, worst {}, half of the predictions {} {} or more",
        per_cent(mean),
        per_cent(worst),
        per_cent(bias.abs()),
        if bias >= 0.0 { "too high" } else { "too low" },
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_are_told_from_the_worst_to_the_best() {
        let pairs = [
            Pair::new("a", 10.0, 10.1),
            Pair::new("b", 10.0, 7.0),
            Pair::new("c", 10.0, 9.9),
            Pair::new("d", 10.0, 8.0),
        ];
        let lines = by_group(&["good", "bad", "good", "bad"], &pairs);
        assert_eq!(lines.len(), 2);
        assert!(lines[0].starts_with("bad (2 runs): mean 25.0 %, worst 30.0 %"), "{lines:?}");
        assert!(lines[0].contains("too low"), "{lines:?}");
    }
}

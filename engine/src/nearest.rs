//! What somebody probably meant: the known name nearest to one that is not known.

/// The name with the fewest edits from `wanted`, upper and lower case alike, if few enough that it
/// may be meant: a third of its letters. A name that contains the other counts as near.
pub(crate) fn nearest<'a>(
    wanted: &str,
    known: impl IntoIterator<Item = &'a str>,
) -> Option<&'a str> {
    let wanted = wanted.to_lowercase();
    // Comparing is quadratic; nobody means a name of that length.
    if wanted.is_empty() || wanted.len() > 200 {
        return None;
    }
    known
        .into_iter()
        .filter_map(|name| {
            let lower = name.to_lowercase();
            let distance = strsim::levenshtein(&wanted, &lower);
            let contained = lower.contains(&wanted) || wanted.contains(&lower);
            let near = 3 * distance <= lower.chars().count().max(3) || contained;
            near.then_some((distance, name))
        })
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, name)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_finds_its_name_and_nonsense_finds_none() {
        let known = ["H100-SXM", "H100-PCIe", "A100-80G-SXM", "RTX-4090"];
        for (wanted, found) in [
            ("h100-sxm", Some("H100-SXM")),
            ("H100", Some("H100-SXM")),
            ("H100SXM", Some("H100-SXM")),
            ("RTX4090", Some("RTX-4090")),
            ("abacus", None),
            ("", None),
        ] {
            assert_eq!(nearest(wanted, known), found, "{wanted}");
        }
    }
}

//! Checks that cargo has no command for.
use crate::{
    Result,
    process::{cargo, read},
};

/// `num-traits/std` takes floating-point functions from the system instead of libm. Beside the
/// engine it would change native samples against the page's, so nothing may switch it on.
pub fn engine_floats() -> Result {
    for edges in ["features,no-dev", "features"] {
        let tree = ["tree", "--quiet", "-p", "goodput-engine", "-e", edges, "-i", "num-traits"];
        let tree = read(cargo().args(tree))?;
        if let Some(line) = std_feature(&tree) {
            return Err(format!(
                "the engine's dependencies ({edges}) switch on num-traits/std: {line}\n{tree}"
            ));
        }
        if !tree.contains("num-traits feature \"libm\"") {
            return Err(format!(
                "the engine no longer uses num-traits with libm ({edges}):\n{tree}"
            ));
        }
    }
    Ok(())
}

fn std_feature(tree: &str) -> Option<&str> {
    tree.lines().find(|line| line.contains("num-traits feature \"std\""))
}

#[cfg(test)]
mod tests {
    use super::std_feature;

    #[test]
    fn only_num_traits_own_std_counts() {
        let fine =
            "num-traits v0.2.19\n├── num-traits feature \"libm\"\n│   └── rand feature \"std\"\n";
        assert_eq!(std_feature(fine), None);
        let wrong = format!("{fine}└── num-traits feature \"std\"\n");
        assert_eq!(std_feature(&wrong), Some("└── num-traits feature \"std\""));
    }
}

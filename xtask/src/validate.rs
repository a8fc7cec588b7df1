//! `cargo xtask validate`: how near predictions come to published measurements, kept in
//! `docs/accuracy.md`. The measurements lie beside the repository; without them it says so.
use crate::{
    Result,
    process::{cargo, read},
    project,
};
use std::{fs, path::PathBuf, process::Command};

/// Compares, prints the page and writes it down.
pub fn run() -> Result {
    let Some(measurements) = measurements() else {
        println!(
            "Nothing was validated: the published measurements lie in `../shared/calibration` \
             beside the repository, and are not there."
        );
        return Ok(());
    };
    eprintln!("predicting what was measured …");
    let mut compare = cargo();
    compare.args(["run", "--quiet", "-p", "goodput-engine", "--example", "accuracy"]);
    let checks = read(compare.arg("--").arg(measurements))?;
    let page = page(&checks, &of_what()?);
    print!("{page}");
    let path = project::root().join("docs").join("accuracy.md");
    fs::write(&path, page).map_err(|error| format!("{}: {error}", path.display()))
}

fn measurements() -> Option<PathBuf> {
    let folder = project::root().parent()?.join("shared").join("calibration");
    folder.is_dir().then_some(folder)
}

/// When, and of which version.
fn of_what() -> Result<String> {
    let date = read(Command::new("date").args(["-u", "+%F"]))?;
    let git = |args: &[&str]| read(Command::new("git").args(args).current_dir(project::root()));
    let commit = git(&["rev-parse", "--short=10", "HEAD"])?;
    let changed = git(&["status", "--porcelain", "--", "engine", "calibration-data"])?;
    let changed = if changed.trim().is_empty() { "" } else { " with changes on top" };
    Ok(format!("{} at commit {}{changed}", date.trim(), commit.trim()))
}

fn page(checks: &str, of_what: &str) -> String {
    format!(
        "# How near predictions come to measurements\n\nThe last run of `cargo xtask validate`, \
         which writes this file: {of_what}.\n\nEvery prediction is that of the simulator under the \
         conditions of the published run, compared in the definition of who measured it. Off by = \
         predicted ÷ measured − 1. Nothing is tuned per experiment.\n\n{checks}"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_says_of_what_it_is_before_it_says_how_good() {
        let page = page("| check |\n", "2026-01-02 at commit abc");
        let [date, table] = ["2026-01-02", "| check |"].map(|text| page.find(text).unwrap());
        assert!(page.starts_with("# How near") && date < table);
    }
}

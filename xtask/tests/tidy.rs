//! Laws of tidiness over the whole repository.
use std::{
    fs,
    path::{Path, PathBuf},
};
use xtask::project;

/// Longer than this, a source file is probably more than one idea.
const MAX_LINES: usize = 400;

/// Files that may be longer, and why.
const LONG_FOR_A_REASON: [(&str, &str); 0] = [];

/// Folders that hold nothing of ours.
const NOT_OURS: [&str; 5] = [".git", ".tools", "dist", "node_modules", "target"];

#[test]
fn no_source_file_is_long() {
    let mut long = Vec::new();
    for (name, text) in sources() {
        let lines = text.lines().count();
        if lines > MAX_LINES && LONG_FOR_A_REASON.iter().all(|(allowed, _)| *allowed != name) {
            long.push(format!("{name}: {lines} lines"));
        }
    }
    assert!(long.is_empty(), "more than {MAX_LINES} lines: {long:#?}");
}

#[test]
fn every_exception_is_still_needed() {
    for (name, reason) in LONG_FOR_A_REASON {
        assert!(!reason.is_empty(), "{name} is exempt without a reason");
        let lines = files().find(|(file, _)| file == name).map(|(_, text)| text.lines().count());
        assert!(lines.is_some_and(|lines| lines > MAX_LINES), "{name} needs no exception");
    }
}

#[test]
fn every_source_file_says_what_it_is_for() {
    let silent: Vec<String> =
        sources().filter(|(_, text)| !text.starts_with("//!")).map(|(name, _)| name).collect();
    assert!(silent.is_empty(), "no `//!` at the top: {silent:#?}");
}

#[test]
fn nothing_names_a_place_on_this_machine() {
    let mut places = Vec::new();
    let here = project::root().parent().unwrap_or(Path::new("/"));
    for folder in [here.to_path_buf(), PathBuf::from(std::env::var("HOME").unwrap_or_default())] {
        // A clone directly below one of these says nothing about a machine.
        let common = ["", "/", "/tmp", "/home", "/opt", "/usr/src", "/var/tmp"];
        let text = folder.to_string_lossy().into_owned();
        if !common.contains(&text.as_str()) {
            places.push(format!("{text}/"));
        }
    }
    let mut named = Vec::new();
    for (name, text) in files().filter(|(name, _)| name != "Cargo.lock") {
        let lines = text.lines().enumerate();
        for (number, line) in
            lines.filter(|(_, line)| places.iter().any(|place| line.contains(place)))
        {
            named.push(format!("{name}:{}: {line}", number + 1));
        }
    }
    assert!(named.is_empty(), "paths of a machine ({places:?}): {named:#?}");
}

/// Every Rust file of the project.
fn sources() -> impl Iterator<Item = (String, String)> {
    files().filter(|(name, _)| Path::new(name).extension().is_some_and(|kind| kind == "rs"))
}

/// Every text file of the project: its path from the root, and what is in it.
fn files() -> impl Iterator<Item = (String, String)> {
    let mut found = Vec::new();
    walk(project::root(), &mut found);
    assert!(found.len() > 20, "only {} files found", found.len());
    found.into_iter().filter_map(|path| {
        let name = path.strip_prefix(project::root()).ok()?.to_string_lossy().into_owned();
        Some((name, fs::read_to_string(&path).ok()?))
    })
}

fn walk(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a folder of the repository") {
        let path = entry.expect("an entry of a folder").path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if NOT_OURS.contains(&name.as_str()) {
            continue;
        }
        if path.is_dir() {
            walk(&path, found);
        } else {
            found.push(path);
        }
    }
}

//! A module uses lower layers only, and modules of one layer have no cycle among them.
use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
};

/// Every module of the engine and its layer, lowest first.
const LAYERS: [&[&str]; 8] = [
    &["units", "math", "stats", "rng", "problem", "nearest", "counted", "progress"],
    &["workload", "fleet", "slo"],
    &["step_time", "catalog"],
    &["scenario", "ingest"],
    &["sim", "estimate", "accounts"],
    &["calibration", "review", "compare", "remedies", "rerun", "what_if"],
    &["planner"],
    &["bridge"],
];

type Uses = BTreeMap<String, BTreeSet<String>>;

#[test]
fn every_module_has_a_layer() {
    let unplaced: Vec<String> = uses().into_keys().filter(|name| layer(name).is_none()).collect();
    assert!(unplaced.is_empty(), "give these a layer in this test: {unplaced:?}");
}

#[test]
fn no_module_uses_a_higher_layer() {
    assert_eq!(upward(&uses()), Vec::<String>::new());
}

#[test]
fn modules_of_one_layer_have_no_cycle() {
    assert_eq!(cycles(&uses()), Vec::<String>::new());
}

#[test]
fn the_rules_see_what_breaks_them() {
    let text =
        "use crate::{math::ln, sim::{Run, clock}};\n// crate::planner\nfn f() { crate::slo::g() }";
    let wrong = Uses::from([
        ("rng".to_owned(), used(text)),
        ("math".to_owned(), used("use crate::rng::Key;")),
    ]);
    assert_eq!(upward(&wrong), ["rng uses sim", "rng uses slo"]);
    assert_eq!(cycles(&wrong), ["math and rng use each other", "rng and math use each other"]);
}

fn layer(module: &str) -> Option<usize> {
    LAYERS.iter().position(|modules| modules.contains(&module))
}

fn upward(uses: &Uses) -> Vec<String> {
    let pairs = uses.iter().flat_map(|(from, to)| to.iter().map(move |to| (from, to)));
    pairs
        .filter(|(from, to)| layer(to).is_some() && layer(to) > layer(from))
        .map(|(from, to)| format!("{from} uses {to}"))
        .collect()
}

fn cycles(uses: &Uses) -> Vec<String> {
    let mut found = Vec::new();
    for (from, to) in uses {
        for to in to.iter().filter(|to| layer(to) == layer(from)) {
            if reaches(uses, to, from) {
                found.push(format!("{from} and {to} use each other"));
            }
        }
    }
    found
}

/// Whether `from` uses `to`, directly or through others.
fn reaches(uses: &Uses, from: &str, to: &str) -> bool {
    let (mut seen, mut open) = (BTreeSet::new(), vec![from]);
    while let Some(module) = open.pop() {
        if module == to {
            return true;
        }
        if seen.insert(module) {
            open.extend(uses.get(module).into_iter().flatten().map(String::as_str));
        }
    }
    false
}

/// What each module of the engine uses of the others.
fn uses() -> Uses {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    walk(&source, &mut files);
    let mut uses = Uses::new();
    for file in files {
        let inside = file.strip_prefix(&source).expect("a file below src");
        let first = inside.iter().next().unwrap_or_default().to_string_lossy().into_owned();
        let module = first.trim_end_matches(".rs").to_owned();
        // The crate's root and the command line stand above all layers.
        if ["lib", "bin", "cli"].contains(&module.as_str()) {
            continue;
        }
        let others = used(&fs::read_to_string(&file).expect("a readable source file"));
        let others = others.into_iter().filter(|other| *other != module);
        uses.entry(module.clone()).or_default().extend(others);
    }
    uses
}

fn walk(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a folder of sources") {
        let path = entry.expect("an entry of a folder").path();
        if path.is_dir() {
            walk(&path, files);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
}

/// The modules that a source text names after `crate::`, singly or in braces; comments do not count.
fn used(text: &str) -> BTreeSet<String> {
    let code: String = text
        .lines()
        .map(|line| line.split("//").next().unwrap_or(""))
        .collect::<Vec<_>>()
        .join("\n");
    let mut modules = BTreeSet::new();
    for after in code.split("crate::").skip(1) {
        match after.strip_prefix('{') {
            None => modules.insert(identifier(after)),
            Some(group) => {
                modules.extend(members(group));
                true
            }
        };
    }
    modules
}

/// First name of each member of a `{a::b, c::{d, e}}` group, whose opening brace is gone.
fn members(group: &str) -> Vec<String> {
    let (mut depth, mut members, mut start) = (0, Vec::new(), 0);
    for (at, character) in group.char_indices() {
        match character {
            '{' => depth += 1,
            '}' if depth > 0 => depth -= 1,
            ',' | '}' if depth == 0 => {
                members.push(identifier(group[start..at].trim_start()));
                start = at + 1;
                if character == '}' {
                    break;
                }
            }
            _ => {}
        }
    }
    members
}

fn identifier(text: &str) -> String {
    text.chars().take_while(|c| c.is_ascii_alphanumeric() || *c == '_').collect()
}

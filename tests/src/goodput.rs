//! The `goodput` program, whose numbers the page must show.
use crate::Result;
use serde_json::Value;
use std::{path::PathBuf, process::Command};

/// The JSON that `goodput ARGUMENTS` prints.
pub fn json(arguments: &[&str]) -> Result<Value> {
    let program = program()?;
    let output = Command::new(&program).args(arguments).arg("--json").output()?;
    if !output.status.success() {
        let (status, errors) = (output.status, String::from_utf8_lossy(&output.stderr));
        return Err(format!("goodput {arguments:?}: {status}\n{errors}").into());
    }
    Ok(serde_json::from_slice(&output.stdout)?)
}

/// The share link of a worked example, from its `#`.
pub fn preset(id: &str) -> Result<String> {
    let presets = json(&["catalog", "presets"])?;
    let known = presets.as_array().map_or(&[][..], Vec::as_slice);
    let link = known.iter().find(|preset| preset["id"] == id).and_then(|p| p["link"].as_str());
    Ok(link.ok_or_else(|| format!("no preset is called {id}"))?.to_owned())
}

/// Built apart from these tests (`cargo build -p goodput-engine`), since linking the engine here
/// would unify its features with everyone else's.
fn program() -> Result<PathBuf> {
    let test = std::env::current_exe()?;
    // target/debug/deps/browser-0123 → target/debug/goodput
    let program = test.ancestors().nth(2).map(|folder| folder.join("goodput"));
    program
        .filter(|program| program.is_file())
        .ok_or_else(|| "build the program first: cargo build -p goodput-engine".into())
}

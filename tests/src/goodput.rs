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

//! Packages from npm: axe-core for the browser tests, and wasm-opt, which makes the page smaller.
use crate::{
    Result,
    process::{on_path, quietly},
    project, tools,
};
use std::{fs, path::PathBuf, process::Command};

/// Whether packages can be had at all.
pub fn present() -> bool {
    on_path(&["npm"]).is_some()
}

/// Where the packages are.
pub fn modules() -> PathBuf {
    project::root().join("node_modules")
}

/// Installs what `package-lock.json` pins, if another set is there.
pub fn install() -> Result {
    let lock = project::root().join("package-lock.json");
    let wanted = fs::read(&lock).map_err(|error| format!("{}: {error}", lock.display()))?;
    let stamp = modules().join("installed-lock.json");
    if fs::read(&stamp).is_ok_and(|installed| installed == wanted) {
        return Ok(());
    }
    let mut npm = Command::new("npm");
    npm.args(["ci", "--no-audit", "--no-fund"]).current_dir(project::root());
    quietly("fetching npm packages", &mut npm, &tools::log("npm"))?;
    fs::write(&stamp, wanted).map_err(|error| format!("{}: {error}", stamp.display()))
}

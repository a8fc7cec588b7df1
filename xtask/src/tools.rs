//! What building the page needs beside cargo: the wasm target, Trunk, and the `wasm-bindgen` program
//! of exactly the locked version. Whatever is missing goes into `.tools/`.
use crate::{
    Result, npm,
    process::{cargo, on_path, quietly, read, version},
    project,
};
use std::{
    ffi::OsString,
    path::{Path, PathBuf},
    process::Command,
};

/// What the page is compiled for.
pub const WASM: &str = "wasm32-unknown-unknown";
/// 0.22 needs a newer compiler than `rust-version` promises.
const TRUNK: &str = "0.21.14";

/// A program that `cargo install` provides.
struct Tool {
    name: &'static str,
    package: String,
    version: String,
    arguments: &'static [&'static str],
}

/// Installs what is missing for building the page.
pub fn install() -> Result {
    wasm_target()?;
    let tools = [
        Tool {
            name: "wasm-bindgen",
            package: "wasm-bindgen-cli".to_owned(),
            version: project::locked_version("wasm-bindgen")?,
            // Not --locked: the lock file it ships does not resolve.
            arguments: &["--no-default-features", "--bin", "wasm-bindgen"],
        },
        Tool {
            name: "trunk",
            package: "trunk".to_owned(),
            version: TRUNK.to_owned(),
            // The default features are a self-updater and a TLS stack for downloads.
            arguments: &["--no-default-features", "--locked"],
        },
    ];
    let mut installed = false;
    for tool in &tools {
        if !tool.present() {
            tool.install()?;
            installed = true;
        }
    }
    if installed {
        // The two share dependencies, so the build folder is kept until both are there.
        std::fs::remove_dir_all(build_folder()).ok();
    }
    fetch_crates()
}

/// `PATH` with the project's own tools first.
pub fn path() -> Result<OsString> {
    let inherited = std::env::var_os("PATH").unwrap_or_default();
    let own = [bin(), npm::modules().join(".bin")];
    std::env::join_paths(own.into_iter().chain(std::env::split_paths(&inherited)))
        .map_err(|error| format!("PATH: {error}"))
}

fn bin() -> PathBuf {
    project::tools().join("bin")
}

fn build_folder() -> PathBuf {
    project::tools().join("build")
}

/// Where the output of a step goes that shows one line only.
pub fn log(name: &str) -> PathBuf {
    project::tools().join("log").join(format!("{name}.txt"))
}

fn wasm_target() -> Result {
    let folder = read(Command::new("rustc").args(["--print", "target-libdir", "--target", WASM]))?;
    if Path::new(folder.trim()).is_dir() {
        return Ok(());
    }
    if on_path(&["rustup"]).is_none() {
        return Err(format!("the target {WASM} is not installed and there is no rustup to add it"));
    }
    let mut add = Command::new("rustup");
    add.args(["target", "add", WASM]).current_dir(project::root());
    quietly(&format!("adding the target {WASM}"), &mut add, &log("rustup"))
}

/// Trunk builds offline, so the crates have to be there before it starts.
fn fetch_crates() -> Result {
    let offline = ["fetch", "--offline", "--quiet", "--target", WASM];
    let there = cargo().args(offline).stderr(std::process::Stdio::null()).status();
    if there.is_ok_and(|status| status.success()) {
        return Ok(());
    }
    quietly("fetching crates", cargo().args(["fetch", "--target", WASM]), &log("fetch"))
}

impl Tool {
    fn present(&self) -> bool {
        let candidates = [Some(bin().join(self.name)), on_path(&[self.name])];
        candidates.into_iter().flatten().filter_map(|program| version(&program)).any(|line| {
            // "trunk 0.21.14", "wasm-bindgen 0.2.130 (0123abc)"
            line.split_whitespace().nth(1) == Some(self.version.as_str())
        })
    }

    fn install(&self) -> Result {
        let mut install = cargo();
        install
            .args(["install", "--force", "--root"])
            .arg(project::tools())
            .arg(format!("{}@{}", self.package, self.version))
            .args(self.arguments)
            // Both run for seconds: compiling them fast is worth more than running them fast.
            .env("CARGO_PROFILE_RELEASE_OPT_LEVEL", "0")
            .env("CARGO_PROFILE_RELEASE_LTO", "false")
            .env("CARGO_PROFILE_RELEASE_CODEGEN_UNITS", "256")
            .env("CARGO_PROFILE_RELEASE_DEBUG", "0")
            .env("CARGO_TARGET_DIR", build_folder());
        let what = format!("compiling {} {} (minutes, once)", self.package, self.version);
        quietly(&what, &mut install, &log(self.name))
    }
}

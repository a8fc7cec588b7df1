//! What the browser tests need: Chromium, its driver, and axe-core from npm.
use crate::{
    Result,
    process::{on_path, quietly, read},
    project, tools,
};
use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

const DEBIAN_BROWSER: [&str; 3] = ["chromium", "chromium-driver", "fonts-dejavu"];

/// The browser, under the names distributions give it.
pub fn chromium() -> Option<PathBuf> {
    on_path(&["chromium", "chromium-browser", "google-chrome-stable", "google-chrome"])
}

/// Its `WebDriver` server.
pub fn chromedriver() -> Option<PathBuf> {
    on_path(&["chromedriver", "chromium.chromedriver"])
}

/// Installs what is missing for browser tests and screenshots.
pub fn install() -> Result {
    if chromium().is_none() || chromedriver().is_none() {
        from_debian("Chromium and its driver", &DEBIAN_BROWSER)?;
    }
    if on_path(&["npm"]).is_none() {
        from_debian("npm", &["npm"])?;
    }
    npm_packages()
}

/// Installs Debian packages where that can be done; elsewhere says what to install.
fn from_debian(what: &str, packages: &[&str]) -> Result {
    let names = packages.join(" ");
    let root = read(Command::new("id").arg("-u")).is_ok_and(|user| user.trim() == "0");
    if !root || on_path(&["apt-get"]).is_none() {
        return Err(format!(
            "{what} must be on the path. On Debian or Ubuntu: sudo apt-get install {names}. \
             Or leave the browser tests out with `cargo xtask test --no-browser`."
        ));
    }
    let log = tools::log("apt");
    quietly("updating the package lists", Command::new("apt-get").arg("update"), &log)?;
    let mut install = Command::new("apt-get");
    install
        .args(["install", "-y", "--no-install-recommends"])
        .args(packages)
        .env("DEBIAN_FRONTEND", "noninteractive");
    quietly(&format!("installing {names}"), &mut install, &log)
}

/// Installs the npm packages that `tests/package-lock.json` pins, if another set is there.
fn npm_packages() -> Result {
    let folder = project::npm();
    let (wanted, there) =
        (folder.join("package-lock.json"), folder.join("node_modules/installed-lock.json"));
    let wanted_text =
        fs::read(&wanted).map_err(|error| format!("{}: {error}", wanted.display()))?;
    if fs::read(&there).is_ok_and(|text| text == wanted_text) {
        return Ok(());
    }
    let mut install = Command::new("npm");
    install.args(["ci", "--no-audit", "--no-fund"]).current_dir(&folder);
    quietly("fetching npm packages", &mut install, &tools::log("npm"))?;
    stamp(&there, &wanted_text)
}

fn stamp(file: &Path, text: &[u8]) -> Result {
    fs::write(file, text).map_err(|error| format!("{}: {error}", file.display()))
}

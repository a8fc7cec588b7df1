//! What the browser tests need: Chromium, its driver, and axe-core from npm.
use crate::{
    Result, npm,
    process::{on_path, quietly, read},
    tools,
};
use std::{path::PathBuf, process::Command};

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
        if chromium().is_none() || chromedriver().is_none() {
            return Err("apt installed Chromium, but it is not on the path".to_owned());
        }
    }
    if !npm::present() {
        from_debian("npm", &["npm"])?;
    }
    npm::install()
}

/// Installs Debian packages where that can be done; elsewhere says what to install.
fn from_debian(what: &str, packages: &[&str]) -> Result {
    let names = packages.join(" ");
    let root = read(Command::new("id").arg("-u")).is_ok_and(|user| user.trim() == "0");
    if !root || on_path(&["apt-get"]).is_none() {
        return Err(format!(
            "{what} must be on the path; on Debian or Ubuntu: sudo apt-get install {names}"
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

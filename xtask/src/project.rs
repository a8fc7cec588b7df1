//! Where things are in the repository.
use std::path::{Path, PathBuf};

/// The root of the workspace.
#[expect(clippy::missing_panics_doc, reason = "the folder of a package always has a parent")]
pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("xtask lies in the workspace")
}

/// The built page.
pub fn dist() -> PathBuf {
    root().join("dist")
}

/// Tools that `cargo xtask` installed; nothing outside the repository is touched.
pub fn tools() -> PathBuf {
    root().join(".tools")
}

/// Version of a package in `Cargo.lock`.
pub fn locked_version(package: &str) -> crate::Result<String> {
    let path = root().join("Cargo.lock");
    let lock = std::fs::read_to_string(&path).map_err(|error| format!("Cargo.lock: {error}"))?;
    version_in(&lock, package).ok_or_else(|| format!("Cargo.lock has no package `{package}`"))
}

fn version_in(lock: &str, package: &str) -> Option<String> {
    let name = format!("name = \"{package}\"");
    let mut lines = lock.lines().skip_while(|line| *line != name);
    let version = lines.nth(1)?.strip_prefix("version = \"")?.strip_suffix('"')?;
    Some(version.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOCK: &str = "[[package]]\nname = \"wasm-bindgen-futures\"\nversion = \"0.4.1\"\n\n\
        [[package]]\nname = \"wasm-bindgen\"\nversion = \"0.2.7\"\n";

    #[test]
    fn the_version_is_that_of_the_whole_name() {
        assert_eq!(version_in(LOCK, "wasm-bindgen").as_deref(), Some("0.2.7"));
        assert_eq!(version_in(LOCK, "wasm"), None);
    }
}

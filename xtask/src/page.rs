//! Building the page into `dist/`.
use crate::{
    Result, npm,
    process::{cargo, quietly, show},
    project, tools,
};
use std::process::Command;

/// The binaries of each cargo profile; `app/index.html` names the same.
const PROFILES: [(&str, &[&str]); 2] = [("web", &["app"]), ("worker", &["simulator", "reader"])];

/// How much time the build may take for a smaller page.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Build {
    /// What the compiler makes.
    Plain,
    /// Shrunk by wasm-opt, which npm provides: about a quarter fewer bytes for some seconds more.
    Optimized,
}

impl Build {
    /// The smallest page that this machine can build.
    pub fn smallest() -> Self {
        if npm::present() { Self::Optimized } else { Self::Plain }
    }
}

/// Builds the page; the tools must be there.
pub fn build(build: Build) -> Result {
    // Trunk would run one cargo per binary, each waiting for the other and repeating its errors.
    // After this they find everything built.
    for (profile, binaries) in PROFILES {
        let mut build = cargo();
        build.args(["build", "--profile", profile, "--target", tools::WASM, "-p", "goodput-app"]);
        for binary in binaries {
            build.args(["--bin", binary]);
        }
        show(&mut build)?;
    }
    let mut trunk = Command::new("trunk");
    trunk
        .args(["build", "--dist"])
        .arg(project::dist())
        .current_dir(project::root())
        // Trunk reads NO_COLOR as a flag of its own and refuses the value 1.
        .env_remove("NO_COLOR")
        .env("PATH", tools::path()?);
    if build == Build::Optimized {
        npm::install()?;
        // Only then does Trunk look for wasm-opt.
        trunk.arg("--release");
    }
    quietly("putting the page together", &mut trunk, &tools::log("trunk"))
}

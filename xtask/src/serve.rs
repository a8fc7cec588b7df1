//! `cargo xtask serve`.
use crate::{
    Result,
    page::{self, Build},
    project,
    server::Server,
    tools,
};
use std::{io::ErrorKind, process::Command};

/// What the command line says.
pub struct Options {
    /// Port on 127.0.0.1; 0 takes a free one.
    pub port: u16,
    /// Whether to open the page in the desktop's browser.
    pub open: bool,
    /// How to build the page.
    pub build: Build,
}

/// Installs, builds, serves until interrupted.
pub fn run(options: &Options) -> Result {
    // First, so that a taken port is known before minutes of building.
    let server = Server::start(project::dist(), options.port, "/").map_err(|error| {
        let port = options.port;
        match error.kind() {
            ErrorKind::AddrInUse => format!(
                "port {port} of 127.0.0.1 is taken; choose another with --port N (0 takes a free one)"
            ),
            _ => format!("cannot listen on port {port} of 127.0.0.1: {error}"),
        }
    })?;
    tools::install()?;
    page::build(options.build)?;
    let url = server.url();
    println!("Goodput is at {url} (Ctrl-C stops it)");
    if options.open {
        open(&url);
    }
    server.wait();
    Ok(())
}

fn open(url: &str) {
    let opener = if cfg!(target_os = "macos") { "open" } else { "xdg-open" };
    if let Err(error) = Command::new(opener).arg(url).spawn() {
        eprintln!("`{opener}` could not be started ({error}): open the address yourself");
    }
}

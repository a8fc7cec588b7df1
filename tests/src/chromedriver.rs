//! One chromedriver process and the browser session it is asked for.
use crate::{Result, trace};
use serde_json::json;
use std::{
    io::{BufRead, BufReader},
    process::{Child, Command, Stdio},
    thread,
};
use thirtyfour::{
    ChromeCapabilities, ChromiumLikeCapabilities, DesiredCapabilities, LoggingPrefsLogLevel,
    WebDriver,
};
use xtask::browser;

/// For a machine without a display, a sandbox, shared memory or a network.
const FLAGS: [&str; 9] = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    // Containers have little of it.
    "--disable-dev-shm-usage",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
];

/// A running chromedriver; dropping it ends the process.
pub struct Chromedriver {
    process: Child,
    port: u16,
}

impl Chromedriver {
    /// Starts one on a free port, so that journeys can run side by side.
    pub fn start() -> Result<Self> {
        let program = browser::chromedriver()
            .ok_or("chromedriver is not on the path: run `cargo xtask test`, which installs it")?;
        let mut process = Command::new(program)
            .arg("--port=0")
            .stdout(Stdio::piped())
            .stderr(Stdio::inherit())
            .spawn()?;
        let output = process.stdout.take().ok_or("chromedriver has no output")?;
        let mut lines = BufReader::new(output).lines();
        let port =
            lines.by_ref().map_while(std::result::Result::ok).find_map(|line| port_in(&line));
        // Whatever it writes later must not fill the pipe.
        thread::spawn(move || lines.for_each(drop));
        let started = Self { process, port: port.unwrap_or_default() };
        match port {
            Some(_) => Ok(started),
            None => Err("chromedriver ended without naming its port".into()),
        }
    }

    /// Opens a browser, one that records what it does if it is to be `traced`.
    pub async fn session(&self, traced: bool) -> Result<WebDriver> {
        let address = format!("http://127.0.0.1:{}", self.port);
        let mut capabilities = capabilities()?;
        if traced {
            capabilities.set_logging_prefs("performance", LoggingPrefsLogLevel::All)?;
            let recorded = json!({
                "enableNetwork": false,
                "enablePage": false,
                "traceCategories": trace::CATEGORIES,
            });
            capabilities.add_experimental_option("perfLoggingPrefs", recorded)?;
        }
        Ok(WebDriver::new(address, capabilities).await?)
    }
}

impl Drop for Chromedriver {
    fn drop(&mut self) {
        // It may have ended by itself.
        self.process.kill().ok();
        self.process.wait().ok();
    }
}

fn capabilities() -> Result<ChromeCapabilities> {
    let mut capabilities = DesiredCapabilities::chrome();
    if let Some(binary) = browser::chromium() {
        capabilities.set_binary(&binary.to_string_lossy())?;
    }
    for flag in FLAGS {
        capabilities.add_arg(flag)?;
    }
    capabilities.set_browser_log_level(LoggingPrefsLogLevel::All)?;
    Ok(capabilities)
}

/// Reads "`ChromeDriver` was started successfully on port 43210."
fn port_in(line: &str) -> Option<u16> {
    let (_, rest) = line.split_once("started successfully on port ")?;
    rest.trim_end_matches('.').parse().ok()
}

#[cfg(test)]
mod tests {
    use super::port_in;

    #[test]
    fn the_port_is_read_from_the_line_that_names_it() {
        assert_eq!(port_in("ChromeDriver was started successfully on port 43210."), Some(43210));
        assert_eq!(port_in("Starting ChromeDriver 1.2.3 on port 0"), None);
    }
}

//! One chromedriver process and the browser session it is asked for.
use crate::{Result, trace};
use serde_json::json;
use std::{
    io::{BufRead, BufReader},
    path::Path,
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

/// How often chromedriver is started before a journey fails for want of it.
const STARTS: usize = 5;

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
        first_to_start(|| Self::try_once(&program))
    }

    /// One try; nothing where it ended before it named its port.
    fn try_once(program: &Path) -> Result<Option<Self>> {
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
        // Made in any case, so that the process is waited for.
        let started = Self { process, port: port.unwrap_or_default() };
        Ok(port.map(|_| started))
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

/// Tries until one starts. It takes a port of one address family that is free and then the same
/// port of the other, and ends where another process has that one: a new try takes a new port.
fn first_to_start<T>(mut start: impl FnMut() -> Result<Option<T>>) -> Result<T> {
    for _ in 0..STARTS {
        if let Some(started) = start()? {
            return Ok(started);
        }
    }
    Err(format!("chromedriver ended {STARTS} times without naming its port").into())
}

/// Reads "`ChromeDriver` was started successfully on port 43210."
fn port_in(line: &str) -> Option<u16> {
    let (_, rest) = line.split_once("started successfully on port ")?;
    rest.trim_end_matches('.').parse().ok()
}

#[cfg(test)]
mod tests {
    use super::{STARTS, first_to_start, port_in};

    #[test]
    fn the_port_is_read_from_the_line_that_names_it() {
        assert_eq!(port_in("ChromeDriver was started successfully on port 43210."), Some(43210));
        assert_eq!(port_in("Starting ChromeDriver 1.2.3 on port 0"), None);
    }

    #[test]
    fn a_port_that_was_taken_meanwhile_costs_a_try_and_not_the_journey() {
        let mut tries = 0;
        let started = first_to_start(|| {
            tries += 1;
            Ok((tries == STARTS).then_some(tries))
        });
        assert_eq!(started.ok(), Some(STARTS));
        let never = first_to_start(|| Ok(None::<()>));
        assert_eq!(
            never.err().map(|error| error.to_string()).as_deref(),
            Some("chromedriver ended 5 times without naming its port")
        );
    }
}

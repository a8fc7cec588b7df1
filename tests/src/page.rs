//! The page as a user has it before them.
use crate::Result;
use serde::Serialize;
use serde_json::Value;
use std::{path::PathBuf, time::Duration};
use thirtyfour::{BrowserLogEntry, By, Key, WebDriver, WebElement, prelude::ElementQueryable};
use tokio::time::Instant;

/// How long anything may take to show; generous, since nothing waits for it once it is there.
const PATIENCE: Duration = Duration::from_mins(3);
const POLL: Duration = Duration::from_millis(20);

const TO_THE_MIDDLE: &str = "arguments[0].scrollIntoView({ block: 'center' })";

/// What the page puts on `body` or `main` when every answer on screen belongs to what is typed.
pub const SETTLED: &str = "body[data-state=\"done\"], main[data-state=\"done\"]";

/// The verdict when it is that of a simulation of what is typed.
const ANSWERED: &str = "[data-testid=verdict]:not(.stale):not([data-verdict=none])";

/// Selects the element of this `data-testid`; a field's is its place in the scenario document.
pub fn testid(name: &str) -> String {
    format!("[data-testid=\"{name}\"]")
}

/// A browser session and the address of the built page.
#[derive(Clone, Debug)]
pub struct Page {
    /// For whatever the helpers here do not cover.
    pub driver: WebDriver,
    url: String,
}

impl Page {
    /// A session that has not opened the page yet.
    pub fn new(driver: WebDriver, url: String) -> Self {
        Self { driver, url }
    }

    /// Loads the page afresh with this fragment (without `#`; may be empty) and waits until it has
    /// settled.
    pub async fn open(&self, fragment: &str) -> Result {
        self.load(fragment).await?;
        self.settled().await
    }

    /// Loads the page afresh and does not wait for it to settle.
    pub async fn load(&self, fragment: &str) -> Result {
        // Between two fragments of one document the browser would not load anything.
        self.driver.goto("about:blank").await?;
        let hash = if fragment.is_empty() { "" } else { "#" };
        Ok(self.driver.goto(format!("{}{hash}{fragment}", self.url)).await?)
    }

    /// Reloads the page, as a visitor does, and waits until it has settled.
    pub async fn reload(&self) -> Result {
        self.driver.refresh().await?;
        self.settled().await
    }

    /// Waits until the page says that its answers are complete.
    pub async fn settled(&self) -> Result {
        self.find(SETTLED).await.map(drop)
    }

    /// Waits until the simulated answer belongs to what is typed; the search for a fleet may go on.
    pub async fn answered(&self) -> Result {
        self.find(ANSWERED).await.map(drop)
    }

    /// Waits for the element that a CSS selector names.
    pub async fn find(&self, css: &str) -> Result<WebElement> {
        let found = self.driver.query(By::Css(css)).wait(PATIENCE, POLL).first().await;
        found.map_err(|error| format!("nothing matches `{css}`: {error}").into())
    }

    /// Waits until no element matches.
    pub async fn gone(&self, css: &str) -> Result {
        let gone = self.driver.query(By::Css(css)).wait(PATIENCE, POLL).not_exists().await?;
        if gone { Ok(()) } else { Err(format!("`{css}` is still there").into()) }
    }

    /// Text of an element, as it is rendered.
    pub async fn text(&self, css: &str) -> Result<String> {
        Ok(self.find(css).await?.text().await?)
    }

    /// Waits until an element's text satisfies a condition, and gives that text.
    pub async fn text_when(&self, css: &str, wanted: impl Fn(&str) -> bool) -> Result<String> {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let text = self.text(css).await?;
            if wanted(&text) {
                return Ok(text);
            }
            pause(deadline, || format!("the text of `{css}` stays \"{text}\"")).await?;
        }
    }

    /// Waits until what a script returns satisfies a condition.
    pub async fn script_when(&self, script: &str, wanted: impl Fn(&Value) -> bool) -> Result {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let value = self.script(script).await?;
            if wanted(&value) {
                return Ok(());
            }
            pause(deadline, || format!("`{script}` stays {value}")).await?;
        }
    }

    /// An element's attribute; empty where it has none.
    pub async fn attribute(&self, css: &str, name: &str) -> Result<String> {
        Ok(self.find(css).await?.attr(name).await?.unwrap_or_default())
    }

    /// What a field holds, as its user sees it.
    pub async fn value(&self, css: &str) -> Result<String> {
        Ok(self.find(css).await?.prop("value").await?.unwrap_or_default())
    }

    /// The part of the address that holds the scenario, with its `#`.
    pub async fn fragment(&self) -> Result<String> {
        Ok(self.script("return location.hash").await?.as_str().unwrap_or_default().to_owned())
    }

    /// The link to what is typed, from its dialog.
    pub async fn link(&self) -> Result<String> {
        self.click(&testid("share")).await?;
        let filled = |link: &Value| link.as_str().is_some_and(|link| link.contains('#'));
        let script = "return document.querySelector('[data-testid=share-link]')?.value ?? ''";
        self.script_when(script, filled).await?;
        let link = self.value(&testid("share-link")).await?;
        self.click(&testid("close-share")).await?;
        Ok(link)
    }

    /// Goes to another fragment within the page, as by a link in it or by typing in the address bar.
    pub async fn follow(&self, fragment: &str) -> Result {
        let hash = serde_json::to_string(fragment.trim_start_matches('#'))?;
        self.script(&format!("location.hash = {hash}")).await.map(drop)
    }

    /// Clicks an element, after scrolling it out from under what is fixed to the window's edges.
    pub async fn click(&self, css: &str) -> Result {
        let element = self.find(css).await?;
        self.driver.execute(TO_THE_MIDDLE, vec![element.to_json()?]).await?;
        Ok(element.click().await?)
    }

    /// Replaces a field's text by typing, and leaves the field.
    pub async fn fill(&self, css: &str, text: &str) -> Result {
        let field = self.find(css).await?;
        field.send_keys(Key::Control + "a").await?;
        field.send_keys(text).await?;
        Ok(field.send_keys(Key::Tab).await?)
    }

    /// Chooses from a select, by the name that the document has.
    pub async fn set(&self, select: &str, value: &str) -> Result {
        self.click(&format!("{} option[value={value:?}]", testid(select))).await
    }

    /// Types into whatever has the focus, as a keyboard user does.
    pub async fn press(&self, keys: impl Into<thirtyfour::TypingData>) -> Result {
        Ok(self.driver.active_element().await?.send_keys(keys).await?)
    }

    /// Text of whatever has the focus.
    pub async fn focused(&self) -> Result<String> {
        Ok(self.driver.active_element().await?.text().await?)
    }

    /// Gives a file input these files.
    pub async fn upload(&self, css: &str, files: &[PathBuf]) -> Result {
        let names: Vec<String> =
            files.iter().map(|file| file.to_string_lossy().into_owned()).collect();
        Ok(self.find(css).await?.send_keys(names.join("\n")).await?)
    }

    /// Value of a script's `return`.
    pub async fn script(&self, script: &str) -> Result<Value> {
        Ok(self.driver.execute(script, Vec::new()).await?.json().clone())
    }

    /// What a script passes to the function in its last argument.
    pub async fn script_async(&self, script: &str) -> Result<Value> {
        Ok(self.driver.execute_async(script, Vec::new()).await?.json().clone())
    }

    /// Sends a command of the browser's developer protocol.
    pub async fn devtools(&self, method: &str, parameters: impl Serialize) -> Result<Value> {
        Ok(self.driver.cdp().send_raw(method, parameters).await?)
    }

    /// Warnings and errors logged since this was last asked, one a line.
    pub async fn complaints(&self) -> Result<Vec<String>> {
        let entries = self.driver.browser_log().await?;
        Ok(entries.iter().filter(|entry| is_complaint(entry)).map(line).collect())
    }
}

/// Waits a moment before looking again, or gives up with what `found` says.
async fn pause(deadline: Instant, found: impl Fn() -> String) -> Result {
    if Instant::now() > deadline {
        return Err(found().into());
    }
    tokio::time::sleep(POLL).await;
    Ok(())
}

fn is_complaint(entry: &BrowserLogEntry) -> bool {
    matches!(entry.level.as_str(), "WARNING" | "SEVERE")
}

fn line(entry: &BrowserLogEntry) -> String {
    let source = entry.source.as_deref().unwrap_or("browser");
    format!("{} ({source}): {}", entry.level, entry.message)
}

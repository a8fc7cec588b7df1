//! Runs one journey: server, driver, browser, the steps, and the browser's complaints at the end.
use crate::{Page, Result, chromedriver::Chromedriver, view};
use std::{future::Future, path::PathBuf, thread};
use thirtyfour::WebDriver;
use xtask::{project, server::Server};

/// The page has to work wherever a static host puts it, so it is never at the root.
const PREFIX: &str = "/some/path/";

/// A journey through the built page, in a desktop window; it fails on any complaint of the browser.
///
/// # Panics
/// Where the journey fails, as a test does.
pub fn journey<F, Steps>(steps: F)
where
    F: FnOnce(Page) -> Steps,
    Steps: Future<Output = Result> + Send + 'static,
{
    Journey::default().run(steps);
}

/// A journey with something unusual about it.
pub struct Journey {
    folder: PathBuf,
    may_complain: bool,
    traced: bool,
}

impl Default for Journey {
    fn default() -> Self {
        Self { folder: project::dist(), may_complain: false, traced: false }
    }
}

impl Journey {
    /// Serves this folder in place of the built page.
    #[must_use]
    pub fn serving(self, folder: PathBuf) -> Self {
        Self { folder, ..self }
    }

    /// For a journey into a state that the browser itself reports.
    #[must_use]
    pub fn may_complain(self) -> Self {
        Self { may_complain: true, ..self }
    }

    /// Records what the browser does, for [`Page::trace`].
    #[must_use]
    pub fn traced(self) -> Self {
        Self { traced: true, ..self }
    }

    /// Goes the journey.
    ///
    /// # Panics
    /// Where the journey fails, as a test does.
    pub fn run<F, Steps>(self, steps: F)
    where
        F: FnOnce(Page) -> Steps,
        Steps: Future<Output = Result> + Send + 'static,
    {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let outcome = match runtime {
            Ok(runtime) => runtime.block_on(self.go(steps)),
            Err(error) => Err(error.into()),
        };
        if let Err(error) = outcome {
            panic!("{error}");
        }
    }

    async fn go<F, Steps>(self, steps: F) -> Result
    where
        F: FnOnce(Page) -> Steps,
        Steps: Future<Output = Result> + Send + 'static,
    {
        if !self.folder.join("index.html").is_file() {
            return Err("the page is not built: run `cargo xtask test`, or `cargo xtask serve` \
                        once and then the test again"
                .into());
        }
        let server = Server::start(self.folder.clone(), 0, PREFIX)?;
        let chromedriver = Chromedriver::start()?;
        let driver = chromedriver.session(self.traced).await?;
        let page = Page::new(driver.clone(), server.url());
        page.view(view::DESKTOP_LIGHT).await?;
        // In a task of its own, so that the browser is closed also after a failed assertion.
        let ended = tokio::spawn(steps(page.clone())).await;
        let failed = !matches!(ended, Ok(Ok(())));
        let complaints = self.complaints(&page, failed).await;
        if failed {
            picture(&page).await;
        }
        close(driver).await?;
        ended??;
        complaints
    }

    /// The browser's complaints, as an error unless they are expected; shown when the steps failed.
    async fn complaints(&self, page: &Page, failed: bool) -> Result {
        let complaints = page.complaints().await?.join("\n");
        if complaints.is_empty() || self.may_complain {
            return Ok(());
        }
        if failed {
            eprintln!("the browser complained:\n{complaints}");
        }
        Err(format!("the browser complained:\n{complaints}").into())
    }
}

/// Leaves a picture of the page as it was when the journey failed.
async fn picture(page: &Page) {
    let name = thread::current().name().unwrap_or("journey").replace("::", "-");
    let file = project::tools().join("failed").join(format!("{name}.png"));
    match page.screenshot(&file).await {
        Ok(()) => eprintln!("the page when it failed: {}", file.display()),
        Err(error) => eprintln!("no picture of the failed page: {error}"),
    }
}

async fn close(driver: WebDriver) -> Result {
    Ok(driver.quit().await?)
}

//! Opening the page: it starts under the strict policy, or says why it did not.
use goodput_tests::{Journey, Page, Result, journey};
use std::{fs, io, path::PathBuf};
use xtask::project;

#[test]
fn the_page_starts_and_its_starting_message_goes() {
    journey(|page| async move {
        page.open("").await?;
        assert!(!page.text("h1").await?.is_empty());
        page.gone("#boot").await?;
        page.accessible().await
    });
}

#[test]
fn both_workers_start_and_announce_themselves() {
    journey(|page| async move {
        page.open("").await?;
        for worker in ["simulator", "reader"] {
            let text = hello(&page, worker).await?;
            assert!(text.contains("hello"), "{worker} said {text}");
        }
        Ok(())
    });
}

#[test]
fn a_page_with_a_missing_file_says_that_it_could_not_start() {
    let folder = copy_of_the_page("without-wasm", |name| !name.contains(".wasm")).unwrap();
    Journey::default().serving(folder).may_complain().run(|page| async move {
        page.load("").await?;
        page.find("#boot[data-state=\"failed\"]").await?;
        let text = page.text("#boot-status").await?;
        assert!(text.contains("could not start"), "{text}");
        page.accessible().await
    });
}

#[test]
#[should_panic(expected = "Content Security Policy")]
fn a_violation_of_the_policy_fails_a_journey() {
    journey(|page| async move {
        page.open("").await?;
        page.script("document.body.setAttribute('style', 'color: red')").await?;
        Ok(())
    });
}

#[test]
#[should_panic(expected = "image-alt")]
fn an_inaccessible_page_fails_a_journey() {
    journey(|page| async move {
        page.open("").await?;
        page.script("document.querySelector('main').append(new Image())").await?;
        page.accessible().await
    });
}

#[test]
#[should_panic(expected = "said in a worker")]
fn an_error_logged_in_a_worker_fails_a_journey() {
    let folder = copy_of_the_page("noisy", |_| true).unwrap();
    let noisy = "console.error('said in a worker'); postMessage('hello');";
    fs::write(folder.join("noisy_loader.js"), noisy).unwrap();
    Journey::default().serving(folder).run(|page| async move {
        page.open("").await?;
        hello(&page, "noisy").await.map(drop)
    });
}

/// First message of a worker, or what went wrong.
async fn hello(page: &Page, worker: &str) -> Result<String> {
    let script = format!(
        "const done = arguments[0];
        const worker = new Worker('./{worker}_loader.js', {{ type: 'module' }});
        worker.onmessage = (event) => {{ worker.terminate(); done(JSON.stringify(event.data)); }};
        worker.onerror = (event) => done('failed: ' + event.message);"
    );
    Ok(page.script_async(&script).await?.as_str().unwrap_or_default().to_owned())
}

/// A copy of those files of the built page that the name decides for.
pub fn copy_of_the_page(name: &str, wanted: impl Fn(&str) -> bool) -> io::Result<PathBuf> {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    // What an earlier build left there would hide that a file is missing.
    if folder.exists() {
        fs::remove_dir_all(&folder)?;
    }
    fs::create_dir_all(&folder)?;
    for entry in fs::read_dir(project::dist())? {
        let entry = entry?;
        if wanted(&entry.file_name().to_string_lossy()) {
            fs::copy(entry.path(), folder.join(entry.file_name()))?;
        }
    }
    Ok(folder)
}

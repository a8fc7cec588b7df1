//! Files: a trace becomes the workload, and neither a file that cannot be read nor a reader that
//! dies harms anything.
use super::opening::copy_of_the_page;
use goodput_tests::{Answer, Journey, Page, Result, journey, testid, view};
use std::{fmt::Write, fs, path::PathBuf, time::Duration};
use thirtyfour::Key;

/// A file of that content for the browser to choose.
fn file(name: &str, content: &[u8]) -> Result<PathBuf> {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::write(&path, content)?;
    Ok(path)
}

/// 600 requests, one every half second, in the format of the Azure LLM traces.
fn trace() -> Result<String> {
    let mut text = "TIMESTAMP,ContextTokens,GeneratedTokens\r\n".to_owned();
    for i in 0..600 {
        let (minute, second, half) = (i / 120, i / 2 % 60, 5 * (i % 2));
        let (input, output) = (200 + i, 40 + i % 30);
        write!(text, "2026-01-05 10:{minute:02}:{second:02}.{half}000000,{input},{output}\r\n")?;
    }
    Ok(text)
}

/// Waits until the page answers with exactly this.
async fn settles_on(page: &Page, answer: &Answer) -> Result {
    for _ in 0..1_000 {
        page.settled().await?;
        if page.answer().await? == *answer {
            return Ok(());
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    Err(format!("the page does not settle on {answer:?}").into())
}

#[test]
fn a_trace_becomes_the_workload_and_undo_restores() {
    journey(|page| async move {
        page.open("").await?;
        let before = page.answer().await?;
        page.upload(&testid("file-input"), &[file("trace.csv", trace()?.as_bytes())?]).await?;
        let facts = page.text(&testid("trace-facts")).await?;
        let expected = [
            "600 in 300\u{202f}s",
            "2.003\u{202f}req/s",
            "2\u{202f}req/s in any such span",
            "mean 499.5, p50 499, p99 793 tokens",
            "mean 54.5, p50 54, p99 69 tokens",
        ];
        for text in expected {
            assert!(facts.contains(text), "no “{text}” in {facts}");
        }
        page.accessible().await?;

        page.click(&testid("use-trace")).await?;
        page.text_when(&testid("status"), |text| text.contains("Simulated 600 ")).await?;
        page.settled().await?;
        let replayed = page.answer().await?;
        assert_ne!(replayed, before, "the answer follows");
        let used = page.text(&testid("used")).await?;
        assert!(used.contains("Replayed as recorded") && used.contains("link"), "{used}");

        page.click(&testid("use-profile")).await?;
        page.text_when(&testid("used"), |text| text.contains("smoothed out")).await?;
        // The same rates and lengths without their order: another answer, told from the first by
        // the lengths in it.
        page.find(&testid("workload.classes[0].input_tokens.table[0].p")).await?;
        page.settled().await?;
        assert_ne!(page.answer().await?, replayed);

        for answer in [&replayed, &before] {
            page.click(&testid("undo")).await?;
            settles_on(&page, answer).await?;
        }
        Ok(())
    });
}

#[test]
fn a_file_that_cannot_be_read_says_so_and_harms_nothing() {
    journey(|page| async move {
        page.open("").await?;
        let before = page.answer().await?;
        let whole = trace()?;
        let files = [
            file("empty.json", b"")?,
            file("cut.json", b"{\"request_throughput\": 1.5, \"output_thr")?,
            file("binary.bin", &[0, 159, 146, 150, 0, 255, 254, 7])?,
            file("letter.txt", &whole.as_bytes()[200..240])?,
            file("good.csv", whole.as_bytes())?,
        ];
        page.upload(&testid("file-input"), &files).await?;
        page.find(&format!("{}[data-reader=\"done\"]", testid("uploads"))).await?;
        let refused = ["is empty", "stops in the middle", "text", "No known format"];
        for (at, reason) in refused.iter().enumerate() {
            let card = format!("article:nth-of-type({})", at + 1);
            let said = page.text(&format!("{card} {}", testid("refused"))).await?;
            assert!(said.starts_with("Not read: ") && said.contains(reason), "{card}: {said}");
            assert!(page.text(&card).await?.contains("Nothing else on the page was changed"));
        }
        let unknown = page.text("article:nth-of-type(4)").await?;
        assert!(unknown.contains("looked for") && unknown.contains("ContextTokens"), "{unknown}");
        assert!(page.text("article:nth-of-type(5)").await?.contains("600 requests"));
        page.accessible().await?;
        assert_eq!(page.answer().await?, before);

        for _ in 0..files.len() {
            page.click(&testid("remove-file")).await?;
        }
        page.gone(&testid("file")).await
    });
}

#[test]
fn text_can_be_pasted_with_the_keyboard_alone() {
    journey(|page| async move {
        page.view(view::PHONE_LIGHT).await?;
        page.open("").await?;
        page.script("document.querySelector('[data-testid=paste]').focus()").await?;
        page.press(Key::Enter + "").await?;
        page.press(Key::Tab + "").await?;
        // The header and one row: lines of a text area end in one character.
        page.press("TIMESTAMP,ContextTokens,GeneratedTokens\n2026-01-05 10:00:00.0,120,7\n")
            .await?;
        page.press(Key::Tab + "").await?;
        page.press(Key::Space + "").await?;
        let facts = page.text(&testid("trace-facts")).await?;
        assert!(facts.contains("mean 120"), "{facts}");
        let said = "return document.querySelector('[data-testid=uploads-said]').textContent";
        assert_eq!(page.script(said).await?, "pasted text was read");
        page.accessible().await
    });
}

#[test]
fn a_reader_that_dies_is_started_again_and_the_page_stands() {
    let folder = copy_of_the_page("dying-reader", |_| true).unwrap();
    let build = env!("CARGO_PKG_VERSION");
    let dying = format!(
        "onmessage = () => {{ throw new Error('made to fail'); }};
        postMessage('{{\"hello\":{{\"worker\":\"reader\",\"protocol\":5,\"build\":\"{build}\"}}}}');"
    );
    fs::write(folder.join("reader_loader.js"), dying).unwrap();
    Journey::default().serving(folder).may_complain().run(|page| async move {
        page.open("").await?;
        let before = page.answer().await?;
        let files = [file("one.csv", trace()?.as_bytes())?, file("two.csv", b"x")?];
        page.upload(&testid("file-input"), &files).await?;
        for card in ["article:nth-of-type(1)", "article:nth-of-type(2)"] {
            let said = page.text_when(card, |text| text.contains("reader stopped")).await?;
            assert!(said.contains("made to fail"), "{said}");
        }
        assert_eq!(page.answer().await?, before);
        page.accessible().await
    });
}

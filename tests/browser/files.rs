//! Files: a trace becomes the workload, and a file that cannot be read harms nothing.
use goodput_tests::{Result, journey};
use std::{fmt::Write, fs, path::PathBuf};

const INPUT: &str = "[data-testid=\"file-input\"]";

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

#[test]
fn a_trace_becomes_the_workload_and_undo_restores() {
    journey(|page| async move {
        page.open("").await?;
        let before = page.text("[data-testid=\"status\"]").await?;
        page.upload(INPUT, &[file("trace.csv", trace()?.as_bytes())?]).await?;
        let facts = page.text("[data-testid=\"trace-facts\"]").await?;
        assert!(facts.contains("600"), "{facts}");
        page.accessible().await?;
        page.click("[data-testid=\"use-trace\"]").await?;
        page.text_when("[data-testid=\"status\"]", |text| text.contains("Simulated 600 ")).await?;
        page.settled().await?;
        page.click("[data-testid=\"undo\"]").await?;
        page.text_when("[data-testid=\"status\"]", |text| text == before).await?;
        Ok(())
    });
}

#[test]
fn a_file_that_cannot_be_read_says_so_and_harms_nothing() {
    journey(|page| async move {
        page.open("").await?;
        let before = page.text("[data-testid=\"verdict\"]").await?;
        let whole = trace()?;
        let broken = [
            file("empty.json", b"")?,
            file("cut.json", b"{\"request_throughput\": 1.5, \"output_thr")?,
            file("binary.bin", &[0, 159, 146, 150, 0, 255, 254, 7])?,
            file("letter.txt", &whole.as_bytes()[200..240])?,
        ];
        let count = broken.len();
        page.upload(INPUT, &broken).await?;
        page.find(&format!("article:nth-of-type({count}) [data-testid=\"refused\"]")).await?;
        page.accessible().await?;
        assert_eq!(page.text("[data-testid=\"verdict\"]").await?, before);
        Ok(())
    });
}

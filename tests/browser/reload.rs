//! A reload loses nothing: neither an edit of a moment ago, nor a scenario that no link can hold.
use goodput_tests::{Result, journey, testid};
use std::{fmt::Write, fs, path::PathBuf};

const PEAK_RATE: &str = "workload.classes[0].arrivals.points[2].rate_rps";

#[test]
fn an_edit_of_a_moment_ago_is_there_after_a_reload() {
    journey(|page| async move {
        page.open("").await?;
        page.fill(&testid(PEAK_RATE), "61.5").await?;
        page.reload().await?;
        assert_eq!(page.value(&testid(PEAK_RATE)).await?, "61.5");
        let undo = page.attribute(&testid("undo"), "aria-disabled").await?;
        assert_eq!(undo, "true", "the page began with it: there is nothing to undo");
        page.open("").await?;
        assert_eq!(page.value(&testid(PEAK_RATE)).await?, "50", "a new visit begins anew");
        Ok(())
    });
}

#[test]
fn a_scenario_too_long_for_a_link_is_there_after_a_reload() {
    journey(|page| async move {
        page.open("").await?;
        page.upload(&testid("file-input"), &[long_trace()?]).await?;
        page.click(&testid("use-trace")).await?;
        page.text_when(&testid("status"), |text| text.contains("Simulated 6,000 ")).await?;
        page.settled().await?;
        let answer = page.answer().await?;
        assert_eq!(page.fragment().await?, "", "no link can hold it");
        page.reload().await?;
        assert_eq!(page.answer().await?, answer);
        page.open("").await?;
        assert_ne!(page.answer().await?, answer, "a new visit begins anew");
        Ok(())
    });
}

/// A trace of requests whose lengths all differ, so that no link can hold them.
fn long_trace() -> Result<PathBuf> {
    let mut text = "TIMESTAMP,ContextTokens,GeneratedTokens\r\n".to_owned();
    let mut state = 1_u64;
    for i in 0_u32..6_000 {
        // Numbers of no pattern (a linear congruential generator).
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let (input, output) = (1 + (state >> 33) % 3_000, 1 + (state >> 45) % 300);
        let (minute, second) = (i / 4 / 60, i / 4 % 60);
        let fraction = u64::from(i % 4) * 2_500_000 + (state >> 40) % 2_000_000;
        write!(text, "2023-11-16 18:{minute:02}:{second:02}.{fraction:07},{input},{output}\r\n")?;
    }
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("long-trace.csv");
    fs::write(&path, text)?;
    Ok(path)
}

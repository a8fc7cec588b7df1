//! The contract's finer limits, the price and the lengths of a running server: each is an edit whose
//! answer is the program's, and undo takes it back.
use goodput_tests::{Page, Result, goodput, journey, testid};
use std::{fs, path::PathBuf};

const GAP: &str = "workload.classes[0].slo.itl_percentile.ms";
const PRICE: &str = "fleet.pools[0].price_per_gpu_hour";

#[test]
fn requests_are_held_to_a_percentile_of_their_own_gaps() {
    journey(|page| async move {
        page.open("").await?;
        let before = page.answer().await?.simulated();
        page.gone(&testid(GAP)).await?;
        choose(&page, "itl-percentile-0", "95").await?;
        page.answered().await?;
        // Twice the pace that was asked for breaks nobody's stream.
        assert_eq!(page.answer().await?.outcomes, before.outcomes);
        page.fill(&testid(GAP), "20").await?;
        page.settled().await?;
        let held = page.answer().await?;
        assert!(held.count("Stalled") > before.count("Stalled"), "{held:?}");
        held.equals_program(&page.link().await?)?;
        page.accessible().await?;
        page.fill(&testid(GAP), "0").await?;
        page.text_when("body", |text| text.contains("the limit is 0 ms")).await?;
        // The choice, and two limits typed.
        for _ in 0..3 {
            page.click(&testid("undo")).await?;
        }
        page.answered().await?;
        assert_eq!(page.answer().await?.simulated(), before);
        page.gone(&testid(GAP)).await
    });
}

#[test]
fn a_percentile_over_offered_requests_is_asked_for_and_missed() {
    journey(|page| async move {
        page.open("").await?;
        let before = page.answer().await?.simulated();
        page.gone(&testid("percentile-targets")).await?;
        let edit = testid("percentile-targets-edit");
        page.click(&format!("{edit} summary")).await?;
        page.click(&format!("{edit} button")).await?;
        page.settled().await?;
        let limit = testid("workload.classes[0].slo.percentile_targets[0].limit_ms");
        page.find(&testid("workload.classes[0].slo.percentile_targets[0].percentile")).await?;
        choose(&page, "target-of-0-0", "TPOT").await?;
        page.fill(&limit, "1").await?;
        page.settled().await?;
        let line = page.text(&format!("{edit} summary")).await?;
        assert!(line.contains("TPOT p95 ≤ 1"), "{line}");
        let told = page.text(&testid("percentile-targets")).await?;
        assert!(told.contains("TPOT p95 ≤ 1") && told.contains("missed"), "{told}");
        let missed = page.answer().await?;
        assert_eq!(missed.outcomes, before.outcomes, "a target is on the class, not on a request");
        missed.equals_program(&page.link().await?)?;
        page.accessible().await?;
        page.fill(&limit, "-3").await?;
        page.text_when("body", |text| text.contains("Percentile target")).await?;
        page.click(&format!("{edit} .part button")).await?;
        page.answered().await?;
        assert_eq!(page.answer().await?.simulated(), before);
        page.gone(&testid("percentile-targets")).await
    });
}

#[test]
fn hidden_tokens_have_a_first_visible_one() {
    journey(|page| async move {
        let link = goodput::preset("reasoning")?;
        page.open(link.trim_start_matches('#')).await?;
        page.find(&testid("figure-ttfvt")).await?;
        page.fill(&testid("workload.classes[0].slo.ttfvt_ms"), "40").await?;
        page.settled().await?;
        page.answer().await?.equals_program(&page.link().await?)?;
        page.find(&testid("limit-ttfvt")).await?;
        page.accessible().await
    });
}

#[test]
fn a_price_is_chosen_from_the_sheet_or_typed_in_another_currency() {
    journey(|page| async move {
        page.open("").await?;
        let rows = page.text(&testid("marginal")).await?;
        assert!(rows.contains("Per 1 %") && rows.contains(" to "), "{rows}");
        choose(&page, "price-sheet", "0").await?;
        page.settled().await?;
        let price: f64 = page.value(&testid(PRICE)).await?.parse()?;
        assert!(price > 0.0);
        let source = page.value(&testid("fleet.pools[0].price_source")).await?;
        assert!(source.starts_with("on demand") && source.contains("20"), "{source}");
        let before = page.answer().await?;
        choose(&page, "price-currency", "EUR").await?;
        page.text_when("body", |text| text.contains("none is guessed")).await?;
        page.fill(&testid("fleet.pools[0].price_in_currency.usd_per_unit"), "2").await?;
        let date = testid("fleet.pools[0].price_in_currency.rate_as_of");
        page.fill(&date, "2026-10-01").await?;
        page.settled().await?;
        let twice = page.answer().await?;
        twice.equals_program(&page.link().await?)?;
        assert!((twice.tile("cost") / before.tile("cost") - 2.0).abs() < 1e-9);
        page.accessible().await
    });
}

#[test]
fn a_running_server_gives_a_class_its_lengths() {
    journey(|page| async move {
        page.open("").await?;
        let before = page.answer().await?.simulated();
        let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("metrics.txt");
        fs::write(&path, metrics())?;
        page.upload(&testid("file-input"), &[path]).await?;
        let facts = page.text(&testid("served-lengths")).await?;
        assert!(facts.contains("400") && facts.contains("300\u{202f}tokens"), "{facts}");
        page.accessible().await?;
        page.click(&testid("use-lengths")).await?;
        page.find(&testid("workload.classes[0].input_tokens.table[0].p")).await?;
        page.settled().await?;
        let used = page.answer().await?;
        assert_ne!(used.simulated(), before);
        used.equals_program(&page.link().await?)?;
        page.click(&testid("undo")).await?;
        page.answered().await?;
        assert_eq!(page.answer().await?.simulated(), before);
        Ok(())
    });
}

/// The `/metrics` page of a server that finished 400 requests.
fn metrics() -> String {
    let histogram = |name: &str, buckets: [(&str, u32); 3], sum: u32| {
        let line = |(edge, n): (&str, u32)| format!("{name}_bucket{{le=\"{edge}\"}} {n}.0\n");
        let buckets: String = buckets.into_iter().map(line).collect();
        format!("{buckets}{name}_count 400.0\n{name}_sum {sum}.0\n")
    };
    let prompts = [("100.0", 100), ("500.0", 400), ("+Inf", 400)];
    let outputs = [("50.0", 200), ("200.0", 400), ("+Inf", 400)];
    [
        histogram("vllm:request_prompt_tokens", prompts, 120_000),
        histogram("vllm:request_generation_tokens", outputs, 32_000),
    ]
    .concat()
}

async fn choose(page: &Page, id: &str, value: &str) -> Result {
    page.click(&format!("#{id} option[value='{value}']")).await
}

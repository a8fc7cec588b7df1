//! The fleet over time on one axis, and the life of its requests: worked out while somebody looks,
//! read with the keys, and every number is the program's.
use goodput_tests::{Page, Result, goodput, journey, testid, view};
use serde_json::Value;
use thirtyfour::Key;

const LIFE: &str = "[data-testid=life][data-state=done]";

#[test]
fn the_timeline_draws_every_sample_and_is_read_with_the_arrow_keys() {
    journey(|page| async move {
        let link = goodput::preset("outputs-double")?;
        page.open(link.trim_start_matches('#')).await?;
        let report = goodput::json(&["simulate", &link])?;
        open(&page, "timeline").await?;
        page.click(&testid("table-timeline")).await?;
        page.find(&testid("data-timeline")).await?;
        let shown = page.script(&rows("data-timeline")).await?;
        let shown = shown.as_array().ok_or("no rows")?;
        let horizon_s = report["horizon_s"].as_f64().ok_or("no horizon")?;
        let within = |point: &&Value| point["t_s"].as_f64().is_some_and(|t_s| t_s <= horizon_s);
        let samples: Vec<&Value> =
            report["series"].as_array().into_iter().flatten().filter(within).collect();
        assert_eq!(shown.len(), samples.len());
        let names = page.script(HEADS).await?;
        let column = |name: &str| {
            let all = names.as_array().into_iter().flatten();
            all.into_iter().position(|head| head.as_str().is_some_and(|h| h.starts_with(name)))
        };
        for (name, field) in [
            ("time", "t_s"),
            ("running", "running"),
            ("waiting", "waiting"),
            ("queue age", "oldest_age_s"),
            ("prefill backlog", "backlog_prefill_tokens"),
            ("decode, tok/s", "decode_tps"),
        ] {
            let at = column(name).ok_or_else(|| format!("no column {name} in {names}"))?;
            for (row, sample) in shown.iter().zip(&samples) {
                let [drawn, sampled] = [&row[at], &sample[field]].map(Value::as_f64);
                assert_eq!(drawn.map(f64::to_bits), sampled.map(f64::to_bits), "{name}");
            }
        }
        page.accessible().await?;

        // One cursor for all charts over time.
        let moment = testid("moment");
        let before = page.text(&moment).await?;
        assert!(before.contains("running") && before.contains("KV in use"), "{before}");
        page.script("document.querySelector('[data-testid=moment]').focus()").await?;
        page.press(Key::PageDown + "").await?;
        page.text_when(&moment, |text| text != before).await?;
        let clock = page.text(&format!("{moment} b")).await?;
        assert_eq!(page.text(&format!("{} b", testid("readout"))).await?, clock);
        for view in [view::PHONE_LIGHT, view::DESKTOP_DARK] {
            page.view(view).await?;
            page.accessible().await?;
        }
        Ok(())
    });
}

#[test]
fn stages_of_a_life_sum_to_the_whole_and_follow_an_edit() {
    journey(|page| async move {
        let link = goodput::preset("chat-peak")?;
        page.open(link.trim_start_matches('#')).await?;
        open(&page, "life-cycle").await?;
        page.find(LIFE).await?;
        let finding = page.text(&format!("{LIFE} .cap")).await?;
        assert!(finding.starts_with("At p50") && finding.contains("at p99"), "{finding}");
        let before = check(&page, &link).await?;
        page.accessible().await?;

        // Half the requests: another life, asked anew.
        page.click(&format!("{} option[value=poisson]", testid("arrivals-kind-0"))).await?;
        page.fill(&testid("workload.classes[0].arrivals.rate_rps"), "4").await?;
        page.settled().await?;
        page.find(LIFE).await?;
        let after = check(&page, &page.link().await?).await?;
        assert_ne!(before.map(f64::to_bits), after.map(f64::to_bits));
        page.view(view::PHONE_DARK).await?;
        page.accessible().await
    });
}

/// Sums the stages of both percentiles, and holds what is said against the program's percentiles.
async fn check(page: &Page, link: &str) -> Result<[f64; 2]> {
    let report = goodput::json(&["simulate", link])?;
    let rows = page.script(&rows("data-life")).await?;
    let rows = rows.as_array().ok_or("no rows")?;
    let sum = |column: usize| rows.iter().filter_map(|row| row[column].as_f64()).sum::<f64>();
    let sums = [sum(1), sum(3)];
    for (sum, percentile) in sums.iter().zip(["p50", "p99"]) {
        let e2e = report["classes"][0]["e2e_ms"][percentile].as_f64().ok_or("never")?;
        // A mean within half a percentile is about the percentile.
        assert!((sum / e2e - 1.0).abs() < 0.1, "{percentile}: {sum} and {e2e}");
    }
    Ok(sums)
}

async fn open(page: &Page, panel: &str) -> Result {
    page.click(&format!("{} > summary", testid(panel))).await
}

const HEADS: &str = "return [...document.querySelectorAll('[data-testid=data-timeline] th')]
  .map((head) => head.innerText)";

/// What stands in the cells of a table in full; null where it is no number.
fn rows(id: &str) -> String {
    format!(
        "return [...document.querySelectorAll('[data-testid={id}] tbody tr')].map((row) =>
           [...row.cells].map((cell) =>
             cell.dataset.value === undefined ? null : Number(cell.dataset.value)))"
    )
}

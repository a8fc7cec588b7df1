//! An uploaded run that holds its requests one by one is judged by the contract of the scenario, as
//! the program judges it; what the file does not say is said to be missing.
use goodput_tests::{Page, Result, goodput, journey, testid, view};
use serde_json::{Value, json};
use std::{fmt::Write, fs, path::PathBuf};

const DONE: &str = "[data-testid=measured][data-state=done]";

/// One request a line, with neither cache hits nor tenants nor replicas: some late, some slow.
fn requests() -> Result<PathBuf> {
    let mut text = "input_tokens,output_tokens,arrival_s,ttft_ms,e2e_ms\n".to_owned();
    for i in 0..120_u32 {
        let (ttft_ms, per_token_ms) = (40 + 14 * i, if i % 5 == 0 { 70 } else { 20 });
        let (input, output) = (64 << (i % 5), 20 + i % 30);
        let e2e_ms = ttft_ms + per_token_ms * (output - 1);
        writeln!(text, "{input},{output},{}.5,{ttft_ms},{e2e_ms}", i / 4)?;
    }
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("requests.csv");
    fs::write(&path, text)?;
    Ok(path)
}

#[test]
fn uploaded_requests_are_judged_by_the_contract_as_the_program_does() {
    journey(|page| async move {
        page.open(goodput::preset("chat-peak")?.trim_start_matches('#')).await?;
        let limits = ["ttft=1s", "tpot=50ms"];
        let file = requests()?;
        page.upload(&testid("file-input"), std::slice::from_ref(&file)).await?;
        page.find(&testid("file-facts")).await?;
        page.click(&format!("{} > summary", testid("judged"))).await?;
        page.find(DONE).await?;
        let judged = program(&file, &limits.join(","))?;
        equal(&page, &judged).await?;
        page.accessible().await?;

        // Two things crossed are a heat map, with a cell for every one of the program's.
        page.click(&format!("{} option[value=output]", testid("measured-and"))).await?;
        page.find(DONE).await?;
        page.find(&format!("{}:not([hidden])", testid("measured-heat"))).await?;
        page.click(&testid("table-measured-heat")).await?;
        let shown = page.script(CROSSED).await?;
        let cells = judged["accounting"]["crossed"][0]["cells"].as_array();
        let cells = cells.ok_or("nothing is crossed")?.iter();
        let wanted: Vec<[Value; 2]> =
            cells.map(|cell| [cell["offered"].clone(), cell["good"].clone()]).collect();
        assert!(wanted.len() > 4, "{wanted:?}");
        assert_eq!(shown, serde_json::to_value(&wanted)?);
        page.accessible().await?;
        page.click(&format!("{} option[value='']", testid("measured-and"))).await?;
        page.find(&format!("{}[hidden]", testid("measured-heat"))).await?;

        // What is not in the file is said to be so.
        page.click(&format!("{} option[value=cache_hit]", testid("measured-by"))).await?;
        let table = page.text(&testid("data-measured-break-out")).await?;
        assert!(table.contains("not in file"), "{table}");

        // Another contract of the scenario is another judgement, without a new upload.
        page.fill(&testid("workload.classes[0].slo.ttft_ms"), "300 ms").await?;
        page.find(DONE).await?;
        let stricter = program(&file, "ttft=300ms,tpot=50ms")?;
        assert!(stricter["good"].as_u64() < judged["good"].as_u64());
        page.find(DONE).await?;
        page.click(&format!("{} option[value=prompt]", testid("measured-by"))).await?;
        equal(&page, &stricter).await?;
        for view in [view::PHONE_LIGHT, view::DESKTOP_DARK] {
            page.view(view).await?;
            page.accessible().await?;
        }
        page.click(&testid("remove-file")).await?;
        page.gone(&testid("judged")).await
    });
}

/// The break-out by prompt length and the rules are those of the program.
async fn equal(page: &Page, judged: &Value) -> Result {
    let by_prompt = judged["accounting"]["break_outs"].as_array().into_iter().flatten();
    let by_prompt = by_prompt.into_iter().find(|out| out["by"] == json!(["prompt"]));
    let cells = by_prompt.and_then(|out| out["cells"].as_array()).ok_or("no break-out")?;
    let wanted: Vec<[Value; 2]> =
        cells.iter().map(|cell| [cell["offered"].clone(), cell["good"].clone()]).collect();
    let rows = page.script(ROWS).await?;
    assert_eq!(serde_json::to_value(&wanted)?, rows);
    let good = judged["accounting"]["denominators"]["offered"]["share"].as_f64();
    let cell = format!("{} td", testid("measured-rule-offered"));
    let shown: f64 = page.attribute(&cell, "data-value").await?.parse()?;
    assert_eq!(Some(shown.to_bits()), good.map(f64::to_bits));
    Ok(())
}

fn program(file: &std::path::Path, slo: &str) -> Result<Value> {
    let file = file.to_string_lossy();
    let review = goodput::json(&["review", &file, "--slo", slo, "--by", "prompt,output"])?;
    Ok(review["files"][0]["goodput"][0].clone())
}

/// Offered and good requests of every row.
const ROWS: &str = "
return [...document.querySelectorAll('[data-testid=data-measured-break-out] tbody tr')]
  .map((row) => [2, 3].map((i) => Number(row.cells[i].dataset.value)));";

const CROSSED: &str = "
return [...document.querySelectorAll('[data-testid=data-measured-heat] tbody tr')]
  .map((row) => [2, 3].map((i) => Number(row.cells[i].dataset.value)));";

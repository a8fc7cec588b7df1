//! A benchmark corrects the answer: it is reviewed, what it does not say is asked for, one factor
//! on the step time is fitted and applied as one edit, and undo restores.
use goodput_tests::{Page, Result, goodput, journey, testid, view};
use serde_json::{Value, json};
use std::{fmt::Write, fs, path::PathBuf};

fn file(name: &str, content: &str) -> Result<PathBuf> {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::write(&path, content)?;
    Ok(path)
}

/// Loads of one replica of the worked example's model whose steps take longer than the catalogue
/// says. GPU, count, engine and quality are not stated; one row is of another GPU.
fn sweep() -> Result<PathBuf> {
    let mut text = "label,model,gpu,tensor_parallel,max_concurrency,num_prompts,completed,failed,\
                    mean_input_tokens,mean_output_tokens,output_tps,ttft_mean_ms,tpot_mean_ms\n"
        .to_owned();
    for (concurrency, gpu, output_tps, ttft_ms, tpot_ms) in [
        (1, "", 118.0, 32.0, 8.3),
        (8, "", 860.0, 55.0, 8.9),
        (32, "", 2_900.0, 90.0, 10.4),
        (32, "A100-80GB", 1_500.0, 180.0, 20.0),
    ] {
        writeln!(
            text,
            "c{concurrency},llama-3.1-8b,{gpu},1,{concurrency},400,400,0,512,256,{output_tps},\
             {ttft_ms},{tpot_ms}"
        )?;
    }
    file("sweep.csv", &text)
}

/// One run as `vllm bench serve` writes it, 400 prompts at 8 requests/s.
fn vllm_result() -> Result<PathBuf> {
    let result = json!({
        "date": "20260301-101500", "endpoint_type": "vllm", "label": null,
        "model_id": "meta-llama/Llama-3.1-8B", "tokenizer_id": "meta-llama/Llama-3.1-8B",
        "num_prompts": 400, "request_rate": 8.0, "burstiness": 1.0, "max_concurrency": null,
        "duration": 52.4, "completed": 400, "total_input_tokens": 204_800,
        "total_output_tokens": 102_400, "request_throughput": 7.6336,
        "output_throughput": 1_954.2, "total_token_throughput": 5_862.6,
        "mean_ttft_ms": 61.0, "median_ttft_ms": 57.0, "std_ttft_ms": 14.0, "p99_ttft_ms": 101.0,
        "mean_tpot_ms": 10.6, "median_tpot_ms": 10.5, "std_tpot_ms": 0.6, "p99_tpot_ms": 12.2,
        "mean_itl_ms": 10.6, "median_itl_ms": 9.9, "std_itl_ms": 3.1, "p99_itl_ms": 31.0
    });
    file("run.json", &result.to_string())
}

#[test]
fn the_way_from_a_benchmark_to_the_plan_is_that_of_the_program() {
    journey(|page| async move {
        let link = goodput::preset("chat-peak")?;
        page.open(link.trim_start_matches('#')).await?;
        let run = vllm_result()?;
        page.upload(&testid("file-input"), std::slice::from_ref(&run)).await?;
        page.click(&testid("take-guesses")).await?;
        page.click(&format!("{} > summary", testid("bridge"))).await?;
        page.find(&format!("{}[data-state=done]", testid("bridge-way"))).await?;
        let native = goodput::json(&["bridge", &run.to_string_lossy(), "--scenario", &link])?;
        let steps = native["steps"].as_array().ok_or("no steps")?;
        let wanted: Vec<Value> =
            steps.iter().map(|step| step["rate"]["decode_tps"].clone()).collect();
        assert!(wanted.len() > 4 && wanted.iter().all(Value::is_number), "{native}");
        assert_eq!(page.script(OUTPUT_RATES).await?, Value::Array(wanted));
        let said = page.text(&testid("bridge-sentence")).await?;
        assert_eq!(Some(said.as_str()), native["sentence"].as_str());
        page.accessible().await?;

        // What to measure next, with a tool of one's choice.
        page.click(&format!("{} > summary", testid("rerun"))).await?;
        let commands = format!("{}[data-state=done]", testid("rerun-commands"));
        let shown = page.text_when(&commands, |text| text.contains("vllm bench serve")).await?;
        assert!(shown.contains("--max-concurrency 1 "), "{shown}");
        page.click("#rerun-tool option:nth-child(3)").await?;
        page.text_when(&commands, |text| text.contains("aiperf profile")).await?;
        for view in [view::PHONE_LIGHT, view::DESKTOP_DARK] {
            page.view(view).await?;
            page.accessible().await?;
        }
        Ok(())
    });
}

/// Output tokens per second, row by row.
const OUTPUT_RATES: &str = "
return [...document.querySelectorAll('[data-testid=bridge-steps] tbody tr')]
  .map((row) => Number(row.cells[5].dataset.value));";

#[test]
fn a_csv_of_benchmark_rows_is_fitted_applied_and_undone() {
    journey(|page| async move {
        let link = goodput::preset("chat-peak")?;
        page.open(link.trim_start_matches('#')).await?;
        let before = page.answer().await?;
        assert!(tags(&page).await?.contains("library"));
        let sweep = sweep()?;
        page.upload(&testid("file-input"), std::slice::from_ref(&sweep)).await?;
        let facts = page.text(&testid("file-facts")).await?;
        assert!(facts.contains("benchmark rows (CSV)") && facts.contains("4 rows"), "{facts}");

        // Nothing is assumed: a fit waits, and a guess is marked as one.
        let hindered = page.text(&testid("fit-hindrances")).await?;
        assert!(hindered.contains("GPU") && hindered.contains("sweep.csv"), "{hindered}");
        page.click(&testid("start-fit")).await?;
        assert_eq!(page.attribute(&testid("fit"), "data-state").await?, "done", "it has not begun");
        page.click(&testid("take-guesses")).await?;
        assert_eq!(page.value(&testid("tell-gpu")).await?, "H100-SXM");
        assert!(page.text(&testid("asked")).await?.contains("guess: the pool of this scenario"));
        page.text_when(&testid("fit-hindrances"), |text| text.contains("4 points")).await?;

        fit(&page).await?;
        let said = page.text(&testid("fit-sentence")).await?;
        assert!(said.contains("3 points"), "{said}");
        let excluded = page.text(&testid("fit-excluded")).await?;
        assert!(excluded.contains("sweep.csv, line 5") && excluded.contains("A100"), "{excluded}");
        let caption = page.text("#caption-benchmark").await?;
        assert!(caption.contains("after the fit"), "{caption}");
        page.click(&testid("table-benchmark")).await?;
        assert!(page.text(&testid("data-benchmark")).await?.contains("sweep.csv, line 2"));
        page.accessible().await?;

        let fitted = apply(&page).await?;
        let mut native =
            goodput::json(&["calibrate", &sweep.to_string_lossy(), "--scenario", &link])?;
        // A browser does not know where a file lies; everything else is the same to the last bit.
        native["fitted"]["files"] = json!(["sweep.csv"]);
        assert_eq!(fitted, native["fitted"], "the terminal fits the same");
        page.settled().await?;
        assert_ne!(page.answer().await?, before, "the answer follows");
        assert!(page.text(&testid("fitted")).await?.contains("sweep.csv"));

        page.click(&testid("undo")).await?;
        page.text_when(&tags_of_goodput(), |text| text.contains("library")).await?;
        page.settled().await?;
        assert_eq!(page.answer().await?, before, "undo restores");
        page.gone(&testid("fitted")).await
    });
}

#[test]
fn a_vllm_result_is_reviewed_and_fitted_on_what_the_user_tells() {
    journey(|page| async move {
        page.open("").await?;
        page.upload(&testid("file-input"), &[vllm_result()?]).await?;
        let facts = page.text(&testid("file-facts")).await?;
        assert!(facts.contains("vLLM bench serve JSON"), "{facts}");
        let points = page.text(&testid("points")).await?;
        assert!(points.contains("8\u{202f}req/s") && points.contains("mean 10.6"), "{points}");
        // What it does not say is a finding, with what to do about it.
        let findings = page.text(&testid("findings")).await?;
        assert!(findings.contains("Note") || findings.contains("Warning"), "{findings}");

        page.fill(&testid("tell-gpu"), "H100-SXM").await?;
        page.fill(&testid("tell-tensorparallel"), "1").await?;
        page.fill(&testid("tell-gpucount"), "one").await?;
        let wrong = format!("{}[aria-invalid=\"true\"]", testid("tell-gpucount"));
        page.find(&wrong).await?;
        assert!(page.text(&testid("asked")).await?.contains("“one” is not a number"));
        page.text_when(&testid("fit-hindrances"), |text| text.contains("GPUs in use")).await?;
        page.fill(&testid("tell-gpucount"), "1").await?;
        page.gone(&wrong).await?;
        page.accessible().await?;

        // A point that the user leaves out is in no fit.
        page.click(&testid("in-fit")).await?;
        page.text_when(&testid("fit-hindrances"), |text| text.contains("No point")).await?;
        page.click(&testid("in-fit")).await?;
        page.text_when(&testid("fit-hindrances"), |text| text.contains("1 point")).await?;
        fit(&page).await?;
        apply(&page).await?;
        // Another pool: the fit says that it is of the one before.
        page.click("details:has(#fleet-pools-0--max-num-seqs) summary").await?;
        page.fill(&testid("fleet.pools[0].max_num_seqs"), "64").await?;
        page.text_when(&testid("apply-note"), |text| text.contains("fit again")).await?;
        Ok(())
    });
}

fn tags_of_goodput() -> String {
    format!("{} .orig", testid("tile-goodput"))
}

async fn tags(page: &Page) -> Result<String> {
    page.text(&tags_of_goodput()).await
}

async fn fit(page: &Page) -> Result {
    page.click(&testid("start-fit")).await?;
    page.find(&format!("{}[data-state=\"done\"] {}", testid("fit"), testid("fit-sentence")))
        .await?;
    page.find(&format!("{} canvas", testid("figure-benchmark"))).await.map(drop)
}

/// Applies the fit and gives what the link then carries of it.
async fn apply(page: &Page) -> Result<Value> {
    let before = page.fragment().await?;
    page.click(&testid("apply-fit")).await?;
    page.text_when(&tags_of_goodput(), |text| text.contains("measured")).await?;
    page.text_when(&testid("apply-note"), |text| text.contains("Applied")).await?;
    // The address follows when editing pauses.
    let mut shared = page.fragment().await?;
    while shared == before {
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        shared = page.fragment().await?;
    }
    let doc = goodput::json(&["link", "decode", &shared])?;
    Ok(doc["fleet"]["pools"][0]["step_time"]["fitted"].clone())
}

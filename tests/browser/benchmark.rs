//! A benchmark corrects the answer: it is reviewed, what it does not say is asked for, one factor
//! on the step time is fitted and applied as one edit.
use goodput_tests::{Result, journey, testid};
use std::{fmt::Write, fs, path::PathBuf};

/// Four loads of one replica of the worked example's model; steps about a quarter slower than the
/// catalogue says. GPU, count, engine and quality are not stated.
fn benchmark() -> Result<PathBuf> {
    let mut text = "label,model,tensor_parallel,max_concurrency,num_prompts,completed,failed,\
                    mean_input_tokens,mean_output_tokens,output_tps,ttft_mean_ms,tpot_mean_ms\n"
        .to_owned();
    for (concurrency, output_tps, ttft_ms, tpot_ms) in
        [(1, 118.0, 32.0, 8.3), (8, 860.0, 55.0, 8.9), (32, 2_900.0, 90.0, 10.4)]
    {
        writeln!(
            text,
            "c{concurrency},llama-3.1-8b,1,{concurrency},400,400,0,512,256,{output_tps},{ttft_ms},\
             {tpot_ms}"
        )?;
    }
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("sweep.csv");
    fs::write(&path, text)?;
    Ok(path)
}

#[test]
fn a_benchmark_is_fitted_applied_and_undone() {
    journey(|page| async move {
        page.open("").await?;
        let tags = format!("{} .orig", testid("tile-goodput"));
        assert!(page.text(&tags).await?.contains("library"));
        page.upload(&testid("file-input"), &[benchmark()?]).await?;
        let asked = page.text(&testid("asked")).await?;
        assert!(asked.contains("GPU"), "{asked}");
        let hindered = page.text(&testid("fit-hindrances")).await?;
        assert!(hindered.contains("GPU"), "a fit before it is told which GPU: {hindered}");
        page.click(&testid("take-guesses")).await?;
        page.text_when(&testid("fit-hindrances"), |text| text.contains("3 points")).await?;
        page.click(&testid("start-fit")).await?;
        let fit = page.text(&testid("fit-sentence")).await?;
        assert!(fit.contains("3 points"), "{fit}");
        page.find(&format!("{} canvas", testid("figure-benchmark"))).await?;
        page.accessible().await?;
        page.click(&testid("apply-fit")).await?;
        page.text_when(&tags, |text| text.contains("measured")).await?;
        page.settled().await?;
        assert!(page.text(&testid("fitted")).await?.contains("sweep.csv"));
        page.click(&testid("undo")).await?;
        page.text_when(&tags, |text| text.contains("library")).await?;
        page.gone(&testid("fitted")).await
    });
}

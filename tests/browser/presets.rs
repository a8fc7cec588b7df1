//! Presets: each opens from its list and gives the answer of the program, and two of them together
//! show what doubling the outputs does.
use goodput_tests::{Answer, Page, Result, goodput, journey, testid};
use serde_json::Value;

/// Presets that are compared with another one as soon as they open.
const COMPARED: [&str; 1] = ["outputs-double"];

#[test]
fn every_preset_opens_with_the_answer_of_the_program() {
    journey(|page| async move {
        page.open("").await?;
        let presets = goodput::json(&["catalog", "presets"])?;
        let presets = presets.as_array().ok_or("no list of presets")?;
        assert!(presets.len() >= 4, "{} presets", presets.len());
        for preset in presets {
            let (id, link) = (text(preset, "id")?, text(preset, "link")?);
            open(&page, id).await?;
            assert_eq!(page.text("h1").await?, text(preset, "name")?);
            let compared = page.text(&testid("baseline")).await?.starts_with("compared with");
            assert_eq!(compared, COMPARED.contains(&id), "{id}");
            let answer = page.answer().await?;
            let estimate = goodput::json(&["estimate", link])?;
            if estimate["simplified"] == true {
                by_arithmetic(&answer, &estimate);
            } else {
                answer.equals_program(link).map_err(|error| format!("{id}: {error}"))?;
            }
            page.accessible().await.map_err(|error| format!("{id}: {error}"))?;
        }
        Ok(())
    });
}

#[test]
fn doubled_outputs_are_compared_with_what_was_before() {
    journey(|page| async move {
        page.open("").await?;
        let before = page.answer().await?;
        open(&page, "outputs-double").await?;
        let after = page.answer().await?;
        assert_eq!((before.verdict.as_str(), after.verdict.as_str()), ("holds", "over"));
        // Narrow spaces keep a sign and its number together.
        let change = page.text(&testid("change")).await?.replace('\u{202f}', " ");
        for words in ["Rate unchanged", "decode demand × 2.0", "no longer adequate"] {
            assert!(change.contains(words), "no “{words}” in “{change}”");
        }
        let change = page.text(&format!("{} .delta", testid("tile-goodput"))).await?;
        assert!(change.contains("points") && change.contains("was 97.5"), "{change}");
        Ok(())
    });
}

/// What bare token rates allow to be said: supply and a floor of replicas, nothing about users.
fn by_arithmetic(answer: &Answer, estimate: &Value) {
    assert_eq!(answer.verdict, "unmeasured");
    let kind = format!("{}_tps", estimate["binds"].as_str().unwrap_or_default());
    let tps = |rate: &str| estimate[rate][&kind].as_f64();
    let expected = [
        ("goodput", None),
        ("cost", None),
        ("replicas", estimate["replicas_floor"].as_f64()),
        ("supply", tps("sustainable_at_peak").zip(tps("required_peak")).map(|(a, b)| a / b)),
    ];
    for (name, number) in expected {
        assert_eq!(answer.tiles[name], number, "{name}");
    }
    assert!(answer.outcomes.is_empty() && answer.ttft_ms.is_empty(), "{answer:?}");
}

/// Opens a preset from the list, as a user does.
async fn open(page: &Page, id: &str) -> Result {
    page.click(&testid("presets")).await?;
    page.click(&testid(&format!("preset-{id}"))).await?;
    page.gone("dialog[open]").await?;
    page.settled().await
}

fn text<'a>(preset: &'a Value, key: &str) -> Result<&'a str> {
    Ok(preset[key].as_str().ok_or_else(|| format!("a preset without {key}"))?)
}

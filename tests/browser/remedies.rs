//! What else would help: edits that the page simulates as the program does, applied with one click and
//! undone; and settings that are lifted to count whom they cost.
use goodput_tests::{goodput, journey, testid};
use thirtyfour::Key;

/// Good requests, with what the answer says of them.
const TILE: &str = "[data-testid=tile-goodput] .val";

const TITLES: &str = "
return [...document.querySelectorAll('.remedies tbody tr')].map((row) =>
  row.querySelector('th').firstChild.textContent.trim().toLowerCase());";

#[test]
fn a_remedy_is_simulated_as_the_program_does_applied_and_undone() {
    journey(|page| async move {
        let link = goodput::preset("outputs-double")?;
        page.open(link.trim_start_matches('#')).await?;
        page.settled().await?;
        let before = page.text(TILE).await?;
        page.click(&format!("{} summary", testid("remedies"))).await?;
        page.find(&format!("{}[data-state=done] table", testid("remedies-tried"))).await?;
        let shown: Vec<String> = serde_json::from_value(page.script(TITLES).await?)?;
        let plan = goodput::json(&["plan", &link, "--windows", "1"])?;
        let remedies = plan["remedies"].as_array().ok_or("no remedies")?;
        let titles = remedies.iter().filter_map(|row| row["title"].as_str());
        let titles: Vec<String> = titles.map(str::to_lowercase).collect();
        assert_eq!(shown, titles);
        page.accessible().await?;
        page.click(".remedies tbody tr:first-child button").await?;
        page.text_when(TILE, |now| now != before).await?;
        page.press(Key::Control + "z").await?;
        page.text_when(TILE, |now| now == before).await?;
        Ok(())
    });
}

#[test]
fn what_a_setting_cost_is_counted_by_a_run_without_it() {
    journey(|page| async move {
        let link = goodput::preset("benchmark-says-capacity")?;
        page.open(link.trim_start_matches('#')).await?;
        page.settled().await?;
        page.click(&format!("{} button.link", testid("counterfactual"))).await?;
        let lifted = format!("{}[data-state=done] li", testid("lifted"));
        let line = page.text(&lifted).await?;
        let program = goodput::json(&["simulate", &link, "--lift-settings"])?;
        let first = &program["settings_lifted"][0];
        let saved = first["saved"].as_u64().ok_or("nothing is lifted")?;
        let cost = first["requests"].as_u64().ok_or("nothing is lifted")?;
        let said = line.replace(',', "");
        assert!(said.contains(&format!("saves {saved} of {cost} ")), "{line}");
        page.accessible().await
    });
}

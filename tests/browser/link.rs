//! Links: a scenario opens with the numbers that the program gives for the same link, and a link
//! that does not open says why and changes nothing.
use goodput_tests::{Result, goodput, journey};

/// Link of a worked example.
fn link_of(preset: &str) -> Result<String> {
    let presets = goodput::json(&["catalog", "presets"])?;
    let wanted = presets.as_array().into_iter().flatten().find(|row| row["id"] == preset);
    let link = wanted.and_then(|row| row["link"].as_str());
    link.map(str::to_owned).ok_or_else(|| format!("no preset {preset}").into())
}

#[test]
fn a_link_opens_with_the_numbers_of_the_program() {
    journey(|page| async move {
        for preset in ["outputs-double", "benchmark-says-capacity"] {
            let link = link_of(preset)?;
            let report = goodput::json(&["simulate", &link])?;
            page.open(link.trim_start_matches('#')).await?;
            let sentence = report["verdict"]["sentence"].as_str().unwrap_or_default();
            assert_eq!(page.text("[data-testid=\"verdict\"] h2").await?, sentence);
            // The first tile is goodput, whose exact value is the attainment.
            let shown = page.find("p.val[data-value]").await?.attr("data-value").await?;
            let shown: f64 = shown.unwrap_or_default().parse()?;
            let computed = report["attainment"].as_f64().unwrap_or(f64::NAN);
            assert!((shown - computed).abs() < 1e-12, "{preset}: {shown}, {computed}");
            page.accessible().await?;
        }
        Ok(())
    });
}

#[test]
fn a_link_that_does_not_open_says_why_and_changes_nothing() {
    journey(|page| async move {
        let link = link_of("outputs-double")?;
        let whole = link.trim_start_matches('#');
        let payload = whole.trim_start_matches("s=1.");
        page.open("").await?;
        let worked_example = page.text("h1").await?;
        for (fragment, why) in [
            (whole[..whole.len() / 2].to_owned(), "cut short"),
            (format!("s=2.{payload}"), "newer than this Goodput"),
            ("s=hello".to_owned(), "not a Goodput link"),
        ] {
            page.open(&fragment).await?;
            let notice = page.text("[data-testid=\"notice\"]").await?;
            assert!(notice.contains(why), "{fragment}: {notice}");
            assert_eq!(page.text("h1").await?, worked_example);
            page.accessible().await?;
        }
        Ok(())
    });
}

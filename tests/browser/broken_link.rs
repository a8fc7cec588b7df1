//! Broken links: each kind says in its own words what is wrong with it, and none changes anything.
use goodput_tests::{Result, goodput, journey, testid};

const PEAK_RATE: &str = "workload.classes[0].arrivals.points[2].rate_rps";

/// Fragments that do not open, and what the page must say.
fn broken() -> Result<[(String, &'static str); 4]> {
    let link = goodput::preset("outputs-double")?;
    let whole = link.trim_start_matches('#');
    let newer = whole.replacen("s=1.", "s=2.", 1);
    Ok([
        (whole[..whole.len() * 2 / 3].to_owned(), "cut short"),
        (altered(whole)?, "damaged"),
        (newer, "newer than this Goodput reads"),
        ("/inbox/q3-planning".to_owned(), "not a Goodput link"),
    ])
}

/// The same link with one character changed in its middle.
fn altered(link: &str) -> Result<String> {
    let middle = link.len() / 2;
    let other = if link[middle..].starts_with('A') { "B" } else { "A" };
    let (head, tail) = (&link[..middle], link.get(middle + 1..).ok_or("a short link")?);
    Ok(format!("{head}{other}{tail}"))
}

#[test]
fn a_broken_link_says_what_is_wrong_and_leaves_the_scenario_alone() {
    journey(|page| async move {
        page.open("").await?;
        page.fill(&testid(PEAK_RATE), "70").await?;
        page.settled().await?;
        let answer = page.answer().await?;
        for (fragment, why) in broken()? {
            page.follow(&fragment).await?;
            let said = page.text_when(&testid("notice"), |text| text.contains(why)).await?;
            assert!(said.contains("nothing was changed"), "{said}");
            assert_eq!(page.answer().await?, answer, "{why}");
            assert_eq!(page.value(&testid(PEAK_RATE)).await?, "70", "{why}");
            page.accessible().await?;
            page.click(&testid("dismiss")).await?;
            page.gone(&testid("notice")).await?;
        }
        // The one step that there is to undo is still the edit.
        page.click(&testid("undo")).await?;
        assert_eq!(page.value(&testid(PEAK_RATE)).await?, "50");
        Ok(())
    });
}

#[test]
fn a_page_opened_by_a_broken_link_shows_the_worked_example_and_the_reason() {
    journey(|page| async move {
        page.open("").await?;
        let (name, worked_example) = (page.text("h1").await?, page.answer().await?.simulated());
        for (fragment, why) in broken()? {
            page.load(&fragment).await?;
            page.text_when(&testid("notice"), |text| text.contains(why)).await?;
            page.answered().await?;
            assert_eq!(page.text("h1").await?, name);
            assert_eq!(page.answer().await?.simulated(), worked_example, "{why}");
            // It may be mended in the address, until something is edited.
            assert_eq!(page.fragment().await?, format!("#{fragment}"));
        }
        page.accessible().await?;
        page.fill(&testid(PEAK_RATE), "70").await?;
        page.script_when("return location.hash.slice(0, 5)", |hash| *hash == *"#s=1.").await?;
        Ok(())
    });
}

//! What a reviewer expects of headline numbers: green or red, and with the link.
use goodput_tests::{Page, Result, journey, testid};

const MOST: &str = "targets.expectations[0].at_most";

#[test]
fn what_is_expected_turns_red_when_it_is_no_longer_so_and_travels_with_the_link() {
    journey(|page| async move {
        page.open("").await?;
        let before = page.answer().await?;
        let edit = testid("expectations-edit");
        page.click(&format!("{edit} summary")).await?;
        page.click(&format!("{edit} button")).await?;
        page.settled().await?;
        assert_eq!(met(&page).await?, ["true"]);
        // Looking changes no number.
        assert_eq!(page.answer().await?, before);
        page.fill(&testid(MOST), "20").await?;
        page.settled().await?;
        assert_eq!(met(&page).await?, ["false"]);
        let told = page.text(&testid("expected")).await?;
        assert!(told.contains("not met") && told.contains("at most 20"), "{told}");
        page.accessible().await?;
        let link = page.link().await?;
        let fragment = link.split_once('#').ok_or("the link has no fragment")?.1;
        page.open(fragment).await?;
        assert_eq!(met(&page).await?, ["false"]);
        page.click(&format!("{edit} summary")).await?;
        page.click(&format!("{edit} .part button")).await?;
        page.answered().await?;
        page.gone(&format!("{} li", testid("expected"))).await
    });
}

/// Whether each is met, from top to bottom.
async fn met(page: &Page) -> Result<Vec<String>> {
    let css = testid("expected");
    let script =
        format!("return [...document.querySelectorAll('{css} li')].map((li) => li.dataset.met)");
    Ok(serde_json::from_value(page.script(&script).await?)?)
}

//! Sharing: the link that is copied opens elsewhere as the same scenario with the same numbers, in
//! the page and in the terminal.
use goodput_tests::{Page, Result, goodput, journey, testid};
use thirtyfour::Key;

const NAME: &str = "scenario-name";
const PEAK_RATE: &str = "workload.classes[0].arrivals.points[2].rate_rps";
const TTFT: &str = "workload.classes[0].slo.ttft_ms";

#[test]
fn a_copied_link_opens_elsewhere_with_the_same_numbers() {
    journey(|page| async move {
        page.open("").await?;
        page.fill(&testid(NAME), "Chat, as I would have it").await?;
        page.fill(&testid(PEAK_RATE), "72.5").await?;
        page.fill(&testid(TTFT), "80 ms").await?;
        page.settled().await?;
        let answer = page.answer().await?;
        let inputs = inputs(&page).await?;
        let link = copy_link(&page).await?;
        answer.equals_program(&link)?;

        let fragment = link.split_once('#').ok_or("the link has no fragment")?.1;
        page.script_when("return location.hash", |hash| *hash == *format!("#{fragment}")).await?;
        page.open(fragment).await?;
        assert_eq!(page.answer().await?, answer);
        assert_eq!(self::inputs(&page).await?, inputs);
        page.gone(&testid("notice")).await?;
        page.accessible().await
    });
}

#[test]
fn a_link_followed_within_the_page_is_one_step_that_undo_takes_back() {
    journey(|page| async move {
        page.open("").await?;
        page.fill(&testid(PEAK_RATE), "70").await?;
        page.settled().await?;
        let (answer, before) = (page.answer().await?, inputs(&page).await?);
        let link = goodput::preset("benchmark-says-capacity")?;
        page.follow(&link).await?;
        page.text_when("h1", |name| name.contains("benchmark")).await?;
        page.settled().await?;
        page.answer().await?.equals_program(&link)?;
        page.click(&testid("undo")).await?;
        page.settled().await?;
        assert_eq!(inputs(&page).await?, before);
        assert_eq!(page.answer().await?, answer);
        Ok(())
    });
}

/// Asks for the link and pastes what was copied, to see that it is the link that is shown.
async fn copy_link(page: &Page) -> Result<String> {
    page.click(&testid("share")).await?;
    page.text_when(&testid("share-status"), |text| text.starts_with("Copied")).await?;
    page.accessible().await?;
    let link = page.value(&testid("share-link")).await?;
    page.click(&testid("close-share")).await?;
    let name = page.find(&testid(NAME)).await?;
    name.send_keys(Key::Control + "a").await?;
    name.send_keys(Key::Control + "v").await?;
    assert_eq!(page.value(&testid(NAME)).await?, link);
    page.click(&testid("undo")).await?;
    Ok(link)
}

/// What the fields of the journey hold.
async fn inputs(page: &Page) -> Result<Vec<String>> {
    let mut texts = Vec::new();
    for field in [NAME, PEAK_RATE, TTFT] {
        texts.push(page.value(&testid(field)).await?);
    }
    Ok(texts)
}

//! The words of the page are explained where they stand, and found by the names that other tools
//! give them.
use goodput_tests::{journey, testid};
use thirtyfour::Key;

#[test]
fn every_underlined_word_opens_at_its_definition() {
    journey(|page| async move {
        page.open("").await?;
        page.settled().await?;
        let words: Vec<String> = serde_json::from_value(
            page.script(
                "return [...document.querySelectorAll('button.term')].map(b => b.dataset.testid)",
            )
            .await?,
        )?;
        assert!(words.len() >= 10, "{words:?}");
        for word in words {
            page.click(&testid(&word)).await?;
            let term = word.replace("define-", "term-");
            page.find(&format!("dialog[open] #{term}.at:focus")).await?;
            page.press(Key::Escape + "").await?;
            page.gone("dialog[open]").await?;
            let back = page.script("return document.activeElement.dataset.testid").await?;
            assert_eq!(back, word.as_str(), "the focus returns to the word");
        }
        Ok(())
    });
}

#[test]
fn a_name_of_another_tool_finds_the_term() {
    journey(|page| async move {
        page.open("").await?;
        page.settled().await?;
        page.click(&testid("glossary")).await?;
        page.find("dialog[open] .define").await?;
        page.accessible().await?;
        page.fill(&testid("glossary-search"), "e2el").await?;
        page.gone("#term-ttft:not([hidden])").await?;
        assert!(page.text("#term-e2e").await?.contains("completed − due"));
        page.fill(&testid("glossary-search"), "no such words").await?;
        page.text_when(".glossary [role=status]", |text| text.contains("No term")).await?;
        Ok(())
    });
}

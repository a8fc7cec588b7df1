//! What people ask of every plan, one choice away.
use goodput_tests::{Page, Result, goodput, journey, testid};

#[test]
fn outputs_double_at_one_choice_and_it_is_plain_that_supply_is_no_longer_adequate() {
    journey(|page| async move {
        page.open("").await?;
        let before = page.answer().await?;
        let scenario = page.link().await?;
        ask(&page, "outputs_double").await?;
        page.settled().await?;
        let change = page.text(&testid("change")).await?;
        for part in ["Rate unchanged", "decode demand ×\u{202f}2.0", "no longer adequate"] {
            assert!(change.contains(part), "{part}: {change}");
        }
        let doubled = page.answer().await?;
        assert!(doubled.attainment() < before.attainment());
        let asked = page.link().await?;
        doubled.equals_program(&asked)?;
        let told = goodput::json(&["what-if", &scenario])?;
        let rows = told["what_if"].as_array().ok_or("no answers")?;
        let row = rows.iter().find(|row| row["id"] == "outputs_double").ok_or("not asked")?;
        assert_eq!(row["attainment"].as_f64(), Some(doubled.attainment()));
        page.find(&testid("unpin")).await?;
        page.accessible().await?;
        page.click(&testid("undo")).await?;
        page.settled().await?;
        assert_eq!(page.link().await?, scenario);
        assert_eq!(page.answer().await?, before);
        Ok(())
    });
}

#[test]
fn a_question_that_makes_no_sense_changes_nothing_and_says_why() {
    journey(|page| async move {
        page.open("").await?;
        let scenario = page.link().await?;
        ask(&page, "cold_prefix_cache").await?;
        let said = page.text(&testid("notice")).await?;
        assert!(said.contains("does not apply: no prompts share a prefix"), "{said}");
        page.accessible().await?;
        page.click(&testid("dismiss")).await?;
        page.gone(&testid("notice")).await?;
        assert_eq!(page.link().await?, scenario);
        page.gone(&testid("unpin")).await
    });
}

async fn ask(page: &Page, question: &str) -> Result {
    page.click(&format!("#what-if option[value='{question}']")).await
}

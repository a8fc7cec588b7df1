//! The rules of a scheduler: chosen and typed under vLLM's names, said in a line each, and simulated
//! as the program does it.
use goodput_tests::{journey, testid};

const THRESHOLD: &str = "fleet.pools[0].long_prefill_token_threshold";
const INTERVAL: &str = "fleet.pools[0].stream_interval";
const OPTIONS: &str = "details:has(#fleet-pools-0--max-num-seqs) summary";

#[test]
fn rules_of_the_scheduler_say_what_they_do_and_are_simulated() {
    journey(|page| async move {
        page.open("").await?;
        let before = page.answer().await?.simulated();
        page.click(OPTIONS).await?;
        page.set("scheduling-policy", "priority").await?;
        let line = testid("scheduling-policy-line");
        page.text_when(&line, |text| text.contains("least urgent")).await?;
        page.fill(&testid(THRESHOLD), "256").await?;
        page.fill(&testid(INTERVAL), "8").await?;
        page.answered().await?;
        page.accessible().await?;
        let answer = page.answer().await?;
        answer.equals_program(&page.link().await?)?;
        assert_ne!(answer.simulated(), before);

        // Events of no tokens are none.
        page.fill(&testid(INTERVAL), "0").await?;
        page.text_when(&testid("problems"), |text| text.contains("stream event")).await?;
        while page.attribute(&testid("undo"), "aria-disabled").await? != "true" {
            page.click(&testid("undo")).await?;
        }
        page.answered().await?;
        assert_eq!(page.value(&testid(INTERVAL)).await?, "1");
        assert_eq!(page.answer().await?.simulated(), before);
        Ok(())
    });
}

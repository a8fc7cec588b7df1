//! What prompts share: a prefix in front and the turns of sessions are edited, and what the cache
//! takes off is shown where lengths and supply are.
use goodput_tests::{Page, Result, goodput, journey, testid, view};

const PREFIX: &str = "workload.classes[0].shared_prefix";
const TURNS: &str = "workload.classes[0].session.turns";

#[test]
fn a_prefix_and_sessions_take_prefill_off_and_are_undone() {
    journey(|page| async move {
        page.open("").await?;
        let before = page.answer().await?;
        page.gone(&testid("readings-supply")).await?;
        page.click(&format!("{} summary", testid("sharing"))).await?;
        page.click("#shared-prefix").await?;
        page.fill(&testid(&format!("{PREFIX}.count")), "20").await?;
        page.fill(&testid(&format!("{PREFIX}.zipf_exponent")), "1").await?;
        page.settled().await?;
        let alone = hit_rate(&page).await?;
        assert!(alone > 0.0, "{alone}");
        page.answer().await?.equals_program(&page.link().await?)?;
        page.accessible().await?;

        // Enough replicas that nothing running takes the memory of the cache, and a router that knows
        // where a session was.
        page.fill(&testid("fleet.pools[0].replicas"), "24").await?;
        page.click(&format!("{} summary", testid("routing"))).await?;
        page.set("routing-policy", "affinity").await?;
        page.click("#session").await?;
        page.fill(&testid(&format!("{TURNS}.tokens")), "6").await?;
        page.settled().await?;
        let sessions = page.answer().await?;
        assert!(sessions.count("Offered") > 1.5 * before.count("Offered"), "{sessions:?}");
        sessions.equals_program(&page.link().await?)?;
        assert!(hit_rate(&page).await? > alone, "turns find what was said before");
        let realised = page.text(&testid("realised-sharing-0")).await?;
        assert!(realised.contains("law") && realised.contains("drawn"), "{realised}");
        page.set("new-tokens-0", "own").await?;
        page.set("session-think-0", "fixed").await?;
        page.answered().await?;
        page.accessible().await?;
        for view in [view::PHONE_LIGHT, view::DESKTOP_DARK] {
            page.view(view).await?;
            page.accessible().await?;
        }

        // Users of a closed loop have no sessions: said where the session is.
        page.set("arrivals-kind-0", "closed_loop").await?;
        page.find("#workload-classes-0--session.bad").await?;
        page.accessible().await?;
        // Arrivals, think time, new tokens, turns, session, routing, replicas, exponent, count, prefix.
        for _ in 0..10 {
            page.click(&testid("undo")).await?;
        }
        page.settled().await?;
        assert_eq!(page.answer().await?, before);
        Ok(())
    });
}

#[test]
fn sessions_of_a_worked_example_are_shown_as_they_are() {
    journey(|page| async move {
        let link = goodput::preset("agentic-sessions")?;
        page.open(link.trim_start_matches('#')).await?;
        page.answer().await?.equals_program(&page.link().await?)?;
        assert!(hit_rate(&page).await? > 0.5, "a warm cache takes most of the prefill off");
        let line = page.text(&format!("{} summary", testid("sharing"))).await?;
        assert!(line.contains("prefix of 10,000 tokens") && line.contains("turns"), "{line}");
        page.accessible().await
    });
}

/// Share of the prompts that was found cached, as the supply panel has it.
async fn hit_rate(page: &Page) -> Result<f64> {
    let first = format!("{} dd", testid("readings-supply"));
    Ok(page.attribute(&first, "data-value").await?.parse()?)
}

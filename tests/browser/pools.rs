//! Several pools: one is added and classes are routed to it, replicas start, fail and are scaled; the
//! answers are the program's, and undo takes every step back.
use goodput_tests::{journey, testid, view};
use thirtyfour::Key;

const NAME: &str = "fleet.pools[1].name";
const SHARE: &str = "workload.classes[0].route[0].share";
const OTHER_SHARE: &str = "workload.classes[0].route[1].share";

#[test]
fn a_second_pool_serves_what_is_routed_to_it() {
    journey(|page| async move {
        page.open("").await?;
        let before = page.answer().await?;
        page.gone(&testid("served-by-0")).await?;
        page.click(&testid("add-pool")).await?;
        assert_eq!(page.attribute(&testid("pool-1"), "aria-pressed").await?, "true");
        let problems = page.text(&testid("problems")).await?;
        assert!(problems.contains("so it idles"), "{problems}");
        page.set("served-by-0", "split").await?;
        page.gone(&testid("problems")).await?;
        page.fill(&testid("fleet.pools[1].replicas"), "2").await?;
        page.fill(&testid(SHARE), "75 %").await?;
        // Of two, the other one serves the rest.
        assert_eq!(page.value(&testid(OTHER_SHARE)).await?, "25");
        page.settled().await?;
        page.answer().await?.equals_program(&page.link().await?)?;
        for pool in ["A", "B"] {
            page.find(&testid(&format!("pool-line-{pool}"))).await?;
        }
        page.set("break-out-by", "pool").await?;
        let lost = page.text(&testid("data-break-out")).await?;
        assert!(lost.lines().any(|line| line.starts_with('B')), "{lost}");
        page.accessible().await?;

        // A name goes into the routes; that of another pool is refused, and says so.
        page.fill(&testid(NAME), "spot").await?;
        page.text_when(&testid("pool-1"), |row| row.contains("spot")).await?;
        page.gone(&testid("problems")).await?;
        page.fill(&testid(NAME), "A").await?;
        page.find(&format!("{}[aria-invalid=true]", testid(NAME))).await?;
        let problems = page.text(&testid("problems")).await?;
        assert!(problems.contains("name of another pool"), "{problems}");
        page.accessible().await?;
        page.find(&testid(NAME)).await?.send_keys(Key::Escape + "").await?;
        page.gone(&testid("problems")).await?;
        assert_eq!(page.value(&testid(NAME)).await?, "spot");
        for view in [view::PHONE_LIGHT, view::DESKTOP_DARK] {
            page.view(view).await?;
            page.accessible().await?;
        }

        // What went to a pool that is removed goes to the other, and it is said.
        page.click(&testid("duplicate-pool")).await?;
        page.click(&testid("pool-1")).await?;
        page.click(&testid("remove-pool")).await?;
        let said = page.text(&testid("pool-removed")).await?;
        assert!(said.contains("“spot” is removed") && said.contains("goes to A"), "{said}");
        page.settled().await?;
        page.answer().await?.equals_program(&page.link().await?)?;
        // Removing, duplicating, the name, the share, the replicas, the route, the pool.
        for _ in 0..7 {
            page.click(&testid("undo")).await?;
        }
        page.gone(&testid("pool-1")).await?;
        page.settled().await?;
        assert_eq!(page.answer().await?, before);
        Ok(())
    });
}

#[test]
fn pools_are_chosen_with_the_keyboard_and_edited_apart() {
    journey(|page| async move {
        page.open("").await?;
        page.click(&testid("add-pool")).await?;
        page.script("document.querySelector('[data-testid=pool-1]').focus()").await?;
        page.press(Key::Up + "").await?;
        assert_eq!(page.attribute(&testid("pool-0"), "aria-pressed").await?, "true");
        assert!(page.focused().await?.starts_with('A'));
        page.find(&testid("fleet.pools[0].replicas")).await?;
        page.press(Key::Down + "").await?;
        page.fill(&testid("fleet.pools[1].replicas"), "3").await?;
        page.set("gpu", "A100-80G-SXM").await?;
        page.fill(&testid("fleet.pools[1].price_per_gpu_hour"), "1.5").await?;
        page.press(Key::Tab + "").await?;
        page.click(&testid("pool-0")).await?;
        assert_ne!(page.value(&testid("fleet.pools[0].price_per_gpu_hour")).await?, "1.5");
        assert_ne!(page.value(&testid("gpu")).await?, "A100-80G-SXM");
        page.click(&testid("pool-1")).await?;
        assert_eq!(page.value(&testid("gpu")).await?, "A100-80G-SXM");
        page.accessible().await?;
        // The button goes with the second pool, and the focus to what makes one again.
        page.click(&testid("remove-pool")).await?;
        let said = page.text(&testid("pool-removed")).await?;
        assert!(said.contains("“B” is removed; nothing went there"), "{said}");
        assert_eq!(page.script("return document.activeElement.id").await?, "add-pool");
        page.accessible().await
    });
}

#[test]
fn replicas_that_start_cold_and_are_scaled_are_said_and_drawn() {
    journey(|page| async move {
        page.open("").await?;
        let before = page.answer().await?;
        page.gone(&format!("{}:not([hidden])", testid("pools"))).await?;
        page.click(&format!("{} summary", testid("life"))).await?;
        page.set("scaling", "auto").await?;
        assert_eq!(page.value(&testid("fleet.pools[0].start_up_s")).await?, "120");
        page.fill(&testid("fleet.pools[0].autoscaler.min_replicas"), "2").await?;
        page.click("#fleet-pools-0--cold-start").await?;
        page.settled().await?;
        let cold = page.answer().await?;
        cold.equals_program(&page.link().await?)?;
        assert!(cold.attainment() < before.attainment(), "{cold:?}");
        let said = page.text(&testid("pools")).await?;
        assert!(said.contains("while some started") && said.contains("late mainly"), "{said}");
        assert!(page.text(&testid("books")).await?.contains("Replicas starting"));
        page.click(&format!("{} summary", testid("timeline"))).await?;
        page.click(&testid("table-timeline")).await?;
        let table = page.text(&testid("data-timeline")).await?;
        assert!(table.contains("ready") && table.contains("starting"), "{table}");
        page.accessible().await?;

        // What cannot be is said where it stands.
        page.fill(&testid("fleet.pools[0].autoscaler.max_replicas"), "1").await?;
        let max = testid("fleet.pools[0].autoscaler.max_replicas");
        page.find(&format!("{max}[aria-invalid=true]")).await?;
        page.accessible().await?;
        page.click(&testid("undo")).await?;
        page.set("signal", "kv_usage").await?;
        assert_eq!(page.value(&testid("fleet.pools[0].autoscaler.target")).await?, "70");
        page.set("scaling", "schedule").await?;
        page.find(&testid("fleet.pools[0].scheduled_replicas[0].replicas")).await?;
        page.click("#crashes").await?;
        page.settled().await?;
        page.answer().await?.equals_program(&page.link().await?)?;
        page.view(view::PHONE_DARK).await?;
        page.accessible().await?;
        // Failures, timetable, signal, cold start, fewest, autoscaler.
        for _ in 0..6 {
            page.click(&testid("undo")).await?;
        }
        page.settled().await?;
        assert_eq!(page.answer().await?, before);
        Ok(())
    });
}

#[test]
fn every_routing_policy_says_what_it_does_and_answers_as_the_program() {
    journey(|page| async move {
        page.open("").await?;
        page.click(&format!("{} summary", testid("routing"))).await?;
        let mut lines = Vec::new();
        for policy in ["round_robin", "random", "power_of_two", "least_kv", "affinity"] {
            page.set("routing-policy", policy).await?;
            page.answered().await.map_err(|error| format!("{policy}: {error}"))?;
            lines.push(page.text(&testid("routing-line")).await?);
        }
        lines.sort_unstable();
        lines.dedup();
        assert_eq!(lines.len(), 5);
        page.fill(&testid("fleet.affinity_most_over_mean"), "1").await?;
        let bound = testid("fleet.affinity_most_over_mean");
        page.find(&format!("{bound}[aria-invalid=true]")).await?;
        page.accessible().await?;
        page.fill(&testid("fleet.affinity_most_over_mean"), "2").await?;
        page.settled().await?;
        page.answer().await?.equals_program(&page.link().await?)
    });
}

//! The editors of a workload: another kind of arrivals, a law by the numbers people know, classes
//! copied, moved and switched off; the answers are the program's, and undo takes every step back.
use goodput_tests::{Page, Result, goodput, journey, testid, view};
use thirtyfour::Key;

const BURST_RATE: &str = "workload.classes[0].arrivals.burst_rps";
const OUTPUT_WORDS: &str = "workload.classes[0].output_tokens";
const POINTS: &str = "workload.classes[0].arrivals.points";
const OUTCOMES: &str = "#caption-outcomes";

#[test]
fn bursts_percentiles_and_a_copied_class_answer_as_the_program_does() {
    journey(|page| async move {
        page.open("").await?;
        let first = page.answer().await?.simulated();
        let rate = mean_rate(&page, 0).await?;
        page.set("arrivals-kind-0", "bursts").await?;
        page.answered().await?;
        // The mean rate carries over, at three times of it in a burst.
        assert!((mean_rate(&page, 0).await? / rate - 1.0).abs() < 0.01);
        let burst: f64 = page.value(&testid(BURST_RATE)).await?.parse()?;
        assert!((burst / (3.0 * rate) - 1.0).abs() < 0.02, "{burst} and {rate}");
        let bursts = page.answer().await?.simulated();
        assert_ne!(first, bursts);

        page.set("output-form-0", "p50_p90").await?;
        page.fill(&testid(OUTPUT_WORDS), "p50 200, p90 0.8k").await?;
        assert_eq!(page.value(&length("p90")).await?, "800");
        page.answered().await?;
        let (p50, p90) = (realised(&page, 2).await?, realised(&page, 3).await?);
        assert!((p50 / 200.0 - 1.0).abs() < 0.02 && (p90 / 800.0 - 1.0).abs() < 0.02);
        page.accessible().await?;

        page.click(&testid("duplicate-class")).await?;
        assert_eq!(page.attribute(&testid("class-1"), "aria-pressed").await?, "true");
        page.answered().await?;
        let doubled = page.answer().await?;
        assert!(doubled.count("Offered") > 1.5 * bursts.count("Offered"), "{doubled:?}");
        page.click(&testid("class-on-0")).await?;
        page.settled().await?;
        let answer = page.answer().await?;
        assert!(answer.count("Offered") < 0.7 * doubled.count("Offered"), "{answer:?}");
        answer.equals_program(&page.link().await?)?;
        page.accessible().await?;

        // Switching off, duplicating, words, form, kind: one step each.
        for _ in 0..4 {
            page.click(&testid("undo")).await?;
        }
        page.answered().await?;
        assert_eq!(page.answer().await?.simulated(), bursts);
        page.gone(&testid("class-1")).await?;
        page.click(&testid("undo")).await?;
        page.answered().await?;
        assert_eq!(page.answer().await?.simulated(), first);
        page.gone(&testid(BURST_RATE)).await
    });
}

#[test]
fn what_a_table_or_words_get_wrong_is_said_and_changes_nothing() {
    journey(|page| async move {
        page.open("").await?;
        let before = page.answer().await?;
        let typed = page.value(&testid(POINTS)).await?;
        page.click("details:has(#workload-classes-0--arrivals-points) summary").await?;
        page.fill(&testid(POINTS), "0 10\n5 x\n7 8 9").await?;
        let note = page.text("#workload-classes-0--arrivals-points-note").await?;
        assert!(note.contains("line 2: “x”") && note.contains("line 3"), "{note}");
        page.fill(&testid(OUTPUT_WORDS), "about 500").await?;
        let problems = page.text(&testid("problems")).await?;
        assert!(problems.contains("“x”") && problems.contains("“about”"), "{problems}");
        page.accessible().await?;
        for field in [POINTS, OUTPUT_WORDS] {
            page.find(&testid(field)).await?.send_keys(Key::Escape + "").await?;
        }
        page.gone(&testid("problems")).await?;
        assert_eq!(page.value(&testid(POINTS)).await?, typed);
        // On the way stood one good point, which is one step; nothing else was taken.
        while page.attribute(&testid("undo"), "aria-disabled").await? != "true" {
            page.click(&testid("undo")).await?;
        }
        page.settled().await?;
        assert_eq!(page.answer().await?, before);

        // Numbers that contradict each other are refused where they stand, all at once.
        page.fill(&testid(OUTPUT_WORDS), "p50 800, p90 200").await?;
        page.find(&format!("{}[aria-invalid=true]", length("p90"))).await?;
        page.find(&format!("{}.stale", testid("verdict"))).await?;
        page.accessible().await
    });
}

#[test]
fn classes_are_chosen_moved_and_edited_with_the_keyboard() {
    journey(|page| async move {
        let link = goodput::preset("multi-tenant")?;
        page.open(link.trim_start_matches('#')).await?;
        let first = page.text(&testid("class-0")).await?;
        page.script("document.querySelector('#class-row-0').focus()").await?;
        page.press(Key::Alt + Key::Down).await?;
        assert_eq!(page.focused().await?, first);
        assert_eq!(page.text(&testid("class-1")).await?, first);
        page.press(Key::Up + "").await?;
        assert_eq!(page.attribute(&testid("class-0"), "aria-pressed").await?, "true");
        page.settled().await?;
        page.answer().await?.equals_program(&page.link().await?)?;
        page.click(&testid("undo")).await?;
        page.text_when(&testid("class-0"), |name| name == first).await?;
        for view in [view::PHONE_LIGHT, view::DESKTOP_DARK] {
            page.view(view).await?;
            page.accessible().await?;
        }
        Ok(())
    });
}

#[test]
fn every_kind_of_arrivals_and_lengths_has_its_fields_and_an_answer() {
    journey(|page| async move {
        page.open("").await?;
        for (select, kinds) in [
            ("arrivals-kind-0", &["gamma", "sinusoid", "spike", "ramp", "day", "week"][..]),
            ("input-kind-0", &["uniform", "gamma", "pareto", "mixture", "quantiles", "empirical"]),
            ("output-kind-0", &["lognormal"]),
            ("pairing-0", &["correlated", "together"]),
            ("hidden-0", &["share", "added"]),
        ] {
            for kind in kinds {
                page.set(select, kind).await?;
                page.answered().await.map_err(|error| format!("{kind}: {error}"))?;
                page.accessible().await.map_err(|error| format!("{kind}: {error}"))?;
            }
        }
        let link = page.link().await?;
        page.settled().await?;
        page.answer().await?.equals_program(&link)
    });
}

#[test]
fn users_who_think_ask_as_often_as_they_are_served() {
    journey(|page| async move {
        page.open("").await?;
        page.set("arrivals-kind-0", "closed_loop").await?;
        page.fill(&testid(&arrivals("users")), "60").await?;
        page.settled().await?;
        let sixty = page.answer().await?;
        sixty.equals_program(&page.link().await?)?;
        let said = page.text(OUTCOMES).await?;
        assert!(said.contains("of 60 users of "), "{said}");
        page.accessible().await?;

        // Twice the users who think six times as long ask less often.
        page.set("think-time-0", "fixed").await?;
        page.fill(&testid(&arrivals("users")), "120").await?;
        page.fill(&testid(&arrivals("think_time.s")), "1 min").await?;
        page.settled().await?;
        let thoughtful = page.answer().await?;
        assert!(thoughtful.count("Offered") < 0.7 * sixty.count("Offered"), "{thoughtful:?}");
        thoughtful.equals_program(&page.link().await?)
    });
}

#[test]
fn a_bounded_queue_rejects_and_clients_who_try_again_come_back() {
    journey(|page| async move {
        page.open(goodput::preset("outputs-double")?.trim_start_matches('#')).await?;
        let before = page.answer().await?;
        assert_eq!(before.count("Rejected").to_bits(), 0.0_f64.to_bits());
        page.click(&format!("{} summary", testid("admission"))).await?;
        page.fill(&testid("fleet.admission.max_queue_age_s"), "1.5 s").await?;
        page.settled().await?;
        let bounded = page.answer().await?;
        assert!(bounded.count("Rejected") > 0.0, "{bounded:?}");
        bounded.equals_program(&page.link().await?)?;
        page.accessible().await?;

        page.click(&format!("{} summary", testid("clients"))).await?;
        page.click("#retries").await?;
        page.fill(&testid("workload.classes[0].retries.max_attempts"), "4").await?;
        page.settled().await?;
        let again = page.answer().await?;
        again.equals_program(&page.link().await?)?;
        let said = page.text(OUTCOMES).await?;
        assert!(said.contains("attempts for them"), "{said}");
        page.accessible().await?;

        // Nobody times out, so that with time-outs alone nobody tries again.
        page.click("#retry-rejected").await?;
        page.click("#retry-error").await?;
        page.answered().await?;
        assert_eq!(page.answer().await?.simulated(), bounded.simulated());
        page.click("#retry-timed-out").await?;
        page.find("#workload-classes-0--retries-on.bad").await?;
        page.accessible().await?;
        page.click(&testid("undo")).await?;
        page.click("#token-bucket").await?;
        page.click("#shedding").await?;
        page.fill(&testid("workload.classes[0].priority"), "-1").await?;
        page.settled().await?;
        page.answer().await?.equals_program(&page.link().await?)?;
        page.view(view::PHONE_LIGHT).await?;
        page.accessible().await?;

        // Priority, shedding, bucket, two outcomes, attempts, retries, age: one step each.
        for _ in 0..8 {
            page.click(&testid("undo")).await?;
        }
        page.settled().await?;
        assert_eq!(page.answer().await?, before);
        Ok(())
    });
}

/// A number of the arrivals.
fn arrivals(name: &str) -> String {
    format!("workload.classes[0].arrivals.{name}")
}

fn length(name: &str) -> String {
    testid(&format!("{OUTPUT_WORDS}.{name}"))
}

/// What the table of classes says.
async fn mean_rate(page: &Page, class: usize) -> Result<f64> {
    let script = format!(
        "return Number(document.querySelectorAll('.classes tbody tr')[{class}].lastElementChild.innerText)"
    );
    Ok(page.script(&script).await?.as_f64().ok_or("no rate")?)
}

/// A cell of the row that says how long answers come out by their law.
async fn realised(page: &Page, cell: u32) -> Result<f64> {
    let script = format!(
        "return Number(document.querySelector('[data-testid=realised-output-0] tbody tr')\
         .children[{cell}].innerText.replace(',', ''))"
    );
    Ok(page.script(&script).await?.as_f64().ok_or("no length")?)
}

//! Editing: each edit of workload or contract changes the answer, undo and redo bring it back, and
//! what is no number changes nothing.
use goodput_tests::{Answer, Page, Result, journey, testid};
use thirtyfour::Key;

const PEAK_RATE: &str = "workload.classes[0].arrivals.points[2].rate_rps";
const OUTPUT_MEAN: &str = "workload.classes[0].output_tokens.mean";
const OUTPUT_P99: &str = "workload.classes[0].output_tokens.p99";
const TTFT: &str = "workload.classes[0].slo.ttft_ms";

/// What one edit must do, knowing nothing about the numbers themselves.
struct Step {
    field: &'static str,
    typed: &'static str,
    /// What the field shows once it is left.
    shown: &'static str,
    /// Whether the answer changed as it must.
    lawful: fn(before: &Answer, after: &Answer) -> bool,
}

const STEPS: [Step; 4] = [
    Step {
        field: PEAK_RATE,
        typed: "80",
        shown: "80",
        lawful: |before, after| {
            after.count("Offered") > before.count("Offered")
                && after.tile("supply") < before.tile("supply")
                && after.tile("debt") > before.tile("debt")
        },
    },
    Step {
        field: OUTPUT_MEAN,
        typed: "512",
        shown: "512",
        lawful: |before, after| {
            after.count("Offered").total_cmp(&before.count("Offered")).is_eq()
                && after.tile("supply") < before.tile("supply")
                && after.attainment() <= before.attainment()
        },
    },
    Step {
        field: OUTPUT_P99,
        typed: "2k",
        shown: "2,000",
        lawful: |before, after| after.tile("debt").total_cmp(&before.tile("debt")).is_ne(),
    },
    Step {
        // A limit is not a load: what is served stays, what counts as good does not.
        field: TTFT,
        typed: "60 ms",
        shown: "0.06",
        lawful: |before, after| {
            after.tile("supply").total_cmp(&before.tile("supply")).is_eq()
                && after.ttft_ms == before.ttft_ms
                && after.attainment() < before.attainment()
        },
    },
];

#[test]
fn the_page_opens_on_a_worked_example_with_its_answer() {
    journey(|page| async move {
        page.open("").await?;
        let answer = page.answer().await?;
        assert!(["holds", "late", "over"].contains(&answer.verdict.as_str()), "{answer:?}");
        assert!(answer.sentence.contains("good at"), "{answer:?}");
        assert_eq!(answer.tiles.len(), 5);
        assert!(answer.tiles.values().all(Option::is_some), "{:?}", answer.tiles);
        let decided: f64 = answer
            .outcomes
            .iter()
            .filter(|(name, _)| *name != "Offered")
            .map(|(_, count)| count.unwrap_or(f64::NAN))
            .sum();
        assert!(decided.total_cmp(&answer.count("Offered")).is_eq(), "{:?}", answer.outcomes);
        let users = page.text(&testid("people")).await?;
        let hundred: u32 = users.split_whitespace().filter_map(|n| n.parse::<u32>().ok()).sum();
        // "Of 100 users", and then the hundred.
        assert_eq!(hundred, 200, "{users}");
        page.accessible().await
    });
}

#[test]
fn every_edit_changes_the_answer_and_undo_and_redo_restore_it() {
    journey(|page| async move {
        page.open("").await?;
        let first = page.answer().await?;
        let mut answers = vec![first.simulated()];
        let mut texts = vec![typed_in(&page).await?];
        for step in &STEPS {
            page.fill(&testid(step.field), step.typed).await?;
            page.answered().await?;
            assert_eq!(page.value(&testid(step.field)).await?, step.shown);
            let (before, after) = (&answers[answers.len() - 1], page.answer().await?.simulated());
            assert_ne!(before.tiles, after.tiles, "{} changes no headline number", step.field);
            assert!((step.lawful)(before, &after), "{}: {before:#?} → {after:#?}", step.field);
            answers.push(after);
            texts.push(typed_in(&page).await?);
        }
        let last = page.answer().await?;
        assert_eq!((first.verdict.as_str(), last.verdict.as_str()), ("holds", "over"));
        assert_ne!(first.sentence, last.sentence);
        for i in 1..=STEPS.len() {
            page.click(&testid("undo")).await?;
            let i = STEPS.len() - i;
            restored(&page, &answers[i], &texts[i]).await?;
        }
        for i in 1..=STEPS.len() {
            page.press(Key::Control + Key::Shift + "z").await?;
            restored(&page, &answers[i], &texts[i]).await?;
        }
        page.settled().await?;
        assert!(page.answer().await?.tile("replicas") > first.tile("replicas"));
        page.accessible().await
    });
}

#[test]
fn what_is_no_number_is_said_and_changes_nothing() {
    journey(|page| async move {
        page.open("").await?;
        let before = page.answer().await?;
        let rate = testid(PEAK_RATE);
        page.fill(&rate, "1.234,5").await?;
        page.find(&format!("{rate}[aria-invalid=\"true\"]")).await?;
        let note = format!("#{}", page.attribute(&rate, "aria-describedby").await?);
        let said = page.text(&note).await?;
        assert!(said.contains("1.234,5") && said.contains("ambiguous"), "{said}");
        assert_eq!(page.value(&rate).await?, "1.234,5");
        page.find(&format!("{}.stale", testid("verdict"))).await?;
        let status = page.text(&testid("status")).await?;
        assert!(status.contains("1 input does not read"), "{status}");
        let listed = page.text(&testid("problems")).await?;
        assert!(listed.contains("of class chat: “1.234,5” is ambiguous"), "{listed}");
        // What stood in the field on the way, 1.234 among it, was meant by nobody.
        page.settled().await?;
        assert_eq!(page.answer().await?, before);
        assert_eq!(page.attribute(&testid("undo"), "aria-disabled").await?, "true");
        page.accessible().await?;
        page.find(&rate).await?.send_keys(Key::Escape + "").await?;
        page.gone(&format!("{rate}[aria-invalid]")).await?;
        page.gone(&format!("{}.stale", testid("verdict"))).await?;
        assert_eq!(page.value(&rate).await?, "50");
        assert_eq!(page.answer().await?, before);
        Ok(())
    });
}

/// A newcomer doubles the answers and nothing else: the page says which demand grew, what made
/// requests late, and whom each limit cost.
#[test]
fn outputs_doubled_by_hand_say_what_grew_and_why_requests_are_late() {
    journey(|page| async move {
        page.open("").await?;
        let before = page.answer().await?;
        let rates = page.text(&testid("readings-rates")).await?;
        for named in ["Good per GPU-hour", "Input served", "Output served"] {
            assert!(rates.contains(named), "{named}: {rates}");
        }
        page.fill(&testid(OUTPUT_MEAN), "768").await?;
        page.settled().await?;
        let answer = page.answer().await?;
        assert_eq!(answer.verdict, "over");
        let change = page.text(&testid("change")).await?;
        assert!(change.starts_with("By the edit: Rate unchanged; decode demand"), "{change}");
        assert!(change.contains("no longer adequate"), "{change}");
        let causes = page.text(&testid("causes-late")).await?;
        assert!(causes.contains("Waiting in the queue"), "{causes}");
        let marginals = page.text(&testid("misses")).await?;
        assert!(marginals.contains("Each limit by itself (marginal)"), "{marginals}");
        let debt = page.text(&testid("readings-debt")).await?;
        assert!(debt.contains("of all waiting") && debt.contains("growth at the peak"), "{debt}");
        let percentiles = page.text(&testid("data-percentiles")).await?;
        for latency in ["Queue wait", "Longest stall", "Whole answer (E2E)"] {
            assert!(percentiles.contains(latency), "{latency}: {percentiles}");
        }
        page.accessible().await?;
        // It stays true, and said, when something else is edited after it.
        page.fill(&testid(OUTPUT_P99), "2500").await?;
        page.settled().await?;
        let change = page.text(&testid("change")).await?;
        assert!(change.starts_with("By the edits: Rate unchanged; decode demand"), "{change}");
        assert!(change.contains("no longer adequate"), "{change}");
        for _ in 0..2 {
            page.click(&testid("undo")).await?;
        }
        page.settled().await?;
        assert_eq!(page.answer().await?, before);
        page.gone(&testid("change")).await
    });
}

/// What is wrong in a closed fold is marked on it, and the way there opens it.
#[test]
fn a_problem_in_a_closed_fold_is_found() {
    journey(|page| async move {
        page.open("").await?;
        let seats = testid("fleet.pools[0].max_num_seqs");
        let open = format!("document.querySelector('{seats}').closest('details')");
        page.script(&format!("{open}.open = true")).await?;
        page.fill(&seats, "0").await?;
        page.script(&format!("{open}.open = false")).await?;
        let mark = format!("return getComputedStyle({open}.firstElementChild, '::after').content");
        page.script_when(&mark, |content| content.to_string().contains("problem")).await?;
        page.click(&format!(
            "{} [data-path='fleet.pools[0].max_num_seqs'] button",
            testid("problems")
        ))
        .await?;
        page.script_when(&format!("return {open}.open"), |open| *open == true).await
    });
}

#[test]
fn a_fraction_is_typed_as_it_is_meant() {
    journey(|page| async move {
        page.open("").await?;
        let rate = testid(PEAK_RATE);
        let field = page.find(&rate).await?;
        field.send_keys(Key::Control + "a").await?;
        for (key, so_far) in [("3", "3"), ("4", "34"), (".", "34."), ("5", "34.5")] {
            field.send_keys(key).await?;
            assert_eq!(page.value(&rate).await?, so_far);
        }
        field.send_keys(Key::Tab + "").await?;
        page.settled().await?;
        assert_eq!(page.value(&rate).await?, "34.5");
        assert_eq!(page.attribute(&rate, "aria-valuenow").await?, "34.5");
        // One stay in a field is one step, however many keys.
        page.click(&testid("undo")).await?;
        assert_eq!(page.value(&rate).await?, "50");
        Ok(())
    });
}

/// What the fields of the steps hold.
async fn typed_in(page: &Page) -> Result<Vec<String>> {
    let mut texts = Vec::new();
    for step in &STEPS {
        texts.push(page.value(&testid(step.field)).await?);
    }
    Ok(texts)
}

/// The page has come back to an earlier answer and to the inputs it was for.
async fn restored(page: &Page, answer: &Answer, texts: &[String]) -> Result {
    page.answered().await?;
    assert_eq!(&page.answer().await?.simulated(), answer);
    assert_eq!(typed_in(page).await?, texts);
    Ok(())
}

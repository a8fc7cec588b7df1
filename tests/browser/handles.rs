//! Handles on the pictures of the workload: dragged with the pointer or moved with the keys, each
//! drag one step of undo; they stop at their neighbours, and what they say stands in the fields.
use goodput_tests::{Page, Result, goodput, journey, testid, view};
use thirtyfour::Key;

const MEAN: &str = "workload.classes[0].input_tokens.mean";
const P99: &str = "workload.classes[0].input_tokens.p99";

#[test]
fn a_length_is_dragged_as_one_step_and_stops_before_its_neighbour() {
    journey(|page| async move {
        page.open("").await?;
        let before = page.answer().await?;
        let (mean, p99) = (number(&page, MEAN).await?, number(&page, P99).await?);
        drag(&page, "grip-input-0-0", (40, 0), 4).await?;
        let dragged = number(&page, MEAN).await?;
        assert!(dragged > 1.3 * mean && dragged < p99, "{mean} → {dragged}, p99 {p99}");
        let handle = testid("grip-input-0-0");
        let said: f64 = page.attribute(&handle, "aria-valuenow").await?.parse()?;
        assert_eq!(said.to_bits(), dragged.to_bits());
        page.settled().await?;
        page.answer().await?.equals_program(&page.link().await?)?;
        assert_ne!(page.answer().await?, before);
        page.accessible().await?;
        page.click(&testid("undo")).await?;
        page.settled().await?;
        assert_eq!(page.answer().await?, before, "a drag is one step");

        // However far it is taken, the mean stays below p99.
        drag(&page, "grip-input-0-0", (400, 0), 3).await?;
        let most: f64 = page.attribute(&handle, "aria-valuemax").await?.parse()?;
        assert_eq!(number(&page, MEAN).await?.to_bits(), most.to_bits());
        assert!(most < p99 && most > 0.9 * p99, "{most} and {p99}");
        page.gone("[aria-invalid=true]").await?;
        page.click(&testid("undo")).await?;

        // Escape puts back what is being dragged.
        let element = page.find(&handle).await?;
        let chain = page.driver.action_chain().click_and_hold_element(&element);
        chain.move_by_offset(30, 0).perform().await?;
        assert!(number(&page, MEAN).await? > mean);
        page.press(Key::Escape + "").await?;
        page.driver.action_chain().release().perform().await?;
        assert_eq!(number(&page, MEAN).await?.to_bits(), mean.to_bits());
        page.settled().await?;
        assert_eq!(page.answer().await?, before);
        Ok(())
    });
}

#[test]
fn keys_move_a_handle_as_the_pointer_does() {
    journey(|page| async move {
        page.open("").await?;
        let before = page.answer().await?;
        let p99 = number(&page, P99).await?;
        page.script("document.querySelector('#grip-input-0-1').focus()").await?;
        for key in [Key::Right, Key::Up, Key::PageUp] {
            page.press(key + "").await?;
        }
        let moved = number(&page, P99).await?;
        assert!(moved > 1.3 * p99, "{p99} → {moved}");
        page.press(Key::Home + "").await?;
        let least = number(&page, P99).await?;
        assert!(least > number(&page, MEAN).await? && least < p99, "{least}");
        page.press(Key::Tab + "").await?;
        page.settled().await?;
        page.answer().await?.equals_program(&page.link().await?)?;
        page.click(&testid("undo")).await?;
        page.settled().await?;
        assert_eq!(page.answer().await?, before, "what was pressed on one handle is one step");
        Ok(())
    });
}

#[test]
fn points_of_a_profile_are_dragged_added_and_removed() {
    journey(|page| async move {
        page.open(goodput::preset("chat-peak")?.trim_start_matches('#')).await?;
        let before = page.answer().await?;
        let count = "return document.querySelectorAll('[id^=grip-arrivals-0-]').length";
        let points = page.script(count).await?.as_u64().ok_or("no points")?;
        assert!(points > 2);
        let (time, rate) = (point(1, "t_s"), point(1, "rate_rps"));
        let (t_s, rps) = (number(&page, &time).await?, number(&page, &rate).await?);
        drag(&page, "grip-arrivals-0-1", (12, -9), 3).await?;
        let moved = (number(&page, &time).await?, number(&page, &rate).await?);
        assert!(moved.0 > t_s && moved.1 > rps, "({t_s}, {rps}) → {moved:?}");
        page.settled().await?;
        page.answer().await?.equals_program(&page.link().await?)?;
        page.accessible().await?;

        // Past the point before it, it stops there.
        drag(&page, "grip-arrivals-0-1", (-96, 0), 3).await?;
        let first = number(&page, &point(0, "t_s")).await?;
        assert_eq!(number(&page, &time).await?.to_bits(), first.to_bits());
        page.press(Key::Right + "").await?;
        assert!(number(&page, &time).await? > first);

        page.click(&testid("add-point")).await?;
        page.script_when(count, |n| n.as_u64() == Some(points + 1)).await?;
        page.script("document.querySelector('#grip-arrivals-0-1').focus()").await?;
        page.press(Key::Delete + "").await?;
        page.script_when(count, |n| n.as_u64() == Some(points)).await?;
        let focus = "return document.activeElement.id";
        page.script_when(focus, |id| *id == "grip-arrivals-0-1").await?;

        // Where nothing is, a double click puts a point.
        let over = page.find(".grips").await?;
        let place = page.script(FREE).await?;
        let [x, y] = [0, 1].map(|axis| place[axis].as_i64().unwrap_or_default());
        page.driver
            .action_chain()
            .move_to_element_with_offset(&over, x, y)
            .double_click()
            .perform()
            .await?;
        page.script_when(count, |n| n.as_u64() == Some(points + 1)).await?;
        page.settled().await?;
        page.answer().await?.equals_program(&page.link().await?)?;
        while page.attribute(&testid("undo"), "aria-disabled").await? != "true" {
            page.click(&testid("undo")).await?;
        }
        page.settled().await?;
        assert_eq!(page.answer().await?, before);
        Ok(())
    });
}

#[test]
fn waves_spikes_and_ramps_have_handles_for_what_makes_them() {
    journey(|page| async move {
        page.open("").await?;
        for (kind, handles) in [("sinusoid", 2), ("spike", 3), ("ramp", 2), ("poisson", 1)] {
            page.click(&format!("{} option[value={kind}]", testid("arrivals-kind-0"))).await?;
            for i in 0..handles {
                let id = format!("grip-arrivals-0-{i}");
                let now = page.attribute(&testid(&id), "aria-valuetext").await?;
                page.script(&format!("document.getElementById('{id}').focus()")).await?;
                page.press(Key::Up + "").await?;
                let moved = page.attribute(&testid(&id), "aria-valuetext").await?;
                assert_ne!(now, moved, "{kind} {i}");
            }
            page.gone(&testid(&format!("grip-arrivals-0-{handles}"))).await?;
            page.gone("[aria-invalid=true]").await?;
            page.accessible().await.map_err(|error| format!("{kind}: {error}"))?;
        }
        page.settled().await?;
        page.answer().await?.equals_program(&page.link().await?)?;
        page.view(view::PHONE_DARK).await?;
        page.accessible().await
    });
}

/// A place of the picture beside all handles, from its middle.
const FREE: &str = "
const over = document.querySelector('.grips').getBoundingClientRect();
const grips = [...document.querySelectorAll('.grips')][0].querySelectorAll('.grip');
const free = (x) => [...grips].every((grip) => {
  const box = grip.getBoundingClientRect();
  return x < box.left - 2 || x > box.right + 2;
});
for (let x = 20; x < over.width - 20; x += 4) {
  if (free(over.left + x)) return [Math.round(x - over.width / 2), 0];
}
return null;";

async fn drag(page: &Page, handle: &str, (x, y): (i64, i64), steps: i64) -> Result {
    let element = page.find(&testid(handle)).await?;
    page.script(&format!(
        "document.getElementById('{handle}').scrollIntoView({{ block: 'center' }})"
    ))
    .await?;
    let mut chain = page.driver.action_chain().click_and_hold_element(&element);
    for _ in 0..steps {
        chain = chain.move_by_offset(x / steps, y / steps);
    }
    Ok(chain.release().perform().await?)
}

fn point(i: usize, name: &str) -> String {
    format!("workload.classes[0].arrivals.points[{i}].{name}")
}

async fn number(page: &Page, field: &str) -> Result<f64> {
    Ok(page.value(&testid(field)).await?.replace(',', "").parse()?)
}

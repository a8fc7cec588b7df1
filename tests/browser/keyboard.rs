//! Without a mouse: from opening an overloaded scenario to one that holds and its link in the
//! clipboard; every stop on the way is seen, and they come in the order of reading.
use goodput_tests::{Page, Result, goodput, journey, testid, view};
use serde::Deserialize;
use thirtyfour::Key;

const REPLICAS: &str = "fleet.pools[0].replicas";

/// More stops than the page has.
const MANY: usize = 400;

/// Where the focus is, seen from where it was before.
#[derive(Deserialize)]
struct Stop {
    /// What a reader of a failure recognises.
    name: String,
    /// `data-testid`, or nothing.
    testid: String,
    /// That it is lost to the document, has no ring around it, or lies out of sight.
    faults: Vec<String>,
    /// Whether it stands after the stop before: below, or beside it on the right.
    in_order: bool,
    /// Whether it is lost to the document or begins again: past the last stop.
    end: bool,
}

const LOOK: &str = "
const stop = document.activeElement, before = window.stopBefore;
window.stopBefore = stop;
const visited = (window.stopsVisited ??= new Set());
const again = visited.has(stop);
visited.add(stop);
const style = getComputedStyle(stop), box = stop.getBoundingClientRect();
const x = Math.min(Math.max(box.left + box.width / 2, 0), innerWidth - 1);
const y = Math.min(Math.max(box.top + Math.min(box.height, innerHeight) / 2, 0), innerHeight - 1);
const over = document.elementFromPoint(x, y);
const in_sight = box.width > 0 && box.bottom > 0 && box.top < innerHeight && over !== null
  && (stop.contains(over) || over.contains(stop));
const place = (element) => ['header', '#results', '#inputs', '.body', 'dialog', 'nav']
  .find((region) => element.closest(region)) ?? '';
let in_order = true;
if (before?.isConnected && before !== document.body && place(before) === place(stop)) {
  const past = before.getBoundingClientRect();
  const same_row = box.top < past.bottom - 2 && past.top < box.bottom - 2;
  in_order = same_row ? box.left >= past.left : box.top >= past.top || box.left >= past.right;
}
const lost = stop === document.body || stop === document.documentElement;
const rings = [stop, stop.closest('.num')].filter(Boolean).map((element) => getComputedStyle(element));
const ringed = rings.some(
  (ring) => ring.outlineStyle !== 'none' && parseFloat(ring.outlineWidth) >= 2);
return {
  name: `${stop.tagName} ${stop.getAttribute('data-testid') ?? stop.className} `
    + `“${(stop.getAttribute('aria-label') ?? stop.innerText ?? '').slice(0, 40)}”`,
  testid: stop.getAttribute('data-testid') ?? '',
  faults: [lost && 'lost', !ringed && 'no ring', !in_sight && 'out of sight'].filter(Boolean),
  in_order,
  end: lost || again,
};";

#[test]
fn an_overloaded_scenario_is_mended_and_shared_with_the_keyboard_alone() {
    journey(|page| async move {
        page.open(goodput::preset("outputs-double")?.trim_start_matches('#')).await?;
        assert_eq!(verdict(&page).await?, "over");
        tab(&page).await?;
        assert_eq!(page.focused().await?, "Skip to results");
        page.press(Key::Enter + "").await?;
        assert_eq!(page.script("return document.activeElement.id").await?, "results");
        tab_to(&page, REPLICAS).await?;
        let mut replicas: u32 = page.value(&testid(REPLICAS)).await?.parse()?;
        while verdict(&page).await? != "holds" {
            assert!(replicas < 6, "{replicas} replicas do not hold");
            page.press(Key::Up + "").await?;
            page.answered().await?;
            replicas += 1;
            assert_eq!(page.value(&testid(REPLICAS)).await?, replicas.to_string());
        }
        page.settled().await?;
        // Results that arrived left the focus where it was.
        assert_eq!(look(&page).await?.testid, REPLICAS);
        page.accessible().await?;
        back_to(&page, "share").await?;
        page.press(Key::Enter + "").await?;
        page.text_when(&testid("share-status"), |text| text.starts_with("Copied")).await?;
        let link = page.value(&testid("share-link")).await?;
        // The dialog holds the focus, and Escape gives it back.
        let inside = "return !!document.activeElement.closest('dialog[open]')";
        assert!(page.script(inside).await? == true);
        page.accessible().await?;
        page.press(Key::Escape + "").await?;
        page.gone("dialog[open]").await?;
        assert_eq!(look(&page).await?.testid, "share");
        let answer = page.answer().await?;
        assert!(answer.tile("replicas").total_cmp(&f64::from(replicas)).is_eq(), "{answer:?}");
        answer.equals_program(&link)
    });
}

#[test]
fn every_stop_is_seen_and_they_come_in_the_order_of_reading() {
    journey(|page| async move {
        // On a phone the groups of inputs are folded.
        let views =
            [(view::DESKTOP_LIGHT, [REPLICAS, "readout"]), (view::PHONE_LIGHT, ["", "readout"])];
        for (view, inner) in views {
            page.view(view).await?;
            page.load("").await?;
            page.answered().await?;
            let stops = walk(&page).await?;
            let bad = stops.iter().filter(|stop| !(stop.faults.is_empty() && stop.in_order));
            let bad: Vec<String> = bad
                .map(|stop| {
                    format!("{}: {:?}, in order: {}", stop.name, stop.faults, stop.in_order)
                })
                .collect();
            assert!(bad.is_empty(), "{}:\n{}", view.name, bad.join("\n"));
            for wanted in ["undo", "share", "table-supply", "choose-files"].into_iter().chain(inner)
            {
                assert!(stops.iter().any(|stop| stop.testid == wanted), "no stop at {wanted}");
            }
        }
        Ok(())
    });
}

/// Every stop of the page, from its start to its end.
async fn walk(page: &Page) -> Result<Vec<Stop>> {
    let mut stops = Vec::new();
    loop {
        page.press(Key::Tab + "").await?;
        let stop = look(page).await?;
        // Past its end the page hands the focus to the browser, or begins again.
        if stop.end {
            return Ok(stops);
        }
        stops.push(stop);
        if stops.len() > MANY {
            return Err("the stops have no end".into());
        }
    }
}

/// The verdict on screen; reading it moves no focus.
async fn verdict(page: &Page) -> Result<String> {
    page.attribute(&testid("verdict"), "data-verdict").await
}

/// Where the focus is now.
async fn look(page: &Page) -> Result<Stop> {
    Ok(serde_json::from_value(page.script(LOOK).await?)?)
}

/// One stop on; it must be seen.
async fn tab(page: &Page) -> Result<Stop> {
    page.press(Key::Tab + "").await?;
    seen(look(page).await?)
}

fn seen(stop: Stop) -> Result<Stop> {
    if stop.faults.is_empty() {
        return Ok(stop);
    }
    Err(format!("{}: {}", stop.name, stop.faults.join(", ")).into())
}

/// On to a stop.
async fn tab_to(page: &Page, wanted: &str) -> Result {
    for _ in 0..MANY {
        if tab(page).await?.testid == wanted {
            return Ok(());
        }
    }
    Err(format!("no way to {wanted}").into())
}

/// Back to a stop.
async fn back_to(page: &Page, wanted: &str) -> Result {
    for _ in 0..MANY {
        page.press(Key::Shift + Key::Tab).await?;
        if seen(look(page).await?)?.testid == wanted {
            return Ok(());
        }
    }
    Err(format!("no way back to {wanted}").into())
}

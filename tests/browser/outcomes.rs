//! Where requests were lost: broken out, crossed in a heat map, read by other rules; and limits that
//! are dragged, counted on the way and simulated when they are let go. Every number is the program's.
use goodput_tests::{Page, Result, goodput, journey, testid};
use serde_json::{Value, json};
use thirtyfour::Key;

const TTFT: &str = "limit-ttft";

/// Rows of a table on the page: what stands in its cells in full, and text where that is none.
const ROWS: &str = "
return [...document.querySelectorAll(`[data-testid=${id}] tbody tr`)].map((row) =>
  [...row.cells].map((cell) =>
    cell.dataset.value === undefined ? cell.innerText.trim() : Number(cell.dataset.value)));";

async fn rows(page: &Page, id: &str) -> Result<Vec<Vec<Value>>> {
    let script = format!("const id = '{id}';{ROWS}");
    Ok(serde_json::from_value(page.script(&script).await?)?)
}

async fn choose(page: &Page, select: &str, value: &str) -> Result {
    page.click(&format!("{} option[value=\"{value}\"]", testid(select))).await
}

/// The cells of a break-out as the program gives them: labels, offered, good.
fn cells(out: &Value) -> Vec<Vec<Value>> {
    let cells = out["cells"].as_array().into_iter().flatten();
    let one = |cell: &Value| {
        let labels = cell["key"].as_array().into_iter().flatten().map(|key| key["label"].clone());
        labels.chain([cell["offered"].clone(), cell["good"].clone()]).collect()
    };
    cells.map(one).collect()
}

/// Numbers of JSON are equal whether they were written as 3 or as 3.0.
fn same(a: &Value, b: &Value) -> bool {
    match (a.as_f64(), b.as_f64()) {
        (Some(a), Some(b)) => a.total_cmp(&b).is_eq(),
        _ => a == b,
    }
}

fn equal(page: &[Vec<Value>], program: &[Vec<Value>]) -> bool {
    let pairs = || page.iter().zip(program);
    page.len() == program.len()
        && pairs().all(|(a, b)| a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b)))
}

#[test]
fn lost_requests_are_broken_out_and_crossed_as_the_program_does() {
    journey(|page| async move {
        let link = goodput::preset("outputs-double")?;
        page.open(link.trim_start_matches('#')).await?;
        let report = goodput::json(&["simulate", &link, "--by", "output,window"])?;
        choose(&page, "break-out-by", "output").await?;
        let outs = report["accounting"]["break_outs"].as_array().ok_or("no break-outs")?;
        let native = outs.iter().find(|out| out["by"] == json!(["output"])).ok_or("no output")?;
        // The second cell is a picture of the row.
        let shown: Vec<Vec<Value>> = rows(&page, "data-break-out")
            .await?
            .into_iter()
            .map(|row| vec![row[0].clone(), row[2].clone(), row[3].clone()])
            .collect();
        assert!(shown.len() > 3 && equal(&shown, &cells(native)), "{shown:?}");
        page.gone(&testid("heat-map")).await?;
        choose(&page, "break-out-and", "window").await?;
        page.find(&format!("{}[data-state=done]:not([hidden])", testid("heat-map"))).await?;
        page.click(&testid("table-heat-map")).await?;
        let shown: Vec<Vec<Value>> =
            rows(&page, "data-heat-map").await?.into_iter().map(|row| row[..4].to_vec()).collect();
        let crossed = cells(&report["accounting"]["crossed"][0]);
        assert!(crossed.len() > 10 && equal(&shown, &crossed), "{shown:?}\n{crossed:?}");
        assert!(page.text("#caption-heat-map").await?.contains("most are lost of"));
        page.accessible().await
    });
}

#[test]
fn the_cells_of_a_heat_map_are_read_with_arrow_keys() {
    journey(|page| async move {
        page.open(goodput::preset("outputs-double")?.trim_start_matches('#')).await?;
        choose(&page, "break-out-by", "prompt").await?;
        choose(&page, "break-out-and", "output").await?;
        page.find(&format!("{}[data-state=done]:not([hidden])", testid("heat-map"))).await?;
        let readout = testid("heat-map-readout");
        let worst = page.attribute(&readout, "aria-valuetext").await?;
        assert!(worst.starts_with("prompt tokens ") && worst.contains(" lost"), "{worst}");
        page.script(&format!("document.querySelector('{readout}').focus()")).await?;
        page.press(Key::Up + "").await?;
        page.script_when(
            &format!("return document.querySelector('{readout}').ariaValueText"),
            |text| text.as_str().is_some_and(|text| text != worst),
        )
        .await?;
        page.press(Key::Down + "").await?;
        page.script_when(
            &format!("return document.querySelector('{readout}').ariaValueText"),
            |text| text.as_str() == Some(&worst),
        )
        .await?;
        // Of an edit, the map stays until that of the new run is there.
        page.fill(&testid("fleet.pools[0].replicas"), "3").await?;
        page.answered().await?;
        page.find(&format!("{}[data-state=done]", testid("heat-map"))).await?;
        let now = page.attribute(&readout, "aria-valuetext").await?;
        assert_ne!(now, worst, "another run");
        Ok(())
    });
}

#[test]
fn a_limit_moved_by_keyboard_is_counted_on_the_way_and_one_edit_when_let_go() {
    journey(|page| async move {
        page.open(goodput::preset("chat-peak")?.trim_start_matches('#')).await?;
        let first = page.answer().await?;
        let handle = testid(TTFT);
        let value = format!("return document.querySelector('{handle}').ariaValueNow");
        page.script(&format!("document.querySelector('{handle}').focus()")).await?;
        // Far below what most get, in two steps.
        page.press(Key::Home + "").await?;
        page.answered().await?;
        let before = page.script(&value).await?;
        page.driver.action_chain().key_down(Key::PageUp).perform().await?;
        let counted = format!("{handle}[data-attainment]");
        let attainment: f64 = page.attribute(&counted, "data-attainment").await?.parse()?;
        let said = page.attribute(&handle, "aria-valuetext").await?;
        assert!(said.contains("good"), "{said}");
        assert!(page.text("#caption-ttft").await?.contains(" good, "));
        let fragment = page.fragment().await?;
        page.driver.action_chain().key_up(Key::PageUp).perform().await?;
        page.script_when("return location.hash", |hash| *hash != fragment).await?;
        page.settled().await?;
        let (link, now) = (page.fragment().await?, page.script(&value).await?);
        assert_ne!(before, now);
        let doc = goodput::json(&["link", "decode", &link])?;
        let limit = &doc["workload"]["classes"][0]["slo"]["ttft_ms"];
        assert_eq!(limit.as_f64().map(|ms| ms.to_string()), now.as_str().map(str::to_owned));
        let answer = page.answer().await?;
        assert!(answer.attainment() < first.attainment() - 0.01, "{answer:?}");
        assert!(answer.attainment().total_cmp(&attainment).is_eq(), "{attainment} {answer:?}");
        answer.equals_program(&link)?;
        page.accessible().await?;
        // As long as the focus stays, it is one step.
        page.click(&testid("undo")).await?;
        page.settled().await?;
        assert_eq!(page.answer().await?.simulated(), first.simulated());
        Ok(())
    });
}

#[test]
fn a_limit_dragged_with_the_pointer_is_one_edit() {
    journey(|page| async move {
        page.open(goodput::preset("chat-peak")?.trim_start_matches('#')).await?;
        let first = page.answer().await?;
        let handle = page.find(&testid("limit-tpot")).await?;
        let fragment = page.fragment().await?;
        // To where half of the streams are.
        let chain = page.driver.action_chain().click_and_hold_element(&handle);
        let chain = chain.move_by_offset(-100, 0).move_by_offset(-90, 0).release();
        chain.perform().await?;
        page.script_when("return location.hash", |hash| *hash != fragment).await?;
        page.settled().await?;
        let answer = page.answer().await?;
        assert!(answer.attainment() < first.attainment(), "{answer:?}");
        answer.equals_program(&page.fragment().await?)?;
        page.click(&testid("undo")).await?;
        page.settled().await?;
        assert_eq!(page.answer().await?.simulated(), first.simulated());
        Ok(())
    });
}

#[test]
fn rules_counterfactual_and_capacity_are_the_programs() {
    journey(|page| async move {
        let link = goodput::preset("batch-beside-chat")?;
        page.open(link.trim_start_matches('#')).await?;
        let accounting = &goodput::json(&["simulate", &link])?["accounting"];
        for reading in accounting["readings"].as_array().into_iter().flatten().skip(1) {
            let rule = reading["rule"].as_str().unwrap_or_default();
            let cell = format!("{} td[data-value]", testid(&format!("rule-{rule}")));
            let shown: f64 = page.attribute(&cell, "data-value").await?.parse()?;
            assert_eq!(Some(shown), reading["share"]["share"].as_f64(), "{rule}");
        }
        choose(&page, "rule", "vllm").await?;
        page.text_when(&testid("rule-says"), |text| text.starts_with("vLLM")).await?;
        let saved = "return [...document.querySelectorAll('[data-testid=counterfactual] tbody td[data-value]')]
            .reduce((sum, cell) => sum + Number(cell.dataset.value), 0)";
        assert_eq!(page.script(saved).await?.as_u64(), accounting["relaxing"]["lost"].as_u64());
        page.click(&format!("{} summary", testid("capacity"))).await?;
        let native = goodput::json(&["estimate", &link, "--capacity-over", "batch"])?;
        choose(&page, "capacity-over", "batch").await?;
        page.find(&format!("{}[data-state=done]:not([hidden])", testid("capacity-chart"))).await?;
        page.click(&testid("table-capacity")).await?;
        let points = native["capacity"][0]["points"].as_array().ok_or("no capacity")?;
        let shown = rows(&page, "data-capacity").await?;
        assert_eq!(shown.len(), points.len());
        for (row, point) in shown.iter().zip(points) {
            assert!(same(&row[0], &point["value"]), "{row:?}");
            assert!(same(&row[4], &point["sustainable_decode_tps"]), "{row:?}");
        }
        page.accessible().await
    });
}

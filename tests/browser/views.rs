//! Views: phone and desktop, light and dark; nothing is wider than its window, everything passes
//! axe, and behind every chart is a table of what it draws.
use goodput_tests::{Page, Result, goodput, journey, testid, view, view::View};
use serde_json::{Value, json};

const FIGURES: [&str; 5] = ["supply", "debt", "ttft", "tpot", "outcomes"];

/// How far the page reaches beyond `width`, and the elements that do, but for what scrolls in a box
/// of its own. The width is that of the screen: a phone's browser widens its window to the page.
const TOO_WIDE: &str = "
const scrolls = (element) => element && element !== document.body
  && (['auto', 'scroll'].includes(getComputedStyle(element).overflowX)
    || scrolls(element.parentElement));
const wide = [...document.body.querySelectorAll('*')].filter((element) =>
  element.checkVisibility() && element.getBoundingClientRect().right > width + 0.5
  && !scrolls(element));
return [document.documentElement.scrollWidth - width,
  ...wide.map((element) => element.outerHTML.slice(0, 80))];";

/// Tools of the header that cannot be seen, or that stand out of it.
const LOST_TOOLS: &str = "
const header = document.querySelector('.top').getBoundingClientRect();
return [...document.querySelectorAll('.tools button')].filter((tool) =>
  !tool.checkVisibility() || tool.getBoundingClientRect().bottom > header.bottom)
  .map((tool) => tool.dataset.testid);";

#[test]
fn nothing_is_wider_than_its_window_and_all_of_it_is_accessible() {
    journey(|page| async move {
        for view in view::ALL {
            page.view(view).await?;
            page.open("").await?;
            fits(&page, view).await?;
            assert_eq!(page.script(LOST_TOOLS).await?, json!([]), "{view:?}");
            show_tables(&page).await?;
            fits(&page, view).await?;
        }
        Ok(())
    });
}

#[test]
fn an_overloaded_answer_fits_every_view_as_well() {
    journey(|page| async move {
        let link = goodput::preset("benchmark-says-capacity")?;
        for view in view::ALL {
            page.view(view).await?;
            page.load(link.trim_start_matches('#')).await?;
            page.answered().await?;
            assert_eq!(page.attribute(&testid("verdict"), "data-verdict").await?, "over");
            fits(&page, view).await?;
        }
        Ok(())
    });
}

#[test]
fn every_chart_has_a_caption_and_a_table_of_what_it_draws() {
    journey(|page| async move {
        let link = goodput::preset("outputs-double")?;
        page.open(link.trim_start_matches('#')).await?;
        let report = goodput::json(&["simulate", &link])?;
        show_tables(&page).await?;
        for (id, points) in FIGURES.into_iter().zip(points(&report)?) {
            let caption = page.text(&format!("#caption-{id}")).await?;
            assert!(caption.split_whitespace().count() >= 4, "{id}: “{caption}”");
            let canvas = format!("{} canvas", testid(&format!("figure-{id}")));
            assert_eq!(page.attribute(&canvas, "aria-labelledby").await?, format!("caption-{id}"));
            assert!(painted(&page, &canvas).await?, "{id} is blank");
            let rows = format!(
                "return document.querySelectorAll('{} tbody tr').length",
                testid(&format!("data-{id}"))
            );
            assert_eq!(page.script(&rows).await?, points, "rows of {id}");
            page.click(&testid(&format!("table-{id}"))).await?;
            page.gone(&testid(&format!("data-{id}"))).await?;
        }
        Ok(())
    });
}

#[test]
fn a_theme_of_ones_own_is_remembered() {
    journey(|page| async move {
        page.load("").await?;
        page.answered().await?;
        let dark = "return getComputedStyle(document.documentElement).colorScheme === 'dark'";
        assert!(page.script(dark).await? == false);
        // From the system's to light to dark.
        page.click(&testid("theme")).await?;
        page.click(&testid("theme")).await?;
        page.script_when(dark, |is| *is == true).await?;
        page.accessible().await?;
        page.load("").await?;
        page.answered().await?;
        assert!(page.script(dark).await? == true);
        page.accessible().await
    });
}

async fn fits(page: &Page, view: View) -> Result {
    let wide = page.script(&format!("const width = {};{TOO_WIDE}", view.width)).await?;
    let name = view.name;
    let (beyond, elements) =
        wide.as_array().and_then(|found| found.split_first()).ok_or("no measurements")?;
    assert!(beyond.as_f64().is_some_and(|px| px <= 0.0), "{name} scrolls sideways: {wide}");
    assert!(elements.is_empty(), "{name}, beyond the window: {elements:#?}");
    page.accessible().await.map_err(|error| format!("{name}: {error}").into())
}

/// Opens the table behind every chart.
async fn show_tables(page: &Page) -> Result {
    for id in FIGURES {
        page.click(&testid(&format!("table-{id}"))).await?;
        page.find(&testid(&format!("data-{id}"))).await?;
    }
    Ok(())
}

/// How many points each chart has to draw, by the program: moments of the horizon for the charts
/// over time; filled bins and those who never came; what was offered, each loss, and what is good.
fn points(report: &Value) -> Result<[usize; 5]> {
    let horizon_s = report["horizon_s"].as_f64().ok_or("no horizon")?;
    let within = |series: &Value| {
        let moments = series.as_array().into_iter().flatten();
        moments.filter(|point| point["t_s"].as_f64().is_some_and(|t| t <= horizon_s)).count()
    };
    let bins = |histogram: &Value| {
        let counts = histogram["counts"].as_array().into_iter().flatten();
        counts.filter(|count| **count != 0).count() + 1
    };
    let outcomes = report["outcomes"].as_object().ok_or("no outcomes")?;
    let losses = outcomes.iter().filter(|(name, count)| *name != "good" && **count != 0).count();
    let windows = report["supply"]["demand"].as_array().ok_or("no demand")?.len();
    Ok([
        windows + 2,
        within(&report["series"]),
        bins(&report["ttft_histogram"]),
        bins(&report["tpot_histogram"]),
        losses + 2,
    ])
}

/// Whether anything is drawn on a canvas.
async fn painted(page: &Page, css: &str) -> Result<bool> {
    let script = format!(
        "const canvas = document.querySelector('{css}');
        const {{ data }} = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
        return new Set(new Uint32Array(data.buffer)).size > 2;"
    );
    Ok(page.script(&script).await? == true)
}

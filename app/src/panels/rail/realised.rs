//! How long lengths come out: by the distribution at once, and as the simulation drew them.

use goodput_engine::accounts::report::ClassReport;
use goodput_engine::estimate::report::ClassWorkload;
use goodput_engine::workload::LengthSummary;
use leptos::prelude::*;

use crate::state::field::Side;
use crate::state::{Estimate, Shown, workbench};
use crate::view_model::lengths as shapes;

/// Mean, percentiles and the share beyond `max_model_len`.
pub fn realised(index: usize, side: Side) -> AnyView {
    let of_side = move |input: LengthSummary, output: LengthSummary| match side {
        Side::Input => Some(shapes::realised(&input).to_vec()),
        Side::Output => Some(shapes::realised(&output).to_vec()),
        // They are part of what is generated.
        Side::Hidden | Side::Turns | Side::NewTokens => None,
    };
    let by_law = by_law(index, move |class| of_side(class.input_tokens, class.output_tokens));
    let drawn = drawn(index, move |class| of_side(class.input_tokens, class.output_tokens));
    let current = workbench().current;
    view! {
        {move || {
            mini_table(
                format!("realised-{}-{index}", side.id()),
                "Lengths by the distribution and as drawn, tokens",
                &["mean", "p50", "p90", "p99", "over limit"],
                // Those of the inputs before say so: the law above may be another, or none.
                [("law", by_law.get()), (if current.get() { "drawn" } else { "before" }, drawn.get())],
            )
        }}
    }
    .into_any()
}

/// Cells of a class by its laws; none where there is nothing to say.
pub fn by_law(
    index: usize,
    cells: impl Fn(&ClassWorkload) -> Option<Vec<String>> + Send + Sync + 'static,
) -> Memo<Vec<String>> {
    let bench = workbench();
    Memo::new(move |_| {
        let of_class = |estimate: &Estimate| {
            let place = shapes::place_in_report(&estimate.doc, index)?;
            cells(estimate.report.supply.as_ref()?.workload.get(place)?)
        };
        bench.estimate.with(|estimate| estimate.as_ref().and_then(of_class).unwrap_or_default())
    })
}

/// The same as the simulation drew them.
pub fn drawn(
    index: usize,
    cells: impl Fn(&ClassReport) -> Option<Vec<String>> + Send + Sync + 'static,
) -> Memo<Vec<String>> {
    let bench = workbench();
    Memo::new(move |_| {
        let of_class = |shown: &Shown| {
            let place = shapes::place_in_report(&shown.doc, index)?;
            cells(shown.report.classes.get(place)?)
        };
        bench.screen.with(|screen| screen.simulated().and_then(of_class).unwrap_or_default())
    })
}

/// A small table of the rows that there are, each with its name and cells; nothing where there is none.
pub fn mini_table(
    test_id: String,
    caption: &'static str,
    heads: &[&'static str],
    rows: [(&'static str, Vec<String>); 2],
) -> AnyView {
    let mut rows = rows.into_iter().filter(|(_, cells)| !cells.is_empty()).peekable();
    if rows.peek().is_none() {
        return ().into_any();
    }
    let rows: Vec<AnyView> = rows
        .map(|(name, cells)| {
            let cells: Vec<_> = cells.into_iter().map(|cell| view! { <td>{cell}</td> }).collect();
            view! {
                <tr>
                    <th scope="row">{name}</th>
                    {cells}
                </tr>
            }
            .into_any()
        })
        .collect();
    let heads: Vec<_> = heads.iter().map(|head| view! { <th scope="col">{*head}</th> }).collect();
    view! {
        <table class="mini" data-testid=test_id>
            <caption class="vh">{caption}</caption>
            <thead>
                <tr>
                    <td></td>
                    {heads}
                </tr>
            </thead>
            <tbody>{rows}</tbody>
        </table>
    }
    .into_any()
}

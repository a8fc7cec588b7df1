//! How long lengths come out: by the distribution at once, and as the simulation drew them.

use goodput_engine::workload::LengthSummary;
use leptos::prelude::*;

use crate::state::field::Side;
use crate::state::workbench;
use crate::view_model::lengths as shapes;

/// Mean, percentiles and the share beyond `max_model_len`.
pub fn realised(index: usize, side: Side) -> AnyView {
    let bench = workbench();
    let of_side = move |input: LengthSummary, output: LengthSummary| match side {
        Side::Input => Some(shapes::realised(&input)),
        Side::Output => Some(shapes::realised(&output)),
        // They are part of what is generated.
        Side::Hidden => None,
    };
    let by_law = Memo::new(move |_| {
        bench.estimate.with(|estimate| {
            let estimate = estimate.as_ref()?;
            let place = shapes::place_in_report(&estimate.doc, index)?;
            let class = estimate.report.supply.as_ref()?.workload.get(place)?;
            of_side(class.input_tokens, class.output_tokens)
        })
    });
    let drawn = Memo::new(move |_| {
        bench.screen.with(|screen| {
            let shown = screen.simulated()?;
            let place = shapes::place_in_report(&shown.doc, index)?;
            let class = shown.report.classes.get(place)?;
            of_side(class.input_tokens, class.output_tokens)
        })
    });
    let row = |name: &'static str, cells: [String; 5]| {
        let cells = cells.map(|cell| view! { <td>{cell}</td> });
        view! {
            <tr>
                <th scope="row">{name}</th>
                {cells.into_iter().collect_view()}
            </tr>
        }
    };
    view! {
        {move || {
            let rows = [("law", by_law.get()), ("drawn", drawn.get())];
            let rows: Vec<_> =
                rows.into_iter().filter_map(|(name, cells)| Some(row(name, cells?))).collect();
            (!rows.is_empty())
                .then(|| {
                    let heads = ["mean", "p50", "p90", "p99", "over limit"];
                    let heads = heads.map(|head| view! { <th scope="col">{head}</th> });
                    view! {
                        <table class="mini" data-testid=format!("realised-{}-{index}", side.id())>
                            <caption class="vh">"Lengths by the distribution and as drawn, tokens"</caption>
                            <thead>
                                <tr>
                                    <td></td>
                                    {heads.into_iter().collect_view()}
                                </tr>
                            </thead>
                            <tbody>{rows}</tbody>
                        </table>
                    }
                })
        }}
    }
    .into_any()
}

//! How an answer ends and what of it is seen: output budget, hidden tokens, and how prompts and
//! answers go together.

use goodput_engine::scenario::doc::{HiddenTokensDoc, LengthsDoc, PairingDoc, QualityDoc};
use leptos::prelude::*;

use super::text::{Typing, problem_note};
use super::{about_class, change, lengths};
use crate::controls::{Choice, NumberField, Select};
use crate::format;
use crate::state::edit::{ClassEdit, Typed};
use crate::state::field::{ClassField, Field, Side, Text};
use crate::state::workbench;
use crate::view_model::lengths::place_in_report;
use crate::view_model::{length_kinds, pasted};

/// The output budget, the share of answers that it cuts, and how many of those pass.
pub fn budget(index: usize) -> AnyView {
    let bench = workbench();
    let share = Memo::new(move |_| {
        bench.estimate.with(|estimate| {
            let estimate = estimate.as_ref()?;
            let place = place_in_report(&estimate.doc, index)?;
            estimate.doc.workload.classes.get(index)?.max_output_tokens?;
            let class = estimate.report.supply.as_ref()?.workload.get(place)?;
            Some(format!("{} of answers hit it", format::percent(class.share_at_max_output_tokens)))
        })
    });
    // What is given is shown, so that it can be taken back where it is refused.
    let passes = about_class(index, |class| {
        let checked = class.quality != QualityDoc::NotChecked;
        match (class.truncated_pass_rate, class.max_output_tokens) {
            (Some(_), _) => "field",
            (None, Some(_)) if checked => "open",
            (None, Some(_)) => "hint",
            (None, None) => "",
        }
    });
    view! {
        <NumberField field=Field::Class(index, ClassField::MaxOutputTokens)/>
        <p class="echo after" data-testid=format!("budget-share-{index}")>{move || share.get()}</p>
        {move || match passes.get() {
            "field" => {
                view! { <NumberField field=Field::Class(index, ClassField::TruncatedPassRate)/> }.into_any()
            }
            "open" => {
                view! {
                    <NumberField field=Field::Class(index, ClassField::TruncatedPassRate)/>
                    <p class="echo after">"None: as many as of all others"</p>
                }
                    .into_any()
            }
            "hint" => {
                view! {
                    <p class="echo after">
                        "A cut answer counts as any other: give a quality in the contract to say how many pass"
                    </p>
                }
                    .into_any()
            }
            _ => ().into_any(),
        }}
    }
    .into_any()
}

/// What a reasoning model generates and does not show.
pub fn hidden(index: usize) -> AnyView {
    let kind = about_class(index, |class| match class.hidden_tokens {
        None => "none".to_owned(),
        Some(HiddenTokensDoc::Share { .. }) => "share".to_owned(),
        Some(HiddenTokensDoc::Added { .. }) => "added".to_owned(),
    });
    let choices = vec![
        Choice::new("none", "none"),
        Choice::new("share", "a share of the output"),
        Choice::new("added", "before the output"),
    ];
    let choose = Callback::new(move |name: String| {
        let doc = workbench().doc_untracked();
        let Some(class) = doc.workload.classes.get(index) else { return };
        let hidden = match name.as_str() {
            "share" => Some(HiddenTokensDoc::Share { share: 0.5 }),
            // As long as the answers, to begin with; a recording belongs to them alone.
            "added" => {
                let tokens = match &class.output_tokens {
                    LengthsDoc::Recorded { .. } => {
                        length_kinds::as_kind(&class.output_tokens, "lognormal")
                    }
                    other => Some(other.clone()),
                };
                tokens.map(|tokens| HiddenTokensDoc::Added { tokens: Box::new(tokens) })
            }
            _ => None,
        };
        change(index, ClassEdit::Hidden(hidden));
    });
    view! {
        <Select id=format!("hidden-{index}") label="Hidden tokens" choices value=kind on_choose=choose quiet=true/>
        {move || match kind.get().as_str() {
            "share" => view! { <NumberField field=Field::Class(index, ClassField::HiddenShare)/> }.into_any(),
            "added" => lengths::editor(index, Side::Hidden),
            _ => ().into_any(),
        }}
    }
    .into_any()
}

/// How the prompt and the answer of one request go together.
pub fn pairing(index: usize) -> AnyView {
    let kind = about_class(index, |class| match class.pairing {
        PairingDoc::Apart => "apart".to_owned(),
        PairingDoc::Together => "together".to_owned(),
        PairingDoc::Correlated { .. } => "correlated".to_owned(),
    });
    let choices = vec![
        Choice::new("apart", "drawn apart"),
        Choice::new("correlated", "long with long"),
        Choice::new("together", "observed pairs"),
    ];
    let choose = Callback::new(move |name: String| {
        change(
            index,
            match name.as_str() {
                "correlated" => {
                    ClassEdit::Pairing(PairingDoc::Correlated { rank_correlation: 0.5 })
                }
                "together" => observed_pairs(index),
                _ => ClassEdit::Pairing(PairingDoc::Apart),
            },
        );
    });
    let path = format!("workload.classes[{index}].pairing");
    view! {
        <Select id=format!("pairing-{index}") label="Prompt and answer" choices value=kind on_choose=choose quiet=true/>
        {move || match kind.get().as_str() {
            "correlated" => {
                view! {
                    <NumberField field=Field::Class(index, ClassField::RankCorrelation)/>
                    {problem_note(path.clone())}
                }
                    .into_any()
            }
            "together" => pairs(index).view(),
            _ => ().into_any(),
        }}
    }
    .into_any()
}

/// Observed prompts, each with its answer.
fn pairs(index: usize) -> Typing {
    Typing {
        index,
        text: Text::Pairs,
        now: |class, _| match (&class.input_tokens, &class.output_tokens) {
            (
                LengthsDoc::Empirical { samples: prompts },
                LengthsDoc::Empirical { samples: answers },
            ) => Some(Typed::Pairs(prompts.clone(), answers.clone())),
            _ => None,
        },
        say: |typed| match typed {
            Typed::Pairs(prompts, answers) => pasted::pairs(prompts, answers),
            _ => String::new(),
        },
        read: |typed, _| {
            let (prompts, answers) = pasted::read_pairs(typed)?;
            let said = format::plural(prompts.len() as u64, "pair", "pairs");
            Ok((Typed::Pairs(prompts, answers), format!("= {said}")))
        },
        label: "Prompt and answer, one pair a line",
        example: "512 40\n2k 300",
        rows: 4,
    }
}

/// Observed pairs to begin with: the samples that there are, else a few lengths of both sides.
fn observed_pairs(index: usize) -> ClassEdit {
    let doc = workbench().doc_untracked();
    let samples = |lengths: &LengthsDoc| match length_kinds::as_kind(lengths, "empirical")
        .unwrap_or_else(|| lengths.clone())
    {
        LengthsDoc::Empirical { samples } => samples,
        _ => Vec::new(),
    };
    match doc.workload.classes.get(index) {
        Some(class) => ClassEdit::Typed(Typed::Pairs(
            samples(&class.input_tokens),
            samples(&class.output_tokens),
        )),
        None => ClassEdit::Pairing(PairingDoc::Together),
    }
}

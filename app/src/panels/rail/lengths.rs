//! Length distributions: kind, numbers, shape, and how long they come out.

use goodput_engine::scenario::doc::{LengthsDoc, QuantileDoc, ScenarioDoc};
use leptos::prelude::*;

use super::grips::{Gripped, grips};
use super::realised::realised;
use super::rows::{RowEdits, rows};
use super::spread::spread_line;
use super::text::{Typing, problem_note};
use super::{change, number_fields};
use crate::controls::{NumberField, Select};
use crate::format;
use crate::parse::Quantity;
use crate::state::edit::{ClassEdit, Edit, Typed};
use crate::state::field::{ClassField, Field, LengthField, Named, Place, Side, Text, of_lengths};
use crate::state::workbench;
use crate::view_model::handles::{self, Frame, Target};
use crate::view_model::{length_kinds as kinds, length_words, lengths as shapes, pasted};

/// Columns of a quantile table.
const COLUMNS: [Quantity; 2] = [Quantity::Share, Quantity::Tokens];

/// The lengths of one side of a class.
pub fn editor(index: usize, side: Side) -> AnyView {
    let bench = workbench();
    let place = Place::whole(side);
    let edited = Memo::new(move |_| {
        let doc = bench.doc();
        let now = lengths_in(&doc, index, place);
        bench.baseline.with(|b| b.as_ref().is_some_and(|b| lengths_in(&b.doc, index, place) != now))
    });
    let label = match side {
        Side::Input => "Input length",
        Side::Output => "Output length",
        Side::Hidden => "Hidden length",
        Side::Turns => "Turns of a session",
        Side::NewTokens => "New tokens of a later turn",
    };
    view! {
        <div class="dist" class:edited=edited>
            {kind_and_form(index, place, label.to_owned())}
            {histogram(index, place, label)}
            {numbers(index, place)}
            {realised(index, side)}
        </div>
    }
    .into_any()
}

/// Lengths of a class of a document.
pub(super) fn lengths_in(doc: &ScenarioDoc, index: usize, place: Place) -> Option<&LengthsDoc> {
    place.get(doc.workload.classes.get(index)?)
}

/// Something about the lengths of a class.
fn about<T: Default + PartialEq + Send + Sync + 'static>(
    index: usize,
    place: Place,
    read: fn(&LengthsDoc) -> T,
) -> Memo<T> {
    workbench().about(move |doc| lengths_in(doc, index, place).map(read).unwrap_or_default())
}

/// What kind of lengths they are, and by which numbers people know them.
fn kind_and_form(index: usize, place: Place, label: String) -> AnyView {
    let kind = about(index, place, |lengths| kinds::kind_of(lengths).to_owned());
    let form = about(index, place, |lengths| kinds::form_of(lengths).to_owned());
    let change_to = move |new: fn(&LengthsDoc, &str) -> Option<LengthsDoc>| {
        Callback::new(move |name: String| {
            let doc = workbench().doc_untracked();
            let new = lengths_in(&doc, index, place).and_then(|lengths| new(lengths, &name));
            if let Some(new) = new {
                change(index, ClassEdit::Lengths(place, new));
            }
        })
    };
    let forms = Memo::new(move |_| kinds::forms(&kind.get(), &form.get()));
    let known_by = move || {
        let (id, choices) = (format!("{}-form-{index}", place.id()), forms.get());
        let on_choose = change_to(kinds::as_form);
        (!choices.is_empty()).then(|| {
            view! { <Select id label="Known by" choices value=form on_choose quiet=true/> }
        })
    };
    view! {
        <Select
            id=format!("{}-kind-{index}", place.id())
            label
            choices=kinds::choices(place.part.is_some())
            value=kind
            on_choose=change_to(kinds::as_kind)
            quiet=true
        />
        {known_by}
    }
    .into_any()
}

/// The numbers of lengths: in words, in fields, in rows.
fn numbers(index: usize, place: Place) -> AnyView {
    let kind = about(index, place, |lengths| kinds::kind_of(lengths).to_owned());
    let named = about(index, place, of_lengths);
    let field =
        move |named| Field::Class(index, ClassField::Length(place, LengthField::Number(named)));
    let some = move |ends: bool| {
        let named = named.get().into_iter().filter(move |named: &Named| named.is_end() == ends);
        named.map(field).collect::<Vec<_>>()
    };
    let ends = move || {
        let fields = some(true);
        (!fields.is_empty()).then(|| {
            view! {
                <details class="more">
                    <summary>"Shortest and longest"</summary>
                    {number_fields(fields)}
                </details>
            }
        })
    };
    let more = move || match kind.get().as_str() {
        "fixed" | "lognormal" => words(index, place),
        "quantiles" => quantiles(index, place),
        "empirical" => samples(index, place),
        "mixture" => parts(index, place.side),
        "recorded" => {
            view! { <p class="sum">"As recorded in the trace, request by request"</p> }.into_any()
        }
        _ => ().into_any(),
    };
    let path = Field::Class(index, ClassField::Text(Text::Words(place))).path();
    let elsewhere = move || {
        (!matches!(kind.get().as_str(), "fixed" | "lognormal")).then(|| problem_note(path.clone()))
    };
    view! {
        {move || number_fields(some(false))}
        {spread_line(index, place)}
        {more}
        {ends}
        {elsewhere}
    }
    .into_any()
}

/// A law as people say it.
fn words(index: usize, place: Place) -> AnyView {
    Typing {
        index,
        text: Text::Words(place),
        now: |class, text| {
            let Text::Words(place) = text else { return None };
            Some(Typed::Words(place, place.get(class)?.clone()))
        },
        say: |typed| match typed {
            Typed::Words(_, law) => length_words::say(law),
            _ => String::new(),
        },
        read: |typed, text| {
            let Text::Words(place) = text else { return Err(String::new()) };
            let (law, remarks) = length_words::read_with_remarks(typed)?;
            Ok((Typed::Words(place, law), remarks))
        },
        label: "In words",
        example: "100 to 4k",
        rows: 1,
    }
    .view()
}

fn quantiles(index: usize, place: Place) -> AnyView {
    let count = about(index, place, |lengths| match lengths {
        LengthsDoc::Quantiles { table } => table.len(),
        _ => 0,
    });
    let edits = RowEdits {
        index,
        what: "quantile",
        fields: |at| {
            let place = at.place.unwrap_or(Place::whole(Side::Input));
            [LengthField::QuantileP(at.row), LengthField::QuantileTokens(at.row)]
                .map(|field| Field::Class(at.index, ClassField::Length(place, field)))
        },
        add: |at| {
            let place = at.place.unwrap_or(Place::whole(Side::Input));
            Edit::Class(at.index, ClassEdit::AddQuantile(place, at.row))
        },
        remove: |at| {
            let place = at.place.unwrap_or(Place::whole(Side::Input));
            Edit::Class(at.index, ClassEdit::RemoveQuantile(place, at.row))
        },
        place: Some(place),
    };
    let typing = Typing {
        index,
        text: Text::Table(place),
        now: |class, text| match text {
            Text::Table(place) => match place.get(class)? {
                LengthsDoc::Quantiles { table } => Some(Typed::Table(place, table.clone())),
                _ => None,
            },
            _ => None,
        },
        say: |typed| match typed {
            Typed::Table(_, table) => {
                pasted::table(table.iter().map(|row| (row.p, row.tokens)), COLUMNS)
            }
            _ => String::new(),
        },
        read: |typed, text| {
            let Text::Table(place) = text else { return Err(String::new()) };
            let rows = pasted::read_table(typed, COLUMNS)?;
            let said = format::plural(rows.len() as u64, "quantile", "quantiles");
            let row = |(p, tokens)| QuantileDoc { p, tokens };
            let table = rows.into_iter().map(row).collect();
            Ok((Typed::Table(place, table), format!("= {said}")))
        },
        label: "Per cent and tokens, one row a line",
        example: "50 200\n90 1.2k",
        rows: 5,
    };
    (rows(edits, count), typing.folded("Paste a table")).into_any()
}

/// Observed lengths, pasted.
fn samples(index: usize, place: Place) -> AnyView {
    Typing {
        index,
        text: Text::Samples(place),
        now: |class, text| match text {
            Text::Samples(place) => match place.get(class)? {
                LengthsDoc::Empirical { samples } => Some(Typed::Samples(place, samples.clone())),
                _ => None,
            },
            _ => None,
        },
        say: |typed| match typed {
            Typed::Samples(_, samples) => pasted::list(samples),
            _ => String::new(),
        },
        read: |typed, text| {
            let Text::Samples(place) = text else { return Err(String::new()) };
            let samples = pasted::read_list(typed)?;
            let said = format::plural(samples.len() as u64, "length", "lengths");
            Ok((Typed::Samples(place, samples), format!("= {said}")))
        },
        label: "Observed lengths, pasted",
        example: "120 2k 340",
        rows: 3,
    }
    .view()
}

/// The parts of a mixture, each with its weight.
fn parts(index: usize, side: Side) -> AnyView {
    let bench = workbench();
    let count = about(index, Place::whole(side), |lengths| match lengths {
        LengthsDoc::Mixture { parts, .. } => parts.len(),
        _ => 0,
    });
    let part = move |part: usize| {
        let place = Place { side, part: Some(part) };
        let weight = Field::Class(index, ClassField::Length(place, LengthField::Weight));
        let remove = move |_| bench.edit(&Edit::Class(index, ClassEdit::RemovePart(side, part)));
        view! {
            <div class="part" role="group" aria-label=format!("Part {}", part + 1)>
                {kind_and_form(index, place, format!("Part {}", part + 1))}
                <NumberField field=weight/>
                {numbers(index, place)}
                <button class="link" type="button" on:click=remove>
                    {format!("Remove part {}", part + 1)}
                </button>
            </div>
        }
        .into_any()
    };
    let add = move |_| bench.edit(&Edit::Class(index, ClassEdit::AddPart(side)));
    view! {
        {move || (0..count.get()).map(part).collect_view()}
        <button class="link" type="button" on:click=add>"Add a part"</button>
    }
    .into_any()
}

/// The shape on a log axis, that of the baseline as an outline, and handles for its numbers.
fn histogram(index: usize, place: Place, label: &'static str) -> AnyView {
    let bench = workbench();
    let kept = RwSignal::new(None::<Frame>);
    let shape = Memo::new(move |_| {
        let doc = bench.doc();
        let class = doc.workload.classes.get(index)?;
        let now = place.get(class)?;
        let before = bench.baseline.with(|b| lengths_in(&b.as_ref()?.doc, index, place).cloned());
        let at: Vec<f64> = handles::of_law(class, place).iter().map(|grip| grip.at[0]).collect();
        shapes::picture(
            now,
            before.as_ref().filter(|b| *b != now),
            &at,
            (kept.get(), place.side.unit()),
        )
    });
    let frame = Memo::new(move |_| shape.with(|shape| shape.as_ref().map(|shape| shape.frame)));
    let drawing = move || {
        shape.get().map(|shape| {
            let bars = shape.bars.iter().map(|(x, y, width, height)| {
                view! { <rect class="f-hist" x=*x y=*y width=*width height=*height></rect> }
            });
            let ticks = shape.ticks.iter().map(|(x, text)| {
                view! {
                    <line class="tick" x1=*x x2=*x y1="56" y2="59"></line>
                    <text x=*x y="70" text-anchor="middle">{text.clone()}</text>
                }
            });
            view! {
                <svg class="hist" viewBox="0 0 268 74" role="img" aria-label=shape.label>
                    {bars.collect_view()}
                    <path class="l-ghost" d=shape.ghost></path>
                    <line class="axis0" x1="0" x2="268" y1="56" y2="56"></line>
                    {ticks.collect_view()}
                </svg>
            }
        })
    };
    view! {
        <div class="picture">
            {drawing}
            {grips(Gripped { index, target: Target::Lengths(place), label, frame, kept })}
        </div>
    }
    .into_any()
}

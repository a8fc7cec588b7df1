//! Edits of every kind on a small document: what is written is read, and nothing else changes.

use super::super::field::{ClassField, LengthField, Place, PoolField, RATE, Side, of_lengths};
use goodput_engine::accounts::report::SimReport;

use super::*;

/// One class on one GPU.
pub fn small_doc() -> ScenarioDoc {
    goodput_engine::scenario::doc::parse(
        r#"{"version":1,"name":"small","workload":{"classes":[{"name":"chat",
        "arrivals":{"kind":"poisson","rate_rps":1.0},
        "input_tokens":{"kind":"lognormal","mean":512,"p99":2391},
        "output_tokens":{"kind":"fixed","tokens":256},
        "slo":{"ttft_ms":2000.0}}]},
        "fleet":{"pools":[{"gpu":"h100-sxm","model":"llama-3.1-8b","replicas":8}]}}"#,
    )
    .expect("a document")
}

/// What its simulation says.
pub fn small_report() -> SimReport {
    report_of(&small_doc())
}

/// What the simulation of a document says.
pub fn report_of(doc: &ScenarioDoc) -> SimReport {
    let scenario = goodput_engine::scenario::check(doc).expect("a scenario").scenario;
    goodput_engine::accounts::answer(&scenario).expect("an answer").report
}

fn after(edit: &Edit) -> ScenarioDoc {
    let mut doc = small_doc();
    edit.apply(&mut doc);
    doc
}

/// The number of this name of the lengths of one side.
fn length(side: Side, name: &str) -> Field {
    let place = Place::whole(side);
    let doc = small_doc();
    let numbers = of_lengths(place.get(&doc.workload.classes[0]).expect("lengths"));
    let named = numbers.into_iter().find(|named| named.name == name).expect("such a number");
    Field::Class(0, ClassField::Length(place, LengthField::Number(named)))
}

#[test]
fn every_number_of_the_document_is_read_where_it_is_written() {
    let fields = [
        Field::Seed,
        Field::Horizon,
        Field::Class(0, ClassField::Arrivals(RATE)),
        length(Side::Input, "p99"),
        length(Side::Output, "tokens"),
        Field::Class(0, ClassField::Ttft),
        Field::Class(0, ClassField::Target),
        Field::Class(0, ClassField::ErrorRate),
        Field::Pool(0, PoolField::Replicas),
        Field::Pool(0, PoolField::MaxNumSeqs),
        Field::Pool(0, PoolField::NumGpuBlocks),
        Field::Pool(0, PoolField::Price),
    ];
    for field in fields {
        let doc = after(&Edit::Number { field, value: Some(17.0) });
        assert_eq!(field.get(&doc), Some(17.0), "{field:?}");
        let untouched = fields.iter().filter(|f| **f != field);
        for other in untouched {
            assert_eq!(other.get(&doc), other.get(&small_doc()), "{field:?} → {other:?}");
        }
    }
}

#[test]
fn what_the_document_has_not_is_left_alone() {
    for field in [
        Field::Class(7, ClassField::Arrivals(RATE)),
        Field::Class(0, ClassField::PointRate(0)),
        Field::Class(0, ClassField::PassRate),
        Field::Class(0, ClassField::Length(Place::whole(Side::Input), LengthField::Weight)),
        Field::Pool(0, PoolField::DeclaredInput),
    ] {
        assert_eq!(field.get(&small_doc()), None, "{field:?}");
        assert_eq!(after(&Edit::Number { field, value: Some(3.0) }), small_doc());
    }
    assert_eq!(after(&Edit::RemoveClass(0)), small_doc(), "the last class stays");
}

#[test]
fn classes_get_names_of_their_own() {
    let mut doc = after(&Edit::DuplicateClass(0));
    Edit::DuplicateClass(0).apply(&mut doc);
    Edit::AddClass.apply(&mut doc);
    let names: Vec<&str> = doc.workload.classes.iter().map(|c| c.name.as_str()).collect();
    assert_eq!(names, ["chat", "chat 3", "chat 2", "class 2"]);
}

#[test]
fn a_class_moves_with_all_that_is_its_own() {
    let mut doc = after(&Edit::DuplicateClass(0));
    Edit::Class(1, ClassEdit::Enabled(false)).apply(&mut doc);
    Edit::Class(1, ClassEdit::Tenant("b".into())).apply(&mut doc);
    let classes = doc.workload.classes.clone();
    Edit::MoveClass { from: 1, to: 0 }.apply(&mut doc);
    assert_eq!(doc.workload.classes, [classes[1].clone(), classes[0].clone()]);
    let moved = doc.clone();
    Edit::MoveClass { from: 1, to: 2 }.apply(&mut doc);
    assert_eq!(doc, moved, "there is no third place");
}

#[test]
fn optional_numbers_can_be_emptied_and_others_cannot() {
    let ttft = Field::Class(0, ClassField::Ttft);
    assert_eq!(ttft.get(&after(&Edit::Number { field: ttft, value: None })), None);
    let rate = Field::Class(0, ClassField::Arrivals(RATE));
    assert_eq!(rate.get(&after(&Edit::Number { field: rate, value: None })), Some(1.0));
}

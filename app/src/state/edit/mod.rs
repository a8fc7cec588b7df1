//! Edits: the only way the document changes. Pure, undoable, described in words.

mod class;
mod pool;

use goodput_engine::scenario::doc::{
    AdmissionDoc, ArrivalsDoc, LengthsDoc, PairingDoc, ScenarioDoc,
};

pub use class::{ClassEdit, Typed};
pub use pool::{PoolEdit, Switch};

use super::field::{ClassField, Field, Text};

/// One change of the document.
#[derive(Debug, Clone, PartialEq)]
pub enum Edit {
    /// Types a number.
    Number {
        /// Which.
        field: Field,
        /// Its new value; `None` empties an optional field.
        value: Option<f64>,
    },
    /// Moves a handle on the picture of what these numbers say.
    Handle {
        /// What it is called.
        name: String,
        /// Its numbers and their new values.
        numbers: Vec<(Field, f64)>,
    },
    /// Moves a limit of every class that has it, or of one.
    Limit {
        /// Which limit.
        field: ClassField,
        /// Of which class; `None` of all.
        class: Option<usize>,
        /// Where to, milliseconds.
        ms: f64,
    },
    /// Renames the scenario.
    Rename(String),
    /// Another document: a preset, a link, a file.
    Open {
        /// Where it comes from, in words.
        from: String,
        /// The document.
        doc: Box<ScenarioDoc>,
    },
    /// Adds a traffic class after the last.
    AddClass,
    /// Adds a copy of a class after it.
    DuplicateClass(usize),
    /// Removes a class; the last one stays.
    RemoveClass(usize),
    /// Puts a class in another place.
    MoveClass {
        /// Where it is.
        from: usize,
        /// Where it will be.
        to: usize,
    },
    /// Changes a class.
    Class(usize, ClassEdit),
    /// Changes the pool.
    Pool(PoolEdit),
    /// Changes whom the fleet lets in.
    Admission(AdmissionDoc),
    /// Makes a trace the workload of a class.
    UseTrace {
        /// Which class.
        class: usize,
        /// When requests are due, and with how many tokens.
        trace: Box<TraceWorkload>,
    },
    /// Gives a class the lengths of a running server.
    UseLengths {
        /// Which class.
        class: usize,
        /// Name of the file.
        file: String,
        /// Prompts and outputs.
        lengths: Box<(LengthsDoc, LengthsDoc)>,
    },
}

/// What a trace says about a class.
#[derive(Debug, Clone, PartialEq)]
pub struct TraceWorkload {
    /// Name of the file.
    pub file: String,
    /// When requests are due.
    pub arrivals: ArrivalsDoc,
    /// Prompt lengths.
    pub input_tokens: LengthsDoc,
    /// Output lengths.
    pub output_tokens: LengthsDoc,
    /// Span of the trace, seconds.
    pub horizon_s: f64,
}

/// Edits with the same key, one after the other, are one step: typing in one field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EditKey {
    /// A number.
    Number(Field),
    /// A handle, by its first number and its last.
    Handle(Option<Field>, Option<Field>),
    /// A limit that is moved.
    Limit(ClassField, Option<usize>),
    /// The scenario's name.
    Name,
    /// A class's name.
    ClassName(usize),
    /// Whose traffic a class is.
    Tenant(usize),
    /// Numbers of a class that are typed together.
    Text(usize, Text),
    /// Who says something about a class's quality.
    QualityBy(usize),
    /// Name of a GPU or a model by numbers.
    CustomName(bool),
    /// Whose price it is.
    PriceSource,
}

impl Edit {
    /// Carries it out. What does not exist in the document is left alone.
    pub fn apply(&self, doc: &mut ScenarioDoc) {
        match self {
            Self::Number { field, value } => field.set(doc, *value),
            Self::Handle { numbers, .. } => {
                for (field, value) in numbers {
                    field.set(doc, Some(*value));
                }
            }
            Self::Limit { field, class, ms } => move_limit(doc, *field, *class, *ms),
            Self::Rename(name) => doc.name.clone_from(name),
            Self::Open { doc: other, .. } => doc.clone_from(other),
            Self::AddClass => add_class(doc),
            Self::DuplicateClass(i) => duplicate_class(doc, *i),
            Self::RemoveClass(i) => {
                if doc.workload.classes.len() > 1 && *i < doc.workload.classes.len() {
                    doc.workload.classes.remove(*i);
                }
            }
            Self::MoveClass { from, to } => {
                let classes = &mut doc.workload.classes;
                if *from < classes.len() && *to < classes.len() {
                    let class = classes.remove(*from);
                    classes.insert(*to, class);
                }
            }
            Self::Admission(admission) => doc.fleet.admission = *admission,
            Self::Class(i, edit) => {
                if let Some(class) = doc.workload.classes.get_mut(*i) {
                    edit.apply(class);
                }
            }
            Self::Pool(edit) => {
                if let Some(pool) = doc.fleet.pools.first_mut() {
                    edit.apply(pool);
                }
            }
            Self::UseTrace { class, trace } => use_trace(doc, *class, trace),
            Self::UseLengths { class, lengths, .. } => use_lengths(doc, *class, lengths),
        }
    }

    /// Its key, for edits that come keystroke by keystroke.
    pub fn key(&self) -> Option<EditKey> {
        match self {
            Self::Number { field, .. } => Some(EditKey::Number(*field)),
            Self::Handle { numbers, .. } => {
                let field = |number: Option<&(Field, f64)>| number.map(|(field, _)| *field);
                Some(EditKey::Handle(field(numbers.first()), field(numbers.last())))
            }
            Self::Limit { field, class, .. } => Some(EditKey::Limit(*field, *class)),
            Self::Rename(_) => Some(EditKey::Name),
            Self::Class(i, ClassEdit::Name(_)) => Some(EditKey::ClassName(*i)),
            Self::Class(i, ClassEdit::Tenant(_)) => Some(EditKey::Tenant(*i)),
            Self::Class(i, ClassEdit::Typed(typed)) => Some(EditKey::Text(*i, typed.text())),
            Self::Class(i, ClassEdit::QualityBy(_)) => Some(EditKey::QualityBy(*i)),
            Self::Pool(PoolEdit::GpuName(_)) => Some(EditKey::CustomName(true)),
            Self::Pool(PoolEdit::ModelName(_)) => Some(EditKey::CustomName(false)),
            Self::Pool(PoolEdit::Price(..)) => Some(EditKey::PriceSource),
            _ => None,
        }
    }

    /// What it does, after "Undo".
    pub fn label(&self) -> String {
        match self {
            Self::Number { field, .. } => field.kind().label.to_owned(),
            Self::Handle { name, .. } => name.clone(),
            Self::Limit { field, .. } => Field::Class(0, *field).kind().label.to_owned(),
            Self::Rename(_) => "name".into(),
            Self::Open { from, .. } => format!("opening {from}"),
            Self::AddClass => "adding a class".into(),
            Self::DuplicateClass(_) => "duplicating a class".into(),
            Self::RemoveClass(_) => "removing a class".into(),
            Self::MoveClass { .. } => "moving a class".into(),
            Self::Class(_, edit) => edit.label().into(),
            Self::Pool(edit) => edit.label().into(),
            Self::Admission(_) => "admission".into(),
            Self::UseTrace { trace, .. } => format!("using {} as workload", trace.file),
            Self::UseLengths { file, .. } => format!("using the lengths of {file}"),
        }
    }
}

fn move_limit(doc: &mut ScenarioDoc, field: ClassField, class: Option<usize>, ms: f64) {
    for at in 0..doc.workload.classes.len() {
        let field = Field::Class(at, field);
        if class.is_none_or(|class| class == at) && field.get(doc).is_some() {
            field.set(doc, Some(ms));
        }
    }
}

fn add_class(doc: &mut ScenarioDoc) {
    let Some(last) = doc.workload.classes.last() else { return };
    let mut class = last.clone();
    class.name = free_name(doc, "class");
    let replayed = matches!(class.arrivals, ArrivalsDoc::Trace { .. });
    // Whoever wants the same load again duplicates the class.
    class.arrivals = ArrivalsDoc::Poisson { rate_rps: 1.0 };
    if replayed {
        class.input_tokens = LengthsDoc::Fixed { tokens: 512 };
        class.output_tokens = LengthsDoc::Fixed { tokens: 256 };
    }
    doc.workload.classes.push(class);
}

fn duplicate_class(doc: &mut ScenarioDoc, i: usize) {
    if let Some(class) = doc.workload.classes.get(i) {
        let mut copy = class.clone();
        copy.name = free_name(doc, &class.name);
        doc.workload.classes.insert(i + 1, copy);
    }
}

/// `stem 2`, or the next number that no class has.
fn free_name(doc: &ScenarioDoc, stem: &str) -> String {
    let taken = |name: &str| doc.workload.classes.iter().any(|class| class.name == name);
    let classes = doc.workload.classes.len();
    (2..classes + 3).map(|n| format!("{stem} {n}")).find(|name| !taken(name)).unwrap_or_default()
}

fn use_trace(doc: &mut ScenarioDoc, class: usize, trace: &TraceWorkload) {
    let Some(class) = doc.workload.classes.get_mut(class) else { return };
    class.arrivals = trace.arrivals.clone();
    class.input_tokens = trace.input_tokens.clone();
    class.output_tokens = trace.output_tokens.clone();
    doc.workload.horizon_s = trace.horizon_s;
    doc.workload.warmup_s = 0.0;
}

/// Lengths that belong to a pairing, to hidden tokens drawn beside them or to the moments of a trace
/// go with what they belonged to.
fn use_lengths(doc: &mut ScenarioDoc, class: usize, (input, output): &(LengthsDoc, LengthsDoc)) {
    let Some(class) = doc.workload.classes.get_mut(class) else { return };
    class.input_tokens = input.clone();
    class.output_tokens = output.clone();
    if class.pairing == PairingDoc::Together {
        class.pairing = PairingDoc::default();
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::super::field::{ClassField, LengthField, Place, PoolField, RATE, Side, of_lengths};
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
            Field::Pool(PoolField::Replicas),
            Field::Pool(PoolField::MaxNumSeqs),
            Field::Pool(PoolField::NumGpuBlocks),
            Field::Pool(PoolField::Price),
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
            Field::Pool(PoolField::DeclaredInput),
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
}

//! Edits: the only way the document changes. Pure, undoable, described in words.

mod class;
mod pool;
pub mod pools;

use goodput_engine::scenario::doc::{
    AdmissionDoc, ArrivalsDoc, ExpectationDoc, LengthsDoc, PairingDoc, RoutingDoc, ScenarioDoc,
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
    /// The document with a remedy, or with what somebody asks of every plan, and what that is called.
    Variant {
        /// In words.
        title: String,
        /// The document with it.
        doc: Box<ScenarioDoc>,
    },
    /// What is expected of headline numbers.
    Expectations(Vec<ExpectationDoc>),
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
    /// Adds a pool after the last.
    AddPool,
    /// Adds a copy of a pool after it.
    DuplicatePool(usize),
    /// Removes a pool and routes its requests to others; the last one stays.
    RemovePool(usize),
    /// Renames a pool, in the routes of classes too.
    RenamePool(usize, String),
    /// Changes a pool.
    Pool(usize, PoolEdit),
    /// How a request finds its replica.
    Routing(RoutingDoc),
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
    /// Who says something about the answers of a pool of a class's route.
    LegQualityBy(usize, usize),
    /// What a class's shared prefix is called.
    PrefixName(usize),
    /// Name of a GPU or a model by numbers, of a pool.
    CustomName(usize, bool),
    /// Whose price it is, of a pool.
    PriceSource(usize),
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
            Self::Expectations(expected) => doc.targets.expectations.clone_from(expected),
            Self::Variant { doc: other, .. } | Self::Open { doc: other, .. } => {
                doc.clone_from(other);
            }
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
            Self::AddPool => pools::add(doc),
            Self::DuplicatePool(i) => pools::duplicate(doc, *i),
            Self::RemovePool(i) => pools::remove(doc, *i),
            Self::RenamePool(i, name) => pools::rename(doc, *i, name),
            Self::Pool(i, edit) => {
                if let Some(pool) = doc.fleet.pools.get_mut(*i) {
                    edit.apply(pool);
                }
            }
            Self::Routing(routing) => doc.fleet.routing = *routing,
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
            Self::Class(i, ClassEdit::LegQualityBy(leg, _)) => {
                Some(EditKey::LegQualityBy(*i, *leg))
            }
            Self::Class(i, ClassEdit::PrefixName(_)) => Some(EditKey::PrefixName(*i)),
            Self::Pool(i, PoolEdit::GpuName(_)) => Some(EditKey::CustomName(*i, true)),
            Self::Pool(i, PoolEdit::ModelName(_)) => Some(EditKey::CustomName(*i, false)),
            Self::Pool(i, PoolEdit::Price(..)) => Some(EditKey::PriceSource(*i)),
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
            Self::Expectations(_) => "what is expected".into(),
            Self::Variant { title, .. } => title.clone(),
            Self::Open { from, .. } => format!("opening {from}"),
            Self::AddClass => "adding a class".into(),
            Self::DuplicateClass(_) => "duplicating a class".into(),
            Self::RemoveClass(_) => "removing a class".into(),
            Self::MoveClass { .. } => "moving a class".into(),
            Self::Class(_, edit) => edit.label().into(),
            Self::AddPool => "adding a pool".into(),
            Self::DuplicatePool(_) => "duplicating a pool".into(),
            Self::RemovePool(_) => "removing a pool".into(),
            Self::RenamePool(..) => "name of the pool".into(),
            Self::Pool(_, edit) => edit.label().into(),
            Self::Routing(_) => "routing".into(),
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
    class.name = free_class_name(doc, "class");
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
        copy.name = free_class_name(doc, &class.name);
        doc.workload.classes.insert(i + 1, copy);
    }
}

fn free_class_name(doc: &ScenarioDoc, stem: &str) -> String {
    let taken: Vec<&str> = doc.workload.classes.iter().map(|class| class.name.as_str()).collect();
    free_name(&taken, stem)
}

/// `stem 2`, or the next number that none of `taken` has.
fn free_name(taken: &[&str], stem: &str) -> String {
    let numbers = 2..taken.len() + 3;
    let mut names = numbers.map(|n| format!("{stem} {n}"));
    names.find(|name| !taken.contains(&name.as_str())).unwrap_or_default()
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
pub(crate) mod tests;

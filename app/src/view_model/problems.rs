//! What is wrong with the inputs, each with the name of its field and whose it is.

use std::collections::BTreeMap;

use goodput_engine::problem::Problem;
use goodput_engine::scenario::doc::ScenarioDoc;

use crate::format;
use crate::state::field::Field;

/// A row of the list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WrongRow {
    /// Place in the document.
    pub path: String,
    /// `error`, `warning` or `info`.
    pub severity: String,
    /// The field and what is wrong with it.
    pub what: String,
    /// What to do.
    pub hint: String,
}

/// Inputs that do not read, then errors and warnings of the document.
pub fn rows(
    unread: &BTreeMap<Field, String>,
    problems: &[Problem],
    doc: &ScenarioDoc,
) -> Vec<WrongRow> {
    let unread = unread.iter().map(|(field, why)| {
        let path = field.path();
        WrongRow {
            severity: "error".to_owned(),
            what: format!("{}: {why}", named(&path, Some(field.kind().label), doc)),
            hint: "results are for the value before".to_owned(),
            path,
        }
    });
    let wrong = problems.iter().map(|problem| {
        let place = named(&problem.path, None, doc);
        WrongRow {
            path: problem.path.clone(),
            severity: format!("{:?}", problem.severity).to_lowercase(),
            what: match place.as_str() {
                "" => problem.message.clone(),
                place => format!("{place}: {}", problem.message),
            },
            hint: problem.hint.clone(),
        }
    });
    unread.chain(wrong).collect()
}

/// The class and the pool that a path is in, by index.
pub fn owner(path: &str) -> (Option<usize>, Option<usize>) {
    let index = |list: &str| path.strip_prefix(list)?.split_once(']')?.0.parse().ok();
    (index("workload.classes["), index("fleet.pools["))
}

/// What a number of an input belongs to, as the editors call it.
const GROUPS: [(&str, &str); 8] = [
    ("input_tokens", "Input"),
    ("output_tokens", "Output"),
    ("hidden_tokens", "Hidden"),
    ("session.turns", "Turns"),
    ("session.new_tokens", "New tokens"),
    ("arrivals", "Arrivals"),
    ("slo", "Contract"),
    ("gpu", "GPU"),
];

/// `Output mean of class chat`: the field at a path, with the label it has on the page or else its
/// name in the document.
fn named(path: &str, label: Option<&str>, doc: &ScenarioDoc) -> String {
    let (class, pool) = owner(path);
    let class = class.and_then(|i| Some(("class", &doc.workload.classes.get(i)?.name)));
    let pool = pool.and_then(|i| Some(("pool", &doc.fleet.pools.get(i)?.name)));
    let whose = class.or(pool).map(|(what, name)| match name.trim() {
        "" => format!("this {what}"),
        name => format!("{what} {name}"),
    });
    let inside = match &whose {
        Some(_) => path.split_once("].").map_or("", |(_, inside)| inside),
        None => path.rsplit_once('.').map_or(path, |(_, last)| last),
    };
    let group = GROUPS.iter().find_map(|(prefix, word)| {
        let rest = inside.strip_prefix(prefix)?;
        (rest.is_empty() || rest.starts_with('.')).then(|| (*word, rest.trim_start_matches('.')))
    });
    let field = match (group, label) {
        (Some(("Contract", _)) | None, Some(label)) => label.to_owned(),
        (Some((group, _)), Some(label)) => format!("{group} {}", lower(label)),
        (Some((group, "")), None) => group.to_owned(),
        (Some((group, rest)), None) => format!("{group} {rest}"),
        (None, None) => inside.to_owned(),
    };
    match whose {
        Some(whose) if field.is_empty() => sentence(&whose),
        Some(whose) => format!("{field} of {whose}"),
        None => field,
    }
}

/// A label inside a name; abbreviations stay.
fn lower(label: &str) -> String {
    let mut letters = label.chars();
    match (letters.next(), label.chars().nth(1)) {
        (Some(first), Some(second)) if second.is_lowercase() => {
            first.to_lowercase().chain(letters).collect()
        }
        _ => label.to_owned(),
    }
}

fn sentence(text: &str) -> String {
    super::words::clause(text)
}

/// What the status line says of inputs that have no answer: how many of which kind.
pub fn standing(unread: usize, errors: usize) -> Option<String> {
    let does_not_read = match unread {
        0 => None,
        1 => Some("1 input does not read".to_owned()),
        n => Some(format!("{} inputs do not read", format::count(n as u64))),
    };
    let wrong = match (errors, unread) {
        (0, _) => None,
        (1, 0) => Some("1 input has a problem".to_owned()),
        (1, _) => Some("1 has a problem".to_owned()),
        (n, 0) => Some(format!("{} inputs have problems", format::count(n as u64))),
        (n, _) => Some(format!("{} have problems", format::count(n as u64))),
    };
    let parts: Vec<String> = does_not_read.into_iter().chain(wrong).collect();
    let listed = "see the list above the inputs; results are for the previous inputs";
    (!parts.is_empty()).then(|| format!("{}: {listed}", parts.join(" and ")))
}

#[cfg(test)]
mod tests {
    use goodput_engine::scenario;
    use goodput_engine::scenario::doc::{ArrivalsDoc, LengthsDoc};

    use super::*;
    use crate::state::edit::tests::small_doc;
    use crate::state::field::{ClassField, LengthField, Place, PoolField, Side, of_lengths};

    #[test]
    fn a_problem_names_its_field_and_whose_it_is() {
        let mut doc = small_doc();
        doc.workload.classes[0].name = "chat".into();
        doc.workload.classes[0].output_tokens = LengthsDoc::lognormal(256.0, 1_024.0);
        let place = Place::whole(Side::Output);
        let mean = of_lengths(&doc.workload.classes[0].output_tokens)
            .into_iter()
            .find(|named| named.name == "mean")
            .expect("a mean");
        let field = Field::Class(0, ClassField::Length(place, LengthField::Number(mean)));
        let unread = BTreeMap::from([
            (field, "“abc” is not a number".to_owned()),
            (Field::Class(0, ClassField::Ttft), "“x” is not a number".to_owned()),
            (Field::Seed, "“y” is not a number".to_owned()),
        ]);
        let said: Vec<String> = rows(&unread, &[], &doc).into_iter().map(|row| row.what).collect();
        for what in [
            "Output mean of class chat: “abc” is not a number",
            "First token (TTFT) of class chat: “x” is not a number",
            "Seed: “y” is not a number",
        ] {
            assert!(said.iter().any(|said| said == what), "{what}: {said:?}");
        }
    }

    #[test]
    fn errors_of_the_document_say_where_they_are() {
        let mut doc = small_doc();
        doc.workload.classes[0].name = "chat".into();
        doc.fleet.pools[0].name = "main".into();
        doc.workload.classes[0].arrivals = ArrivalsDoc::Poisson { rate_rps: -1.0 };
        Field::Pool(0, PoolField::MaxNumSeqs).set(&mut doc, Some(0.0));
        let problems = scenario::check(&doc).expect_err("two errors");
        let rows = rows(&BTreeMap::new(), &problems, &doc);
        let what = |path: &str| {
            let row = rows.iter().find(|row| row.path.ends_with(path));
            row.map(|row| row.what.clone()).unwrap_or_default()
        };
        let rate = what("arrivals.rate_rps");
        assert!(rate.starts_with("Arrivals rate_rps of class chat: "), "{rate}");
        let seats = what("max_num_seqs");
        assert!(seats.contains("max_num_seqs of pool main: "), "{seats}");
    }

    #[test]
    fn the_status_line_counts_what_does_not_read_and_what_contradicts() {
        assert_eq!(standing(0, 0), None);
        for (unread, errors, begins) in [
            (1, 0, "1 input does not read: "),
            (2, 0, "2 inputs do not read: "),
            (0, 1, "1 input has a problem: "),
            (0, 3, "3 inputs have problems: "),
            (1, 1, "1 input does not read and 1 has a problem: "),
            (2, 3, "2 inputs do not read and 3 have problems: "),
        ] {
            let said = standing(unread, errors).expect("wrong");
            assert!(said.starts_with(begins), "{said}");
            assert!(said.ends_with("results are for the previous inputs"), "{said}");
        }
    }

    #[test]
    fn a_path_knows_its_class_and_pool() {
        assert_eq!(owner("workload.classes[2].slo.ttft_ms"), (Some(2), None));
        assert_eq!(owner("fleet.pools[1]"), (None, Some(1)));
        assert_eq!(owner("workload.seed"), (None, None));
    }
}

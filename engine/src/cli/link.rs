//! `goodput link`.

use goodput_engine::scenario::{doc, link};
use serde_json::json;

use super::args::LinkVerb;
use super::input;
use super::output::{Answer, Failure, warn};

pub fn run(verb: &LinkVerb) -> Result<Answer, Failure> {
    match verb {
        LinkVerb::Encode(args) => {
            let (doc, _) = input::scenario_doc(&args.scenario)?;
            let link = link::encode(&doc)?;
            warn(&link.warnings);
            let severities: Vec<_> = link.warnings.iter().map(|w| w.severity).collect();
            let value = json!({ "link": link.fragment, "characters": link.fragment.len() });
            Ok(Answer::new(&value, link.fragment)?.with_findings(severities))
        }
        LinkVerb::Decode { link } => {
            let text = if link == "-" { input::text("-")? } else { link.clone() };
            let opened = link::decode(text.trim()).map_err(|error| error.problems())?;
            warn(&opened.warnings);
            let severities: Vec<_> = opened.warnings.iter().map(|w| w.severity).collect();
            Ok(Answer::new(&opened.doc, doc::to_json(&opened.doc))?.with_findings(severities))
        }
    }
}

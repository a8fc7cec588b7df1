//! Answers of Ollama's `/api/generate` and `/api/chat`, each ended by an object with its timings.
//!
//! Documented at <https://github.com/ollama/ollama/blob/main/docs/api.md>. Durations are nanoseconds of
//! the server's clock. `total_duration` has loading the model in it; `prompt_eval_count` is missing where
//! the prompt was cached; whether the first token is in `eval_duration` is not stated.

use super::gathered::Gathered;
use super::quantity::{quantity, tokens};
use super::registry::{Body, FormatDescription, Head};
use super::tree::Node;
use super::{
    BenchmarkPoint, Definition, RecordOutcome, Refusal, RequestRecord, from_records, json,
};

pub(super) const FORMAT: FormatDescription = FormatDescription {
    id: "ollama",
    title: "Ollama answers (JSON lines)",
    looks_for: "JSON with done and created_at, and eval_duration in the last object of an answer",
    docs: "https://github.com/ollama/ollama/blob/main/docs/api.md",
    sniff: |head: &Head| {
        let own = head.json.as_ref().is_some_and(|keys| keys.has("done") && keys.has("created_at"));
        own && head.text.contains("\"eval_duration\"")
    },
    parse,
};

/// Loading a model for longer than this is a cold start.
const COLD_S: f64 = 1.0;

fn parse(text: &str) -> Result<Body, Refusal> {
    let text = json::quote_not_finite(text);
    let mut gathered = Gathered::default();
    let mut point = BenchmarkPoint { row: Some(1), ..BenchmarkPoint::default() };
    let mut per_token = Vec::new();
    let mut cold = 0_u64;
    json::for_each_value(&text, |line, document: Node| {
        let answers = match &document {
            Node::List(answers) => answers.as_slice(),
            one => std::slice::from_ref(one),
        };
        gathered.make_room(answers.len())?;
        for answer in answers {
            if answer.get("done") != Some(&Node::Bool(true)) {
                gathered.remarks.add(line, "a piece of a streamed answer was passed over");
                continue;
            }
            let record = record(answer);
            if let (Some(eval_s), Some(n)) =
                (seconds(answer, "eval_duration"), record.output_tokens)
                && n > 0
            {
                per_token.push(eval_s / f64::from(n));
            }
            cold += u64::from(seconds(answer, "load_duration").is_some_and(|s| s > COLD_S));
            gathered.records.push(record);
            let model = answer.get("model").and_then(Node::words);
            point.context.model = point.context.model.take().or(model);
        }
        Ok(())
    })?;
    if gathered.records.is_empty() {
        return Err(Refusal::broken(
            "no answer of the file is done: timings are in the last object of each",
            "keep the last line of every streamed answer",
        ));
    }
    point.tpot = from_records::summary(per_token, Definition::Unstated);
    from_records::complete(&mut point, &gathered.records);
    if let Some(e2e) = &mut point.e2e {
        e2e.definition = Definition::ArrivalToLastToken;
    }
    if cold > 0 {
        let text =
            format!("{cold} answers waited over {COLD_S} s for the model: it is in their E2E");
        gathered.remarks.add(1, text);
    }
    point.list_missing();
    gathered.points.push(point);
    Ok(gathered.finish("requests"))
}

/// A duration in nanoseconds, as seconds.
fn seconds(answer: &Node, key: &str) -> Option<f64> {
    quantity(answer.get(key)?.number()? / 1e9).ok()
}

fn record(answer: &Node) -> RequestRecord {
    let counted = |key: &str| answer.get(key)?.number().and_then(|n| tokens(n).ok());
    let output_tokens = counted("eval_count");
    let answered = output_tokens.is_some_and(|n| n > 0);
    RequestRecord {
        input_tokens: counted("prompt_eval_count"),
        output_tokens,
        e2e_s: seconds(answer, "total_duration").filter(|_| answered),
        outcome: if answered { RecordOutcome::Ok } else { RecordOutcome::EmptySuccess },
        ..RequestRecord::untimed()
    }
}

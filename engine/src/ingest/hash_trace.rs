//! Request traces in JSON lines that name the prefix of every prompt by the hashes of its blocks:
//! Mooncake's and Bailian's.
//!
//! - Mooncake: <https://github.com/kvcache-ai/Mooncake> (`FAST25-release/traces`). Milliseconds since
//!   the start, blocks of 512 tokens; some of its clocks move in steps of 3 s.
//! - Bailian: <https://github.com/alibaba-edu/qwen-bailian-usagetraces-anon>. Seconds since the
//!   start, blocks of 16 tokens, and which chat a request belongs to, which tells the two apart.
//!
//! A block's hash covers all before it, so that a block seen earlier is a prefix seen earlier.

use super::quantity::{quantity, tokens};
use super::registry::{Body, FormatDescription, Head};
use super::trace_rows::{TraceRow, TraceRows};
use super::trace_table::seconds_ns;
use super::tree::Node;
use super::{Refusal, json};
use crate::counted::thousands;

pub(super) const BAILIAN: FormatDescription = FormatDescription {
    id: "bailian_trace",
    title: "Bailian (Qwen) trace (JSON lines)",
    looks_for: "a JSON object a line with timestamp, input_length, output_length and chat_id",
    docs: "https://github.com/alibaba-edu/qwen-bailian-usagetraces-anon",
    sniff: |head| is_trace(head) && head.json.as_ref().is_some_and(|keys| keys.has("chat_id")),
    parse: |text| parse(text, 1.0),
};

pub(super) const MOONCAKE: FormatDescription = FormatDescription {
    id: "mooncake_trace",
    title: "Mooncake trace (JSON lines)",
    looks_for: "a JSON object a line with timestamp, input_length and output_length",
    docs: "https://github.com/kvcache-ai/Mooncake",
    sniff: is_trace,
    parse: |text| parse(text, 1e-3),
};

fn is_trace(head: &Head) -> bool {
    let named = |keys: &json::Outline| {
        ["timestamp", "input_length", "output_length"].iter().all(|key| keys.has(key))
    };
    head.json.as_ref().is_some_and(named)
}

fn parse(text: &str, unit_s: f64) -> Result<Body, Refusal> {
    let text = json::quote_not_finite(text);
    let mut trace = TraceRows::default();
    // By their bits: any number that names a block serves.
    let mut blocks: Vec<u64> = Vec::new();
    let mut later_turns = 0_u64;
    json::for_each_value(&text, |_, line: Node| {
        match row(&line, unit_s) {
            Ok(row) => trace.push(row)?,
            Err(reason) => {
                trace.exclude(reason);
                return Ok(());
            }
        }
        let ids = line.get("hash_ids").map_or(&[][..], Node::items);
        blocks.extend(ids.iter().filter_map(Node::number).map(f64::to_bits));
        let parent = line.get("parent_chat_id").and_then(Node::number);
        later_turns += u64::from(parent.is_some_and(|parent| parent >= 0.0));
        Ok(())
    })?;
    let unit = if unit_s < 1.0 { "milliseconds" } else { "seconds" };
    trace.remarks.push(format!("timestamp was read as {unit}: check the span and the rate"));
    trace.remarks.extend(seen_before(blocks));
    if later_turns > 0 {
        trace.remarks.push(format!(
            "{} requests are later turns of a chat: they are due when they were, whenever the turn \
             before is answered",
            thousands(later_turns as f64)
        ));
    }
    trace.finish(None)
}

fn row(line: &Node, unit_s: f64) -> Result<TraceRow, &'static str> {
    let number = |key: &str| line.get(key)?.number();
    let stamp = number("timestamp").and_then(|stamp| quantity(stamp).ok());
    let due_ns = stamp.and_then(|stamp| seconds_ns(stamp * unit_s));
    let count = |key: &str| number(key).and_then(|value| tokens(value).ok());
    Ok(TraceRow {
        due_ns: due_ns.ok_or("timestamp is missing or impossible: when it was due is not known")?,
        input_tokens: count("input_length").ok_or("input_length is missing or impossible")?,
        output_tokens: count("output_length").ok_or("output_length is missing or impossible")?,
    })
}

/// What the blocks say about prefixes.
fn seen_before(mut blocks: Vec<u64>) -> Option<String> {
    let all = blocks.len();
    blocks.sort_unstable();
    blocks.dedup();
    let share = (all - blocks.len()) as f64 / all as f64;
    (all > 0).then(|| {
        format!(
            "hash_ids: {:.1} % of the {} prompt blocks were in an earlier request, the most that a \
             prefix cache can find; a workload made of this trace shares no prefixes by itself",
            share * 100.0,
            thousands(all as f64)
        )
    })
}

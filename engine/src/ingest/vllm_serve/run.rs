//! One result object as it is written: its single values by key, and its per-request lists.

use std::collections::BTreeMap;
use std::fmt;

use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

use crate::ingest::GapSummary;
use crate::ingest::json::{Number, Scalar};
use crate::ingest::quantity::quantity;
use crate::ingest::tree::Node;

/// One run, or a list of runs.
pub(in crate::ingest) enum Document<'t> {
    One(Box<Run<'t>>),
    Many(Vec<Run<'t>>),
}

/// One result object.
#[derive(Default)]
pub(in crate::ingest) struct Run<'t> {
    /// Everything that is not a list or an object.
    pub scalars: BTreeMap<String, Scalar>,
    /// The per-request lists.
    pub lists: Lists,
    /// The server's own account of itself, which SGLang's client writes along.
    pub server_info: Option<Node<'t>>,
    /// Keys that came more than once: `--metadata` may set one that the tool writes too.
    pub repeated_keys: Vec<String>,
}

impl Run<'_> {
    pub(super) fn is_result(&self) -> bool {
        let has = |key: &str| self.scalars.contains_key(key);
        has("duration")
            && has("completed")
            && (has("request_throughput") || has("output_throughput"))
    }
}

/// Per-request lists, in the order the requests were made; seconds and tokens.
#[derive(Default)]
pub(in crate::ingest) struct Lists {
    pub input_lens: Option<Vec<Number>>,
    pub output_lens: Option<Vec<Number>>,
    pub ttfts: Option<Vec<Number>>,
    pub itls: Option<Vec<Gaps>>,
    pub errors: Option<Vec<ErrorMark>>,
    pub start_times: Option<Vec<Number>>,
    pub latencies: Option<Vec<Number>>,
    pub queue_times: Option<Vec<Number>>,
}

impl Lists {
    /// Name and length of every list there is.
    pub(super) fn lengths(&self) -> Vec<(&'static str, usize)> {
        fn length<T>(list: Option<&Vec<T>>) -> Option<usize> {
            list.map(Vec::len)
        }
        [
            ("input_lens", length(self.input_lens.as_ref())),
            ("output_lens", length(self.output_lens.as_ref())),
            ("ttfts", length(self.ttfts.as_ref())),
            ("itls", length(self.itls.as_ref())),
            ("errors", length(self.errors.as_ref())),
            ("start_times", length(self.start_times.as_ref())),
            ("latencies", length(self.latencies.as_ref())),
            ("queue_times", length(self.queue_times.as_ref())),
        ]
        .into_iter()
        .filter_map(|(name, length)| length.map(|length| (name, length)))
        .collect()
    }

    pub(super) fn longest(&self) -> usize {
        self.lengths().into_iter().map(|(_, length)| length).max().unwrap_or(0)
    }
}

/// The gaps of one request, summed as they are read: a file of 10,000 requests holds millions.
#[derive(Clone, Copy, Default)]
pub(in crate::ingest) struct Gaps {
    pub summary: GapSummary,
    /// Gaps that are no duration.
    pub unusable: u32,
}

/// Whether a request has an error text. The text itself, often a traceback with paths, is not kept.
#[derive(Clone, Copy)]
pub(in crate::ingest) struct ErrorMark(pub bool);

impl<'de> Deserialize<'de> for Document<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct OneOrMany;
        impl<'de> Visitor<'de> for OneOrMany {
            type Value = Document<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a result object or a list of them")
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Document<'de>, A::Error> {
                RunVisitor.visit_map(map).map(|run| Document::One(Box::new(run)))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Document<'de>, A::Error> {
                let mut runs = Vec::new();
                while let Some(run) = list.next_element()? {
                    runs.push(run);
                }
                Ok(Document::Many(runs))
            }
        }
        deserializer.deserialize_any(OneOrMany)
    }
}

impl<'de> Deserialize<'de> for Run<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(RunVisitor)
    }
}

struct RunVisitor;

impl<'de> Visitor<'de> for RunVisitor {
    type Value = Run<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a result object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Run<'de>, A::Error> {
        let mut run = Run::default();
        while let Some(key) = map.next_key::<String>()? {
            match key.as_str() {
                "input_lens" => run.lists.input_lens = map.next_value()?,
                "output_lens" => run.lists.output_lens = map.next_value()?,
                "ttfts" => run.lists.ttfts = map.next_value()?,
                "itls" => run.lists.itls = map.next_value()?,
                "errors" => run.lists.errors = map.next_value()?,
                "start_times" => run.lists.start_times = map.next_value()?,
                "latencies" => run.lists.latencies = map.next_value()?,
                "queue_times" => run.lists.queue_times = map.next_value()?,
                "server_info" => run.server_info = Some(map.next_value()?),
                // Answers are private, long and never needed.
                "generated_texts" => {
                    map.next_value::<IgnoredAny>()?;
                }
                _ => {
                    let value = map.next_value::<Scalar>()?;
                    if value != Scalar::Compound && run.scalars.insert(key.clone(), value).is_some()
                    {
                        run.repeated_keys.push(key);
                    }
                }
            }
        }
        Ok(run)
    }
}

impl<'de> Deserialize<'de> for Gaps {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct GapsVisitor;
        impl<'de> Visitor<'de> for GapsVisitor {
            type Value = Gaps;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list of gaps in seconds")
            }

            fn visit_unit<E>(self) -> Result<Gaps, E> {
                Ok(Gaps::default())
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Gaps, A::Error> {
                let (mut gaps_s, mut unusable) = (Vec::new(), 0);
                while let Some(Number(gap)) = list.next_element()? {
                    match quantity(gap) {
                        Ok(gap) => gaps_s.push(gap),
                        Err(_) => unusable += 1,
                    }
                }
                let summary = GapSummary::of(&mut gaps_s).unwrap_or_default();
                Ok(Gaps { summary, unusable })
            }
        }
        deserializer.deserialize_any(GapsVisitor)
    }
}

impl<'de> Deserialize<'de> for ErrorMark {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct MarkVisitor;
        impl Visitor<'_> for MarkVisitor {
            type Value = ErrorMark;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an error text or null")
            }

            fn visit_unit<E>(self) -> Result<ErrorMark, E> {
                Ok(ErrorMark(false))
            }

            fn visit_str<E>(self, text: &str) -> Result<ErrorMark, E> {
                Ok(ErrorMark(!text.is_empty()))
            }
        }
        deserializer.deserialize_any(MarkVisitor)
    }
}

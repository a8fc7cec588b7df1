//! What a benchmark file does not say: asked for, never assumed. A guess is offered, and taken
//! only when somebody takes it; it stays marked as one.

use std::collections::BTreeMap;

use goodput_engine::ingest::{BenchmarkPoint, Length, LengthSource, Load, MissingFact};
use goodput_engine::scenario::CatalogRef;
use goodput_engine::scenario::doc::ScenarioDoc;

use crate::parse::{self, NotANumber, Quantity};

/// One thing to be asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fact {
    /// Which GPU.
    Gpu,
    /// GPUs that were used together.
    GpuCount,
    /// GPUs over which each layer was split.
    TensorParallel,
    /// Which model.
    Model,
    /// Requests sent per second.
    RequestRate,
    /// Requests kept in flight.
    Concurrency,
    /// Mean prompt.
    InputTokens,
    /// Mean answer.
    OutputTokens,
    /// Which engine, which version.
    EngineVersion,
    /// Share of answers that passed a check.
    Quality,
}

impl Fact {
    /// All of them, in the order in which they are asked.
    pub const ALL: [Self; 10] = [
        Self::Gpu,
        Self::GpuCount,
        Self::TensorParallel,
        Self::Model,
        Self::RequestRate,
        Self::Concurrency,
        Self::InputTokens,
        Self::OutputTokens,
        Self::EngineVersion,
        Self::Quality,
    ];

    /// What the engine calls it; a load is a rate or a number in flight.
    pub fn missing(self) -> MissingFact {
        match self {
            Self::Gpu => MissingFact::Gpu,
            Self::GpuCount => MissingFact::GpuCount,
            Self::TensorParallel => MissingFact::TensorParallel,
            Self::Model => MissingFact::Model,
            Self::RequestRate | Self::Concurrency => MissingFact::Load,
            Self::InputTokens => MissingFact::InputTokens,
            Self::OutputTokens => MissingFact::OutputTokens,
            Self::EngineVersion => MissingFact::EngineVersion,
            Self::Quality => MissingFact::Quality,
        }
    }

    /// Whether a point can be simulated without it.
    pub fn is_optional(self) -> bool {
        matches!(self, Self::EngineVersion | Self::Quality)
    }

    /// What a scenario's pool would say, were the benchmark run on one replica of it.
    pub fn guess(self, doc: &ScenarioDoc) -> Option<String> {
        let pool = doc.fleet.pools.first()?;
        match self {
            Self::Gpu => Some(name_in(&pool.gpu, |gpu| &gpu.name)),
            Self::Model => Some(name_in(&pool.model, |model| &model.name)),
            Self::GpuCount | Self::TensorParallel => Some(pool.tensor_parallel.to_string()),
            _ => None,
        }
    }

    /// What its number measures; `None` for words.
    pub fn quantity(self) -> Option<Quantity> {
        match self {
            Self::Gpu | Self::Model | Self::EngineVersion => None,
            Self::GpuCount | Self::TensorParallel | Self::Concurrency => Some(Quantity::Count),
            Self::RequestRate => Some(Quantity::Rate),
            Self::InputTokens | Self::OutputTokens => Some(Quantity::Tokens),
            Self::Quality => Some(Quantity::Share),
        }
    }

    fn value(self, text: &str) -> Result<f64, String> {
        let Some(quantity) = self.quantity() else { return Ok(0.0) };
        let read = if quantity == Quantity::Count { parse::whole } else { parse::number };
        let value = read(text, quantity).map_err(|why: NotANumber| why.to_string())?;
        match self {
            Self::Quality if value > 1.0 => Err("is above 100 %".to_owned()),
            Self::Quality => Ok(value),
            _ if value <= 0.0 => Err("is zero: give more".to_owned()),
            _ => Ok(value),
        }
    }
}

fn name_in<T>(reference: &CatalogRef<T>, name: impl Fn(&T) -> &String) -> String {
    match reference {
        CatalogRef::Id(id) => id.clone(),
        CatalogRef::Custom(custom) => name(custom).clone(),
    }
}

/// What somebody said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Told {
    /// As typed.
    pub text: String,
    /// Whether it is the guess that was offered.
    pub guessed: bool,
}

/// What was told about one file.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Facts(BTreeMap<Fact, Told>);

impl Facts {
    /// What was told about one thing.
    pub fn get(&self, fact: Fact) -> Option<&Told> {
        self.0.get(&fact)
    }

    /// Somebody says something; nothing where the text is empty.
    pub fn tell(&mut self, fact: Fact, told: Told) {
        if told.text.trim().is_empty() {
            self.0.remove(&fact);
        } else {
            self.0.insert(fact, told);
        }
    }

    /// Why what was told cannot be used.
    pub fn problem(&self, fact: Fact) -> Option<String> {
        let told = self.0.get(&fact)?;
        let text = told.text.trim();
        fact.value(text).err().map(|why| format!("“{text}” {why}"))
    }

    /// Things that the points do not say and a fit needs, and that were not told well.
    pub fn unanswered(&self, points: &[BenchmarkPoint]) -> Vec<Fact> {
        let open = |fact: &Fact| asked(points, *fact) && !fact.is_optional() && !self.has(*fact);
        let load = self.has(Fact::RequestRate) || self.has(Fact::Concurrency);
        let by_load = |fact: &Fact| match fact {
            // One question with two ways to answer it.
            Fact::RequestRate => !load,
            Fact::Concurrency => false,
            _ => true,
        };
        Fact::ALL.into_iter().filter(open).filter(by_load).collect()
    }

    fn has(&self, fact: Fact) -> bool {
        self.0.get(&fact).is_some_and(|told| fact.value(told.text.trim()).is_ok())
    }

    /// The point with what was told where it says nothing; its own words stand.
    pub fn complete(&self, point: &BenchmarkPoint) -> BenchmarkPoint {
        let mut point = point.clone();
        for (fact, told) in &self.0 {
            let text = told.text.trim();
            if !point.missing.contains(&fact.missing()) {
                continue;
            }
            if let Ok(value) = fact.value(text) {
                put(&mut point, *fact, text, value);
            }
        }
        let told: Vec<MissingFact> =
            self.0.keys().filter(|fact| self.has(**fact)).map(|fact| fact.missing()).collect();
        point.missing.retain(|missing| !told.contains(missing));
        point
    }
}

/// Whether any point leaves a thing open.
pub fn asked(points: &[BenchmarkPoint], fact: Fact) -> bool {
    points.iter().any(|point| point.missing.contains(&fact.missing()))
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the parser lets neither negative nor huge counts pass"
)]
fn put(point: &mut BenchmarkPoint, fact: Fact, text: &str, value: f64) {
    let length = Some(Length { mean_tokens: value, source: LengthSource::Declared });
    let words = Some(text.to_owned());
    match fact {
        Fact::Gpu => point.context.gpu = words,
        Fact::GpuCount => point.context.gpu_count = Some(value as u64),
        Fact::TensorParallel => point.context.tensor_parallel = Some(value as u64),
        Fact::Model => point.context.model = words,
        Fact::RequestRate => point.load = Load::RequestRate { rps: value },
        // A rate that was told too makes the number in flight a limit.
        Fact::Concurrency if point.load != Load::Unstated => point.client_cap = Some(value as u64),
        Fact::Concurrency => point.load = Load::Concurrency { requests: value as u64 },
        Fact::InputTokens => point.input = length,
        Fact::OutputTokens => point.output = length,
        Fact::EngineVersion => point.context.engine_version = words,
        Fact::Quality => point.quality_rate = Some(value),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state::edit::tests::small_doc;

    fn told(answers: &[(Fact, &str)]) -> Facts {
        let mut facts = Facts::default();
        for (fact, text) in answers {
            facts.tell(*fact, Told { text: (*text).to_owned(), guessed: false });
        }
        facts
    }

    fn silent(missing: &[MissingFact]) -> BenchmarkPoint {
        BenchmarkPoint { missing: missing.to_vec(), ..BenchmarkPoint::default() }
    }

    #[test]
    fn what_is_told_fills_gaps_and_never_overwrites() {
        let mut point = silent(&[MissingFact::Gpu, MissingFact::Model, MissingFact::Quality]);
        point.context.tensor_parallel = Some(2);
        let facts = told(&[
            (Fact::Gpu, " H100 SXM "),
            (Fact::TensorParallel, "8"),
            (Fact::Quality, "90 %"),
        ]);
        let complete = facts.complete(&point);
        assert_eq!(complete.context.gpu.as_deref(), Some("H100 SXM"));
        assert_eq!(complete.context.tensor_parallel, Some(2), "the file's own word stands");
        assert_eq!(complete.quality_rate, Some(0.9));
        assert_eq!(complete.missing, [MissingFact::Model]);
    }

    #[test]
    fn what_does_not_read_as_a_number_is_said_and_not_used() {
        let point = silent(&[MissingFact::GpuCount, MissingFact::Quality]);
        for (fact, text) in [
            (Fact::GpuCount, "two"),
            (Fact::GpuCount, "0"),
            (Fact::GpuCount, "1.5"),
            (Fact::Quality, "120"),
        ] {
            let facts = told(&[(fact, text)]);
            assert!(facts.problem(fact).is_some_and(|why| why.contains(text)), "{fact:?} {text}");
            assert_eq!(facts.complete(&point), point, "{fact:?} {text}");
        }
        assert_eq!(told(&[(Fact::GpuCount, "2")]).problem(Fact::GpuCount), None);
    }

    #[test]
    fn a_fit_waits_for_everything_but_engine_and_quality() {
        let everything = [
            MissingFact::Gpu,
            MissingFact::GpuCount,
            MissingFact::TensorParallel,
            MissingFact::Model,
            MissingFact::EngineVersion,
            MissingFact::Load,
            MissingFact::InputTokens,
            MissingFact::OutputTokens,
            MissingFact::Quality,
        ];
        let points = [silent(&everything)];
        let all = [
            (Fact::Gpu, "h100"),
            (Fact::GpuCount, "1"),
            (Fact::TensorParallel, "1"),
            (Fact::Model, "llama"),
            (Fact::RequestRate, "4 req/s"),
            (Fact::InputTokens, "1k"),
            (Fact::OutputTokens, "128"),
        ];
        assert_eq!(told(&[]).unanswered(&points), all.map(|(fact, _)| fact));
        assert_eq!(told(&all).unanswered(&points), []);
        for open in all {
            let others: Vec<_> = all.into_iter().filter(|answer| *answer != open).collect();
            assert_eq!(told(&others).unanswered(&points), [open.0]);
        }
        let closed = told(&[(Fact::Concurrency, "32")]);
        assert!(!closed.unanswered(&points).contains(&Fact::RequestRate), "either will do");
        assert_eq!(closed.complete(&points[0]).load, Load::Concurrency { requests: 32 });
        let both = told(&[(Fact::RequestRate, "8"), (Fact::Concurrency, "32")]);
        let point = both.complete(&points[0]);
        assert_eq!((point.load, point.client_cap), (Load::RequestRate { rps: 8.0 }, Some(32)));
    }

    #[test]
    fn a_guess_is_one_replica_of_the_pool_and_nothing_is_made_up() {
        let doc = small_doc();
        assert_eq!(Fact::Gpu.guess(&doc).as_deref(), Some("h100-sxm"));
        assert_eq!(Fact::GpuCount.guess(&doc).as_deref(), Some("1"));
        for fact in [Fact::RequestRate, Fact::InputTokens, Fact::EngineVersion, Fact::Quality] {
            assert_eq!(fact.guess(&doc), None, "{fact:?}");
        }
        assert_eq!(told(&[]).complete(&silent(&[MissingFact::Gpu])).context.gpu, None);
    }
}

//! The benchmark's end: its point, its own conditions, and what the simulator says of them.

use super::{How, Step, effect};
use crate::accounts::replica_spec;
use crate::accounts::report::MixRate;
use crate::accounts::words::{plural, three_digits};
use crate::calibration::{BenchmarkedPool, Conditions, Prediction};
use crate::ingest::{BenchmarkPoint, ParsedFile, TokenKind};
use crate::problem::Problem;
use crate::review::review;
use crate::scenario::Scenario;
use crate::workload::{Hidden, Mix, OfferedRequest};

/// Beyond this a simulation of a benchmark's own conditions does not speak for it.
const FAR_OFF: f64 = 0.15;

/// A point that can be compared with a scenario.
pub(super) struct Benchmark {
    pub point: BenchmarkPoint,
    /// Its conditions on one replica of the scenario's pool.
    pub conditions: Conditions,
    prediction: Prediction,
    /// Replicas that rates are of.
    replicas: u32,
    /// Mean prompt and output of the scenario, of each class and of all together, as drawn.
    pub means: Means,
}

/// Mean lengths of what the classes of a scenario ask first: without what sessions add to a prompt
/// and a budget takes off an answer.
pub(super) struct Means {
    /// Prompt and output by class, tokens; `None` of a class of which nothing is drawn.
    pub of_class: Vec<Option<[u32; 2]>>,
    /// Of all requests.
    pub of_all: [u32; 2],
}

impl Benchmark {
    pub(super) fn of(
        file: &ParsedFile,
        row: Option<u64>,
        scenario: &Scenario,
    ) -> Result<Self, Vec<Problem>> {
        let spec = replica_spec(&scenario.pool).map_err(|why| vec![why.problem()])?;
        let pool = BenchmarkedPool::of(&scenario.pool);
        let wanted = |point: &&BenchmarkPoint| row.is_none_or(|row| point.row == Some(row));
        let parsed = file.parsed.as_ref();
        let points = parsed.map(crate::ingest::Parsed::points).unwrap_or_default().iter();
        let (mut usable, mut refused) = (Vec::new(), Vec::new());
        let findings = review(std::slice::from_ref(file));
        for point in points.filter(wanted) {
            let disproved =
                findings.iter().find(|finding| finding.disproves(&file.file, point.row));
            let conditions = match disproved {
                Some(finding) => Err(finding.message.clone()),
                None => Conditions::of(point, &pool, &spec),
            };
            match conditions {
                Ok(conditions) => usable.push((point, conditions)),
                Err(why) => refused.push(at_row(file, point, why)),
            }
        }
        let output_tps = |point: &BenchmarkPoint| point.tps(TokenKind::Output).unwrap_or(0.0);
        let best = usable.into_iter().max_by(|a, b| output_tps(a.0).total_cmp(&output_tps(b.0)));
        let Some((point, conditions)) = best else {
            return Err(if refused.is_empty() { vec![no_point(file, row)] } else { refused });
        };
        Ok(Self {
            prediction: Prediction::of(&conditions, &spec),
            point: point.clone(),
            conditions,
            replicas: scenario.pool.replicas,
            means: Means::of(scenario)?,
        })
    }

    /// Its mean prompt and output in whole tokens, as they are simulated.
    pub(super) fn lengths(&self) -> [u32; 2] {
        let request = self.conditions.requests.first();
        request.map_or([1, 1], |request| [request.input_tokens, request.output_tokens])
    }

    /// What the file says, and what a simulation of the same conditions does.
    pub(super) fn own_steps(&self) -> Vec<Step> {
        let part = f64::from(self.replicas) / f64::from(self.conditions.replicas);
        let point = &self.point;
        let measured = point.tps(TokenKind::Output).map(|decode_tps| {
            let rps = point.completed_rps.unwrap_or(decode_tps / self.conditions.output_tokens);
            let by_length = rps * self.conditions.input_tokens;
            let prefill_tps = point.tps(TokenKind::Input).unwrap_or(by_length);
            MixRate { rps, prefill_tps, decode_tps }.times(part)
        });
        let [input, output] = self.lengths().map(f64::from);
        let decode_tps = self.prediction.replica_output_tps * f64::from(self.replicas);
        let rps = decode_tps / output;
        let simulated = Some(MixRate { rps, prefill_tps: rps * input, decode_tps });
        let step = |id: &str, condition: &str, production: &str, how, rate, effect| Step {
            id: id.to_owned(),
            condition: condition.to_owned(),
            benchmark: self.conditions.load.clone(),
            production: production.to_owned(),
            how,
            is_least: false,
            rate,
            note: None,
            effect,
        };
        let missing = "the file states no output rate";
        let mut first = step("measured", "as the file says it", "–", How::Measured, measured, None);
        first.note = measured.is_none().then(|| missing.to_owned());
        let gap = effect(measured, simulated);
        let words = "the same, simulated";
        let mut second = step("reproduced", words, "–", How::Reproduced, simulated, gap);
        second.note = gap.filter(|gap| gap.abs() > FAR_OFF).map(|_| {
            "far from the file: fit the step time first (`goodput calibrate`), or say on what it ran"
                .to_owned()
        });
        vec![first, second]
    }

    /// Its output rate in words, of which `measured` is that of all replicas of the scenario.
    pub(super) fn says(&self, measured: &MixRate) -> String {
        let part = f64::from(self.conditions.replicas) / f64::from(self.replicas);
        let own = three_digits(measured.decode_tps * part);
        let of = plural(u64::from(self.conditions.replicas), "replica", "replicas");
        if self.conditions.replicas == self.replicas {
            return format!("{own} output tok/s on {of}");
        }
        let scaled = three_digits(measured.decode_tps);
        format!("{own} output tok/s on {of}, so {scaled} on {}", self.replicas)
    }

    /// Its lengths in words.
    pub(super) fn lengths_in_words(&self) -> String {
        in_words(self.lengths())
    }
}

/// Prompt and output in words.
pub(super) fn in_words([input, output]: [u32; 2]) -> String {
    let [input, output] = [input, output].map(|tokens| three_digits(f64::from(tokens)));
    format!("{input} in, {output} out")
}

impl Means {
    fn of(scenario: &Scenario) -> Result<Self, Vec<Problem>> {
        let mut plain = scenario.clone();
        for class in &mut plain.classes {
            class.session = None;
            class.hidden = Hidden::None;
            class.max_output_tokens = None;
        }
        let all = plain.mix().map_err(|problem| vec![problem])?;
        let of_class = |index: u32| mean(all.iter().filter(|request| request.class == index));
        let classes = 0..u32::try_from(plain.classes.len()).unwrap_or(u32::MAX);
        let nothing = || {
            let message = "no request is due before the horizon in this draw";
            vec![Problem::error("workload.horizon_s", message, "lengthen the horizon")]
        };
        Ok(Self {
            of_class: classes.map(of_class).collect(),
            of_all: mean(all.iter()).ok_or_else(nothing)?,
        })
    }
}

/// In whole tokens; `None` of nothing.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "lengths are u32")]
fn mean<'a>(requests: impl Iterator<Item = &'a OfferedRequest>) -> Option<[u32; 2]> {
    let mix = Mix::of(requests);
    let lengths = [mix.mean_input_tokens, mix.mean_output_tokens];
    (mix.requests > 0).then(|| lengths.map(|tokens| tokens.round().max(1.0) as u32))
}

fn at_row(file: &ParsedFile, point: &BenchmarkPoint, why: String) -> Problem {
    let row = point.row.map_or(String::new(), |row| format!(":{row}"));
    let hint = "give a point of the scenario's GPU, model and tensor parallelism that states its \
                load and lengths, or mend what the review says";
    Problem::error(format!("{}{row}", file.file), why, hint)
}

fn no_point(file: &ParsedFile, row: Option<u64>) -> Problem {
    let message = match row {
        Some(row) => format!("it has no benchmark point in row {row}"),
        None => "it holds no benchmark point".to_owned(),
    };
    Problem::error(file.file.clone(), message, "`goodput review` says what a file holds")
}

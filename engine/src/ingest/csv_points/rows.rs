//! One row of a benchmark table as a point.

use super::cells::Cell;
use super::columns::Field;
use crate::ingest::point::load_of;
use crate::ingest::stat::Stat;
use crate::ingest::{
    BenchmarkPoint, Definition, Latency, LatencyStats, Length, LengthSource, TokenKind, TokenRate,
    Weighting,
};

/// A point while its cells come.
pub(super) struct Draft {
    point: BenchmarkPoint,
    request_rate: Option<f64>,
    total_input: Option<f64>,
    total_output: Option<f64>,
    nominal_input: Option<f64>,
    nominal_output: Option<f64>,
    /// Two columns state the load differently: what is left of it would be another load.
    load_contradicted: bool,
}

impl Draft {
    pub(super) fn new(line: u64, contradicted: &[Field]) -> Self {
        Self {
            point: BenchmarkPoint { row: Some(line), ..BenchmarkPoint::default() },
            request_rate: None,
            total_input: None,
            total_output: None,
            nominal_input: None,
            nominal_output: None,
            load_contradicted: contradicted.contains(&Field::RequestRate)
                || contradicted.contains(&Field::MaxConcurrency),
        }
    }

    pub(super) fn set(&mut self, field: Field, cell: &Cell) {
        match cell {
            Cell::Missing | Cell::NotFinite => {}
            Cell::Text(text) => self.set_text(field, text),
            Cell::Unbounded => self.request_rate = Some(f64::INFINITY),
            Cell::Number(value) => self.set_number(field, *value),
        }
    }

    fn set_text(&mut self, field: Field, text: &str) {
        let point = &mut self.point;
        let place = match field {
            Field::Label => &mut point.label,
            Field::Date => &mut point.date,
            Field::Model => &mut point.context.model,
            Field::EngineVersion => &mut point.context.engine_version,
            Field::Gpu => &mut point.context.gpu,
            _ => return,
        };
        *place = Some(text.to_owned());
    }

    fn set_number(&mut self, field: Field, value: f64) {
        let point = &mut self.point;
        let measured = Some(Length { mean_tokens: value, source: LengthSource::Measured });
        let mut token_rate = |kind| point.token_rates.push(TokenRate { kind, tps: value });
        match field {
            Field::InputRate => token_rate(TokenKind::Input),
            Field::OutputRate => token_rate(TokenKind::Output),
            Field::TotalRate => token_rate(TokenKind::Total),
            Field::GpuCount => point.context.gpu_count = Some(whole(value)),
            Field::TensorParallel => point.context.tensor_parallel = Some(whole(value)),
            Field::Replicate => point.replicate = Some(whole(value)),
            Field::RequestRate => self.request_rate = Some(value),
            Field::MaxConcurrency => point.client_cap = Some(whole(value)),
            Field::Burstiness => point.burstiness = Some(value),
            Field::NumPrompts => point.num_prompts = Some(whole(value)),
            Field::Completed => point.completed = Some(whole(value)),
            Field::Failed => point.failed = Some(whole(value)),
            Field::Duration => point.duration_s = Some(value),
            Field::TotalInput => self.total_input = Some(value),
            Field::TotalOutput => self.total_output = Some(value),
            Field::MeanInput => point.input = measured,
            Field::MeanOutput => point.output = measured,
            Field::NominalInput => self.nominal_input = Some(value),
            Field::NominalOutput => self.nominal_output = Some(value),
            Field::SentRate => point.sent_rps = Some(value),
            Field::CompletedRate => point.completed_rps = Some(value),
            Field::Goodput => point.goodput_rps = Some(value),
            Field::QualityRate => point.quality_rate = Some(value),
            Field::Latency(latency, stat) => self.set_latency(latency, stat, value * 1e3),
            Field::Label | Field::Date | Field::Model | Field::EngineVersion | Field::Gpu => {}
        }
    }

    fn set_latency(&mut self, latency: Latency, stat: Stat, ms: f64) {
        // NTPOT is a definition by its name; the others are what the tool meant.
        let definition = match latency {
            Latency::Ntpot => Definition::IncludesFirstToken,
            _ => Definition::Unstated,
        };
        self.point
            .latency_mut(latency)
            .get_or_insert_with(|| LatencyStats::new(definition, Weighting::Unstated))
            .set(stat, ms);
    }

    /// The point, once all cells are in.
    pub(super) fn finish(self) -> BenchmarkPoint {
        let mut point = self.point;
        if !self.load_contradicted {
            point.load = load_of(self.request_rate, point.client_cap);
        }
        let completed = point.completed.filter(|&completed| completed > 0);
        let length = |total: Option<f64>, mean: Option<Length>, nominal: Option<f64>| {
            let measured = total.zip(completed).map(|(total, completed)| Length {
                mean_tokens: total / completed as f64,
                source: LengthSource::Measured,
            });
            let nominal =
                nominal.map(|mean_tokens| Length { mean_tokens, source: LengthSource::Declared });
            measured.or(mean).or(nominal)
        };
        point.input = length(self.total_input, point.input, self.nominal_input);
        point.output = length(self.total_output, point.output, self.nominal_output);
        point.failed = point.failed.or_else(|| point.num_prompts?.checked_sub(point.completed?));
        point.token_rates.sort_by_key(|rate| rate.kind);
        point.drop_zeros_without_data();
        point.list_missing();
        point
    }
}

/// A number that was read as a count.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "cells of counts are whole and between 0 and 1e15"
)]
fn whole(value: f64) -> u64 {
    value as u64
}

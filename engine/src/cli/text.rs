//! Reports as text for people: a sentence, then the numbers that stand behind it.

mod estimate;
mod over_time;
mod plan;
mod pools;
mod remedies;
mod serve;
mod simulation;

use std::fmt::Write;

use goodput_engine::accounts::report::MixRate;
use goodput_engine::accounts::words::{span_ms, thousands, three_digits};
use goodput_engine::ingest::TraceSummary;

pub use estimate::estimate;
pub use over_time::over_time;
pub use plan::plan;
pub use remedies::remedies;
pub use serve::serve;
pub use simulation::simulation;

/// Lines of a label and a value, the values under each other.
#[derive(Debug, Default)]
pub struct Page(String);

impl Page {
    /// A line of its own.
    pub fn line(&mut self, text: &str) -> &mut Self {
        self.0.push_str(text);
        self.0.push('\n');
        self
    }

    /// An empty line and a heading.
    pub fn heading(&mut self, text: &str) -> &mut Self {
        self.line("").line(text)
    }

    /// A label and its value.
    pub fn row(&mut self, label: &str, value: &str) -> &mut Self {
        // Writing to a string cannot fail.
        let _ = writeln!(self.0, "  {label:<28} {value}");
        self
    }

    /// The text.
    pub fn into_text(self) -> String {
        self.0
    }
}

/// A sentence of its own behind what was said.
pub fn paragraph(text: &str) -> String {
    format!("\n{text}\n")
}

/// A value or a dash.
pub fn or_dash(value: Option<f64>, text: impl Fn(f64) -> String) -> String {
    value.map_or_else(|| "–".to_owned(), text)
}

/// Whole dollars from a thousand on, three digits below, and as many decimals as a fraction of a
/// cent needs to show two of its digits.
pub fn usd(value: f64) -> String {
    if value >= 1000.0 {
        format!("${}", thousands(value))
    } else if value >= 0.01 || value <= 0.0 {
        format!("${}", three_digits(value))
    } else {
        let mut decimals = 2;
        let mut shifted = value * 100.0;
        while shifted < 10.0 && decimals < 12 {
            (decimals, shifted) = (decimals + 1, shifted * 10.0);
        }
        format!("${value:.decimals$}")
    }
}

fn mix(rate: &MixRate) -> String {
    format!(
        "{} req/s, {} prefill tok/s, {} decode tok/s",
        three_digits(rate.rps),
        three_digits(rate.prefill_tps),
        three_digits(rate.decode_tps)
    )
}

/// What is sustained of the mix at the peak, where that is another mix.
fn at_peak(page: &mut Page, is_another: bool, sustainable: &MixRate) {
    if is_another {
        page.row("of the mix at the peak", &mix(sustainable));
    }
}

/// What a request trace holds.
pub fn trace(page: &mut Page, trace: &TraceSummary) {
    let rate = or_dash(trace.mean_rate_rps, three_digits);
    page.row("mean rate", &format!("{rate} req/s over {}", span_ms(1e3 * trace.span_s)));
    page.row("CV of the gaps", &or_dash(trace.gap_cv, three_digits));
    let (minute, ten) = (three_digits(trace.peak_minute_rps), three_digits(trace.peak_10s_rps));
    page.row("busiest minute and 10 s", &format!("{minute} and {ten} req/s"));
    for (label, lengths) in [("input", &trace.input_tokens), ("output", &trace.output_tokens)] {
        let (mean, p99) = (three_digits(lengths.mean), three_digits(lengths.p99));
        page.row(&format!("{label} tokens"), &format!("{mean} mean, {p99} p99"));
    }
}

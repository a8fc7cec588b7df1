//! Good requests beside the tokens that were served: token rates alone hide late answers, so the
//! two are never shown apart.

use goodput_engine::accounts::report::{Goodput, SimReport};

use super::figures::Reading;
use crate::format;

/// Good requests per second and per GPU-hour, and aggregate tokens per second, each with what it
/// was in the baseline where that reads otherwise.
pub fn rates(report: &SimReport, before: Option<&SimReport>) -> Vec<Reading> {
    type Read = (&'static str, fn(&Goodput) -> Option<f64>, fn(f64) -> String);
    let per_gpu_hour = |x| format!("{} requests", format::significant(x));
    let all: [Read; 5] = [
        ("Good", |of| Some(of.good_rps), format::rps),
        ("Good per GPU-hour", |of| of.good_per_gpu_hour, per_gpu_hour),
        ("Input served", |of| Some(of.input_tps), format::tps),
        ("Output served", |of| Some(of.output_tps), format::tps),
        ("of it in good answers", |of| Some(of.good_output_tps), format::tps),
    ];
    let reading = |(name, read, show): Read| {
        // Nothing per GPU-hour where no replica was paid for.
        let said = |x: Option<f64>| x.map_or_else(|| format::NONE.to_owned(), show);
        let now = read(&report.goodput);
        let was = before.map(|before| said(read(&before.goodput)));
        let was = was.filter(|was| *was != said(now));
        let was = was.map_or_else(String::new, |was| format!(", was {was}"));
        Reading { name, shown: format!("{}{was}", said(now)), exact: now }
    };
    all.map(reading).to_vec()
}

/// The part of the backlog that helps nobody any more, beside the throughput that hides it, and
/// how fast debt grows.
pub fn of_debt(report: &SimReport) -> Vec<Reading> {
    let (debt, goodput) = (&report.debt, &report.goodput);
    let reading = |name, shown, exact| Reading { name, shown, exact: Some(exact) };
    let useless = match debt.peak_past_limit {
        0 => "none".to_owned(),
        n => {
            let share = format::percent(debt.share_past_limit_at_peak);
            format!("{}, {share} of all waiting", format::count(n))
        }
    };
    let growth = if debt.growth_rps > 0.0 {
        let tokens = format::tps(debt.growth_decode_tps);
        format!("{}, {tokens} of output", format::rps(debt.growth_rps))
    } else {
        "none".to_owned()
    };
    let at_end = debt.past_limit_at_end;
    let mut readings = vec![reading("useless backlog, peak", useless, debt.peak_past_limit as f64)];
    if debt.peak_past_limit > 0 {
        readings.push(reading("at the end", format::count(at_end), at_end as f64));
    }
    readings.extend([
        reading("output served meanwhile", format::tps(goodput.output_tps), goodput.output_tps),
        reading("in good answers", format::tps(goodput.good_output_tps), goodput.good_output_tps),
        reading("growth at the peak", growth, debt.growth_rps),
    ]);
    readings
}

#[cfg(test)]
mod tests {

    use super::*;
    use crate::state::edit::tests::small_report;

    #[test]
    fn good_requests_and_tokens_stand_together_with_what_they_were() {
        let report = small_report();
        let now = rates(&report, Some(&report));
        let exact: Vec<_> = now.iter().map(|reading| reading.exact).collect();
        let of = &report.goodput;
        let tokens = [of.input_tps, of.output_tps, of.good_output_tps].map(Some);
        assert_eq!(exact[..2], [Some(of.good_rps), of.good_per_gpu_hour]);
        assert_eq!(exact[2..], tokens);
        assert!(now.iter().all(|reading| !reading.shown.contains("was")), "nothing changed");
        let mut before = report.clone();
        before.goodput.good_rps *= 2.0;
        let changed = rates(&report, Some(&before));
        assert!(changed[0].shown.contains(", was "), "{}", changed[0].shown);
        assert!(!changed[3].shown.contains("was"));
    }

    #[test]
    fn useless_backlog_stands_beside_the_throughput_that_hides_it() {
        let mut report = small_report();
        report.debt.peak_past_limit = 0;
        report.debt.growth_rps = 0.0;
        let calm = of_debt(&report);
        assert_eq!((calm[0].shown.as_str(), calm.len()), ("none", 4));
        report.debt.peak_past_limit = 4_200;
        report.debt.share_past_limit_at_peak = 0.97;
        report.debt.past_limit_at_end = 1_300;
        report.debt.growth_rps = 7.5;
        report.debt.growth_decode_tps = 15_000.0;
        report.goodput.output_tps = 57_300.0;
        report.goodput.good_output_tps = 1_200.0;
        let said: Vec<_> = of_debt(&report).into_iter().map(|reading| reading.shown).collect();
        assert_eq!(
            said,
            [
                "4,200, 97\u{202f}% of all waiting",
                "1,300",
                "57,300\u{202f}tok/s",
                "1,200\u{202f}tok/s",
                "7.5\u{202f}req/s, 15,000\u{202f}tok/s of output",
            ]
        );
    }
}

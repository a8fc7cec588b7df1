//! Requests written by hand.

use goodput_engine::accounts::accounting::{
    Accounting, Case, Causer, ClassLabel, Context, Labels, Spans,
};
use goodput_engine::accounts::{Row, rows};
use goodput_engine::slo::{Contract, Fate, Outcome, RequestStamps};
use goodput_engine::step_time::{CompiledLaw, StepCoefficients};
use goodput_engine::units::Picos;
use goodput_engine::workload::{Lineage, OfferedRequest};

pub const fn ms(millis: i64) -> Picos {
    Picos(millis * 1_000_000_000)
}

/// TTFT 500 ms, TPOT 50 ms, stall 400 ms, E2E 2 s.
pub fn contract() -> Contract {
    Contract {
        ttft: Some(ms(500)),
        tpot: Some(ms(50)),
        longest_stall: Some(ms(400)),
        e2e: Some(ms(2_000)),
        ttfvt: None,
        itl: None,
        attainment_target: 0.95,
        percentile_targets: Vec::new(),
    }
}

/// Due at 1 s, 21 tokens.
pub fn asked() -> OfferedRequest {
    OfferedRequest {
        class: 0,
        pool: 0,
        due: ms(1_000),
        input_tokens: 100,
        output_tokens: 21,
        hidden_tokens: 0,
        patience: None,
        fails: false,
        acceptable: true,
        lineage: Lineage::NONE,
    }
}

/// Queued when due, scheduled `wait` later, first token at `ttft`, all 21 tokens `span` later, the
/// longest gap `stall`; milliseconds.
pub fn served(wait: i64, ttft: i64, span: i64, stall: i64) -> RequestStamps {
    RequestStamps {
        fate: Fate::Completed,
        queued: Some(ms(1_000)),
        scheduled: Some(ms(1_000 + wait)),
        first_token: Some(ms(1_000 + ttft)),
        ended: Some(ms(1_000 + ttft + span)),
        generated: 21,
        longest_stall: ms(stall),
        busy: ms(100),
        ..RequestStamps::UNSEEN
    }
}

/// Left by `fate` at `at` after nothing at all.
pub fn unserved(fate: Fate, at: i64) -> RequestStamps {
    RequestStamps {
        fate,
        queued: None,
        scheduled: None,
        first_token: None,
        ended: Some(ms(at)),
        generated: 0,
        ..served(0, 0, 0, 0)
    }
}

/// Requests and what happened to them.
pub struct Written {
    requests: Vec<OfferedRequest>,
    stamps: Vec<RequestStamps>,
}

impl Written {
    pub fn of(list: &[(OfferedRequest, RequestStamps)]) -> Self {
        let (requests, stamps) = list.iter().copied().unzip();
        Self { requests, stamps }
    }

    pub fn rows(&self) -> Vec<Row<'_>> {
        rows(&self.requests, &self.stamps, &[contract()])
    }

    pub fn cases(&self, contract: &Contract) -> Vec<Case> {
        // 10 ms a step and nothing else: alone, 21 tokens take 200 ms.
        let law = CompiledLaw::new(&ten_milliseconds().law(), 64, 1.0, 0.0);
        let causer = Causer { law: &law, api_overhead: Picos::ZERO, starting: &[] };
        let rows = rows(&self.requests, &self.stamps, std::slice::from_ref(contract));
        rows.iter().map(|row| Case::of_row(row, contract, &causer)).collect()
    }

    pub fn accounting(&self, contract: &Contract) -> Accounting {
        let context = Context {
            contracts: std::slice::from_ref(contract),
            labels: &labels(),
            spans: Spans { window_s: Some(8.0), run_s: Some(10.0) },
            causes_not_known: &[],
        };
        Accounting::of(&self.cases(contract), &context)
    }
}

pub fn labels() -> Labels {
    Labels {
        pools: Vec::new(),
        classes: vec![ClassLabel { name: "chat".to_owned(), tenant: None, model: None }],
        replicas: 2,
        horizon: ms(10_000),
        windows: 10,
        missing: "not available",
    }
}

fn ten_milliseconds() -> StepCoefficients {
    StepCoefficients {
        c0_s: 0.01,
        cw_s: 0.0,
        cw_experts_s: 0.0,
        expert_share: 0.0,
        c1_s_per_token: 0.0,
        p: 1.0,
        c2_s_per_pair: 0.0,
        c3_s_per_decode_seq: 0.0,
        c4_s_per_kv_token: 0.0,
    }
}

/// One request of every outcome, and the ones that sit on an edge.
pub fn one_of_each() -> Vec<(OfferedRequest, RequestStamps, Outcome)> {
    let broken = |fate| RequestStamps { fate, generated: 5, ..served(10, 100, 100, 30) };
    let one_token = OfferedRequest { output_tokens: 1, ..asked() };
    let bad = OfferedRequest { acceptable: false, ..asked() };
    let failed = RequestStamps { fate: Fate::Failed, ..served(10, 100, 400, 30) };
    vec![
        (asked(), unserved(Fate::Rejected, 1_000), Outcome::Rejected),
        (asked(), unserved(Fate::TooLong, 1_000), Outcome::TooLong),
        (asked(), failed, Outcome::Error),
        (asked(), broken(Fate::TimedOut), Outcome::TimedOut),
        (asked(), unserved(Fate::Cancelled, 4_000), Outcome::CancelledBeforeFirst),
        (asked(), broken(Fate::Cancelled), Outcome::CancelledMidStream),
        (asked(), served(600, 700, 400, 30), Outcome::LateFirstToken),
        (asked(), served(600, 700, 1_200, 300), Outcome::LateAndSlow),
        // Stall only: its tokens come at 45 ms on average all the same.
        (asked(), served(10, 100, 900, 401), Outcome::Stalled),
        (asked(), served(10, 100, 1_001, 300), Outcome::SlowTokens),
        (bad, served(10, 100, 400, 30), Outcome::LowQuality),
        (
            asked(),
            RequestStamps { fate: Fate::Unfinished, ..unserved(Fate::Unfinished, 1_400) },
            Outcome::Unfinished,
        ),
        (asked(), served(10, 100, 400, 30), Outcome::Good),
        // First token exactly at its limit, and every other limit met exactly.
        (asked(), served(10, 500, 1_000, 400), Outcome::Good),
        // One token passes any TPOT limit.
        (one_token, RequestStamps { generated: 1, ..served(10, 100, 0, 0) }, Outcome::Good),
    ]
}

pub fn written() -> Written {
    let list: Vec<_> = one_of_each().iter().map(|(asked, stamps, _)| (*asked, *stamps)).collect();
    Written::of(&list)
}

//! Rules of a law that was fitted to measurements.

use super::fleet::{coefficients, step_time};
use super::*;
use crate::step_time::Hull;

fn fitted_law(change: impl FnOnce(&mut FittedLawDoc)) -> ScenarioDoc {
    let mut fit = FittedLawDoc {
        files: vec!["bench.json".to_owned()],
        fingerprint: "sha256:ab12".to_owned(),
        points: 3,
        residual: 0.02,
        assumed: vec!["c2_s_per_pair".to_owned()],
        range: Hull::KERNEL_GRID,
    };
    change(&mut fit);
    let (coefficients, by) = (coefficients(), "a fit".to_owned());
    let fitted = Some(Box::new(fit));
    step_time(|s| s.source = StepTimeSourceDoc::Coefficients { coefficients, by, fitted })
}

#[test]
fn rules_of_a_fitted_law() {
    let path = |field: &str| format!("fleet.pools[0].step_time.source.fitted.{field}");
    let breaks = |field: &str, hint: &'static str, change: fn(&mut FittedLawDoc)| {
        let problems = check(&fitted_law(change)).unwrap_err();
        let found = problems.iter().find(|problem| problem.path == path(field));
        let found = found.unwrap_or_else(|| panic!("{field}: {problems:?}"));
        assert!(found.to_string().contains(hint), "{found}");
    };
    breaks("points", "1 to", |fit| fit.points = 0);
    breaks("residual", "0 to 10", |fit| fit.residual = f64::NAN);
    breaks("assumed[0]", "c0_s", |fit| fit.assumed = vec!["c9".to_owned()]);
    breaks("range.max_decode_seqs", "0 to", |fit| fit.range.max_decode_seqs = u64::MAX);
    breaks("range.min_kv_per_seq", "max_kv_per_seq", |fit| fit.range.min_kv_per_seq = 1 << 20);
    let scenario = check(&fitted_law(|_| ())).unwrap().scenario;
    let resolved = &scenario.pool.step_time().expect("a law").resolved;
    assert_eq!(resolved.hull, Some(Hull::KERNEL_GRID));
    assert!(resolved.notes.iter().any(|note| note.contains("c2_s_per_pair")));
    let alone = check(&fitted_law(|fit| fit.points = 1)).unwrap().scenario;
    assert_eq!(alone.pool.step_time().expect("a law").resolved.provenance.band, None);
}

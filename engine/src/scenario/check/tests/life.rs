//! Failures that never come, and the longest sequence that fits.

use super::*;

/// Failures that never come: of a replica that is never there, and after the horizon of 600 s.
#[test]
fn failures_that_never_come_are_named() {
    let said = |crashes: &[(f64, u32)], most: Option<u32>| {
        let crashes = crashes.iter().map(|&(at_s, replica)| CrashDoc { at_s, replica });
        let doc = pool(|p| {
            p.replicas = 2;
            p.start_up_s = 10.0;
            p.failures.crashes = crashes.collect();
            if let Some(replicas) = most {
                p.scheduled_replicas = vec![ScheduledReplicasDoc { at_s: 50.0, replicas }];
            }
        });
        let paths = warnings(&doc).into_iter().map(|problem| problem.path);
        paths.collect::<Vec<_>>()
    };
    let path = |field: &str| vec![format!("fleet.pools[0].failures.crashes[0].{field}")];
    assert!(said(&[(599.0, 1)], None).is_empty());
    assert_eq!(said(&[(10.0, 2)], None), path("replica"));
    assert_eq!(said(&[(600.0, 0)], None), path("at_s"));
    assert!(said(&[(100.0, 2)], Some(3)).is_empty(), "the third is there from 50 s on");
}

/// The length in the hint is one that is accepted, and a token more is not.
#[test]
fn the_longest_sequence_of_the_hint_is_in_whole_blocks() {
    let of = |tokens: u32, utilization: f64| {
        let doc = pool(|p| {
            p.max_model_len = Some(tokens);
            p.gpu_memory_utilization = utilization;
        });
        let warnings = warnings(&doc).into_iter();
        warnings.filter(|w| w.path == "fleet.pools[0].max_model_len").collect::<Vec<_>>()
    };
    let mut seen = 0;
    for utilization in [0.30, 0.3003, 0.3007, 0.31] {
        let Some(warning) = of(131_072, utilization).pop() else { continue };
        let hint =
            warning.hint.split(' ').find_map(|word| word.replace(',', "").parse::<u32>().ok());
        let longest = hint.expect("a number");
        assert_eq!(longest % 16, 0, "{}", warning.hint);
        assert_eq!(of(longest, utilization), []);
        assert_eq!(of(longest + 1, utilization).len(), 1, "{longest}");
        seen += 1;
    }
    assert!(seen > 0);
}

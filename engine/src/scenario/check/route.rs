//! Checks of how requests find their pool: names of pools, and the routes of classes.

use std::collections::BTreeSet;

use super::findings::Findings;
use super::workload::{LONGEST_NAME, check_quality};
use crate::scenario::doc::{ClassDoc, FleetDoc, PoolDoc, QualityDoc};
use crate::workload::{Leg, Route, TrafficClass};

/// Every pool has a name of its own where there are several; an only one may go without.
pub(super) fn check_pool_names(pools: &[PoolDoc], findings: &mut Findings) {
    let mut seen = BTreeSet::new();
    for (i, pool) in pools.iter().enumerate() {
        let path = || format!("fleet.pools[{i}].name");
        let name = pool.name.trim();
        let chars = name.chars().count();
        if chars > LONGEST_NAME {
            findings.error(
                path(),
                format!("the name of this pool has {chars} characters"),
                format!("give one of up to {LONGEST_NAME}"),
            );
        } else if name.is_empty() && pools.len() > 1 {
            findings.error(
                path(),
                "this pool has no name, and there are several",
                "give it one, so that the routes of classes can name it",
            );
        } else if !name.is_empty() && !seen.insert(name) {
            findings.error(
                path(),
                format!("two pools are called `{name}`"),
                "give each pool a name of its own",
            );
        }
    }
}

/// The route of a class: absent, all of it goes to the first pool.
pub(super) fn check(
    class: &ClassDoc,
    pools: &[PoolDoc],
    path: &str,
    findings: &mut Findings,
) -> Option<Route> {
    if class.route.is_empty() {
        return Some(Route::default());
    }
    let legs = class.route.iter().enumerate().map(|(i, leg)| {
        let name = leg.pool.trim();
        let pool = pools.iter().position(|pool| pool.name.trim() == name && !name.is_empty());
        if pool.is_none() {
            let named = pools.iter().map(|pool| pool.name.trim()).filter(|name| !name.is_empty());
            let named: Vec<String> = named.map(|name| format!("`{name}`")).collect();
            findings.error(
                format!("{path}[{i}].pool"),
                format!("no pool is called `{name}`"),
                if named.is_empty() {
                    "give the pool a `name`, or leave the route out: all goes to the first pool"
                        .to_owned()
                } else {
                    format!("give one of {}", named.join(", "))
                },
            );
        }
        let quality = match &leg.quality {
            None => None,
            Some(quality) => {
                let path = format!("{path}[{i}].quality");
                truncated_needs_quality(class, quality, &path, findings);
                Some(check_quality(quality, &path, findings)?)
            }
        };
        let pool = u32::try_from(pool?).ok()?;
        Some(Leg { pool, share: leg.share, quality })
    });
    let legs: Vec<Option<Leg>> = legs.collect();
    findings.take(path, Route::new(legs.into_iter().collect::<Option<Vec<Leg>>>()?))
}

/// A rate at which truncated answers pass supposes that somebody looks, on every part of the route.
fn truncated_needs_quality(
    class: &ClassDoc,
    quality: &QualityDoc,
    path: &str,
    findings: &mut Findings,
) {
    if class.truncated_pass_rate.is_some() && *quality == QualityDoc::NotChecked {
        findings.error(
            path,
            "quality is not checked there, and the class says how many truncated answers pass",
            "set it to `assumed` or `verified`, or leave `truncated_pass_rate` out",
        );
    }
}

/// Pools that no class is routed to: they are paid for and serve nobody.
pub(super) fn warn_about_idle_pools(
    fleet: &FleetDoc,
    classes: &[TrafficClass],
    findings: &mut Findings,
) {
    for (i, pool) in (0_u32..).zip(&fleet.pools) {
        if classes.iter().all(|class| class.route.leg(i).is_none()) {
            findings.warning(
                format!("fleet.pools[{i}]"),
                format!("no class is routed to pool `{}`, so it idles", pool.name.trim()),
                "name it in the `route` of a class, or remove it",
            );
        }
    }
}

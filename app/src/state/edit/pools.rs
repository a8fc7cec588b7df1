//! The list of pools, and the routes of classes that name them.

use goodput_engine::scenario::doc::{ClassDoc, LegDoc, PoolDoc, ScenarioDoc};

/// Adds a pool like the last one with a single replica that is there all the time: whoever wants the
/// same again duplicates it.
pub(super) fn add(doc: &mut ScenarioDoc) {
    name_the_only_one(doc);
    let Some(last) = doc.fleet.pools.last() else { return };
    let pool = PoolDoc { replicas: 1, ..always_there(last) };
    let taken = taken(doc);
    let name = ('A'..='Z').map(String::from).find(|name| !taken.contains(&name.as_str()));
    let name = name.unwrap_or_else(|| super::free_name(&taken, "pool"));
    doc.fleet.pools.push(PoolDoc { name, ..pool });
}

/// The same pool with replicas that are there all the time.
pub fn always_there(pool: &PoolDoc) -> PoolDoc {
    let fresh = PoolDoc::new(pool.gpu.clone(), pool.model.clone(), pool.replicas);
    PoolDoc {
        start_up_s: fresh.start_up_s,
        cold_start: fresh.cold_start,
        slow_start_s: fresh.slow_start_s,
        autoscaler: fresh.autoscaler,
        scheduled_replicas: fresh.scheduled_replicas,
        failures: fresh.failures,
        ..pool.clone()
    }
}

/// Adds a copy of a pool after it.
pub(super) fn duplicate(doc: &mut ScenarioDoc, i: usize) {
    name_the_only_one(doc);
    if let Some(pool) = doc.fleet.pools.get(i).cloned() {
        let name = super::free_name(&taken(doc), pool.name.trim());
        doc.fleet.pools.insert(i + 1, PoolDoc { name, ..pool });
    }
}

/// Routes name pools, so that of several each has a name: an only one may have none yet.
fn name_the_only_one(doc: &mut ScenarioDoc) {
    if let [only] = doc.fleet.pools.as_mut_slice()
        && only.name.trim().is_empty()
    {
        "A".clone_into(&mut only.name);
    }
}

fn taken(doc: &ScenarioDoc) -> Vec<&str> {
    doc.fleet.pools.iter().map(|pool| pool.name.trim()).collect()
}

/// Removes a pool, but not the last one. What went there goes to the other pools of the route, in
/// their proportion; where there is none, to the first pool that stays.
pub(super) fn remove(doc: &mut ScenarioDoc, i: usize) {
    if doc.fleet.pools.len() < 2 || i >= doc.fleet.pools.len() {
        return;
    }
    let gone = doc.fleet.pools.remove(i);
    for class in &mut doc.workload.classes {
        class.route = without(&class.route, gone.name.trim());
    }
}

fn without(route: &[LegDoc], gone: &str) -> Vec<LegDoc> {
    let mut left: Vec<LegDoc> =
        route.iter().filter(|leg| leg.pool.trim() != gone).cloned().collect();
    let sum: f64 = left.iter().map(|leg| leg.share).sum();
    if left.len() < route.len() && sum > 0.0 {
        for leg in &mut left {
            leg.share = ((leg.share / sum) * 1e9).round() / 1e9;
        }
    }
    left
}

/// Renames a pool and what routes call it; nothing happens where [`refusal`] says why not.
pub(super) fn rename(doc: &mut ScenarioDoc, i: usize, name: &str) {
    if refusal(doc, i, name).is_some() {
        return;
    }
    let pools = &mut doc.fleet.pools;
    let old = pools[i].name.trim().to_owned();
    // A route means the first pool of a name.
    let is_meant = pools.iter().position(|pool| pool.name.trim() == old) == Some(i);
    name.trim().clone_into(&mut pools[i].name);
    let legs = doc.workload.classes.iter_mut().flat_map(|class| &mut class.route);
    for leg in legs.filter(|leg| is_meant && !old.is_empty() && leg.pool.trim() == old) {
        name.trim().clone_into(&mut leg.pool);
    }
}

/// Why a pool cannot be called so; `None` if it can.
pub fn refusal(doc: &ScenarioDoc, i: usize, name: &str) -> Option<String> {
    let name = name.trim();
    let mut others = doc.fleet.pools.iter().enumerate().filter(|(at, _)| *at != i);
    if i >= doc.fleet.pools.len() {
        Some("there is no such pool".to_owned())
    } else if name.is_empty() && doc.fleet.pools.len() > 1 {
        Some("a pool needs a name where there are several: routes name it".to_owned())
    } else if others.any(|(_, pool)| pool.name.trim() == name && !name.is_empty()) {
        Some(format!("“{name}” is the name of another pool: give each its own"))
    } else {
        None
    }
}

/// The classes of which something goes to a pool.
pub fn routed_to(doc: &ScenarioDoc, i: usize) -> Vec<&ClassDoc> {
    let Some(pool) = doc.fleet.pools.get(i) else { return Vec::new() };
    let goes = |class: &&ClassDoc| match class.route.as_slice() {
        [] => i == 0,
        legs => legs.iter().any(|leg| leg.pool.trim() == pool.name.trim()),
    };
    doc.workload.classes.iter().filter(goes).collect()
}

#[cfg(test)]
mod tests {
    use super::super::tests::small_doc;
    use super::super::{ClassEdit, Edit};
    use super::*;
    use goodput_engine::scenario;

    fn after(edits: &[Edit]) -> ScenarioDoc {
        let mut doc = small_doc();
        for edit in edits {
            edit.apply(&mut doc);
        }
        doc
    }

    fn names(doc: &ScenarioDoc) -> Vec<&str> {
        doc.fleet.pools.iter().map(|pool| pool.name.as_str()).collect()
    }

    fn leg(pool: &str, share: f64) -> LegDoc {
        LegDoc { pool: pool.to_owned(), share, quality: None }
    }

    fn route(legs: &[(&str, f64)]) -> Edit {
        let legs = legs.iter().map(|(pool, share)| leg(pool, *share)).collect();
        Edit::Class(0, ClassEdit::Route(legs))
    }

    #[test]
    fn pools_get_names_of_their_own_and_the_document_stays_valid() {
        let doc = after(&[Edit::AddPool, Edit::DuplicatePool(0), Edit::DuplicatePool(2)]);
        assert_eq!(names(&doc), ["A", "A 2", "B", "B 2"]);
        assert_eq!(doc.fleet.pools[1].replicas, 8, "a copy");
        assert_eq!(doc.fleet.pools[2].replicas, 1, "a new one");
        assert!(scenario::check(&doc).is_ok());
        assert_eq!(names(&after(&[Edit::RemovePool(0)])), [""], "the last one stays");
    }

    #[test]
    fn what_went_to_a_removed_pool_goes_to_the_others_of_its_route() {
        let three = [Edit::AddPool, Edit::AddPool];
        let split = route(&[("A", 0.5), ("B", 0.3), ("C", 0.2)]);
        let [add, more] = three;
        let doc = after(&[add, more, split, Edit::RemovePool(0)]);
        let legs = &doc.workload.classes[0].route;
        assert_eq!(legs, &[leg("B", 0.6), leg("C", 0.4)]);
        assert!(scenario::check(&doc).is_ok());
        // Nothing is left of the route: all to the first pool.
        let doc = after(&[Edit::AddPool, route(&[("B", 1.0)]), Edit::RemovePool(1)]);
        assert_eq!(doc.workload.classes[0].route, []);
        assert!(scenario::check(&doc).is_ok());
    }

    #[test]
    fn a_renamed_pool_keeps_its_requests() {
        let rename = |i, name: &str| Edit::RenamePool(i, name.to_owned());
        let doc = after(&[Edit::AddPool, route(&[("B", 1.0)]), rename(1, " spot ")]);
        assert_eq!(names(&doc), ["A", "spot"]);
        assert_eq!(doc.workload.classes[0].route, [leg("spot", 1.0)]);
        for refused in ["A", "", "  "] {
            let mut same = doc.clone();
            rename(1, refused).apply(&mut same);
            assert_eq!(same, doc, "{refused:?}");
            assert!(refusal(&doc, 1, refused).is_some());
        }
        assert_eq!(routed_to(&doc, 1).len(), 1);
        assert!(routed_to(&doc, 0).is_empty());
    }

    #[test]
    fn of_two_pools_the_other_one_serves_the_rest() {
        use crate::state::field::{ClassField, Field};
        let mut doc = after(&[Edit::AddPool, route(&[("A", 0.5), ("B", 0.5)])]);
        Field::Class(0, ClassField::LegShare(0)).set(&mut doc, Some(0.7));
        assert_eq!(doc.workload.classes[0].route, [leg("A", 0.7), leg("B", 0.3)]);
        assert!(scenario::check(&doc).is_ok());
    }
}

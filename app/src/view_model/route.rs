//! The route of a class over the pools: as it is chosen, and as it begins when it is split.

use goodput_engine::scenario::doc::{ClassDoc, LegDoc, QualityDoc, ScenarioDoc};

use crate::state::edit::pools;

/// The name of the choice of several pools.
pub const SPLIT: &str = "split";

/// Which pool serves all of a class, as its index in text; [`SPLIT`] where several do; empty where
/// the route names a pool that is not there.
pub fn served_by(doc: &ScenarioDoc, class: usize) -> String {
    match doc.workload.classes.get(class).map(|class| class.route.as_slice()) {
        None => String::new(),
        Some([]) => "0".to_owned(),
        Some([only]) if only.quality.is_none() => {
            let named = |name: &str| doc.fleet.pools.iter().position(|p| p.name.trim() == name);
            named(only.pool.trim()).map(|at| at.to_string()).unwrap_or_default()
        }
        Some(_) => SPLIT.to_owned(),
    }
}

/// The route to the pool at an index, or equally to all of them.
pub fn to(doc: &ScenarioDoc, choice: &str) -> Option<Vec<LegDoc>> {
    let pools = &doc.fleet.pools;
    let leg = |name: &str, share| LegDoc { pool: name.trim().to_owned(), share, quality: None };
    if choice == SPLIT {
        let each = 1.0 / pools.len() as f64;
        return Some(pools.iter().map(|pool| leg(&pool.name, each)).collect());
    }
    let at: usize = choice.parse().ok()?;
    // The first pool serves what says nothing of a route.
    Some(if at == 0 { Vec::new() } else { vec![leg(&pools.get(at)?.name, 1.0)] })
}

/// The same route with another pool that it does not lead to yet; it has no share to begin with,
/// for whoever adds it to say. `None` where it leads to all.
pub fn with_one_more(doc: &ScenarioDoc, class: &ClassDoc) -> Option<Vec<LegDoc>> {
    let led_to = |name: &str| class.route.iter().any(|leg| leg.pool.trim() == name.trim());
    let pool = doc.fleet.pools.iter().find(|pool| !led_to(&pool.name))?;
    let new = LegDoc { pool: pool.name.trim().to_owned(), share: 0.0, quality: None };
    Some(class.route.iter().cloned().chain([new]).collect())
}

/// What is said when a pool was removed: where its requests go now.
pub fn removed(before: &ScenarioDoc, now: &ScenarioDoc, at: usize) -> String {
    let name = before.fleet.pools.get(at).map_or("", |pool| pool.name.trim());
    let served: Vec<&str> =
        pools::routed_to(before, at).iter().map(|class| class.name.as_str()).collect();
    if served.is_empty() {
        return format!("“{name}” is removed; nothing went there");
    }
    let first = now.fleet.pools.first().map_or("", |pool| pool.name.trim());
    let to = |class: &ClassDoc| match class.route.as_slice() {
        [] => first.to_owned(),
        legs => legs.iter().map(|leg| leg.pool.as_str()).collect::<Vec<_>>().join(" and "),
    };
    let went = now.workload.classes.iter().filter(|class| served.contains(&class.name.as_str()));
    let to = went.map(|class| format!("{} now goes to {}", class.name, to(class)));
    format!("“{name}” is removed: {}. Undo brings it back", to.collect::<Vec<_>>().join(", "))
}

/// What is known of the answers of a pool of a route; empty where it is what is known of the class.
pub fn quality_name(leg: &LegDoc) -> &'static str {
    match leg.quality {
        None => "",
        Some(QualityDoc::NotChecked) => "not_checked",
        Some(QualityDoc::Assumed { .. }) => "assumed",
        Some(QualityDoc::Verified { .. }) => "verified",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state::edit::Edit;
    use crate::state::edit::tests::small_doc;
    use goodput_engine::scenario;

    #[test]
    fn every_choice_is_a_valid_route_and_is_shown_as_chosen() {
        let mut doc = small_doc();
        Edit::AddPool.apply(&mut doc);
        Edit::AddPool.apply(&mut doc);
        for choice in ["0", "1", "2", SPLIT] {
            doc.workload.classes[0].route = to(&doc, choice).expect("a route");
            assert!(scenario::check(&doc).is_ok(), "{choice}");
            assert_eq!(served_by(&doc, 0), choice);
        }
        assert_eq!(to(&doc, "3"), None);
        assert_eq!(with_one_more(&doc, &doc.workload.classes[0]), None, "it leads to all");
        doc.workload.classes[0].route.pop();
        let more = with_one_more(&doc, &doc.workload.classes[0]).expect("one is left");
        assert_eq!(more.last().map(|leg| leg.pool.as_str()), Some("C"));
    }

    #[test]
    fn it_is_said_where_the_requests_of_a_removed_pool_go() {
        let said = |choice: &str, at: usize| {
            let mut doc = small_doc();
            Edit::AddPool.apply(&mut doc);
            doc.workload.classes[0].route = to(&doc, choice).expect("a route");
            let mut now = doc.clone();
            Edit::RemovePool(at).apply(&mut now);
            removed(&doc, &now, at)
        };
        assert_eq!(said("0", 1), "“B” is removed; nothing went there");
        let moved = "“B” is removed: chat now goes to A. Undo brings it back";
        assert_eq!([said("1", 1), said(SPLIT, 1)], [moved, moved]);
        assert!(said("0", 0).contains("chat now goes to B"));
    }
}

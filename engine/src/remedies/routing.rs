//! Prefix-aware routing: what shares a prefix or a session goes where it was computed before.

use super::{Proposal, Remedy, Situation};
use crate::scenario::doc::RoutingDoc;

pub(super) const REMEDY: Remedy = Remedy { id: "routing", propose };

fn propose(situation: &Situation<'_>) -> Result<Vec<Proposal>, String> {
    let doc = situation.doc;
    if doc.fleet.routing == RoutingDoc::Affinity {
        return Err("requests go where their session or prefix was already".to_owned());
    }
    let shares = |class: &&crate::workload::TrafficClass| {
        class.shared_prefix.is_some() || class.session.is_some()
    };
    if !situation.scenario.classes.iter().any(|class| shares(&class)) {
        return Err("no class shares a prefix or asks in sessions".to_owned());
    }
    if doc.fleet.pools.iter().all(|pool| !pool.enable_prefix_caching) {
        return Err("prefix caching is off, so nothing is found anywhere".to_owned());
    }
    if situation.scenario.pools().all(|pool| pool.most_replicas() < 2) {
        return Err("one replica leaves no choice".to_owned());
    }
    let proposal = situation.with("requests of one session or prefix to one replica", |doc| {
        doc.fleet.routing = RoutingDoc::Affinity;
    });
    Ok(vec![proposal.but("the router has to see sessions and prefixes")])
}

//! Shedding: while a queue stands, all but the most urgent class are turned away.

use super::{Proposal, Remedy, Situation, queue_age};
use crate::scenario::doc::SheddingDoc;

pub(super) const REMEDY: Remedy = Remedy { id: "shedding", propose };

fn propose(situation: &Situation<'_>) -> Result<Vec<Proposal>, String> {
    if situation.doc.fleet.admission.shedding.is_some() {
        return Err("less urgent classes are shed already".to_owned());
    }
    let priorities = || {
        let offered = situation.doc.workload.classes.iter().filter(|class| class.enabled);
        offered.map(|class| class.priority)
    };
    let (Some(most), Some(least)) = (priorities().min(), priorities().max()) else {
        return Err("no class is offered".to_owned());
    };
    if most == least {
        return Err("all classes have one priority: nobody is less urgent".to_owned());
    }
    let shedding = SheddingDoc { max_waiting: 1, above_priority: most };
    let title = format!("turn classes of a priority above {most} away while anybody waits");
    let proposal = situation.with(title, |doc| doc.fleet.admission.shedding = Some(shedding));
    Ok(vec![queue_age::retry_load(situation, proposal)])
}

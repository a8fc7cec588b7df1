//! A tighter output budget: answers stop at the length that nine in ten of a class keep below.

use super::{Proposal, Remedy, Situation};
use crate::accounts::words::thousands;
use crate::scenario::doc::QualityDoc;
use crate::stats::nearest_rank;

pub(super) const REMEDY: Remedy = Remedy { id: "output_budget", propose };

/// The share of answers that stays as it is.
const UNTOUCHED: f64 = 0.9;

fn propose(situation: &Situation<'_>) -> Result<Vec<Proposal>, String> {
    let offered =
        situation.doc.workload.classes.iter().enumerate().filter(|(_, class)| class.enabled);
    let proposals: Vec<Proposal> = offered
        .enumerate()
        .filter_map(|(place, (index, _))| for_class(situation, place, index))
        .collect();
    if proposals.is_empty() {
        return Err("answers are all of one length".to_owned());
    }
    Ok(proposals)
}

/// `place` is that among the classes offered, `index` that in the document.
fn for_class(situation: &Situation<'_>, place: usize, index: usize) -> Option<Proposal> {
    let requests = situation.simulated.requests.iter();
    let of_class = requests.filter(|request| request.class as usize == place);
    let mut outputs: Vec<f64> = of_class.map(|request| f64::from(request.output_tokens)).collect();
    outputs.sort_by(f64::total_cmp);
    let budget = nearest_rank(&outputs, UNTOUCHED)?;
    if outputs.last().is_none_or(|longest| *longest <= budget) {
        return None;
    }
    let class = &situation.doc.workload.classes[index];
    let title = format!("stop answers of {} at {} tokens", class.name, thousands(budget));
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a token count")]
    let proposal = situation
        .with(title, |doc| doc.workload.classes[index].max_output_tokens = Some(budget as u32));
    let known = class.truncated_pass_rate.is_some();
    Some(match (&class.quality, known) {
        (_, true) => proposal,
        (QualityDoc::NotChecked, _) => {
            proposal.but("whether an answer that was cut still serves is not checked")
        }
        _ => proposal.but(
            "answers that are cut are taken to pass as often as all others: set \
             truncated_pass_rate",
        ),
    })
}

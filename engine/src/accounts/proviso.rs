//! On what an answer rests, where that is a range.

use super::words::three_digits;
use crate::scenario::Scenario;
use crate::step_time::Origin;

/// Step times off by as much as this on average are a range: what rests on them is no promise.
const WIDE_BAND: f64 = 0.2;

/// On what an answer rests whose step times come from a datasheet or have a wide band, as a clause
/// after it: a range, which no number of seeds makes a probability. Of several pools, the widest.
pub fn proviso(scenario: &Scenario) -> Option<String> {
    let wide = scenario.pools().filter_map(|pool| {
        let provenance = &pool.step_time()?.resolved.provenance;
        let band = provenance.band?;
        let whose = match provenance.origin {
            Origin::Datasheet => "the datasheet's step times are",
            _ if band.typical >= WIDE_BAND => "these step times are",
            _ => return None,
        };
        Some((pool, band, whose))
    });
    let (pool, band, whose) = wide.reduce(|a, b| if b.1.typical > a.1.typical { b } else { a })?;
    let of = if scenario.has_several_pools() {
        format!(" for pool {}", pool.name)
    } else {
        String::new()
    };
    let (low, high) = (three_digits(band.low), three_digits(band.high));
    Some(format!("if {whose} right{of}: true ones may be {low} to {high} × as long"))
}

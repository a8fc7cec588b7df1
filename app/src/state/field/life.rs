//! Numbers of how the replicas of a pool come and go, under their names in the document.

use goodput_engine::scenario::doc::{AutoscalerDoc, PoolDoc, SignalDoc};

use super::numbers::{Named, Number, find, plain, seconds};
use super::{PoolField, Slot};
use crate::parse::Quantity;

/// The numbers of a pool's life: of what it has, and of what it may have.
pub fn of_life(pool: &PoolDoc) -> Vec<Named> {
    numbers(&mut pool.clone()).into_iter().map(|(named, _)| named).collect()
}

/// The place of a number of a pool's life; `None` where it has no such number.
pub(super) fn place(pool: &mut PoolDoc, field: PoolField) -> Option<Slot<'_>> {
    Some(match field {
        PoolField::Life(named) => return find(numbers(pool), named),
        PoolField::ScheduledAt(i) => Slot::Real(&mut pool.scheduled_replicas.get_mut(i)?.at_s),
        PoolField::ScheduledReplicas(i) => {
            Slot::Whole(&mut pool.scheduled_replicas.get_mut(i)?.replicas)
        }
        PoolField::CrashAt(i) => Slot::Real(&mut pool.failures.crashes.get_mut(i)?.at_s),
        PoolField::CrashReplica(i) => Slot::Whole(&mut pool.failures.crashes.get_mut(i)?.replica),
        _ => return None,
    })
}

fn numbers(pool: &mut PoolDoc) -> Vec<Number<'_>> {
    let PoolDoc { start_up_s, slow_start_s, autoscaler, failures, .. } = pool;
    let mut numbers = vec![
        (seconds("start_up_s", "start_up_s"), Slot::Real(start_up_s)),
        (seconds("slow_start_s", "slow_start_s"), Slot::Real(slow_start_s)),
    ];
    numbers.extend(autoscaler.as_mut().map(of_autoscaler).into_iter().flatten());
    let mean = plain("failures.mean_time_between_h", "mean_time_between_h", "h")
        .or_empty("never by chance");
    numbers.push((mean, Slot::MaybeReal(&mut failures.mean_time_between_h)));
    numbers
}

fn of_autoscaler(autoscaler: &mut AutoscalerDoc) -> [Number<'_>; 7] {
    let (unit, quantity) = match autoscaler.signal {
        SignalDoc::Outstanding | SignalDoc::Waiting => ("requests", Quantity::Plain),
        SignalDoc::KvUsage | SignalDoc::SeatUsage => ("%", Quantity::Share),
    };
    let count = |name, label| Named::real(name, label, "replicas", Quantity::Count).whole();
    [
        (
            Named::real("autoscaler.target", "target", unit, quantity),
            Slot::Real(&mut autoscaler.target),
        ),
        (seconds("autoscaler.interval_s", "interval_s"), Slot::Real(&mut autoscaler.interval_s)),
        (
            count("autoscaler.min_replicas", "min_replicas"),
            Slot::Whole(&mut autoscaler.min_replicas),
        ),
        (
            count("autoscaler.max_replicas", "max_replicas"),
            Slot::Whole(&mut autoscaler.max_replicas),
        ),
        (
            seconds("autoscaler.scale_up_cooldown_s", "scale_up_cooldown_s"),
            Slot::Real(&mut autoscaler.scale_up_cooldown_s),
        ),
        (
            seconds("autoscaler.scale_down_cooldown_s", "scale_down_cooldown_s"),
            Slot::Real(&mut autoscaler.scale_down_cooldown_s),
        ),
        (seconds("autoscaler.delay_s", "delay_s"), Slot::Real(&mut autoscaler.delay_s)),
    ]
}

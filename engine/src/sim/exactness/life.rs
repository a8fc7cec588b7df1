//! How replicas of a random configuration come and go: often at moments at which something else
//! happens.

use super::configuration::Dice;
use crate::fleet::{Autoscaler, Crash, Failures, Life, Scaling, Signal};
use crate::units::Picos;

/// Up to so many hundredths of a second.
fn span(dice: &mut Dice, round: bool, hundredths: u32) -> Picos {
    let hundredths = if round {
        f64::from(dice.within(0, hundredths))
    } else {
        dice.unit() * f64::from(hundredths)
    };
    Picos::from_secs(0.01 * hundredths)
}

/// How replicas of a pool come and go.
pub fn of(dice: &mut Dice, round: bool, replicas: u32) -> Life {
    let longest = dice.pick(&[2, 20, 100]);
    Life {
        start_up: span(dice, round, longest),
        cold_start: dice.one_in(3),
        slow_start: if dice.one_in(3) { span(dice, round, 200) } else { Picos::ZERO },
        scaling: scaling(dice, round, replicas),
        failures: failures(dice, round),
    }
}

fn scaling(dice: &mut Dice, round: bool, replicas: u32) -> Scaling {
    match dice.below(4) {
        0 => Scaling::Fixed,
        1 => {
            let mut at = Picos::ZERO;
            let mut entry = || {
                at = at + span(dice, round, 100) + Picos(1_000_000_000);
                (at, dice.within(0, 5))
            };
            let mut entries: Vec<(Picos, u32)> = (0..4).map(|_| entry()).collect();
            entries.push((at + Picos(1_000_000_000), 2));
            Scaling::Schedule(entries)
        }
        _ => {
            let signals =
                [Signal::Outstanding, Signal::Waiting, Signal::KvUsage, Signal::SeatUsage];
            let signal = dice.pick(&signals);
            let shares = matches!(signal, Signal::KvUsage | Signal::SeatUsage);
            Scaling::Auto(Autoscaler {
                signal,
                target: if shares { 0.1 + 0.5 * dice.unit() } else { dice.pick(&[1.0, 2.5, 8.0]) },
                interval: span(dice, round, 30) + Picos::from_millis(10.0),
                delay: span(dice, round, 10),
                up_cooldown: span(dice, round, 20),
                down_cooldown: span(dice, round, 40),
                min: 1,
                max: replicas + dice.within(0, 4),
            })
        }
    }
}

fn failures(dice: &mut Dice, round: bool) -> Failures {
    let mean = dice.one_in(4).then(|| span(dice, false, 300) + Picos::from_millis(50.0));
    let crashes = if dice.one_in(2) { dice.within(1, 4) } else { 0 };
    let crash = |_| Crash { at: span(dice, round, 150), replica: dice.within(0, 4) };
    Failures { mean_time_between: mean, crashes: (0..crashes).map(crash).collect() }
}

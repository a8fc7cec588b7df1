//! Handles on the pictures of lengths and arrivals: where they are, what they move, where they stop.
//!
//! A handle stands for one or two numbers of the document, each a linear function of its place, so
//! that dragging is the same for all: a place is good where the engine makes a law of the numbers,
//! and a handle that is taken further stops at the last good place.

mod places;

use goodput_engine::math;
use goodput_engine::scenario::doc::{ArrivalsDoc, ClassDoc, LengthsDoc};
use goodput_engine::scenario::{arrivals_of, lengths_of};

pub use places::{of_law, points, widest, with_point};

use super::arrivals::tidy;
use super::latencies::{rounded, stepped};
use crate::format;
use crate::state::edit::Edit;
use crate::state::field::{ClassField, Field, Place, Side};

/// What a picture is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Target {
    /// The rate of arrivals over time.
    Arrivals,
    /// Lengths on a log axis.
    Lengths(Place),
}

/// One axis of a picture, from edge to edge of it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Span {
    /// Value at the left or lower edge.
    pub low: f64,
    /// Value at the right or upper edge.
    pub high: f64,
    /// Whether it is logarithmic.
    pub log: bool,
}

/// The axes of a picture: seconds or tokens across, requests per second up.
pub type Frame = [Span; 2];

/// A handle.
#[derive(Debug, Clone, PartialEq)]
pub struct Grip {
    /// What it stands for.
    pub name: String,
    /// Where it is, in the units of the axes.
    pub at: [f64; 2],
    /// How far it can be taken along each of the axes within the picture; `None` where it cannot.
    pub reach: [Option<(f64, f64)>; 2],
    /// Its numbers: each so much, and so much per unit of either axis.
    numbers: Vec<(ClassField, [f64; 3])>,
}

/// Handles beyond these would be no easier to take than a row of the table.
const MOST: usize = 30;

/// How a key moves a handle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Push {
    /// So many steps across and up.
    By(i32, i32),
    /// To the left or lower end, or to the other.
    End(bool),
}

impl Span {
    /// The place of a value, as a share of the span; outside of it below 0 or above 1.
    pub fn share(&self, value: f64) -> f64 {
        if self.log {
            math::ln(value.max(1e-9) / self.low) / math::ln(self.high / self.low)
        } else {
            (value - self.low) / (self.high - self.low)
        }
    }

    fn value(&self, share: f64) -> f64 {
        if self.log {
            self.low * math::pow(self.high / self.low, share)
        } else {
            self.low + share * (self.high - self.low)
        }
    }

    /// A value that a person would type: a step of a linear axis is at least this share of it.
    const FINEST: f64 = 1.0 / 150.0;

    fn step(&self) -> f64 {
        nice((self.high - self.low) * Self::FINEST)
    }

    fn snapped(&self, value: f64) -> f64 {
        if self.log { whole_or(rounded(value)) } else { multiple(value, self.step()) }
    }

    fn pushed(&self, value: f64, steps: i32) -> f64 {
        if !self.log {
            return multiple(value + f64::from(steps) * self.step(), self.step());
        }
        let to = whole_or(stepped(value, steps));
        // Below ten a step of the second digit is no whole token.
        let least = f64::from(steps.signum());
        if (to - value) * least < 1.0 { (value + least).max(1.0) } else { to }
    }
}

/// Tokens are whole.
fn whole_or(tokens: f64) -> f64 {
    tokens.round().max(1.0)
}

fn multiple(value: f64, step: f64) -> f64 {
    // By a division where the step is a fraction, so that 0.3 is what is typed.
    let times = (value / step).round();
    if step < 1.0 { times / (1.0 / step).round() } else { times * step }
}

/// The least of 1, 2, 5, 10, 20 … that is not smaller.
fn nice(least: f64) -> f64 {
    let decade = math::pow(10.0, math::log10(least.max(1e-6)).floor());
    [1.0, 2.0, 5.0, 10.0]
        .map(|digit| digit * decade)
        .into_iter()
        .find(|step| *step >= least)
        .unwrap_or(least)
}

/// The handles of a class.
pub fn grips(class: &ClassDoc, target: Target, frame: &Frame) -> Vec<Grip> {
    let mut grips = match target {
        Target::Lengths(place) => of_law(class, place),
        Target::Arrivals => places::of_rate(&class.arrivals, frame[0].high),
    };
    if grips.len() > MOST {
        grips.clear();
    }
    for grip in &mut grips {
        for axis in [0, 1] {
            if grip.numbers.iter().all(|(_, number)| number[axis + 1] == 0.0) {
                continue;
            }
            let end = |end: f64| {
                let mut want = grip.at;
                want[axis] = end;
                grip.nearest(class, target, want)[axis]
            };
            let at = grip.at[axis];
            let (low, high) = (frame[axis].low.max(0.0).min(at), frame[axis].high.max(at));
            grip.reach[axis] = Some((end(low), end(high)));
        }
    }
    grips
}

impl Grip {
    fn new(name: String, at: [f64; 2], numbers: Vec<(ClassField, [f64; 3])>) -> Self {
        Self { name, at, reach: [None; 2], numbers }
    }

    /// The axis whose value is said of it: the upper one of two.
    pub fn axis(&self) -> usize {
        usize::from(self.reach[1].is_some())
    }

    /// How it moves, as a class of CSS; nothing where it moves anywhere.
    pub fn cursor(&self) -> &'static str {
        match self.reach {
            [Some(_), None] => "across",
            [None, Some(_)] => "up",
            _ => "",
        }
    }

    /// Where it is, in words.
    pub fn text(&self, target: Target) -> String {
        let [x, y] = self.at;
        match (target, self.reach) {
            (Target::Lengths(_), _) => format!("{} tokens", format::fixed(x, 0)),
            (Target::Arrivals, [Some(_), None]) => format::seconds(x),
            (Target::Arrivals, [None, _]) => format::rps(y),
            (Target::Arrivals, _) => format!("{} at {}", format::rps(y), format::seconds(x)),
        }
    }

    /// The edit that takes it from where it is by shares of the picture.
    pub fn dragged(
        &self,
        (index, class): (usize, &ClassDoc),
        target: Target,
        frame: &Frame,
        by: [f64; 2],
    ) -> Edit {
        let to = |axis: usize| {
            let (span, at) = (frame[axis], self.at[axis]);
            // A hand that means to move it up moves it a little to the side as well.
            let still = self.reach[axis].is_none() || by[axis].abs() < 0.006;
            if still { at } else { span.snapped(span.value(span.share(at) + by[axis])) }
        };
        self.taken((index, class), target, frame, [to(0), to(1)])
    }

    /// The edit that a key makes of it.
    pub fn pushed(
        &self,
        (index, class): (usize, &ClassDoc),
        target: Target,
        frame: &Frame,
        push: Push,
    ) -> Option<Edit> {
        let mut to = self.at;
        // What moves along one axis is moved by all keys.
        let only = [0, 1].into_iter().find(|axis| self.reach[1 - *axis].is_none());
        match push {
            Push::By(across, up) => {
                let steps = only.map_or([across, up], |axis| {
                    let mut steps = [0, 0];
                    steps[axis] = across + up;
                    steps
                });
                for axis in [0, 1].into_iter().filter(|axis| steps[*axis] != 0) {
                    to[axis] = frame[axis].pushed(to[axis], steps[axis]);
                }
            }
            Push::End(high) => {
                let axis = only.unwrap_or_default();
                let (low_end, high_end) = self.reach[axis]?;
                to[axis] = if high { high_end } else { low_end };
            }
        }
        Some(self.taken((index, class), target, frame, to))
    }

    /// The edit that takes it to a place, or as near to it as the numbers make a law.
    fn taken(
        &self,
        (index, class): (usize, &ClassDoc),
        target: Target,
        frame: &Frame,
        mut want: [f64; 2],
    ) -> Edit {
        if target == Target::Arrivals {
            want[0] = want[0].min(frame[0].high.max(self.at[0]));
        }
        let to = self.nearest(class, target, want);
        let number = |(field, value)| (Field::Class(index, field), value);
        let numbers = self.numbers_at(to).map(number).collect();
        Edit::Handle { name: self.name.to_lowercase(), numbers }
    }

    fn numbers_at(&self, [x, y]: [f64; 2]) -> impl Iterator<Item = (ClassField, f64)> {
        let value = move |[start, by_x, by_y]: [f64; 3]| {
            let value = start + by_x * x + by_y * y;
            // A sum of what was typed is not what a person would type.
            let sum = start != 0.0 || by_x != 0.0 && by_y != 0.0;
            if sum { tidy(value) } else { value }
        };
        self.numbers.iter().map(move |(field, number)| (*field, value(*number)))
    }

    /// Whether its numbers make a law where it is taken to.
    fn is_good(&self, class: &ClassDoc, target: Target, to: [f64; 2]) -> bool {
        let mut class = part_of(class, target);
        for (field, value) in self.numbers_at(to) {
            field.set(&mut class, Some(value));
        }
        match target {
            Target::Arrivals => arrivals_of(&class.arrivals).is_ok(),
            Target::Lengths(place) => place.get(&class).is_some_and(|law| lengths_of(law).is_ok()),
        }
    }

    /// A good place as near to `want` as can be on the way there, first across and then up.
    fn nearest(&self, class: &ClassDoc, target: Target, want: [f64; 2]) -> [f64; 2] {
        let mut at = self.at;
        for axis in [0, 1] {
            let to = |value: f64| {
                let mut there = at;
                there[axis] = value;
                there
            };
            let good = |value: f64| self.is_good(class, target, to(value));
            at = to(furthest(at[axis], want[axis], &good));
        }
        at
    }
}

/// The last good value on the way from one that is good, if possible one that a person would type.
fn furthest(from: f64, want: f64, good: &dyn Fn(f64) -> bool) -> f64 {
    if from.total_cmp(&want).is_eq() || good(want) {
        return want;
    }
    let (mut last, mut beyond) = (from, want);
    for _ in 0..24 {
        let middle = f64::midpoint(last, beyond);
        *(if good(middle) { &mut last } else { &mut beyond }) = middle;
    }
    // At an end that belongs to the good ones, or else a whole number or three digits before it.
    let toward = if want > from { f64::floor } else { f64::ceil };
    let fine = nice((last.abs() * 1e-3).max(1e-3));
    let candidates = [last.round(), toward(last), toward(last / fine) * fine];
    let between = |value: &f64| (*value - from) * (want - from) >= 0.0 && good(*value);
    candidates.into_iter().find(between).unwrap_or(last)
}

/// The class without what is long and does not matter here.
fn part_of(class: &ClassDoc, target: Target) -> ClassDoc {
    let one = || LengthsDoc::Fixed { tokens: 1 };
    let mut part = ClassDoc::new("", ArrivalsDoc::Poisson { rate_rps: 1.0 }, one(), one());
    match target {
        Target::Arrivals => part.arrivals = class.arrivals.clone(),
        Target::Lengths(place) => match place.side {
            Side::Input => part.input_tokens = class.input_tokens.clone(),
            Side::Output => part.output_tokens = class.output_tokens.clone(),
            Side::Hidden => part.hidden_tokens.clone_from(&class.hidden_tokens),
            Side::Turns | Side::NewTokens => part.session.clone_from(&class.session),
        },
    }
    part
}

#[cfg(test)]
mod tests;

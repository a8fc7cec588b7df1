//! The numbers of a scenario document that people type, each with its place, name and unit.

mod bound;
mod class;
mod custom;
mod lengths;
mod life;
mod numbers;
mod policies;
mod pool;

use goodput_engine::scenario::doc::{Burstiness, ScenarioDoc};

pub use bound::Bound;
pub use class::{ClassField, Text};
pub use custom::{GpuField, ModelField};
pub use lengths::{LengthField, Place, Side};
pub use life::of_life;
#[cfg(test)]
pub use numbers::RATE;
pub use numbers::{Named, of_arrivals, of_lengths};
pub use policies::{of_admission, of_clients, of_routing};
pub use pool::PoolField;

use crate::parse::{NotANumber, Quantity};

/// One number of the document.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Field {
    /// Seed of every random draw.
    Seed,
    /// Span in which requests are due.
    Horizon,
    /// Span that is not counted.
    Warmup,
    /// A bound of the expectation at an index.
    Expected(usize, Bound),
    /// Of the traffic class at an index.
    Class(usize, ClassField),
    /// Of whom the fleet lets in.
    Admission(Named),
    /// Of the router.
    Routing(Named),
    /// Of the pool at an index.
    Pool(usize, PoolField),
    /// Of its GPU by numbers.
    Gpu(usize, GpuField),
    /// Of its model by numbers.
    Model(usize, ModelField),
}

/// How a field looks and what may be typed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct FieldKind {
    /// Above the field.
    pub label: &'static str,
    /// Inside its border.
    pub unit: &'static str,
    /// What it measures.
    pub quantity: Quantity,
    /// Whole numbers only.
    pub whole: bool,
    /// May be left empty; what then holds.
    pub when_empty: Option<&'static str>,
}

impl FieldKind {
    /// A number that may have a fraction.
    pub const fn real(label: &'static str, unit: &'static str, quantity: Quantity) -> Self {
        Self { label, unit, quantity, whole: false, when_empty: None }
    }

    /// A whole number.
    pub const fn whole(label: &'static str, unit: &'static str, quantity: Quantity) -> Self {
        Self { whole: true, ..Self::real(label, unit, quantity) }
    }

    /// One that may be left empty.
    pub const fn or_empty(self, meaning: &'static str) -> Self {
        Self { when_empty: Some(meaning), ..self }
    }

    /// The value that `text` stands for; `None` for an empty optional field.
    pub fn read(&self, text: &str) -> Result<Option<f64>, NotANumber> {
        if text.trim().is_empty() && self.when_empty.is_some() {
            return Ok(None);
        }
        let value = if self.whole {
            crate::parse::whole(text, self.quantity)
        } else {
            crate::parse::number(text, self.quantity)
        }?;
        let most = match self.quantity {
            Quantity::Priority => f64::from(i32::MAX),
            _ => f64::from(u32::MAX),
        };
        if self.whole && value.abs() > most {
            return Err(NotANumber::TooLarge);
        }
        Ok(Some(value))
    }

    /// The text of a value.
    pub fn text(&self, value: Option<f64>) -> String {
        value.map_or_else(String::new, |v| crate::parse::text(v, self.quantity))
    }
}

impl Field {
    /// How it looks.
    pub fn kind(self) -> FieldKind {
        match self {
            Self::Seed => FieldKind::whole("Seed", "", Quantity::Count),
            Self::Horizon => FieldKind::real("Horizon", "s", Quantity::Seconds),
            Self::Warmup => FieldKind::real("Warm-up, not counted", "s", Quantity::Seconds),
            Self::Expected(_, bound) => bound.kind(),
            Self::Class(_, field) => field.kind(),
            Self::Admission(named) | Self::Routing(named) => named.kind,
            Self::Pool(_, field) => field.kind(),
            Self::Gpu(_, field) => field.kind(),
            Self::Model(_, field) => field.kind(),
        }
    }

    /// Where problems of the document are reported for it.
    pub fn path(self) -> String {
        match self {
            Self::Seed => "workload.seed".into(),
            Self::Horizon => "workload.horizon_s".into(),
            Self::Warmup => "workload.warmup_s".into(),
            Self::Expected(i, bound) => format!("targets.expectations[{i}].{}", bound.name()),
            Self::Class(i, field) => format!("workload.classes[{i}].{}", field.path()),
            Self::Admission(named) => format!("fleet.admission.{}", named.name),
            Self::Routing(named) => format!("fleet.{}", named.name),
            Self::Pool(i, field) => format!("fleet.pools[{i}].{}", field.path()),
            Self::Gpu(i, field) => format!("fleet.pools[{i}].gpu.{}", field.path()),
            Self::Model(i, field) => format!("fleet.pools[{i}].model.{}", field.path()),
        }
    }

    /// Its value; `None` where it is absent or the document has another shape there.
    pub fn get(self, doc: &ScenarioDoc) -> Option<f64> {
        match self {
            Self::Seed => Some(doc.workload.seed as f64),
            Self::Horizon => Some(doc.workload.horizon_s),
            Self::Warmup => Some(doc.workload.warmup_s),
            Self::Expected(i, bound) => {
                bound.of(&mut doc.targets.expectations.get(i)?.clone()).get()
            }
            Self::Class(i, field) => field.get(doc.workload.classes.get(i)?),
            Self::Admission(named) => policies::get_of_admission(&doc.fleet.admission, named),
            Self::Routing(named) => policies::get_of_routing(&doc.fleet, named),
            Self::Pool(i, field) => field.get(doc.fleet.pools.get(i)?),
            Self::Gpu(i, field) => field.get(doc.fleet.pools.get(i)?),
            Self::Model(i, field) => field.get(doc.fleet.pools.get(i)?),
        }
    }

    /// Writes a value; nothing happens where the document has another shape there.
    pub fn set(self, doc: &mut ScenarioDoc, value: Option<f64>) {
        match self {
            Self::Seed => write(&mut doc.workload.seed, value, to_u64),
            Self::Horizon => write(&mut doc.workload.horizon_s, value, identity),
            Self::Warmup => write(&mut doc.workload.warmup_s, value, identity),
            Self::Expected(i, bound) => {
                if let Some(expected) = doc.targets.expectations.get_mut(i) {
                    bound.of(expected).set(value);
                }
            }
            Self::Class(i, field) => {
                if let Some(class) = doc.workload.classes.get_mut(i) {
                    field.set(class, value);
                }
            }
            Self::Admission(named) => {
                if let Some(slot) = policies::place_in_admission(&mut doc.fleet.admission, named) {
                    slot.set(value);
                }
            }
            Self::Routing(named) => {
                if let Some(slot) = policies::place_in_routing(&mut doc.fleet, named) {
                    slot.set(value);
                }
            }
            Self::Pool(i, _) | Self::Gpu(i, _) | Self::Model(i, _) => {
                let Some(pool) = doc.fleet.pools.get_mut(i) else { return };
                match self {
                    Self::Gpu(_, field) => field.set(pool, value),
                    Self::Model(_, field) => field.set(pool, value),
                    Self::Pool(_, field) => field.set(pool, value),
                    _ => {}
                }
            }
        }
    }
}

/// A place in the document that holds a number.
pub enum Slot<'a> {
    /// A number.
    Real(&'a mut f64),
    /// A number that may be absent.
    MaybeReal(&'a mut Option<f64>),
    /// A whole number.
    Whole(&'a mut u32),
    /// A whole number that may be below zero.
    Signed(&'a mut i32),
    /// A whole number that may be absent.
    MaybeWhole(&'a mut Option<u32>),
    /// A large whole number that may be absent.
    MaybeBig(&'a mut Option<u64>),
    /// The shape of a gamma law that may be absent.
    MaybeBurstiness(&'a mut Option<Burstiness>),
}

impl Slot<'_> {
    /// Its value.
    pub fn get(&self) -> Option<f64> {
        match self {
            Self::Real(x) => Some(**x),
            Self::MaybeReal(x) => **x,
            Self::Whole(n) => Some(f64::from(**n)),
            Self::Signed(n) => Some(f64::from(**n)),
            Self::MaybeWhole(n) => n.map(f64::from),
            Self::MaybeBig(n) => n.map(|n| n as f64),
            Self::MaybeBurstiness(k) => k.map(|k| k.0),
        }
    }

    /// Writes a value; what may not be absent keeps the value it has.
    pub fn set(self, value: Option<f64>) {
        match self {
            Self::Real(x) => write(x, value, identity),
            Self::MaybeReal(x) => *x = value,
            Self::Whole(n) => write(n, value, to_u32),
            Self::Signed(n) => write(n, value, to_i32),
            Self::MaybeWhole(n) => *n = value.map(to_u32),
            Self::MaybeBig(n) => *n = value.map(to_u64),
            Self::MaybeBurstiness(k) => *k = value.map(Burstiness),
        }
    }
}

fn write<T>(place: &mut T, value: Option<f64>, convert: impl Fn(f64) -> T) {
    if let Some(value) = value {
        *place = convert(value);
    }
}

fn identity(x: f64) -> f64 {
    x
}

/// A whole number that [`FieldKind::read`] let pass.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "checked when read: whole, not negative, at most u32::MAX"
)]
fn to_u32(x: f64) -> u32 {
    x as u32
}

#[expect(clippy::cast_possible_truncation, reason = "checked when read: whole, within i32")]
fn to_i32(x: f64) -> i32 {
    x as i32
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "checked when read: whole, not negative, at most u32::MAX"
)]
fn to_u64(x: f64) -> u64 {
    x as u64
}

//! A GPU or a model: the name of a catalogue row, or numbers of one's own.

use std::fmt;
use std::marker::PhantomData;

use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserialize, Deserializer, Error, MapAccess, Visitor};
use serde::ser::{Serialize, Serializer};

use crate::fleet::{GpuSpec, ModelShape};

/// A GPU by catalogue id or by numbers.
pub type GpuRef = CatalogRef<GpuSpec>;
/// A model by catalogue id or by numbers.
pub type ModelRef = CatalogRef<ModelShape>;

/// A string is a catalogue id, an object is the thing itself.
#[derive(Debug, Clone, PartialEq)]
pub enum CatalogRef<T> {
    /// Id of a catalogue row.
    Id(String),
    /// Numbers of one's own.
    Custom(Box<T>),
}

impl<T> CatalogRef<T> {
    /// A reference to a catalogue row.
    pub fn id(id: &str) -> Self {
        Self::Id(id.to_owned())
    }
}

impl<T: Serialize> Serialize for CatalogRef<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Id(id) => serializer.serialize_str(id),
            Self::Custom(custom) => custom.serialize(serializer),
        }
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for CatalogRef<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(RefVisitor(PhantomData))
    }
}

/// Written by hand rather than as an untagged enum, whose errors name neither field nor value.
struct RefVisitor<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for RefVisitor<T> {
    type Value = CatalogRef<T>;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("a catalogue id (a string) or an object with the numbers")
    }

    fn visit_str<E: Error>(self, id: &str) -> Result<Self::Value, E> {
        Ok(CatalogRef::id(id))
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
        let custom = T::deserialize(MapAccessDeserializer::new(map))?;
        Ok(CatalogRef::Custom(Box::new(custom)))
    }
}

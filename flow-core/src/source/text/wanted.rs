//! Which columns a record type takes, so that the others need not be copied.
//!
//! A type that serde derived as a struct tells the names of its fields before it is given any. On 19
//! columns of which seven are taken this saves a quarter of the time (225,000 flights: 62 ms instead of 80 ms, 2026-11).

use serde_core::de::{self, DeserializeOwned, Deserializer, Visitor};
use serde_core::forward_to_deserialize_any;
use std::fmt;

/// The names that `T` asks for when it is a struct; `None` when it may take anything.
pub(super) fn field_names<T: DeserializeOwned>() -> Option<&'static [&'static str]> {
    // The answer comes as an error, since there is no record to go on with.
    T::deserialize(Probe).err().and_then(|answer| answer.0)
}

/// Asks a type what it wants to be made from.
struct Probe;

#[derive(Debug)]
struct Answer(Option<&'static [&'static str]>);

impl fmt::Display for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("only the field names were asked for")
    }
}

impl std::error::Error for Answer {}

impl de::Error for Answer {
    fn custom<M: fmt::Display>(_: M) -> Self {
        Answer(None)
    }
}

impl<'de> Deserializer<'de> for Probe {
    type Error = Answer;

    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Answer> {
        Err(Answer(None))
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        _: V,
    ) -> Result<V::Value, Answer> {
        Err(Answer(Some(fields)))
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit
        unit_struct newtype_struct seq tuple tuple_struct map enum identifier ignored_any
    }
}

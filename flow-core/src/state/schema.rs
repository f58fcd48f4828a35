//! What a type looks like when it is written down: found by asking it to read itself from something that answers whatever it asks.
//!
//! ```text
//! u64   string   option<i32>   seq<u8>   (u64, string)   Order { id: u64, price: f64 }   Kind { Buy, Sell(u8) }
//! ```
//!
//! A type asks for its fields in order, by name, so the answer is its schema. Of an enum it asks for one variant at a time: it is asked again
//! until all have been seen. Types that hold themselves end at a depth; what refuses an answer (a number in a range) ends there, with `…`.
//!
//! The idea is that of the `serde-reflection` crate; written here because that one names containers by path and keeps values to give.

use crate::sorted::Sorted;
use serde_core::de::{
    DeserializeOwned, DeserializeSeed, Deserializer, EnumAccess, Error as _, IntoDeserializer, MapAccess,
    SeqAccess, VariantAccess, Visitor, value::Error, value::U32Deserializer,
};

/// So deep a type is looked at, so long a schema gets, and so often a type is asked, at most.
const DEPTH_MAX: usize = 12;
const CHARS_MAX: usize = 4096;
const ASKED_MAX: usize = 512;

/// What a variant holds that has not answered yet.
const UNKNOWN: &str = "…";

/// The schema of `T`.
///
/// ```
/// use flow_core::state::schema;
/// #[derive(serde::Deserialize)]
/// struct Order { id: u64, lines: Vec<(String, Option<f64>)> }
/// assert_eq!(schema::<Order>(), "Order { id: u64, lines: seq<(string, option<f64>)> }");
/// ```
pub fn schema<T: DeserializeOwned>() -> String {
    let mut enums = Enums::default();
    let mut main = String::new();
    for _ in 0..ASKED_MAX {
        let mut text = String::new();
        let asked = T::deserialize(Asked { out: &mut text, enums: &mut enums, depth: 0 });
        if asked.is_err() {
            text.push('…');
        }
        if main.is_empty() {
            main = text;
        }
        if !enums.are_open() {
            break;
        }
    }
    enums.describe(&mut main);
    main
}

/// The enums that have been met, by name: what each variant holds, where that is known; and the variants in the order in which they came to
/// be known.
#[derive(Default)]
struct Enums(Sorted<&'static str, Vec<(&'static str, Option<String>)>>, Vec<(&'static str, usize)>);

impl Enums {
    /// The variant to ask for next: one that has not been seen, or the one that was known first. It has an end: what was asked for inside it
    /// was known before.
    fn choose(&mut self, name: &'static str, variants: &'static [&'static str]) -> usize {
        let known = self.0.or_insert_with(name, || variants.iter().map(|v| (*v, None)).collect());
        let next = known.iter().position(|variant| variant.1.is_none());
        let first = || self.1.iter().find(|known| known.0 == name).map_or(0, |known| known.1);
        let next = next.unwrap_or_else(first);
        if let Some(variant) = known.get_mut(next) {
            // Inside itself another one is asked for.
            variant.1.get_or_insert_with(|| UNKNOWN.to_owned());
        }
        next
    }

    fn seen(&mut self, name: &'static str, variant: usize, holds: String) {
        if let Some((_, known)) = self.0.get_mut(name).and_then(|variants| variants.get_mut(variant))
            && known.as_deref() == Some(UNKNOWN)
        {
            *known = Some(holds);
            self.1.push((name, variant));
        }
    }

    fn are_open(&self) -> bool {
        self.0.iter().flat_map(|(_, variants)| variants).any(|variant| variant.1.is_none())
    }

    fn describe(&self, out: &mut String) {
        for (name, variants) in self.0.iter() {
            let shown = |(variant, holds): &(&str, Option<String>)| {
                format!("{variant}{}", holds.as_deref().unwrap_or(UNKNOWN))
            };
            let variants: Vec<String> = variants.iter().map(shown).collect();
            out.push_str(&format!("; {name} = {}", variants.join(" | ")));
        }
    }
}

/// Answers a type's questions, and writes down what they were.
struct Asked<'a> {
    out: &'a mut String,
    enums: &'a mut Enums,
    depth: usize,
}

impl Asked<'_> {
    fn say(&mut self, text: &str) {
        if self.out.len() < CHARS_MAX {
            self.out.push_str(text);
        }
    }

    /// Whether to look at what is inside.
    fn is_deep(&self) -> bool {
        self.depth >= DEPTH_MAX || self.out.len() >= CHARS_MAX
    }

    fn inner(&mut self) -> Asked<'_> {
        Asked { out: self.out, enums: self.enums, depth: self.depth + 1 }
    }
}

/// Answers for types that hold nothing else. 1 and not 0: some numbers must not be 0.
macro_rules! plain {
    ($($ask:ident $name:literal $visit:ident $value:expr;)*) => {$(
        fn $ask<V: Visitor<'de>>(mut self, visitor: V) -> Result<V::Value, Error> {
            self.say($name);
            visitor.$visit($value)
        }
    )*};
}

impl<'de> Deserializer<'de> for Asked<'_> {
    type Error = Error;

    plain! {
        deserialize_bool "bool" visit_bool false;
        deserialize_i8 "i8" visit_i8 1;
        deserialize_i16 "i16" visit_i16 1;
        deserialize_i32 "i32" visit_i32 1;
        deserialize_i64 "i64" visit_i64 1;
        deserialize_i128 "i128" visit_i128 1;
        deserialize_u8 "u8" visit_u8 1;
        deserialize_u16 "u16" visit_u16 1;
        deserialize_u32 "u32" visit_u32 1;
        deserialize_u64 "u64" visit_u64 1;
        deserialize_u128 "u128" visit_u128 1;
        deserialize_f32 "f32" visit_f32 1.0;
        deserialize_f64 "f64" visit_f64 1.0;
        deserialize_char "char" visit_char 'a';
        deserialize_str "string" visit_str "";
        deserialize_string "string" visit_str "";
        deserialize_bytes "bytes" visit_bytes &[];
        deserialize_byte_buf "bytes" visit_bytes &[];
        deserialize_identifier "identifier" visit_str "";
    }

    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Error> {
        Err(Error::custom("a type that has to be told what it is"))
    }
    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        self.deserialize_any(visitor)
    }
    fn deserialize_unit<V: Visitor<'de>>(mut self, visitor: V) -> Result<V::Value, Error> {
        self.say("()");
        visitor.visit_unit()
    }
    fn deserialize_unit_struct<V: Visitor<'de>>(
        mut self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Error> {
        self.say(name);
        visitor.visit_unit()
    }
    fn deserialize_newtype_struct<V: Visitor<'de>>(
        mut self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Error> {
        self.say(name);
        self.say("(");
        let value = visitor.visit_newtype_struct(self.inner())?;
        self.say(")");
        Ok(value)
    }
    fn deserialize_option<V: Visitor<'de>>(mut self, visitor: V) -> Result<V::Value, Error> {
        if self.is_deep() {
            self.say("option<…>");
            return visitor.visit_none();
        }
        self.say("option<");
        let value = visitor.visit_some(self.inner())?;
        self.say(">");
        Ok(value)
    }
    fn deserialize_seq<V: Visitor<'de>>(mut self, visitor: V) -> Result<V::Value, Error> {
        self.say("seq<");
        let left = usize::from(!self.is_deep());
        let value = visitor.visit_seq(Fields { asked: self.inner(), names: None, left, at: 0 })?;
        self.say(">");
        Ok(value)
    }
    fn deserialize_tuple<V: Visitor<'de>>(mut self, len: usize, visitor: V) -> Result<V::Value, Error> {
        self.say("(");
        let value = visitor.visit_seq(Fields { asked: self.inner(), names: None, left: len, at: 0 })?;
        self.say(")");
        Ok(value)
    }
    fn deserialize_tuple_struct<V: Visitor<'de>>(
        mut self,
        name: &'static str,
        len: usize,
        visitor: V,
    ) -> Result<V::Value, Error> {
        self.say(name);
        self.deserialize_tuple(len, visitor)
    }
    fn deserialize_map<V: Visitor<'de>>(mut self, visitor: V) -> Result<V::Value, Error> {
        self.say("map<");
        let left = usize::from(!self.is_deep());
        let value = visitor.visit_map(Fields { asked: self.inner(), names: None, left, at: 0 })?;
        self.say(">");
        Ok(value)
    }
    fn deserialize_struct<V: Visitor<'de>>(
        mut self,
        name: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        self.say(name);
        self.say(" { ");
        let (names, left) = (Some(fields), fields.len());
        let value = visitor.visit_seq(Fields { asked: self.inner(), names, left, at: 0 })?;
        self.say(" }");
        Ok(value)
    }
    fn deserialize_enum<V: Visitor<'de>>(
        mut self,
        name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        self.say(name);
        if self.is_deep() {
            return Err(Error::custom("an enum that holds itself"));
        }
        let variant = self.enums.choose(name, variants);
        let mut holds = String::new();
        let asked = Asked { out: &mut holds, enums: self.enums, depth: self.depth + 1 };
        let value = visitor.visit_enum(Variant { asked, variant });
        self.enums.seen(name, variant, holds);
        value
    }
    fn is_human_readable(&self) -> bool {
        false
    }
}

/// The fields of a struct, the elements of a tuple, one of a sequence, one entry of a map.
struct Fields<'a> {
    asked: Asked<'a>,
    names: Option<&'static [&'static str]>,
    left: usize,
    at: usize,
}

impl<'de> SeqAccess<'de> for Fields<'_> {
    type Error = Error;
    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>, Error> {
        if self.at == self.left {
            return Ok(None);
        }
        if self.at > 0 {
            self.asked.say(", ");
        }
        if let Some(name) = self.names.and_then(|names| names.get(self.at)) {
            self.asked.say(name);
            self.asked.say(": ");
        }
        self.at += 1;
        seed.deserialize(self.asked.inner()).map(Some)
    }
}

impl<'de> MapAccess<'de> for Fields<'_> {
    type Error = Error;
    fn next_key_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>, Error> {
        self.next_element_seed(seed)
    }
    fn next_value_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<T::Value, Error> {
        self.asked.say(", ");
        seed.deserialize(self.asked.inner())
    }
}

/// A variant of an enum.
struct Variant<'a> {
    asked: Asked<'a>,
    variant: usize,
}

impl<'de, 'a> EnumAccess<'de> for Variant<'a> {
    type Error = Error;
    type Variant = Asked<'a>;
    fn variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<(T::Value, Asked<'a>), Error> {
        let index: U32Deserializer<Error> =
            u32::try_from(self.variant).unwrap_or(u32::MAX).into_deserializer();
        Ok((seed.deserialize(index)?, self.asked))
    }
}

impl<'de> VariantAccess<'de> for Asked<'_> {
    type Error = Error;
    fn unit_variant(self) -> Result<(), Error> {
        Ok(())
    }
    fn newtype_variant_seed<T: DeserializeSeed<'de>>(mut self, seed: T) -> Result<T::Value, Error> {
        self.say("(");
        let value = seed.deserialize(self.inner())?;
        self.say(")");
        Ok(value)
    }
    fn tuple_variant<V: Visitor<'de>>(self, len: usize, visitor: V) -> Result<V::Value, Error> {
        self.deserialize_tuple(len, visitor)
    }
    fn struct_variant<V: Visitor<'de>>(
        self,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        self.deserialize_struct("", fields, visitor)
    }
}

#[cfg(test)]
mod tests {
    use super::schema;
    use serde::Deserialize;
    use std::collections::BTreeMap;
    use std::num::NonZeroU8;

    #[derive(Deserialize)]
    #[expect(dead_code, reason = "only its schema matters")]
    enum Side {
        Buy,
        Limit(u64),
        Between { low: i32, high: i32 },
    }

    #[derive(Deserialize)]
    #[expect(dead_code, reason = "only its schema matters")]
    struct Order {
        id: u64,
        side: Side,
        tags: BTreeMap<String, Option<NonZeroU8>>,
    }

    #[derive(Deserialize)]
    #[expect(dead_code, reason = "only its schema matters")]
    enum Tree {
        Node(Box<Tree>, Box<Tree>),
        Leaf(u8),
    }

    #[derive(Deserialize)]
    #[expect(dead_code, reason = "only its schema matters")]
    struct Chain(Option<Box<Chain>>, Vec<Chain>);

    #[test]
    fn all_of_a_type_is_in_its_schema() {
        assert_eq!(schema::<(i64, [f32; 2], char)>(), "(i64, (f32, f32), char)");
        assert_eq!(
            schema::<Order>(),
            "Order { id: u64, side: Side, tags: map<string, option<u8>> }; \
             Side = Buy | Limit(u64) | Between { low: i32, high: i32 }"
        );
    }

    #[test]
    fn a_type_that_holds_itself_has_an_end() {
        assert!(schema::<Tree>().ends_with("; Tree = Node(Tree, Tree) | Leaf(u8)"), "{}", schema::<Tree>());
        let chain = schema::<Chain>();
        assert!(chain.starts_with("Chain(option<Chain(") && chain.len() < 10_000, "{chain}");
    }
}

//! `Serialize` and `Deserialize` of a struct with public fields, as serde derives them.
//!
//! By hand, since serde's derive is the longest build of all that this crate could depend on, and most pipelines write
//! nothing of their own.

use serde_core::de::{self, Deserialize, DeserializeSeed, Deserializer, Visitor};
use serde_core::forward_to_deserialize_any;
use std::fmt;
use std::marker::PhantomData;

/// Implements both for `$name`, whose parameters all have to be serialisable.
macro_rules! serde_fields {
    ($name:ident<$($param:ident),+> { $($field:ident),+ }) => {
        impl<$($param: serde_core::Serialize),+> serde_core::Serialize for $name<$($param),+> {
            fn serialize<Z: serde_core::Serializer>(&self, to: Z) -> Result<Z::Ok, Z::Error> {
                use serde_core::ser::SerializeStruct;
                let mut fields = to.serialize_struct(stringify!($name), [$(stringify!($field)),+].len())?;
                $(fields.serialize_field(stringify!($field), &self.$field)?;)+
                fields.end()
            }
        }

        impl<'de, $($param: serde_core::Deserialize<'de>),+> serde_core::Deserialize<'de> for $name<$($param),+> {
            fn deserialize<Z: serde_core::Deserializer<'de>>(from: Z) -> Result<Self, Z::Error> {
                use serde_core::de::{Error, MapAccess, SeqAccess, Visitor};
                const FIELDS: &[&str] = &[$(stringify!($field)),+];

                struct Fields<$($param),+>(std::marker::PhantomData<($($param,)+)>);
                impl<'de, $($param: serde_core::Deserialize<'de>),+> Visitor<'de> for Fields<$($param),+> {
                    type Value = $name<$($param),+>;
                    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                        f.write_str(concat!("struct ", stringify!($name)))
                    }
                    fn visit_seq<Y: SeqAccess<'de>>(self, mut from: Y) -> Result<Self::Value, Y::Error> {
                        let mut taken = 0;
                        $(
                            let too_short = || Y::Error::invalid_length(taken, &self);
                            let $field = from.next_element()?.ok_or_else(too_short)?;
                            taken += 1;
                        )+
                        debug_assert_eq!(taken, FIELDS.len());
                        Ok($name { $($field),+ })
                    }
                    fn visit_map<Y: MapAccess<'de>>(self, mut from: Y) -> Result<Self::Value, Y::Error> {
                        $(let mut $field = None;)+
                        while let Some(name) = from.next_key_seed($crate::window::fields::Name(FIELDS))? {
                            match name {
                                $(Some(stringify!($field)) if $field.is_some() => {
                                    return Err(Y::Error::duplicate_field(stringify!($field)));
                                }
                                Some(stringify!($field)) => $field = Some(from.next_value()?),)+
                                _ => {
                                    from.next_value::<serde_core::de::IgnoredAny>()?;
                                }
                            }
                        }
                        Ok($name {
                            $($field: match $field {
                                Some(value) => value,
                                None => $crate::window::fields::missing(stringify!($field))?,
                            }),+
                        })
                    }
                }
                from.deserialize_struct(stringify!($name), FIELDS, Fields(std::marker::PhantomData))
            }
        }
    };
}
pub(crate) use serde_fields;

/// Reads the name of a field; none if there is no such field.
pub struct Name(pub &'static [&'static str]);

impl<'de> DeserializeSeed<'de> for Name {
    type Value = Option<&'static str>;
    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<Self::Value, D::Error> {
        from.deserialize_identifier(self)
    }
}

impl Visitor<'_> for Name {
    type Value = Option<&'static str>;
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("field identifier")
    }
    fn visit_str<E: de::Error>(self, name: &str) -> Result<Self::Value, E> {
        self.visit_bytes(name.as_bytes())
    }
    fn visit_bytes<E: de::Error>(self, name: &[u8]) -> Result<Self::Value, E> {
        Ok(self.0.iter().find(|field| field.as_bytes() == name).copied())
    }
    fn visit_u64<E: de::Error>(self, at: u64) -> Result<Self::Value, E> {
        Ok(usize::try_from(at).ok().and_then(|at| self.0.get(at)).copied())
    }
}

/// The value of a field that is not there: `None`, where that is a value.
pub fn missing<'de, T: Deserialize<'de>, E: de::Error>(field: &'static str) -> Result<T, E> {
    T::deserialize(Missing(field, PhantomData))
}

struct Missing<E>(&'static str, PhantomData<E>);

impl<'de, E: de::Error> Deserializer<'de> for Missing<E> {
    type Error = E;
    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, E> {
        Err(E::missing_field(self.0))
    }
    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, E> {
        visitor.visit_none()
    }
    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit unit_struct
        newtype_struct seq tuple tuple_struct map struct enum identifier ignored_any
    }
}

#[cfg(test)]
mod tests {
    use crate::time::{Millis, Timestamp};
    use crate::window::{Late, Windowed};
    use serde_json::{from_str, to_string};

    #[test]
    fn as_derived() {
        let row = Windowed { key: "a", start: Timestamp(1), end: Timestamp(3), value: Some(7) };
        let text = r#"{"key":"a","start":1,"end":3,"value":7}"#;
        assert_eq!((to_string(&row).unwrap(), from_str(text).unwrap()), (text.to_owned(), row));
        assert_eq!(from_str::<Windowed<&str, Option<i32>>>(r#"["a", 1, 3, 7]"#).unwrap(), row);
        let without = Windowed { value: None, ..row };
        assert_eq!(from_str(r#"{"end":3, "more":{}, "start":1, "key":"a"}"#).ok(), Some(without));
        let late = Late { value: 1.5, timestamp: Timestamp(-2), late_by: Millis(9) };
        assert_eq!(from_str(&to_string(&late).unwrap()).ok(), Some(late));
    }

    #[test]
    fn what_is_wrong_is_named() {
        for (text, why) in [
            (r#"{"key":1,"start":1,"end":3}"#, "missing field `value`"),
            (r#"{"key":1,"key":2}"#, "duplicate field `key`"),
            ("[1, 2]", "invalid length 2, expected struct Windowed"),
            ("7", "expected struct Windowed"),
        ] {
            let error = from_str::<Windowed<i32, i32>>(text).unwrap_err().to_string();
            assert!(error.contains(why), "{error}");
        }
    }
}

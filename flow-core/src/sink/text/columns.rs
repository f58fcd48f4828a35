//! The header line of a record type, as serde sees its fields.
//!
//! Nested structs and tuples are flattened, as the row itself is: a field that holds a struct gives
//! that struct's columns, a field `v` that holds a tuple `v_1`, `v_2` … A record in which nothing has
//! a name has no header; beside named columns one without a name is `column_N`.

use serde_core::Serialize;
use serde_core::ser;
use std::fmt;

/// The header of `record`'s type, or `None` if nothing in it has a name.
pub(super) fn header<T: Serialize>(record: &T) -> Option<Vec<String>> {
    let mut columns = Columns::default();
    record.serialize(&mut columns).ok()?;
    let found = columns.found;
    if found.iter().all(Option::is_none) {
        return None;
    }
    let named = found.into_iter().zip(1..);
    Some(named.map(|(name, n)| name.unwrap_or_else(|| format!("column_{n}"))).collect())
}

/// Notes a column for each scalar it meets.
#[derive(Debug, Default)]
struct Columns {
    found: Vec<Option<String>>,
    /// The struct field being visited.
    field: Option<&'static str>,
}

/// The columns of a value without names of its own, numbered if the field around it has a name.
struct Unnamed<'a> {
    columns: &'a mut Columns,
    field: Option<&'static str>,
    from: usize,
}

/// The columns of a struct.
struct Named<'a> {
    columns: &'a mut Columns,
    outer: Option<&'static str>,
}

impl Columns {
    fn scalar(&mut self) -> Result<(), NoHeader> {
        self.found.push(self.field.map(ToString::to_string));
        Ok(())
    }
}

impl Unnamed<'_> {
    fn number(self) {
        let Some(field) = self.field else { return };
        let own = &mut self.columns.found[self.from..];
        for (column, n) in own.iter_mut().zip(1..).filter(|(column, _)| column.is_none()) {
            *column = Some(format!("{field}_{n}"));
        }
        self.columns.field = self.field;
    }

    fn element<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), NoHeader> {
        self.columns.field = None;
        value.serialize(&mut *self.columns)
    }
}

/// The type has no header: it holds a map, or its own `Serialize` failed.
#[derive(Debug)]
struct NoHeader;

impl fmt::Display for NoHeader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the record type has no header")
    }
}

impl std::error::Error for NoHeader {}

impl ser::Error for NoHeader {
    fn custom<T: fmt::Display>(_: T) -> Self {
        NoHeader
    }
}

macro_rules! scalars {
    ($($method:ident: $type:ty),*) => {
        $(fn $method(self, _: $type) -> Result<(), NoHeader> { self.scalar() })*
    };
}

impl<'a> ser::Serializer for &'a mut Columns {
    type Ok = ();
    type Error = NoHeader;
    type SerializeSeq = Unnamed<'a>;
    type SerializeTuple = Unnamed<'a>;
    type SerializeTupleStruct = Unnamed<'a>;
    type SerializeTupleVariant = Unnamed<'a>;
    type SerializeMap = ser::Impossible<(), NoHeader>;
    type SerializeStruct = Named<'a>;
    type SerializeStructVariant = Named<'a>;

    scalars!(serialize_bool: bool, serialize_i8: i8, serialize_i16: i16, serialize_i32: i32, serialize_i64: i64,
        serialize_i128: i128, serialize_u8: u8, serialize_u16: u16, serialize_u32: u32, serialize_u64: u64,
        serialize_u128: u128, serialize_f32: f32, serialize_f64: f64, serialize_char: char, serialize_str: &str,
        serialize_bytes: &[u8], serialize_unit_struct: &'static str);

    fn serialize_none(self) -> Result<(), NoHeader> {
        self.scalar()
    }

    fn serialize_unit(self) -> Result<(), NoHeader> {
        self.scalar()
    }

    fn serialize_unit_variant(self, _: &'static str, _: u32, _: &'static str) -> Result<(), NoHeader> {
        self.scalar()
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<(), NoHeader> {
        value.serialize(self)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(self, _: &str, value: &T) -> Result<(), NoHeader> {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        value: &T,
    ) -> Result<(), NoHeader> {
        value.serialize(self)
    }

    fn serialize_seq(self, _: Option<usize>) -> Result<Unnamed<'a>, NoHeader> {
        Ok(Unnamed { field: self.field.take(), from: self.found.len(), columns: self })
    }

    fn serialize_tuple(self, len: usize) -> Result<Unnamed<'a>, NoHeader> {
        self.serialize_seq(Some(len))
    }

    fn serialize_tuple_struct(self, _: &'static str, len: usize) -> Result<Unnamed<'a>, NoHeader> {
        self.serialize_seq(Some(len))
    }

    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        len: usize,
    ) -> Result<Unnamed<'a>, NoHeader> {
        self.serialize_seq(Some(len))
    }

    fn serialize_map(self, _: Option<usize>) -> Result<Self::SerializeMap, NoHeader> {
        Err(NoHeader)
    }

    fn serialize_struct(self, _: &'static str, _: usize) -> Result<Named<'a>, NoHeader> {
        Ok(Named { outer: self.field, columns: self })
    }

    fn serialize_struct_variant(
        self,
        name: &'static str,
        _: u32,
        _: &'static str,
        len: usize,
    ) -> Result<Named<'a>, NoHeader> {
        self.serialize_struct(name, len)
    }
}

macro_rules! unnamed {
    ($($part:ident $method:ident),*) => {
        $(impl ser::$part for Unnamed<'_> {
            type Ok = ();
            type Error = NoHeader;
            fn $method<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), NoHeader> {
                self.element(value)
            }
            fn end(self) -> Result<(), NoHeader> {
                self.number();
                Ok(())
            }
        })*
    };
}

unnamed!(SerializeSeq serialize_element, SerializeTuple serialize_element, SerializeTupleStruct serialize_field,
    SerializeTupleVariant serialize_field);

macro_rules! named {
    ($($part:ident),*) => {
        $(impl ser::$part for Named<'_> {
            type Ok = ();
            type Error = NoHeader;
            fn serialize_field<T: Serialize + ?Sized>(
                &mut self,
                name: &'static str,
                value: &T,
            ) -> Result<(), NoHeader> {
                self.columns.field = Some(name);
                value.serialize(&mut *self.columns)
            }
            fn end(self) -> Result<(), NoHeader> {
                self.columns.field = self.outer;
                Ok(())
            }
        })*
    };
}

named!(SerializeStruct, SerializeStructVariant);

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(serde::Serialize)]
    struct Inner {
        count: u64,
        mean: f64,
    }

    #[derive(serde::Serialize)]
    struct Outer<V> {
        key: &'static str,
        value: V,
        last: Option<u8>,
    }

    fn columns(record: impl Serialize) -> Option<String> {
        header(&record).map(|names| names.join(","))
    }

    #[test]
    fn headers_follow_the_fields() {
        let inner = || Inner { count: 1, mean: 2.0 };
        let outer = |last| Outer { key: "k", value: (), last };
        assert_eq!(columns(inner()).as_deref(), Some("count,mean"));
        assert_eq!(columns(outer(None)).as_deref(), Some("key,value,last"));
        assert_eq!(columns(outer(Some(1))).as_deref(), Some("key,value,last"));
        let nested = Outer { key: "k", value: inner(), last: None };
        assert_eq!(columns(nested).as_deref(), Some("key,count,mean,last"));
        let tuple = Outer { key: "k", value: (1, (2, 3)), last: None };
        assert_eq!(columns(tuple).as_deref(), Some("key,value_1,value_2,value_3,last"));
        assert_eq!(columns(("k", inner())).as_deref(), Some("column_1,count,mean"));
        assert_eq!(columns(("k", 1, (2, 3))), None);
        assert_eq!(columns("k"), None);
    }
}

//! Reading.

use super::CodecError;
use serde_core::de::{
    self, DeserializeOwned, DeserializeSeed, Deserializer, EnumAccess, IntoDeserializer, VariantAccess,
    Visitor,
};

type Result<T> = std::result::Result<T, CodecError>;

/// Takes a value from the front of `bytes`, and gives the rest.
pub(in crate::state) fn take<T: DeserializeOwned>(bytes: &[u8]) -> Result<(T, &[u8])> {
    let mut reader = Reader { bytes, depth: 0 };
    let value = T::deserialize(&mut reader)?;
    Ok((value, reader.bytes))
}

/// A variant with fields counts twice here, and once where it is written.
const DEPTH_MAX: usize = 2 * super::DEPTH_MAX;
/// Elements of a sequence that take up no bytes, such as `()`, at most: a length of foreign bytes is not counted to for ever.
const EMPTY_MAX: usize = 1 << 20;

struct Reader<'de> {
    bytes: &'de [u8],
    depth: usize,
}

#[cold]
fn out_of_range() -> CodecError {
    CodecError::new("a number is out of the range of its type")
}

impl<'de> Reader<'de> {
    fn take(&mut self, n: usize) -> Result<&'de [u8]> {
        let (taken, rest) =
            self.bytes.split_at_checked(n).ok_or_else(|| CodecError::new("it is cut short"))?;
        self.bytes = rest;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N]> {
        let mut array = [0; N];
        array.copy_from_slice(self.take(N)?);
        Ok(array)
    }

    /// A varint of a number with so many bits.
    #[inline]
    fn varint(&mut self, bits: u32) -> Result<u128> {
        if bits > u64::BITS { self.long_varint(bits) } else { self.short_varint(bits).map(u128::from) }
    }

    /// The same of 64 bits at most, as nearly all are.
    #[inline]
    fn short_varint(&mut self, bits: u32) -> Result<u64> {
        if let [byte @ 0..0x80, rest @ ..] = self.bytes {
            self.bytes = rest;
            return Ok((*byte).into());
        }
        self.longer_varint(bits)
    }

    fn longer_varint(&mut self, bits: u32) -> Result<u64> {
        let mut n = 0;
        let most = bits.div_ceil(7) as usize;
        for (at, byte) in self.bytes.iter().enumerate().take(most) {
            let (part, shift) = (u64::from(byte & 0x7f), 7 * at as u32);
            // What reaches beyond the type is no number of it.
            if shift + 7 > bits && part >> (bits - shift) != 0 {
                return Err(out_of_range());
            }
            n |= part << shift;
            if *byte < 0x80 {
                self.bytes = &self.bytes[at + 1..];
                return Ok(n);
            }
        }
        Err(if self.bytes.len() < most { CodecError::new("it is cut short") } else { out_of_range() })
    }

    #[cold]
    fn long_varint(&mut self, bits: u32) -> Result<u128> {
        let mut n = 0u128;
        for at in 0..bits.div_ceil(7) {
            let [byte] = self.array()?;
            let part = u128::from(byte & 0x7f) << (7 * at);
            // What reaches beyond the type is no number of it; above 128 bits it is lost in the shift.
            if part >> (7 * at) != u128::from(byte & 0x7f) || (bits < 128 && part >> bits != 0) {
                break;
            }
            n |= part;
            if byte & 0x80 == 0 {
                return Ok(n);
            }
        }
        Err(out_of_range())
    }

    fn zigzag(&mut self, bits: u32) -> Result<i128> {
        let n = self.varint(bits)?;
        Ok((n >> 1) as i128 ^ -((n & 1) as i128))
    }

    fn length(&mut self) -> Result<usize> {
        Ok(self.varint(usize::BITS)? as usize)
    }

    fn slice(&mut self) -> Result<&'de [u8]> {
        let len = self.length()?;
        self.take(len)
    }

    fn str(&mut self) -> Result<&'de str> {
        std::str::from_utf8(self.slice()?).map_err(|_| CodecError::new("a text is not UTF-8"))
    }

    /// Reads what is inside a value.
    fn inside<T>(&mut self, read: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        if self.depth == DEPTH_MAX {
            return Err(CodecError::new("values are nested too deeply"));
        }
        self.depth += 1;
        let done = read(self);
        self.depth -= 1;
        done
    }

    fn flag(&mut self) -> Result<bool> {
        match self.array()? {
            [0] => Ok(false),
            [1] => Ok(true),
            [_] => Err(CodecError::new("a flag is neither 0 nor 1")),
        }
    }
}

macro_rules! integers {
    ($($method:ident $visit:ident $number:ident $read:ident;)*) => {$(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
            visitor.$visit(self.$read($number::BITS)? as $number)
        }
    )*};
}

macro_rules! as_other {
    ($($method:ident ($($name:ty)?) $other:ident;)*) => {$(
        fn $method<V: Visitor<'de>>(self, $(_: $name,)? visitor: V) -> Result<V::Value> {
            self.$other(visitor)
        }
    )*};
}

impl<'de> Deserializer<'de> for &mut Reader<'de> {
    type Error = CodecError;

    integers! {
        deserialize_u16 visit_u16 u16 varint;
        deserialize_u32 visit_u32 u32 varint;
        deserialize_u64 visit_u64 u64 varint;
        deserialize_u128 visit_u128 u128 varint;
        deserialize_i16 visit_i16 i16 zigzag;
        deserialize_i32 visit_i32 i32 zigzag;
        deserialize_i64 visit_i64 i64 zigzag;
        deserialize_i128 visit_i128 i128 zigzag;
    }
    as_other! {
        deserialize_string () deserialize_str;
        deserialize_byte_buf () deserialize_bytes;
        deserialize_unit_struct (&'static str) deserialize_unit;
        deserialize_identifier () deserialize_any;
        deserialize_ignored_any () deserialize_any;
    }
    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value> {
        Err(CodecError::new("the format does not say of which type a value is"))
    }
    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        visitor.visit_bool(self.flag()?)
    }
    fn deserialize_u8<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        visitor.visit_u8(u8::from_le_bytes(self.array()?))
    }
    fn deserialize_i8<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        visitor.visit_i8(i8::from_le_bytes(self.array()?))
    }
    fn deserialize_f32<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        visitor.visit_f32(f32::from_le_bytes(self.array()?))
    }
    fn deserialize_f64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        visitor.visit_f64(f64::from_le_bytes(self.array()?))
    }
    fn deserialize_char<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        let mut chars = self.str()?.chars();
        match (chars.next(), chars.next()) {
            (Some(c), None) => visitor.visit_char(c),
            _ => Err(CodecError::new("a text is not one character")),
        }
    }
    fn deserialize_str<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        visitor.visit_borrowed_str(self.str()?)
    }
    fn deserialize_bytes<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        visitor.visit_borrowed_bytes(self.slice()?)
    }
    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        if self.flag()? { self.inside(|reader| visitor.visit_some(reader)) } else { visitor.visit_none() }
    }
    fn deserialize_unit<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        visitor.visit_unit()
    }
    fn deserialize_newtype_struct<V: Visitor<'de>>(self, _: &'static str, visitor: V) -> Result<V::Value> {
        self.inside(|reader| visitor.visit_newtype_struct(reader))
    }
    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        let left = self.length()?;
        self.deserialize_tuple(left, visitor)
    }
    fn deserialize_tuple<V: Visitor<'de>>(self, left: usize, visitor: V) -> Result<V::Value> {
        self.inside(|reader| visitor.visit_seq(Elements::new(reader, left)))
    }
    fn deserialize_tuple_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        left: usize,
        visitor: V,
    ) -> Result<V::Value> {
        self.deserialize_tuple(left, visitor)
    }
    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        let left = self.length()?;
        self.inside(|reader| visitor.visit_map(Elements::new(reader, left)))
    }
    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value> {
        self.deserialize_tuple(fields.len(), visitor)
    }
    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value> {
        self.inside(|reader| visitor.visit_enum(reader))
    }
    fn is_human_readable(&self) -> bool {
        false
    }
}

/// The elements of a sequence, or the entries of a map.
struct Elements<'a, 'de> {
    reader: &'a mut Reader<'de>,
    left: usize,
    /// How many more may take up no bytes.
    empty: usize,
}

impl<'a, 'de> Elements<'a, 'de> {
    fn new(reader: &'a mut Reader<'de>, left: usize) -> Self {
        Elements { reader, left, empty: EMPTY_MAX }
    }

    fn next<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<Option<S::Value>> {
        let Some(left) = self.left.checked_sub(1) else { return Ok(None) };
        self.left = left;
        let before = self.reader.bytes.len();
        let value = seed.deserialize(&mut *self.reader)?;
        if self.reader.bytes.len() == before {
            let less = self.empty.checked_sub(1);
            self.empty = less.ok_or_else(|| CodecError::new("too many elements without bytes"))?;
        }
        Ok(Some(value))
    }
}

impl<'de> de::SeqAccess<'de> for Elements<'_, 'de> {
    type Error = CodecError;
    fn next_element_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<Option<S::Value>> {
        self.next(seed)
    }
    fn size_hint(&self) -> Option<usize> {
        Some(self.left)
    }
}

impl<'de> de::MapAccess<'de> for Elements<'_, 'de> {
    type Error = CodecError;
    fn next_key_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<Option<S::Value>> {
        self.next(seed)
    }
    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value> {
        seed.deserialize(&mut *self.reader)
    }
    fn size_hint(&self) -> Option<usize> {
        Some(self.left)
    }
}

impl<'de> EnumAccess<'de> for &mut Reader<'de> {
    type Error = CodecError;
    type Variant = Self;
    fn variant_seed<S: DeserializeSeed<'de>>(self, seed: S) -> Result<(S::Value, Self)> {
        let index = self.varint(u32::BITS)? as u32;
        let variant = seed.deserialize(IntoDeserializer::<CodecError>::into_deserializer(index))?;
        Ok((variant, self))
    }
}

impl<'de> VariantAccess<'de> for &mut Reader<'de> {
    type Error = CodecError;
    fn unit_variant(self) -> Result<()> {
        Ok(())
    }
    fn newtype_variant_seed<S: DeserializeSeed<'de>>(self, seed: S) -> Result<S::Value> {
        seed.deserialize(self)
    }
    fn tuple_variant<V: Visitor<'de>>(self, len: usize, visitor: V) -> Result<V::Value> {
        self.deserialize_tuple(len, visitor)
    }
    fn struct_variant<V: Visitor<'de>>(
        self,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value> {
        self.deserialize_tuple(fields.len(), visitor)
    }
}

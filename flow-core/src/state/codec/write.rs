//! Writing.

use super::CodecError;
use serde_core::ser::{self, Serialize, Serializer};

type Result<T = ()> = std::result::Result<T, CodecError>;

/// Appends `value` to `out`.
pub(in crate::state) fn append<T: Serialize>(value: &T, out: &mut Vec<u8>) -> Result {
    value.serialize(&mut Writer { out, depth: 0 })
}

struct Writer<'a> {
    out: &'a mut Vec<u8>,
    depth: usize,
}

impl Writer<'_> {
    /// Writes a value that is part of another.
    fn inside<T: ?Sized + Serialize>(&mut self, value: &T) -> Result {
        if self.depth == super::DEPTH_MAX {
            return Err(CodecError::new("values are nested too deeply"));
        }
        self.depth += 1;
        let done = value.serialize(&mut *self);
        self.depth -= 1;
        done
    }

    #[inline]
    fn varint(&mut self, n: u128) {
        match u64::try_from(n) {
            Ok(n @ 0..0x80) => self.out.push(n as u8),
            Ok(n) if n >> IN_A_WORD == 0 => self.word(n),
            _ => self.long_varint(n),
        }
    }

    /// Writes a varint of at most eight bytes as one word, of which what is too much is taken back: byte by byte it is three times as slow.
    fn word(&mut self, n: u64) {
        let last = (u64::BITS - 1 - n.leading_zeros()) / 7;
        let more = 0x8080_8080_8080_8080 & ((1 << (8 * last)) - 1);
        let len = self.out.len() + last as usize + 1;
        self.out.extend_from_slice(&(sevens(n) | more).to_le_bytes());
        self.out.truncate(len);
    }

    #[cold]
    fn long_varint(&mut self, mut n: u128) {
        while n >= 0x80 {
            self.out.push(n as u8 | 0x80);
            n >>= 7;
        }
        self.out.push(n as u8);
    }

    /// Small negative numbers become small ones.
    fn zigzag(&mut self, n: i128) {
        self.varint(((n << 1) ^ (n >> 127)) as u128);
    }

    fn length(&mut self, len: Option<usize>) -> Result {
        let len = len.ok_or_else(|| CodecError::new("the length of a sequence or map is not known"))?;
        self.varint(len as u128);
        Ok(())
    }

    fn bytes(&mut self, bytes: &[u8]) {
        self.varint(bytes.len() as u128);
        self.out.extend_from_slice(bytes);
    }
}

/// Bits of a number that is written as a varint of eight bytes.
const IN_A_WORD: u32 = 56;

/// Spreads the lowest 56 bits of a number, seven to a byte.
fn sevens(n: u64) -> u64 {
    let halves = (n & 0x0000_0000_0fff_ffff) | (n & 0x00ff_ffff_f000_0000) << 4;
    let quarters = (halves & 0x0000_3fff_0000_3fff) | (halves & 0x0fff_c000_0fff_c000) << 2;
    (quarters & 0x007f_007f_007f_007f) | (quarters & 0x3f80_3f80_3f80_3f80) << 1
}

macro_rules! integers {
    ($($method:ident $number:ty, $write:ident;)*) => {$(
        fn $method(self, n: $number) -> Result {
            self.$write(n.into());
            Ok(())
        }
    )*};
}

impl Serializer for &mut Writer<'_> {
    type Ok = ();
    type Error = CodecError;
    type SerializeSeq = Self;
    type SerializeTuple = Self;
    type SerializeTupleStruct = Self;
    type SerializeTupleVariant = Self;
    type SerializeMap = Self;
    type SerializeStruct = Self;
    type SerializeStructVariant = Self;

    integers! {
        serialize_u16 u16, varint;
        serialize_u32 u32, varint;
        serialize_u64 u64, varint;
        serialize_u128 u128, varint;
        serialize_i16 i16, zigzag;
        serialize_i32 i32, zigzag;
        serialize_i64 i64, zigzag;
        serialize_i128 i128, zigzag;
    }
    fn serialize_bool(self, v: bool) -> Result {
        self.serialize_u8(v.into())
    }
    fn serialize_u8(self, v: u8) -> Result {
        self.out.push(v);
        Ok(())
    }
    fn serialize_i8(self, v: i8) -> Result {
        self.serialize_u8(v as u8)
    }
    fn serialize_f32(self, v: f32) -> Result {
        self.out.extend_from_slice(&v.to_le_bytes());
        Ok(())
    }
    fn serialize_f64(self, v: f64) -> Result {
        self.out.extend_from_slice(&v.to_le_bytes());
        Ok(())
    }
    fn serialize_char(self, v: char) -> Result {
        self.serialize_str(v.encode_utf8(&mut [0; 4]))
    }
    fn serialize_str(self, v: &str) -> Result {
        self.serialize_bytes(v.as_bytes())
    }
    fn serialize_bytes(self, v: &[u8]) -> Result {
        self.bytes(v);
        Ok(())
    }
    fn serialize_none(self) -> Result {
        self.serialize_u8(0)
    }
    fn serialize_some<T: ?Sized + Serialize>(self, value: &T) -> Result {
        self.out.push(1);
        self.inside(value)
    }
    fn serialize_unit(self) -> Result {
        Ok(())
    }
    fn serialize_unit_struct(self, _: &'static str) -> Result {
        Ok(())
    }
    fn serialize_unit_variant(self, _: &'static str, index: u32, _: &'static str) -> Result {
        self.serialize_u32(index)
    }
    fn serialize_newtype_struct<T: ?Sized + Serialize>(self, _: &'static str, value: &T) -> Result {
        self.inside(value)
    }
    fn serialize_newtype_variant<T: ?Sized + Serialize>(
        self,
        _: &'static str,
        index: u32,
        _: &'static str,
        value: &T,
    ) -> Result {
        self.varint(index.into());
        self.inside(value)
    }
    fn serialize_seq(self, len: Option<usize>) -> Result<Self> {
        self.length(len)?;
        Ok(self)
    }
    fn serialize_tuple(self, _: usize) -> Result<Self> {
        Ok(self)
    }
    fn serialize_tuple_struct(self, _: &'static str, _: usize) -> Result<Self> {
        Ok(self)
    }
    fn serialize_tuple_variant(self, _: &'static str, index: u32, _: &'static str, _: usize) -> Result<Self> {
        self.varint(index.into());
        Ok(self)
    }
    fn serialize_map(self, len: Option<usize>) -> Result<Self> {
        self.length(len)?;
        Ok(self)
    }
    fn serialize_struct(self, _: &'static str, _: usize) -> Result<Self> {
        Ok(self)
    }
    fn serialize_struct_variant(
        self,
        _: &'static str,
        index: u32,
        _: &'static str,
        _: usize,
    ) -> Result<Self> {
        self.varint(index.into());
        Ok(self)
    }
    fn is_human_readable(&self) -> bool {
        false
    }
}

/// What is written element by element: nothing stands between or behind them.
macro_rules! elements {
    ($($part:ident $method:ident)*) => {$(
        impl ser::$part for &mut Writer<'_> {
            type Ok = ();
            type Error = CodecError;
            fn $method<T: ?Sized + Serialize>(&mut self, value: &T) -> Result {
                self.inside(value)
            }
            fn end(self) -> Result {
                Ok(())
            }
        }
    )*};
}
elements! {
    SerializeSeq serialize_element
    SerializeTuple serialize_element
    SerializeTupleStruct serialize_field
    SerializeTupleVariant serialize_field
}

impl ser::SerializeMap for &mut Writer<'_> {
    type Ok = ();
    type Error = CodecError;
    fn serialize_key<T: ?Sized + Serialize>(&mut self, key: &T) -> Result {
        self.inside(key)
    }
    fn serialize_value<T: ?Sized + Serialize>(&mut self, value: &T) -> Result {
        self.inside(value)
    }
    fn end(self) -> Result {
        Ok(())
    }
}

macro_rules! fields {
    ($($part:ident)*) => {$(
        impl ser::$part for &mut Writer<'_> {
            type Ok = ();
            type Error = CodecError;
            fn serialize_field<T: ?Sized + Serialize>(&mut self, _: &'static str, value: &T) -> Result {
                self.inside(value)
            }
            /// Without a name nobody could say which field is missing.
            fn skip_field(&mut self, field: &'static str) -> Result {
                let what = format!("`skip_serializing_if` leaves out the field `{field}`, and it would be missed when it is read: state has all fields");
                Err(CodecError(what))
            }
            fn end(self) -> Result {
                Ok(())
            }
        }
    )*};
}
fields!(SerializeStruct SerializeStructVariant);

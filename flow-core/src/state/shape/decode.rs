//! Bytes as JSON.
//!
//! What `serde_json` makes of the value, but for what JSON has no words for:
//!
//! ```text
//! f32, f64     NaN "NaN", or "NaN:7ff8…" with other bits; "inf" and "-inf"
//! option       null, or the value; where that may be null itself, in brackets: [null], [[3]]
//! map          an object where keys are texts, numbers, flags or variants without fields; else a list of pairs [[key, value], …]
//! bytes        a list of numbers
//! ```

use super::json::quoted;
use super::{DEPTH_MAX, Defs, Fault, Fields, Int, Node};
use crate::state::codec;
use serde_core::de::DeserializeOwned;
use std::fmt::Write;

/// Elements of a sequence that take up no bytes, at most.
const EMPTY_MAX: usize = 1 << 20;

/// Appends the value at the front of `bytes` as JSON.
///
/// # Errors
/// When the bytes are not of this type.
pub(crate) fn decode(node: &Node, defs: &Defs, bytes: &mut &[u8], out: &mut String) -> Result<(), Fault> {
    Decoder { defs, bytes, depth: 0 }.node(node, out)
}

/// Goes over the value at the front of `bytes`.
///
/// # Errors
/// When the bytes are not of this type.
pub(crate) fn skip(node: &Node, defs: &Defs, bytes: &mut &[u8]) -> Result<(), Fault> {
    decode(node, defs, bytes, &mut String::new())
}

/// Takes a number, a text: what the codec knows by itself.
pub(crate) fn take<T: DeserializeOwned>(bytes: &mut &[u8]) -> Result<T, Fault> {
    let (value, rest) = codec::take(bytes).map_err(|error| error.to_string())?;
    *bytes = rest;
    Ok(value)
}

/// Takes `n` bytes.
pub(crate) fn take_bytes<'a>(bytes: &mut &'a [u8], n: usize) -> Result<&'a [u8], Fault> {
    bytes.split_off(..n).ok_or_else(|| "it is cut short".into())
}

/// A number of elements.
pub(crate) fn take_length(bytes: &mut &[u8]) -> Result<usize, Fault> {
    let length = take::<u64>(bytes)?;
    usize::try_from(length).map_err(|_| "a length is out of range".into())
}

/// The little-endian number of so many bits, as 128 of them.
pub(crate) fn take_fixed(int: Int, bytes: &mut &[u8]) -> Result<u128, Fault> {
    let taken = take_bytes(bytes, int.bits as usize / 8)?;
    let negative = int.signed && taken.last().is_some_and(|byte| *byte >= 0x80);
    let mut all = if negative { [0xff; 16] } else { [0; 16] };
    all[..taken.len()].copy_from_slice(taken);
    Ok(u128::from_le_bytes(all))
}

/// The number of this kind at the front.
pub(crate) fn take_int(int: Int, bytes: &mut &[u8]) -> Result<u128, Fault> {
    Ok(match (int.signed, int.bits) {
        (false, 16) => take::<u16>(bytes)?.into(),
        (false, 32) => take::<u32>(bytes)?.into(),
        (false, 64) => take::<u64>(bytes)?.into(),
        (false, 128) => take::<u128>(bytes)?,
        (true, 16) => take::<i16>(bytes)? as u128,
        (true, 32) => take::<i32>(bytes)? as u128,
        (true, 64) => take::<i64>(bytes)? as u128,
        (true, 128) => take::<i128>(bytes)? as u128,
        _ => take_fixed(int, bytes)?,
    })
}

/// Whether keys of this type are the names of an object.
pub(crate) fn is_name(node: &Node, defs: &Defs) -> bool {
    match node {
        Node::Text | Node::Char | Node::Int(_) | Node::Bool => true,
        Node::Struct(_, Fields::One(inner)) => is_name(inner, defs),
        Node::Enum(def) => {
            let variants = defs.get(*def).map(|def| &def.1[..]).unwrap_or_default();
            variants.iter().all(|variant| variant.1 == Fields::None)
        }
        _ => false,
    }
}

/// Whether a value of this type may be null.
pub(crate) fn is_nullable(node: &Node) -> bool {
    match node {
        Node::Option(_) | Node::Unit | Node::Struct(_, Fields::None) => true,
        Node::Struct(_, Fields::One(inner)) => is_nullable(inner),
        _ => false,
    }
}

struct Decoder<'a, 'b> {
    defs: &'a Defs,
    bytes: &'a mut &'b [u8],
    depth: usize,
}

impl Decoder<'_, '_> {
    fn node(&mut self, node: &Node, out: &mut String) -> Result<(), Fault> {
        if self.depth == DEPTH_MAX {
            return Err("values are nested too deeply".into());
        }
        self.depth += 1;
        let done = self.inner(node, out);
        self.depth -= 1;
        done
    }

    fn inner(&mut self, node: &Node, out: &mut String) -> Result<(), Fault> {
        match node {
            Node::Bool => out.push_str(if take(self.bytes)? { "true" } else { "false" }),
            Node::Int(int) => number(*int, take_int(*int, self.bytes)?, out),
            Node::Fixed(int) => number(*int, take_fixed(*int, self.bytes)?, out),
            Node::F32 => float32(take(self.bytes)?, out),
            Node::F64 => float64(take(self.bytes)?, out),
            Node::Char => quoted(take::<char>(self.bytes)?.encode_utf8(&mut [0; 4]), out),
            Node::Text => {
                let length = take_length(self.bytes)?;
                let text = std::str::from_utf8(take_bytes(self.bytes, length)?);
                quoted(text.map_err(|_| "a text is not UTF-8")?, out);
            }
            Node::Bytes => {
                let length = take_length(self.bytes)?;
                out.push('[');
                for (n, byte) in take_bytes(self.bytes, length)?.iter().enumerate() {
                    let _ = write!(out, "{}{byte}", if n > 0 { "," } else { "" });
                }
                out.push(']');
            }
            Node::Unit => out.push_str("null"),
            Node::Option(inner) => self.option(inner, out)?,
            Node::Seq(inner) => {
                let length = take_length(self.bytes)?;
                self.list(inner, length, out)?;
            }
            Node::List(inner) => {
                let length = take_fixed(Int { signed: false, bits: 32 }, self.bytes)?;
                self.list(inner, length as usize, out)?;
            }
            Node::Rest(inner) => self.rest(inner, out)?,
            Node::Map(key, value) => self.map(key, value, out)?,
            Node::Tuple(nodes) => self.tuple(nodes, out)?,
            Node::Struct(_, fields) => self.fields(fields, out)?,
            Node::Enum(def) => self.variant(*def, out)?,
            Node::Slot(_) => return Err("a type is not known".into()),
        }
        Ok(())
    }

    fn option(&mut self, inner: &Node, out: &mut String) -> Result<(), Fault> {
        match take_bytes(self.bytes, 1)? {
            [0] => out.push_str("null"),
            [1] if is_nullable(inner) => {
                out.push('[');
                self.node(inner, out)?;
                out.push(']');
            }
            [1] => self.node(inner, out)?,
            _ => return Err("a flag is neither 0 nor 1".into()),
        }
        Ok(())
    }

    fn list(&mut self, inner: &Node, length: usize, out: &mut String) -> Result<(), Fault> {
        out.push('[');
        for n in 0..length {
            let before = self.bytes.len();
            out.push_str(if n > 0 { "," } else { "" });
            self.node(inner, out)?;
            if self.bytes.len() == before && n > EMPTY_MAX {
                return Err("a sequence is too long".into());
            }
        }
        out.push(']');
        Ok(())
    }

    fn rest(&mut self, inner: &Node, out: &mut String) -> Result<(), Fault> {
        out.push('[');
        let mut first = true;
        while !self.bytes.is_empty() {
            let before = self.bytes.len();
            out.push_str(if first { "" } else { "," });
            first = false;
            self.node(inner, out)?;
            if self.bytes.len() == before {
                return Err("what takes up no bytes cannot be repeated to the end".into());
            }
        }
        out.push(']');
        Ok(())
    }

    fn map(&mut self, key: &Node, value: &Node, out: &mut String) -> Result<(), Fault> {
        let length = take_length(self.bytes)?;
        if !is_name(key, self.defs) {
            let pair = Node::Tuple(vec![key.clone(), value.clone()]);
            return self.list(&pair, length, out);
        }
        out.push('{');
        for n in 0..length {
            let before = self.bytes.len();
            out.push_str(if n > 0 { "," } else { "" });
            let begin = out.len();
            self.node(key, out)?;
            if !out[begin..].starts_with('"') {
                out.insert(begin, '"');
                out.push('"');
            }
            out.push(':');
            self.node(value, out)?;
            if self.bytes.len() == before && n > EMPTY_MAX {
                return Err("a map is too long".into());
            }
        }
        out.push('}');
        Ok(())
    }

    fn tuple(&mut self, nodes: &[Node], out: &mut String) -> Result<(), Fault> {
        out.push('[');
        for (n, node) in nodes.iter().enumerate() {
            out.push_str(if n > 0 { "," } else { "" });
            self.node(node, out)?;
        }
        out.push(']');
        Ok(())
    }

    fn fields(&mut self, fields: &Fields, out: &mut String) -> Result<(), Fault> {
        match fields {
            Fields::None => out.push_str("null"),
            Fields::One(inner) => self.node(inner, out)?,
            Fields::Tuple(nodes) => self.tuple(nodes, out)?,
            Fields::Named(fields) => {
                out.push('{');
                for (n, (name, node)) in fields.iter().enumerate() {
                    out.push_str(if n > 0 { "," } else { "" });
                    quoted(name, out);
                    out.push(':');
                    self.node(node, out)?;
                }
                out.push('}');
            }
        }
        Ok(())
    }

    fn variant(&mut self, def: usize, out: &mut String) -> Result<(), Fault> {
        let index = take::<u32>(self.bytes)? as usize;
        let defs = self.defs;
        let variant = defs.get(def).and_then(|def| def.1.get(index));
        let (name, fields) = variant.ok_or_else(|| format!("variant {index} is not known"))?;
        if *fields == Fields::None {
            quoted(name, out);
            return Ok(());
        }
        self.tagged(name, out, |decoder, out| decoder.fields(fields, out))
    }

    fn tagged(
        &mut self,
        name: &str,
        out: &mut String,
        inner: impl FnOnce(&mut Self, &mut String) -> Result<(), Fault>,
    ) -> Result<(), Fault> {
        out.push('{');
        quoted(name, out);
        out.push(':');
        inner(self, out)?;
        out.push('}');
        Ok(())
    }
}

fn number(int: Int, n: u128, out: &mut String) {
    let _ = if int.signed { write!(out, "{}", n as i128) } else { write!(out, "{n}") };
}

fn float32(x: f32, out: &mut String) {
    let _ = match (x.is_finite(), x.is_nan()) {
        (true, _) => write!(out, "{x:?}"),
        (_, false) => write!(out, "\"{x}\""),
        _ if x.to_bits() == f32::NAN.to_bits() => write!(out, "\"NaN\""),
        _ => write!(out, "\"NaN:{:x}\"", x.to_bits()),
    };
}

fn float64(x: f64, out: &mut String) {
    let _ = match (x.is_finite(), x.is_nan()) {
        (true, _) => write!(out, "{x:?}"),
        (_, false) => write!(out, "\"{x}\""),
        _ if x.to_bits() == f64::NAN.to_bits() => write!(out, "\"NaN\""),
        _ => write!(out, "\"NaN:{:x}\"", x.to_bits()),
    };
}

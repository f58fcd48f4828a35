//! JSON as bytes: what `decode.rs` makes, the other way.

use super::decode::{is_name, is_nullable};
use super::json::Json;
use super::{Defs, Fault, Fields, Int, Node};
use crate::state::codec;
use serde_core::Serialize;

/// Appends the bytes of a value of this type.
///
/// # Errors
/// When it is of another: where in it, and what is wrong.
pub(crate) fn encode(node: &Node, defs: &Defs, json: &Json, out: &mut Vec<u8>) -> Result<(), Fault> {
    Encoder { defs, out }.node(node, json).map_err(|(path, what)| {
        if path.is_empty() { what } else { format!("at `{}`: {what}", path.trim_start_matches('.')) }
    })
}

/// Appends a number, a text: what the codec knows by itself.
pub(crate) fn put<T: Serialize>(value: &T, out: &mut Vec<u8>) -> Result<(), Fault> {
    codec::append(value, out).map_err(|error| error.to_string())
}

/// Where in the value, and what is wrong there.
type Encoded = Result<(), (String, Fault)>;

struct Encoder<'a> {
    defs: &'a Defs,
    out: &'a mut Vec<u8>,
}

fn fault(what: impl Into<String>) -> (String, Fault) {
    (String::new(), what.into())
}

#[cold]
fn expected(what: &str, json: &Json) -> (String, Fault) {
    fault(format!("{what} is expected, and there is {}", json.what()))
}

/// The fault is inside `part`.
fn inside(part: impl std::fmt::Display) -> impl FnOnce((String, Fault)) -> (String, Fault) {
    move |(path, what)| (format!("{part}{path}"), what)
}

impl Encoder<'_> {
    fn put<T: Serialize>(&mut self, value: &T) -> Encoded {
        put(value, self.out).map_err(fault)
    }

    fn node(&mut self, node: &Node, json: &Json) -> Encoded {
        match (node, json) {
            (Node::Bool, Json::Bool(flag)) => self.put(flag),
            (Node::Bool, _) => Err(expected("true or false", json)),
            (Node::Int(int) | Node::Fixed(int), Json::Number(number)) => {
                self.number(*int, number, matches!(node, Node::Fixed(_)))
            }
            (Node::Int(_) | Node::Fixed(_), _) => Err(expected("an integer", json)),
            (Node::F32, _) => {
                let x =
                    float(json, |bits| u32::try_from(bits).ok().map(f32::from_bits).filter(|x| x.is_nan()))?;
                self.put(&x)
            }
            (Node::F64, _) => {
                let x = float(json, |bits| Some(f64::from_bits(bits)).filter(|x| x.is_nan()))?;
                self.put(&x)
            }
            (Node::Char, Json::Text(text)) if text.chars().count() == 1 => self.put(text),
            (Node::Char, _) => Err(expected("a text of one character", json)),
            (Node::Text, Json::Text(text)) => self.put(text),
            (Node::Text, _) => Err(expected("a text", json)),
            (Node::Bytes, Json::List(bytes)) => self.seq(&Node::Int(Int { signed: false, bits: 8 }), bytes),
            (Node::Bytes, _) => Err(expected("a list of bytes", json)),
            (Node::Unit, Json::Null) => Ok(()),
            (Node::Unit, _) => Err(expected("null", json)),
            (Node::Option(inner), _) => self.option(inner, json),
            (Node::Seq(inner), Json::List(all)) => self.seq(inner, all),
            (Node::List(inner), Json::List(all)) => {
                let length = u32::try_from(all.len()).map_err(|_| fault("a list is too long"))?;
                self.out.extend_from_slice(&length.to_le_bytes());
                self.all(inner, all)
            }
            (Node::Rest(inner), Json::List(all)) => self.all(inner, all),
            (Node::Seq(_) | Node::List(_) | Node::Rest(_), _) => Err(expected("a list", json)),
            (Node::Map(key, value), _) => self.map(key, value, json),
            (Node::Tuple(nodes), _) => self.tuple(&nodes.iter().collect::<Vec<_>>(), json),
            (Node::Struct(_, fields), _) => self.fields(fields, json),
            (Node::Enum(def), _) => self.variant(*def, json),
            (Node::Slot(_), _) => Err(fault("a type is not known")),
        }
    }

    fn number(&mut self, int: Int, text: &str, fixed: bool) -> Encoded {
        let range = || {
            let sign = if int.signed { "i" } else { "u" };
            fault(format!("{text} is no number of {sign}{}", int.bits))
        };
        let n = if int.signed {
            let n = text.parse::<i128>().map_err(|_| range())?;
            let fits = n >> (int.bits - 1) == 0 || n >> (int.bits - 1) == -1;
            fits.then_some(n as u128).ok_or_else(range)?
        } else {
            let n = text.parse::<u128>().map_err(|_| range())?;
            (int.bits == 128 || n >> int.bits == 0).then_some(n).ok_or_else(range)?
        };
        if fixed || int.bits == 8 {
            self.out.extend_from_slice(&n.to_le_bytes()[..int.bits as usize / 8]);
            return Ok(());
        }
        // The bytes of a varint do not depend on how wide its type is.
        if int.signed { self.put(&(n as i128)) } else { self.put(&n) }
    }

    fn option(&mut self, inner: &Node, json: &Json) -> Encoded {
        if *json == Json::Null {
            self.out.push(0);
            return Ok(());
        }
        self.out.push(1);
        if !is_nullable(inner) {
            return self.node(inner, json);
        }
        match json {
            Json::List(one) if one.len() == 1 => self.node(inner, &one[0]).map_err(inside("[0]")),
            _ => Err(expected("null, or one value in brackets,", json)),
        }
    }

    fn seq(&mut self, inner: &Node, all: &[Json]) -> Encoded {
        self.put(&(all.len() as u64))?;
        self.all(inner, all)
    }

    fn all(&mut self, inner: &Node, all: &[Json]) -> Encoded {
        for (n, json) in all.iter().enumerate() {
            self.node(inner, json).map_err(inside(format_args!("[{n}]")))?;
        }
        Ok(())
    }

    fn map(&mut self, key: &Node, value: &Node, json: &Json) -> Encoded {
        if !is_name(key, self.defs) {
            let Json::List(pairs) = json else { return Err(expected("a list of pairs", json)) };
            return self.seq(&Node::Tuple(vec![key.clone(), value.clone()]), pairs);
        }
        let Json::Object(entries) = json else { return Err(expected("an object", json)) };
        self.put(&(entries.len() as u64))?;
        for (name, json) in entries {
            self.name(key, name).map_err(inside(format_args!(".{name}")))?;
            self.node(value, json).map_err(inside(format_args!(".{name}")))?;
        }
        Ok(())
    }

    /// A key that stands as the name of a field.
    fn name(&mut self, key: &Node, name: &str) -> Encoded {
        match key {
            Node::Struct(_, Fields::One(inner)) => self.name(inner, name),
            Node::Int(int) => self.number(*int, name, false),
            Node::Bool if matches!(name, "true" | "false") => self.put(&(name == "true")),
            _ => self.node(key, &Json::Text(name.to_owned())),
        }
    }

    fn tuple(&mut self, nodes: &[&Node], json: &Json) -> Encoded {
        let Json::List(all) = json else { return Err(expected("a list", json)) };
        if all.len() != nodes.len() {
            return Err(fault(format!("{} values are expected, and there are {}", nodes.len(), all.len())));
        }
        for (n, (node, json)) in nodes.iter().zip(all).enumerate() {
            self.node(node, json).map_err(inside(format_args!("[{n}]")))?;
        }
        Ok(())
    }

    fn fields(&mut self, fields: &Fields, json: &Json) -> Encoded {
        match fields {
            Fields::None => self.node(&Node::Unit, json),
            Fields::One(inner) => self.node(inner, json),
            Fields::Tuple(_) => self.tuple(&fields.nodes(), json),
            Fields::Named(fields) => {
                let Json::Object(given) = json else { return Err(expected("an object", json)) };
                let unknown = given.iter().find(|given| fields.iter().all(|field| field.0 != given.0));
                if let Some((name, _)) = unknown {
                    return Err(fault(format!("there is no field `{name}`")));
                }
                if given.len() > fields.len() {
                    return Err(fault("a field is given twice"));
                }
                for (name, node) in fields {
                    let json =
                        json.get(name).ok_or_else(|| fault(format!("the field `{name}` is missing")))?;
                    self.node(node, json).map_err(inside(format_args!(".{name}")))?;
                }
                Ok(())
            }
        }
    }

    fn variant(&mut self, def: usize, json: &Json) -> Encoded {
        let defs = self.defs;
        let Some((of, variants)) = defs.get(def) else { return Err(fault("an enum is not known")) };
        let (name, inner) = match json {
            Json::Text(name) => (name.as_str(), None),
            _ => single(json).map(|(name, json)| (name, Some(json)))?,
        };
        let index = variants.iter().position(|variant| variant.0 == name);
        let index = index.ok_or_else(|| fault(format!("`{of}` has no variant `{name}`")))?;
        self.put(&u32::try_from(index).unwrap_or(u32::MAX))?;
        match (&variants[index].1, inner) {
            (Fields::None, None) => Ok(()),
            (Fields::None, Some(_)) => Err(fault(format!("the variant `{name}` has no fields"))),
            (_, None) => Err(fault(format!("the variant `{name}` has fields: {{\"{name}\": …}}"))),
            (fields, Some(json)) => self.fields(fields, json).map_err(inside(format_args!(".{name}"))),
        }
    }
}

/// The only field of an object.
fn single(json: &Json) -> Result<(&str, &Json), (String, Fault)> {
    match json {
        Json::Object(fields) if fields.len() == 1 => Ok((&fields[0].0, &fields[0].1)),
        _ => Err(expected("a variant: a text, or an object of one field,", json)),
    }
}

fn float<T: std::str::FromStr>(
    json: &Json,
    of_bits: impl Fn(u64) -> Option<T>,
) -> Result<T, (String, Fault)> {
    let wrong = || expected("a number", json);
    match json {
        Json::Number(text) => text.parse().map_err(|_| wrong()),
        Json::Text(text) => match (text.as_str(), text.strip_prefix("NaN:")) {
            ("NaN" | "inf" | "-inf", _) => text.parse().map_err(|_| wrong()),
            (_, Some(bits)) => u64::from_str_radix(bits, 16).ok().and_then(of_bits).ok_or_else(wrong),
            _ => Err(wrong()),
        },
        _ => Err(wrong()),
    }
}

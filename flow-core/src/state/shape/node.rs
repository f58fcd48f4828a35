//! What a schema describes, and its text.

use super::words::name_text;
use std::fmt::Write;

/// What is wrong with a text or with bytes.
pub(crate) type Fault = String;

/// Values inside one another, at most.
pub(crate) const DEPTH_MAX: usize = 128;

/// An integer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Int {
    pub signed: bool,
    pub bits: u32,
}

/// A type, or what an operator puts around types.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Node {
    Bool,
    Int(Int),
    F32,
    F64,
    Char,
    Text,
    Bytes,
    Unit,
    Option(Box<Node>),
    Seq(Box<Node>),
    Map(Box<Node>, Box<Node>),
    Tuple(Vec<Node>),
    /// Its name, which is empty for what has none.
    Struct(String, Fields),
    /// Where in [`Defs`] its variants are.
    Enum(usize),
    /// Of an operator's own: a little-endian number of all its bytes.
    Fixed(Int),
    /// The number of elements as a little-endian `u32`, then they.
    List(Box<Node>),
    /// Elements up to the end.
    Rest(Box<Node>),
    /// A key or value of the state.
    Slot(usize),
}

/// What a struct or a variant has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Fields {
    None,
    One(Box<Node>),
    Tuple(Vec<Node>),
    Named(Vec<(String, Node)>),
}

impl Fields {
    pub(crate) fn nodes(&self) -> Vec<&Node> {
        match self {
            Fields::None => Vec::new(),
            Fields::One(node) => vec![node],
            Fields::Tuple(nodes) => nodes.iter().collect(),
            Fields::Named(fields) => fields.iter().map(|field| &field.1).collect(),
        }
    }
}

/// Enums: their names and variants.
pub(crate) type Defs = Vec<(String, Vec<(String, Fields)>)>;

/// The words of a schema that are types by themselves.
pub(crate) fn plain(word: &str) -> Option<Node> {
    let int = |signed, bits| Some(Node::Int(Int { signed, bits }));
    match word {
        "bool" => Some(Node::Bool),
        "f32" => Some(Node::F32),
        "f64" => Some(Node::F64),
        "char" => Some(Node::Char),
        "string" => Some(Node::Text),
        "bytes" => Some(Node::Bytes),
        "u8" | "u16" | "u32" | "u64" | "u128" => int(false, word[1..].parse().ok()?),
        "i8" | "i16" | "i32" | "i64" | "i128" => int(true, word[1..].parse().ok()?),
        _ => None,
    }
}

/// Whether two types are one; with `names` also those of structs and enums have to be.
pub(crate) fn same(a: (&Node, &Defs), b: (&Node, &Defs), names: bool) -> bool {
    Same { names, assumed: Vec::new() }.nodes(a, b)
}

struct Same {
    names: bool,
    /// Pairs of enums that are looked at: inside themselves they are taken for the same.
    assumed: Vec<(usize, usize)>,
}

impl Same {
    fn nodes(&mut self, (a, ad): (&Node, &Defs), (b, bd): (&Node, &Defs)) -> bool {
        match (a, b) {
            (Node::Option(a), Node::Option(b))
            | (Node::Seq(a), Node::Seq(b))
            | (Node::List(a), Node::List(b))
            | (Node::Rest(a), Node::Rest(b)) => self.nodes((a, ad), (b, bd)),
            (Node::Map(k, v), Node::Map(l, w)) => {
                self.nodes((k, ad), (l, bd)) && self.nodes((v, ad), (w, bd))
            }
            (Node::Tuple(a), Node::Tuple(b)) => self.all(a.iter(), ad, b.iter(), bd),
            (Node::Struct(n, a), Node::Struct(m, b)) => {
                (!self.names || n == m) && self.fields((a, ad), (b, bd))
            }
            (Node::Enum(a), Node::Enum(b)) => self.enums((*a, ad), (*b, bd)),
            _ => a == b,
        }
    }

    fn enums(&mut self, (a, ad): (usize, &Defs), (b, bd): (usize, &Defs)) -> bool {
        if self.assumed.contains(&(a, b)) {
            return true;
        }
        self.assumed.push((a, b));
        let (Some(one), Some(other)) = (ad.get(a), bd.get(b)) else { return false };
        let all = one.1.iter().zip(&other.1);
        (!self.names || one.0 == other.0)
            && one.1.len() == other.1.len()
            && all.into_iter().all(|(v, w)| v.0 == w.0 && self.fields((&v.1, ad), (&w.1, bd)))
    }

    fn fields(&mut self, (a, ad): (&Fields, &Defs), (b, bd): (&Fields, &Defs)) -> bool {
        if let (Fields::Named(a), Fields::Named(b)) = (a, b)
            && !a.iter().map(|field| &field.0).eq(b.iter().map(|field| &field.0))
        {
            return false;
        }
        std::mem::discriminant(a) == std::mem::discriminant(b)
            && self.all(a.nodes().into_iter(), ad, b.nodes().into_iter(), bd)
    }

    fn all<'n>(
        &mut self,
        a: impl ExactSizeIterator<Item = &'n Node>,
        ad: &Defs,
        b: impl ExactSizeIterator<Item = &'n Node>,
        bd: &Defs,
    ) -> bool {
        a.len() == b.len() && a.zip(b).all(|(a, b)| self.nodes((a, ad), (b, bd)))
    }
}

/// The text of a type, for messages.
pub(crate) fn text(node: &Node, defs: &Defs) -> String {
    let (mut out, mut named) = (String::new(), Vec::new());
    write(node, defs, &mut out, &mut named);
    let mut at = 0;
    while let Some((name, variants)) = named.get(at).and_then(|def| defs.get(*def)) {
        let _ = write!(out, "; {} = ", name_text(name));
        for (n, (variant, fields)) in variants.iter().enumerate() {
            out.push_str(if n > 0 { " | " } else { "" });
            out.push_str(&name_text(variant));
            write_fields(fields, defs, &mut out, &mut named, true);
        }
        at += 1;
    }
    out
}

fn write(node: &Node, defs: &Defs, out: &mut String, named: &mut Vec<usize>) {
    match node {
        Node::Bool => out.push_str("bool"),
        Node::Int(int) => number(*int, out),
        Node::F32 => out.push_str("f32"),
        Node::F64 => out.push_str("f64"),
        Node::Char => out.push_str("char"),
        Node::Text => out.push_str("string"),
        Node::Bytes => out.push_str("bytes"),
        Node::Unit => out.push_str("()"),
        Node::Option(inner) => inside("option", &[inner], defs, out, named),
        Node::Seq(inner) => inside("seq", &[inner], defs, out, named),
        Node::Map(key, value) => inside("map", &[key, value], defs, out, named),
        Node::Tuple(nodes) => write_fields(&Fields::Tuple(nodes.clone()), defs, out, named, false),
        Node::Struct(name, fields) => {
            if !name.is_empty() {
                out.push_str(&name_text(name));
            }
            match fields {
                Fields::None => out.push_str("()"),
                _ => write_fields(fields, defs, out, named, !name.is_empty()),
            }
        }
        Node::Enum(def) => {
            if !named.contains(def) {
                named.push(*def);
            }
            out.push_str(&defs.get(*def).map(|def| name_text(&def.0)).unwrap_or_default());
        }
        Node::Fixed(int) => number(*int, out),
        Node::List(inner) | Node::Rest(inner) => inside("list", &[inner], defs, out, named),
        Node::Slot(_) => out.push('…'),
    }
}

fn number(int: Int, out: &mut String) {
    let _ = write!(out, "{}{}", if int.signed { 'i' } else { 'u' }, int.bits);
}

fn inside(what: &str, nodes: &[&Node], defs: &Defs, out: &mut String, named: &mut Vec<usize>) {
    out.push_str(what);
    out.push('<');
    for (n, node) in nodes.iter().enumerate() {
        out.push_str(if n > 0 { ", " } else { "" });
        write(node, defs, out, named);
    }
    out.push('>');
}

fn write_fields(fields: &Fields, defs: &Defs, out: &mut String, named: &mut Vec<usize>, behind: bool) {
    let (open, close) = match fields {
        Fields::None => return,
        Fields::Named(_) => (if behind { " { " } else { "{ " }, " }"),
        _ => ("(", ")"),
    };
    out.push_str(open);
    for (n, node) in fields.nodes().into_iter().enumerate() {
        out.push_str(if n > 0 { ", " } else { "" });
        if let Fields::Named(fields) = fields {
            out.push_str(&name_text(&fields[n].0));
            out.push_str(": ");
        }
        write(node, defs, out, named);
    }
    out.push_str(close);
}

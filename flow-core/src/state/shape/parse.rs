//! Reads the text of a schema.
//!
//! ```text
//! state    := [KIND [" [" WHICH "]"] " of "] type " -> " type (", " type)* [" and " type]     the last is of what stands behind the operator
//! type     := node ("; " NAME " = " variant (" | " variant)*)*          the enums of the type, which are known in it alone
//! node     := WORD | NAME | "()" | "(" node, … ")" | "{ " NAME ": " node, … " }" | NAME fields
//!           | "option<" node ">" | "seq<" node ">" | "map<" node ", " node ">"
//! variant  := NAME | NAME fields
//! fields   := "(" node, … ")" | " { " NAME ": " node, … " }"
//! ```
//!
//! A name by itself is that of an enum; one with other characters than letters, digits and `_-.$#` stands in quotes.

use super::layout::{FUNCTION, State, Value};
use super::words::{Kind, is_of_name};
use super::{DEPTH_MAX, Defs, Fault, Fields, Node, plain};

/// The type that a schema describes.
///
/// # Errors
/// When the text is none, or says that it does not say all.
pub(crate) fn type_of(schema: &str) -> Result<(Node, Defs), Fault> {
    let mut parser = Parser::new(schema);
    let node = parser.whole()?;
    parser.end()?;
    Ok((node, parser.defs))
}

/// The keyed state that the schema of a stage describes.
///
/// # Errors
/// As [`type_of`].
pub(crate) fn state(schema: &str) -> Result<State, Fault> {
    let (kind, which, rest) = Kind::before(schema);
    let mut parser = Parser::new(rest);
    let key = parser.whole()?;
    parser.expect("->")?;
    let mut values = vec![parser.whole()?];
    while parser.next_is(",") {
        values.push(parser.whole()?);
    }
    let behind = if parser.next_is("and") { Some(parser.whole()?) } else { None };
    parser.end()?;
    let names = kind.parts();
    if names.len() != values.len() {
        return Err(format!("`{schema}` has {} values, and not {}", values.len(), names.len()));
    }
    let mut values: Vec<Value> = names.iter().zip(values).map(|(name, node)| Value { name, node }).collect();
    values.extend(behind.map(|node| Value { name: FUNCTION, node }));
    Ok(State { kind, which: which.to_owned(), key, values, defs: parser.defs })
}

struct Parser<'a> {
    text: &'a str,
    rest: &'a str,
    depth: usize,
    defs: Defs,
    /// Where the definitions of the type that is read begin.
    from: usize,
}

impl<'a> Parser<'a> {
    fn new(text: &'a str) -> Self {
        Parser { text, rest: text, depth: 0, defs: Defs::new(), from: 0 }
    }

    fn fault<T>(&self, what: &str) -> Result<T, Fault> {
        let at: String = self.rest.chars().take(20).collect();
        if self.rest.contains('…') || at.is_empty() {
            return Err("its schema does not say all: the type is too deep, too long, or not described by what it asks for".into());
        }
        Err(format!("the schema `{}` cannot be read: {what} at `{at}`", self.text))
    }

    fn next_is(&mut self, what: &str) -> bool {
        let rest = self.rest.trim_start_matches(' ').strip_prefix(what);
        if let Some(rest) = rest {
            self.rest = rest;
        }
        rest.is_some()
    }

    fn expect(&mut self, what: &str) -> Result<(), Fault> {
        if self.next_is(what) { Ok(()) } else { self.fault(&format!("`{what}` is missing")) }
    }

    fn end(&self) -> Result<(), Fault> {
        if self.rest.is_empty() { Ok(()) } else { self.fault("something follows") }
    }

    /// A type and its enums.
    fn whole(&mut self) -> Result<Node, Fault> {
        self.from = self.defs.len();
        let node = self.node()?;
        let mut defined = 0;
        while self.next_is(";") {
            let name = self.name()?;
            self.expect("=")?;
            let at = self.enum_of(name);
            let mut variants = Vec::new();
            loop {
                let variant = self.name()?;
                variants.push((variant, self.fields()?.unwrap_or(Fields::None)));
                if !self.next_is("|") {
                    break;
                }
            }
            self.defs[at].1 = variants;
            defined += 1;
        }
        if self.defs[self.from..].iter().any(|def| def.1.is_empty()) || defined < self.defs.len() - self.from
        {
            return self.fault("the variants of an enum are missing");
        }
        Ok(node)
    }

    fn name(&mut self) -> Result<String, Fault> {
        self.rest = self.rest.trim_start_matches(' ');
        if self.rest.starts_with('"') {
            let end = self.rest.char_indices().skip(1).scan(false, |escaped, (at, c)| {
                let ends = c == '"' && !*escaped;
                *escaped = c == '\\' && !*escaped;
                Some(ends.then_some(at + 1))
            });
            let Some(end) = end.flatten().next() else { return self.fault("a quote is not closed") };
            let (quoted, rest) = self.rest.split_at(end);
            self.rest = rest;
            return Ok(unquoted(&quoted[1..quoted.len() - 1]));
        }
        let end = self.rest.find(|c| !is_of_name(c)).unwrap_or(self.rest.len());
        if end == 0 {
            return self.fault("a name is missing");
        }
        let (name, rest) = self.rest.split_at(end);
        self.rest = rest;
        Ok(name.to_owned())
    }

    /// The enum of this name in the type that is read.
    fn enum_of(&mut self, name: String) -> usize {
        let known = self.defs[self.from..].iter().position(|def| def.0 == name);
        known.map_or_else(
            || {
                self.defs.push((name, Vec::new()));
                self.defs.len() - 1
            },
            |at| self.from + at,
        )
    }

    fn node(&mut self) -> Result<Node, Fault> {
        if self.depth == DEPTH_MAX {
            return self.fault("it is nested too deeply");
        }
        self.depth += 1;
        let node = self.inner();
        self.depth -= 1;
        node
    }

    fn inner(&mut self) -> Result<Node, Fault> {
        if self.next_is("()") {
            return Ok(Node::Unit);
        }
        if self.next_is("(") {
            return Ok(Node::Tuple(self.nodes(")")?));
        }
        if self.next_is("{") {
            return Ok(Node::Struct(String::new(), self.named()?));
        }
        for (word, of) in [("option<", Node::Option as fn(_) -> _), ("seq<", Node::Seq)] {
            if self.next_is(word) {
                let inner = self.node()?;
                self.expect(">")?;
                return Ok(of(Box::new(inner)));
            }
        }
        if self.next_is("map<") {
            let key = self.node()?;
            self.expect(",")?;
            let value = self.node()?;
            self.expect(">")?;
            return Ok(Node::Map(Box::new(key), Box::new(value)));
        }
        let quoted = self.rest.trim_start_matches(' ').starts_with('"');
        let name = self.name()?;
        if let Some(node) = plain(&name).filter(|_| !quoted) {
            return Ok(node);
        }
        match self.fields()? {
            Some(fields) => Ok(Node::Struct(name, fields)),
            None => Ok(Node::Enum(self.enum_of(name))),
        }
    }

    /// What stands behind the name of a struct or variant.
    fn fields(&mut self) -> Result<Option<Fields>, Fault> {
        if self.rest.starts_with('(') {
            self.rest = &self.rest[1..];
            let mut nodes = self.nodes(")")?;
            return Ok(Some(match nodes.len() {
                0 => Fields::None,
                1 => Fields::One(Box::new(nodes.swap_remove(0))),
                _ => Fields::Tuple(nodes),
            }));
        }
        if self.next_is("{") { self.named().map(Some) } else { Ok(None) }
    }

    fn nodes(&mut self, end: &str) -> Result<Vec<Node>, Fault> {
        let mut nodes = Vec::new();
        while !self.next_is(end) {
            if !nodes.is_empty() {
                self.expect(",")?;
            }
            nodes.push(self.node()?);
        }
        Ok(nodes)
    }

    fn named(&mut self) -> Result<Fields, Fault> {
        let mut fields = Vec::new();
        while !self.next_is("}") {
            if !fields.is_empty() {
                self.expect(",")?;
            }
            let name = self.name()?;
            self.expect(":")?;
            fields.push((name, self.node()?));
        }
        Ok(Fields::Named(fields))
    }
}

/// What `{:?}` has made of a text.
fn unquoted(text: &str) -> String {
    let mut out = String::new();
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        if c != '\\' {
            out.push(c);
            continue;
        }
        match chars.next() {
            Some('n') => out.push('\n'),
            Some('r') => out.push('\r'),
            Some('t') => out.push('\t'),
            Some('0') => out.push('\0'),
            Some('u') => {
                let hex: String = chars.by_ref().skip(1).take_while(|c| *c != '}').collect();
                out.extend(u32::from_str_radix(&hex, 16).ok().and_then(char::from_u32));
            }
            Some(other) => out.push(other),
            None => {}
        }
    }
    out
}

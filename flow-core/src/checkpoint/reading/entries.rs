//! The lines of one operator become the bytes of its slots.

use super::import::{Slots, field, hex, only, text};
use crate::checkpoint::Slot;
use crate::checkpoint::records::{Part, framed, section};
use crate::sorted::Sorted;
use crate::state::shape::json::Json;
use crate::state::shape::{Area, Defs, Fault, Fields, Layout, Node, Section, State, encode, state};
use std::collections::HashSet;

/// An operator whose lines are read.
pub(super) struct Operator {
    /// What its state looks like; why that is not known.
    shape: Result<(State, Layout), Fault>,
    instances: Slots,
    groups: Sorted<u16, Group>,
}

/// A group is given as bytes, or line by line.
const RAW: &str = "the key group has a line already";

/// A key group.
#[derive(Default)]
struct Group {
    records: Vec<u8>,
    /// Name and header of the section of the last record.
    section: Option<(Vec<u8>, Vec<u8>)>,
    /// What is written in one piece.
    piece: Vec<u8>,
    /// All of it has come as bytes.
    raw: bool,
    /// Sections and keys that have come.
    seen: HashSet<(Vec<u8>, Vec<u8>)>,
}

impl Group {
    fn put(&mut self, name: Vec<u8>, header: Vec<u8>, key: &[u8], value: &[u8]) -> Result<(), Fault> {
        if self.raw {
            return Err(RAW.into());
        }
        if !self.seen.insert((name.clone(), key.to_vec())) {
            return Err("the key has a line already".into());
        }
        let of = (name, header);
        if self.section.as_ref() != Some(&of) {
            section(&of.0, &of.1, &mut self.records);
            self.section = Some(of);
        }
        framed(1, key, &mut self.records);
        framed(1, value, &mut self.records);
        Ok(())
    }
}

impl Operator {
    /// Of this schema.
    pub fn new(schema: &str) -> Self {
        let shape = state(schema).map(|state| {
            let layout = state.layout();
            (state, layout)
        });
        Operator { shape, instances: Slots::default(), groups: Sorted::default() }
    }

    /// What an instance has beside keyed state.
    pub fn instance(&mut self, instance: u32, bytes: Vec<u8>) -> Result<(), Fault> {
        match self.instances.insert(Slot::Instance(instance), bytes) {
            None => Ok(()),
            Some(_) => Err(format!("instance {instance} has a line already")),
        }
    }

    /// A line of a key group.
    pub fn entry(&mut self, group: u16, line: &Json) -> Result<(), Fault> {
        let Operator { shape, groups, .. } = self;
        let group = groups.or_insert_with(group, Group::default);
        if line.get("bytes").is_some() {
            return foreign(group, line);
        }
        let (state, layout) =
            shape.as_ref().map_err(|why| format!("only bytes can be read of this operator: {why}"))?;
        let part = if line.get("part").is_some() { text(line, "part")? } else { String::new() };
        for area in &layout.areas {
            match area {
                Area::Entries { section, part: of, key, value } if *of == part => {
                    return entry(group, line, section, (key, value), state);
                }
                Area::Piece(fields) => {
                    if let Some((_, node)) = fields.iter().find(|field| field.0 == part) {
                        if group.raw {
                            return Err(RAW.into());
                        }
                        return element(&mut group.piece, line, node, &state.defs);
                    }
                }
                Area::Entries { .. } => {}
            }
        }
        Err(format!("the operator has no part `{part}`"))
    }

    /// The bytes of all slots.
    pub fn slots(self) -> Slots {
        let mut all = self.instances;
        for (number, group) in self.groups {
            let Group { mut records, piece, .. } = group;
            if !piece.is_empty() {
                section(&[Part::Piece as u8], &[], &mut records);
                framed(1, &[], &mut records);
                framed(1, &piece, &mut records);
            }
            all.insert(Slot::Group(number), records);
        }
        all
    }
}

/// Bytes as they are: of all the group, or an entry of a section that is not the head's.
fn foreign(group: &mut Group, line: &Json) -> Result<(), Fault> {
    if line.get("section").is_none() {
        only(line, &["operator", "group", "bytes"])?;
        if group.raw || !group.records.is_empty() || !group.piece.is_empty() {
            return Err(RAW.into());
        }
        (group.raw, group.records) = (true, hex(line, "bytes")?);
        return Ok(());
    }
    only(line, &["operator", "group", "section", "key", "bytes"])?;
    let (name, key, value) = (hex(line, "section")?, hex(line, "key")?, hex(line, "bytes")?);
    group.put(name, Vec::new(), &key, &value)
}

fn entry(
    group: &mut Group,
    line: &Json,
    section: &Section,
    (key_node, value_node): (&Node, &Node),
    state: &State,
) -> Result<(), Fault> {
    let defs = &state.defs;
    let alone = [("key".to_owned(), key_node.clone())];
    let keys = match key_node {
        Node::Struct(name, Fields::Named(fields)) if name.is_empty() && state.key != *key_node => fields,
        _ => &alone[..],
    };
    let mut names = vec!["operator", "group", "part", "value"];
    names.extend(keys.iter().map(|field| field.0.as_str()));
    let (mut name, mut header) = (vec![Part::Head as u8], Vec::new());
    match section {
        Section::Named(known) => name.extend_from_slice(known),
        Section::Behind => name = vec![Part::Behind as u8],
        Section::Windows { name: name_node, header: header_node } => {
            names.extend(["window", "header"]);
            put(line, "window", name_node, defs, &mut name)?;
            put(line, "header", header_node, defs, &mut header)?;
        }
    }
    only(line, &names)?;
    let (mut key, mut value) = (Vec::new(), Vec::new());
    for (name, node) in keys {
        // What follows a key only now and then.
        if name != "slot" || line.get(name).is_some() {
            put(line, name, node, defs, &mut key)?;
        }
    }
    put(line, "value", value_node, defs, &mut value)?;
    group.put(name, header, &key, &value)
}

/// A field of a piece, or an element of a list that goes to its end.
fn element(piece: &mut Vec<u8>, line: &Json, node: &Node, defs: &Defs) -> Result<(), Fault> {
    let Node::Rest(inner) = node else {
        only(line, &["operator", "group", "part", "value"])?;
        if !piece.is_empty() {
            return Err("the key group has such a line already".into());
        }
        return put(line, "value", node, defs, piece);
    };
    let alone = [("value".to_owned(), (**inner).clone())];
    let fields = match &**inner {
        Node::Struct(_, Fields::Named(fields)) => fields,
        _ => &alone[..],
    };
    let mut names = vec!["operator", "group", "part"];
    names.extend(fields.iter().map(|field| field.0.as_str()));
    only(line, &names)?;
    let begin = piece.len();
    for (name, node) in fields {
        if let Err(fault) = put(line, name, node, defs, piece) {
            piece.truncate(begin);
            return Err(fault);
        }
    }
    Ok(())
}

fn put(line: &Json, name: &str, node: &Node, defs: &Defs, out: &mut Vec<u8>) -> Result<(), Fault> {
    encode(node, defs, field(line, name)?, out).map_err(|fault| match fault.strip_prefix("at `") {
        Some(inside) if inside.starts_with('[') => format!("at `{name}{inside}"),
        Some(inside) => format!("at `{name}.{inside}"),
        None => format!("at `{name}`: {fault}"),
    })
}

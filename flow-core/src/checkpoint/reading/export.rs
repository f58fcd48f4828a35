//! A checkpoint as lines of JSON.

use super::{Snapshot, slot, state_of, wrong};
use crate::checkpoint::records::{Record, Records};
use crate::checkpoint::{OperatorState, Slot};
use crate::error::{Error, ErrorKind, Result};
use crate::exchange::KEY_GROUPS;
use crate::exchange::hash::HASH_VERSION;
use crate::state::shape::json::quoted;
use crate::state::shape::{Area, Defs, Fault, Fields, Layout, Node, Section, State, decode};
use std::fmt::Write as _;
use std::io::Write;

/// The format of the lines.
pub(super) const FORMAT: u64 = 2;

struct Lines<'a> {
    out: &'a mut dyn Write,
    count: u64,
}

impl Lines<'_> {
    fn put(&mut self, line: &str) -> Result<()> {
        self.count += 1;
        let written = self.out.write_all(line.as_bytes()).and_then(|()| self.out.write_all(b"\n"));
        written.map_err(|error| Error::new(ErrorKind::State, format!("a line cannot be written: {error}")))
    }
}

/// See [`Snapshot::export`].
pub(super) fn export(snapshot: &Snapshot, out: &mut dyn Write) -> Result<u64> {
    let mut lines = Lines { out, count: 0 };
    let manifest = &snapshot.manifest;
    let (id, savepoint, finished) = (manifest.id, manifest.savepoint, manifest.finished);
    let job = text(&manifest.job);
    let history = if manifest.history { "\"history\":true," } else { "" };
    lines.put(&format!(
        "{{\"checkpoint\":{id},\"job\":{job},\"savepoint\":{savepoint},\"finished\":{finished},{history}\"format\":{FORMAT},\"key_groups\":{KEY_GROUPS},\"hash\":{HASH_VERSION}}}"
    ))?;
    for staged in &manifest.staged {
        let (sink, bytes) = (text(&staged.sink), hex(&staged.bytes));
        lines.put(&format!(
            "{{\"sink\":{sink},\"instance\":{},\"checkpoint\":{},\"bytes\":\"{bytes}\"}}",
            staged.instance, staged.checkpoint
        ))?;
    }
    for operator in &manifest.operators {
        let (name, schema) = (text(&operator.id), text(&operator.schema));
        lines.put(&format!(
            "{{\"operator\":{name},\"schema\":{schema},\"instances\":{},\"finished\":{}}}",
            operator.instances, operator.finished
        ))?;
        self::operator(snapshot, operator, &name, &mut lines)?;
    }
    // Without it nobody could tell that something is missing at the end.
    lines.put(&format!("{{\"end\":{id}}}"))?;
    Ok(lines.count)
}

fn operator(snapshot: &Snapshot, operator: &OperatorState, name: &str, lines: &mut Lines<'_>) -> Result<()> {
    let parts = snapshot.parts(operator)?;
    let state = state_of(operator);
    for at in parts.slots() {
        for bytes in slot(&parts, at).map_err(|error| snapshot.has_it_gone(error))? {
            match (at, &state) {
                (Slot::Instance(instance), _) => {
                    let hex = hex(&bytes);
                    lines.put(&format!(
                        "{{\"operator\":{name},\"instance\":{instance},\"bytes\":\"{hex}\"}}"
                    ))?;
                }
                (Slot::Group(group), Some(state)) => {
                    let front = format!("{{\"operator\":{name},\"group\":{group}");
                    let mut written = Group { state, layout: &state.layout(), front: &front, lines };
                    written.records(&bytes).map_err(|error| match error {
                        Failed::Bytes(fault) => wrong(&operator.id, &fault),
                        Failed::Line(error) => error,
                    })?;
                }
                (Slot::Group(group), None) => {
                    let hex = hex(&bytes);
                    lines.put(&format!("{{\"operator\":{name},\"group\":{group},\"bytes\":\"{hex}\"}}"))?;
                }
            }
        }
    }
    Ok(())
}

enum Failed {
    Bytes(Fault),
    Line(Error),
}

impl From<Fault> for Failed {
    fn from(fault: Fault) -> Self {
        Failed::Bytes(fault)
    }
}

/// The entries of a key group.
struct Group<'a, 'b> {
    state: &'a State,
    layout: &'a Layout,
    /// What each line begins with.
    front: &'a str,
    lines: &'a mut Lines<'b>,
}

impl Group<'_, '_> {
    fn records(&mut self, bytes: &[u8]) -> Result<(), Failed> {
        let mut current: Option<(&Area, String)> = None;
        let mut foreign = Vec::new();
        for record in Records(bytes) {
            match record.map_err(|error| error.message().to_owned())? {
                Record::Section { name, header } => {
                    current = None;
                    match self.layout.area_of(name) {
                        Some(at) => {
                            let area = &self.layout.areas[at];
                            current = Some((area, self.section(area, &name[1..], header)?));
                        }
                        None => foreign = name.to_vec(),
                    }
                }
                Record::Put { key, value } => match &current {
                    Some((Area::Entries { key: key_node, value: node, .. }, section)) => {
                        let line = self.entry(section, (key_node, key), (node, value))?;
                        self.put(line)?;
                    }
                    Some((Area::Piece(fields), _)) => self.piece(fields, value)?,
                    None => {
                        let (section, key, value) = (hex(&foreign), hex(key), hex(value));
                        let line = format!(
                            "{},\"section\":\"{section}\",\"key\":\"{key}\",\"bytes\":\"{value}\"}}",
                            self.front
                        );
                        self.put(line)?;
                    }
                },
                Record::Removed { .. } | Record::Dropped { .. } => {
                    return Err(Failed::Bytes("it says what has changed, and not what there is".into()));
                }
            }
        }
        Ok(())
    }

    fn put(&mut self, line: String) -> Result<(), Failed> {
        self.lines.put(&line).map_err(Failed::Line)
    }

    fn defs(&self) -> &Defs {
        &self.state.defs
    }

    /// What lines say of the section that they are of.
    fn section(&self, area: &Area, name: &[u8], header: &[u8]) -> Result<String, Fault> {
        let mut out = String::new();
        let Area::Entries { section, part, .. } = area else { return Ok(out) };
        if !part.is_empty() {
            let _ = write!(out, ",\"part\":{}", text(part));
        }
        if let Section::Windows { name: name_node, header: header_node } = section {
            for (field, node, mut bytes) in [("window", name_node, name), ("header", header_node, header)] {
                let _ = write!(out, ",\"{field}\":");
                all(node, self.defs(), &mut bytes, &mut out)?;
            }
        }
        Ok(out)
    }

    fn entry(
        &self,
        section: &str,
        (key_node, mut key): (&Node, &[u8]),
        (node, mut value): (&Node, &[u8]),
    ) -> Result<String, Fault> {
        let mut line = format!("{}{section}", self.front);
        match key_node {
            Node::Struct(name, Fields::Named(fields)) if name.is_empty() && self.state.key != *key_node => {
                for (name, node) in fields {
                    let begin = line.len();
                    let _ = write!(line, ",{}:", text(name));
                    decode(node, self.defs(), &mut key, &mut line)?;
                    // What follows a key only now and then.
                    if line.ends_with("\"slot\":[]") {
                        line.truncate(begin);
                    }
                }
            }
            node => {
                line.push_str(",\"key\":");
                decode(node, self.defs(), &mut key, &mut line)?;
            }
        }
        line.push_str(",\"value\":");
        all(node, self.defs(), &mut value, &mut line)?;
        line.push('}');
        if key.is_empty() { Ok(line) } else { Err("something stands behind a key".into()) }
    }

    /// A line for each element of a list, and for each other field.
    fn piece(&mut self, fields: &[(&'static str, Node)], mut bytes: &[u8]) -> Result<(), Failed> {
        for (part, node) in fields {
            let mut front = format!("{},\"part\":{}", self.front, text(part));
            match node {
                Node::Rest(inner) => {
                    while !bytes.is_empty() {
                        let before = bytes.len();
                        let line = self.element(&front, inner, &mut bytes)?;
                        if bytes.len() == before {
                            return Err(Failed::Bytes("an element takes up no bytes".into()));
                        }
                        self.put(line)?;
                    }
                }
                _ => {
                    front.push_str(",\"value\":");
                    decode(node, self.defs(), &mut bytes, &mut front)?;
                    front.push('}');
                    self.put(front)?;
                }
            }
        }
        if bytes.is_empty() { Ok(()) } else { Err(Failed::Bytes("something stands behind it".into())) }
    }

    /// An element with its key apart, and what there is but the key.
    fn element(&self, front: &str, node: &Node, bytes: &mut &[u8]) -> Result<String, Fault> {
        let mut line = front.to_owned();
        match node {
            Node::Struct(_, Fields::Named(fields)) => {
                for (name, node) in fields {
                    let _ = write!(line, ",{}:", text(name));
                    decode(node, self.defs(), bytes, &mut line)?;
                }
            }
            node => {
                line.push_str(",\"value\":");
                decode(node, self.defs(), bytes, &mut line)?;
            }
        }
        line.push('}');
        Ok(line)
    }
}

/// A value that takes up all bytes.
fn all(node: &Node, defs: &Defs, bytes: &mut &[u8], out: &mut String) -> Result<(), Fault> {
    decode(node, defs, bytes, out)?;
    if bytes.is_empty() { Ok(()) } else { Err("something stands behind a value".into()) }
}

fn text(text: &str) -> String {
    let mut out = String::new();
    quoted(text, &mut out);
    out
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut out, byte| {
        let _ = write!(out, "{byte:02x}");
        out
    })
}

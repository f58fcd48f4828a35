//! Keys and values of an operator, with their types.

use super::{Snapshot, slot, state_of, wrong};
use crate::checkpoint::Slot;
use crate::checkpoint::records::{Record, Records};
use crate::error::Result;
use crate::state::pages::{PAGES, Pager, Restoring};
use crate::state::schema;
use crate::state::shape::{
    Area, Defs, Fault, Fields, Node, Section, State, name_text, same, skip, take, text, type_of,
};
use serde_core::de::DeserializeOwned;
use std::collections::VecDeque;

/// Which values: the slot they are in, and which of the states in it.
struct Wanted {
    slot: usize,
    state: Option<usize>,
}

/// See [`Snapshot::keyed`].
pub(super) fn keyed<K: DeserializeOwned + 'static, V: DeserializeOwned + 'static>(
    snapshot: &Snapshot,
    name: &str,
) -> Result<impl Iterator<Item = Result<(K, V)>> + use<K, V>> {
    let types = [schema::<K>(), schema::<V>()];
    let mut groups = groups(snapshot, name, &types)?;
    let (mut found, mut pages) = (VecDeque::new(), None);
    let mut over = false;
    let (looked_at, name) = (snapshot.clone(), name.to_owned());
    Ok(std::iter::from_fn(move || {
        while found.is_empty() && !over {
            match groups() {
                Ok(Some((more, of_lists))) => {
                    found.extend(more);
                    pages = Some(of_lists);
                }
                Ok(None) => over = true,
                Err(error) => {
                    over = true;
                    return Some(Err(looked_at.has_it_gone(error)));
                }
            }
        }
        let (key, value): (Vec<u8>, Vec<u8>) = found.pop_front()?;
        let value = || whole(&value);
        let value = match &mut pages {
            Some(pages) => Restoring::read(pages, value),
            None => value(),
        };
        Some(whole(&key).and_then(|key| Ok((key, value?))).map_err(|fault: Fault| wrong(&name, &fault)))
    }))
}

/// A value that takes up all of `bytes`.
fn whole<T: DeserializeOwned>(mut bytes: &[u8]) -> Result<T, Fault> {
    let value = take(&mut bytes)?;
    if bytes.is_empty() { Ok(value) } else { Err("something stands behind a value".into()) }
}

type Pairs = Vec<(Vec<u8>, Vec<u8>)>;

/// The bytes of keys and values, and the pages of lists among them, a group at a time.
fn groups(
    snapshot: &Snapshot,
    name: &str,
    [key, value]: &[String; 2],
) -> Result<impl FnMut() -> Result<Option<(Pairs, Restoring)>> + use<>> {
    let operators = snapshot.manifest.operators.iter();
    let is_of = |id: &str| name == id || name.strip_prefix(id).is_some_and(|rest| rest.starts_with('/'));
    let longest = operators.filter(|operator| is_of(&operator.id)).max_by_key(|operator| operator.id.len());
    let operator = longest.map_or_else(|| snapshot.operator(name), Ok)?;
    let id = operator.id.clone();
    let state = state_of(operator).ok_or_else(|| {
        let what = if operator.schema.is_empty() {
            "it keeps no keyed state".to_owned()
        } else {
            format!("its schema does not say all: `{}`", operator.schema)
        };
        wrong(&id, &what)
    })?;
    let part = name.get(id.len() + 1..);
    let (wanted, node) = wanted(&state, part).ok_or_else(|| wrong(&id, &names(&id, &state, part)))?;
    for (what, schema, is) in [("key", key, &state.key), ("value", value, node)] {
        let (asked, defs) = type_of(schema).map_err(|fault| wrong(&id, &fault))?;
        if !same((is, &state.defs), (&asked, &defs), false) {
            let what = format!("its {what} is `{}`, and is read as `{schema}`", text(is, &state.defs));
            return Err(wrong(&id, &what));
        }
    }
    let parts = snapshot.parts(operator)?;
    let mut slots = parts.slots().into_iter();
    Ok(move || {
        let Some(next) = slots.by_ref().find(|slot| matches!(slot, Slot::Group(_))) else { return Ok(None) };
        let (mut pairs, mut pages) = (Vec::new(), Restoring::new(Pager::new(None), 0));
        for bytes in slot(&parts, next)? {
            let walk = Walk {
                state: &state,
                wanted: &wanted,
                pairs: &mut pairs,
                pages: &mut pages,
                key: Vec::new(),
            };
            walk.group(&bytes).map_err(|fault| wrong(&id, &fault))?;
        }
        Ok(Some((pairs, pages)))
    })
}

/// Where the values are that are called `part`, and their type.
fn wanted<'s>(state: &'s State, part: Option<&str>) -> Option<(Wanted, &'s Node)> {
    for (n, value) in state.values.iter().enumerate() {
        let named = part == Some(&*name_text(value.name));
        if let Node::Struct(name, Fields::Named(fields)) = &value.node
            && name.is_empty()
        {
            let at = fields.iter().position(|field| part == Some(&*name_text(&field.0)));
            let only = (part.is_none() && fields.len() == 1).then_some(0);
            if let Some(at) = at.or(only) {
                return Some((Wanted { slot: n + 1, state: Some(at) }, &fields[at].1));
            }
        } else if named || (part.is_none() && value.name.is_empty()) {
            return Some((Wanted { slot: n + 1, state: None }, &value.node));
        }
    }
    None
}

fn names(id: &str, state: &State, part: Option<&str>) -> String {
    let mut names = Vec::new();
    for value in &state.values {
        match &value.node {
            Node::Struct(name, Fields::Named(fields)) if name.is_empty() => {
                names.extend(fields.iter().map(|field| name_text(&field.0)));
            }
            _ if !value.name.is_empty() => names.push(value.name.to_owned()),
            _ => {}
        }
    }
    let asked = part.map_or_else(String::new, |part| format!(", and none is called `{part}`"));
    let first = names.first().map_or("state", String::as_str);
    format!(
        "it has several values{asked}: say which behind its id, as in `{id}/{first}`; there are {}",
        names.join(", ")
    )
}

/// Goes through the bytes of a group.
struct Walk<'a> {
    state: &'a State,
    wanted: &'a Wanted,
    pairs: &'a mut Pairs,
    pages: &'a mut Restoring,
    /// The last key that was met.
    key: Vec<u8>,
}

impl Walk<'_> {
    fn group(mut self, bytes: &[u8]) -> Result<(), Fault> {
        let layout = self.state.slots();
        let (mut area, mut of_lists) = (None, false);
        for record in Records(bytes) {
            match record.map_err(|error| error.message().to_owned())? {
                Record::Section { name, .. } => {
                    area = layout.area_of(name).map(|at| &layout.areas[at]);
                    of_lists = matches!(area, Some(Area::Entries { section: Section::Named(PAGES), .. }));
                }
                Record::Put { key, value } if of_lists => {
                    self.pages.page(key, value).map_err(|error| error.message().to_owned())?;
                }
                Record::Put { mut key, mut value } => match area {
                    Some(Area::Entries { key: key_node, value: node, .. }) => {
                        self.node(key_node, &mut key)?;
                        self.node(node, &mut value)?;
                    }
                    Some(Area::Piece(fields)) => {
                        fields.iter().try_for_each(|(_, node)| self.node(node, &mut value))?;
                    }
                    None => {}
                },
                Record::Removed { .. } | Record::Dropped { .. } => {}
            }
        }
        Ok(())
    }

    fn node(&mut self, node: &Node, bytes: &mut &[u8]) -> Result<(), Fault> {
        match node {
            Node::Slot(0) => {
                self.key = spanned(&self.state.key, &self.state.defs, bytes)?.to_vec();
                Ok(())
            }
            Node::Slot(slot) if *slot == self.wanted.slot => self.value(bytes),
            Node::Slot(slot) => skip(self.state.slot(*slot), &self.state.defs, bytes),
            Node::List(inner) => {
                let count = bytes.split_off(..4).ok_or("it is cut short")?;
                let count = count.iter().rev().fold(0u32, |n, byte| n << 8 | u32::from(*byte));
                (0..count).try_for_each(|_| self.node(inner, bytes))
            }
            Node::Option(inner) => match bytes.split_off_first().ok_or("it is cut short")? {
                0 => Ok(()),
                _ => self.node(inner, bytes),
            },
            Node::Rest(inner) => {
                while !bytes.is_empty() {
                    let before = bytes.len();
                    self.node(inner, bytes)?;
                    if bytes.len() == before {
                        return Err("what takes up no bytes cannot be repeated to the end".into());
                    }
                }
                Ok(())
            }
            Node::Struct(_, fields) => fields.nodes().into_iter().try_for_each(|node| self.node(node, bytes)),
            _ => skip(node, &self.state.defs, bytes),
        }
    }

    fn value(&mut self, bytes: &mut &[u8]) -> Result<(), Fault> {
        let (node, defs) = (self.state.slot(self.wanted.slot), &self.state.defs);
        let taken = match (self.wanted.state, node) {
            (Some(at), Node::Struct(_, fields)) => {
                let mut taken: &[u8] = &[];
                for (n, node) in fields.nodes().into_iter().enumerate() {
                    let span = spanned(node, defs, bytes)?;
                    taken = if n == at { span } else { taken };
                }
                taken
            }
            _ => spanned(node, defs, bytes)?,
        };
        self.pairs.push((self.key.clone(), taken.to_vec()));
        Ok(())
    }
}

/// The bytes of the value at the front.
fn spanned<'a>(node: &Node, defs: &Defs, bytes: &mut &'a [u8]) -> Result<&'a [u8], Fault> {
    let before = *bytes;
    skip(node, defs, bytes)?;
    Ok(&before[..before.len() - bytes.len()])
}

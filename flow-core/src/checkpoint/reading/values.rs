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
use std::marker::PhantomData;
use std::ops::Range;

/// Which values: the slot they are in, and which of the states in it.
struct Wanted {
    slot: usize,
    state: Option<usize>,
}

/// See [`Snapshot::keyed`]: the pairs of some key groups, one group of which is in memory at a time.
pub(crate) struct Keyed<K, V> {
    groups: Groups,
    found: VecDeque<(Vec<u8>, Vec<u8>)>,
    pages: Option<Restoring>,
    /// The group of what has been found, and how many pairs of it have been given.
    place: (u16, u64),
    over: bool,
    snapshot: Snapshot,
    name: String,
    types: PhantomData<fn() -> (K, V)>,
}

/// Gives the key groups, one after the other.
type Groups = Box<dyn FnMut() -> Result<Option<Group>> + Send>;

/// A key group: the bytes of keys and values, and the pages of lists among them.
struct Group {
    number: u16,
    pairs: Vec<(Vec<u8>, Vec<u8>)>,
    pages: Restoring,
}

/// Of the key groups `range`.
pub(super) fn keyed<K: DeserializeOwned + 'static, V: DeserializeOwned + 'static>(
    snapshot: &Snapshot,
    name: &str,
    range: Range<usize>,
) -> Result<Keyed<K, V>> {
    let groups = groups(snapshot, name, range, &[schema::<K>(), schema::<V>()])?;
    Ok(Keyed {
        groups,
        found: VecDeque::new(),
        pages: None,
        place: (0, 0),
        over: false,
        snapshot: snapshot.clone(),
        name: name.to_owned(),
        types: PhantomData,
    })
}

impl<K, V> Keyed<K, V> {
    /// The key group it is in, and how many pairs of that it has given.
    pub fn place(&self) -> (u16, u64) {
        self.place
    }

    /// The bytes of the next pair. Apart from [`Iterator::next`], which is compiled again for all types.
    fn bytes(&mut self) -> Option<Result<(Vec<u8>, Vec<u8>)>> {
        while self.found.is_empty() && !self.over {
            match (self.groups)() {
                Ok(Some(Group { number, pairs, pages })) => {
                    self.found = pairs.into();
                    self.pages = Some(pages);
                    self.place = (number, 0);
                }
                Ok(None) => self.over = true,
                Err(error) => {
                    self.over = true;
                    return Some(Err(self.snapshot.has_it_gone(error)));
                }
            }
        }
        let pair = self.found.pop_front()?;
        self.place.1 += 1;
        Some(Ok(pair))
    }
}

impl<K: DeserializeOwned, V: DeserializeOwned> Iterator for Keyed<K, V> {
    type Item = Result<(K, V)>;
    fn next(&mut self) -> Option<Result<(K, V)>> {
        let (key, value) = match self.bytes()? {
            Ok(pair) => pair,
            Err(error) => return Some(Err(error)),
        };
        let value = || whole(&value);
        let value = match &mut self.pages {
            Some(pages) => Restoring::read(pages, value),
            None => value(),
        };
        let pair = whole(&key).and_then(|key| Ok((key, value?)));
        Some(pair.map_err(|fault: Fault| wrong(&self.name, &fault)))
    }
}

/// A value that takes up all of `bytes`.
fn whole<T: DeserializeOwned>(mut bytes: &[u8]) -> Result<T, Fault> {
    let value = take(&mut bytes)?;
    if bytes.is_empty() { Ok(value) } else { Err("something stands behind a value".into()) }
}

fn groups(
    snapshot: &Snapshot,
    name: &str,
    range: Range<usize>,
    [key, value]: &[String; 2],
) -> Result<Groups> {
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
    let is_wanted =
        move |slot: &Slot| matches!(slot, Slot::Group(group) if range.contains(&usize::from(*group)));
    Ok(Box::new(move || {
        let Some(next @ Slot::Group(number)) = slots.by_ref().find(&is_wanted) else { return Ok(None) };
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
        Ok(Some(Group { number, pairs, pages }))
    }))
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
    pairs: &'a mut Vec<(Vec<u8>, Vec<u8>)>,
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

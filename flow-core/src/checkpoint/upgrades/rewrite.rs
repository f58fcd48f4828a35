//! Converts the bytes of a key group: its records as they are, but for the values in them.

use super::plan::Plan;
use crate::checkpoint::records::{Record, Records, framed, section};
use crate::state::pages::PAGES;
use crate::state::shape::{Area, Defs, Fault, Node, Section, State, decode, skip};

/// What is wrong, and with which key, if that is known.
type Wrong = (Option<String>, Fault);

fn nobody(what: impl ToString) -> Wrong {
    (None, what.to_string())
}

/// Why lists of another type are refused.
const LONG_LIST: &str = "there is a list among it that is so long that it lies in pages, and those cannot be converted: keep the type of the list's elements, and let the new one be a state of its own";

fn is_pages(area: &Area) -> bool {
    matches!(area, Area::Entries { section: Section::Named(PAGES), .. })
}

/// The records of a group, their values converted by `plans`, one for each value of the state.
pub(super) fn group(old: &State, plans: &[Plan], bytes: &[u8]) -> Result<Vec<u8>, Wrong> {
    let (mut out, mut area) = (Vec::new(), None);
    let layout = old.slots();
    let walk = Walk { state: old, plans };
    let mut values = old.values.iter().zip(plans);
    let changes_lists = values.any(|(value, plan)| plan.changes_lists(&value.node));
    for record in Records(bytes) {
        match record.map_err(nobody)? {
            Record::Section { name, header } => {
                section(name, header, &mut out);
                area = layout.area_of(name).map(|at| &layout.areas[at]);
            }
            Record::Put { .. } if changes_lists && area.is_some_and(is_pages) => {
                return Err(nobody(LONG_LIST));
            }
            Record::Put { key, value } => {
                framed(1, key, &mut out);
                let Some(area) = area else {
                    framed(1, value, &mut out);
                    continue;
                };
                let new = walk.area(area, value);
                let new = new.map_err(|(named, what)| (named.or_else(|| key_of(old, area, key)), what))?;
                framed(1, &new, &mut out);
            }
            Record::Removed { .. } | Record::Dropped { .. } => {
                return Err(nobody("it says what has changed, and not what there is"));
            }
        }
    }
    Ok(out)
}

/// The key of an entry, for messages.
fn key_of(old: &State, area: &Area, mut key: &[u8]) -> Option<String> {
    let Area::Entries { key: node, .. } = area else { return None };
    let first = match node {
        Node::Struct(_, fields) => *fields.nodes().first()?,
        node => node,
    };
    let mut json = String::new();
    let read = *first == Node::Slot(0) && decode(&old.key, &old.defs, &mut key, &mut json).is_ok();
    read.then_some(json)
}

struct Walk<'a> {
    state: &'a State,
    plans: &'a [Plan],
}

impl Walk<'_> {
    fn area(&self, area: &Area, mut value: &[u8]) -> Result<Vec<u8>, Wrong> {
        let bytes = &mut value;
        let mut out = Vec::new();
        match area {
            Area::Entries { value: node, .. } => self.node(node, bytes, &mut out)?,
            Area::Piece(fields) => {
                fields.iter().try_for_each(|(_, node)| self.node(node, bytes, &mut out))?;
            }
        }
        if bytes.is_empty() { Ok(out) } else { Err(nobody("something stands behind a value")) }
    }

    /// What an operator writes around its values.
    fn node(&self, node: &Node, bytes: &mut &[u8], out: &mut Vec<u8>) -> Result<(), Wrong> {
        match node {
            Node::Slot(slot) => {
                let same = Plan::Same;
                let plan = slot.checked_sub(1).and_then(|value| self.plans.get(value)).unwrap_or(&same);
                let defs = &self.state.defs;
                rewrite(plan, self.state.slot(*slot), defs, bytes, out).map_err(nobody)
            }
            Node::Option(inner) => match copy(1, bytes, out).map_err(nobody)? {
                [0] => Ok(()),
                _ => self.node(inner, bytes, out),
            },
            Node::List(inner) => {
                let count = copy(4, bytes, out).map_err(nobody)?;
                let count = count.iter().rev().fold(0u32, |n, byte| n << 8 | u32::from(*byte));
                (0..count).try_for_each(|_| self.node(inner, bytes, out))
            }
            Node::Rest(inner) => {
                while !bytes.is_empty() {
                    self.node(inner, bytes, out)?;
                }
                Ok(())
            }
            Node::Struct(_, fields) => self.record(&fields.nodes(), bytes, out),
            _ => rewrite(&Plan::Same, node, &self.state.defs, bytes, out).map_err(nobody),
        }
    }

    /// Its first field may be a key, which is named where another cannot be converted.
    fn record(&self, nodes: &[&Node], bytes: &mut &[u8], out: &mut Vec<u8>) -> Result<(), Wrong> {
        let mut begin = *bytes;
        for node in nodes {
            self.node(node, bytes, out).map_err(|(key, what)| {
                let mut json = String::new();
                let is_key = **nodes.first().unwrap_or(&&Node::Unit) == Node::Slot(0);
                let read = is_key && decode(&self.state.key, &self.state.defs, &mut begin, &mut json).is_ok();
                (key.or(read.then_some(json)), what)
            })?;
        }
        Ok(())
    }
}

fn copy<'a>(n: usize, bytes: &mut &'a [u8], out: &mut Vec<u8>) -> Result<&'a [u8], Fault> {
    let taken = bytes.split_off(..n).ok_or("it is cut short")?;
    out.extend_from_slice(taken);
    Ok(taken)
}

/// Copies bytes that `over` goes over, and gives them.
fn copied<'a>(
    bytes: &mut &'a [u8],
    out: &mut Vec<u8>,
    over: impl FnOnce(&mut &'a [u8]) -> Result<(), Fault>,
) -> Result<&'a [u8], Fault> {
    let before = *bytes;
    over(bytes)?;
    let taken = &before[..before.len() - bytes.len()];
    out.extend_from_slice(taken);
    Ok(taken)
}

/// Converts the value at the front of `bytes`.
fn rewrite(plan: &Plan, node: &Node, defs: &Defs, bytes: &mut &[u8], out: &mut Vec<u8>) -> Result<(), Fault> {
    match plan {
        Plan::Same => copied(bytes, out, |bytes| skip(node, defs, bytes)).map(|_| ()),
        Plan::Convert(chain) => {
            let mut value = Vec::new();
            copied(bytes, &mut value, |bytes| skip(node, defs, bytes))?;
            for convert in chain {
                let (mut rest, mut next) = (&value[..], Vec::new());
                convert(&mut rest, &mut next)?;
                if !rest.is_empty() {
                    return Err("something stands behind a value".into());
                }
                value = next;
            }
            out.extend_from_slice(&value);
            Ok(())
        }
        Plan::Inside(plans) => inside(plans, node, defs, bytes, out),
        Plan::Unpaged(plan) => {
            rewrite(plan, node, defs, bytes, out)?;
            // It says of no pages.
            out.push(0);
            Ok(())
        }
    }
}

fn inside(
    plans: &[Plan],
    node: &Node,
    defs: &Defs,
    bytes: &mut &[u8],
    out: &mut Vec<u8>,
) -> Result<(), Fault> {
    let first = plans.first().unwrap_or(&Plan::Same);
    let count = |bytes: &mut &[u8], out: &mut Vec<u8>| {
        let mut count = 0;
        copied(bytes, out, |bytes| {
            count = crate::state::shape::take_length(bytes)?;
            Ok(())
        })?;
        Ok::<usize, Fault>(count)
    };
    match node {
        Node::Option(inner) => match copy(1, bytes, out)? {
            [0] => Ok(()),
            _ => rewrite(first, inner, defs, bytes, out),
        },
        Node::Seq(inner) => {
            let count = count(bytes, out)?;
            (0..count).try_for_each(|_| rewrite(first, inner, defs, bytes, out))
        }
        Node::Map(key, value) => {
            let count = count(bytes, out)?;
            (0..count).try_for_each(|_| {
                rewrite(&Plan::Same, key, defs, bytes, out)?;
                rewrite(first, value, defs, bytes, out)
            })
        }
        Node::Tuple(nodes) => {
            nodes.iter().zip(plans).try_for_each(|(node, plan)| rewrite(plan, node, defs, bytes, out))
        }
        Node::Struct(_, fields) => {
            let both = fields.nodes().into_iter().zip(plans);
            both.into_iter().try_for_each(|(node, plan)| rewrite(plan, node, defs, bytes, out))
        }
        _ => Err("there is nothing inside it".into()),
    }
}

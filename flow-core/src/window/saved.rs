//! How a window operator's panes are written down: a section for each pane, in which the keys are.
//!
//! ```text
//! name of a section    start length       of the pane, as postcard writes i128
//! header               fired              u8, 0 or 1
//! entry                key -> accumulator
//! ```
//!
//! A pane that has gone since the last checkpoint is a section that is dropped. What belongs to no pane stands in a section without a name,
//! under an empty key.

use super::panes::Panes;
use super::spans::Open;
use super::spec::Span;
use crate::checkpoint::Groups;
use crate::checkpoint::records::{Part, Record, Records, broken};
use crate::error::{Error, ErrorKind, Result};
use crate::state::{Durable, Keep, Mode, Only, read_all};
use std::collections::HashSet;

/// Panes that have gone between two checkpoints of which each is remembered; where there are more, everything is written.
const GONE_MAX: usize = 1 << 14;

/// What the last checkpoint says of the panes.
#[derive(Debug, Default)]
pub struct Notes {
    /// Whether there has been one.
    begun: bool,
    /// The panes that have gone since.
    gone: Vec<Span>,
    lost: bool,
    /// The panes of which it says that they have fired.
    fired: HashSet<Span, foldhash::fast::FixedState>,
    /// The table that is being written.
    at: usize,
}

impl Notes {
    /// A pane has gone.
    pub fn removed(&mut self, span: Span) {
        self.fired.remove(&span);
        self.lost |= self.begun && self.gone.len() >= GONE_MAX;
        if self.lost {
            self.gone = Vec::new();
        } else if self.begun {
            self.gone.push(span);
        }
    }

    /// Begins a checkpoint; whether all entries have to be written.
    fn begin(&mut self, out: &Groups) -> Result<bool> {
        let all = out.is_whole() || self.lost || !self.begun;
        if all && !out.is_whole() {
            out.drop_sections(Part::Head, &[]);
        }
        for span in std::mem::take(&mut self.gone).into_iter().filter(|_| !all) {
            out.drop_sections(Part::Head, &name(span)?);
        }
        if all {
            self.fired.clear();
        }
        (self.begun, self.lost, self.at) = (true, false, 0);
        Ok(all)
    }

    /// Whether the last checkpoint does not say that a pane has fired.
    fn is_news(&mut self, open: &Open) -> bool {
        open.fired && self.fired.insert(open.span)
    }
}

fn name(span: Span) -> Result<Vec<u8>> {
    let mut name = Vec::new();
    Keep::<Durable>::write(&(span.start, span.end.wrapping_sub(span.start)), &mut name)?;
    Ok(name)
}

/// Begins to write the panes.
pub(super) fn begin_save<M: Mode, K: Keep<M>, A: Keep<M>>(
    panes: &mut Panes<K, A, M>,
    out: &Groups,
    hash_of: impl Fn(&K) -> u64 + Clone + Send + 'static,
) -> Result<()> {
    K::kept(|| {
        let Panes { spans, tables, notes, .. } = panes;
        let Some(notes) = notes.get() else { return Ok(()) };
        let all = notes.begin(out)?;
        for open in spans.iter() {
            let section = out.section(Part::Head, &name(open.span)?, &[u8::from(open.fired)]);
            if notes.is_news(open) && !all {
                out.declare(&section);
            }
            if let Some(Some(table)) = tables.get_mut(open.slot) {
                table.begin_save(out, section, all, hash_of.clone())?;
            }
        }
        Ok(())
    })
}

/// Goes on with it, as far as `left` allows; whether all is written.
pub(super) fn save_more<M: Mode, K, A>(panes: &mut Panes<K, A, M>, left: &mut usize) -> bool {
    let Panes { tables, notes, .. } = panes;
    let Some(notes) = notes.get() else { return true };
    for table in tables.get_mut(notes.at..).unwrap_or_default() {
        if table.as_mut().is_some_and(|table| !table.save_more(left)) {
            return false;
        }
        notes.at += 1;
    }
    true
}

/// Takes over what [`begin_save`] wrote; `other` is given what belongs to no pane.
pub(super) fn restore<M: Mode, K: Keep<M>, A: Keep<M>>(
    panes: &mut Panes<K, A, M>,
    bytes: &[u8],
    hash_of: impl Fn(&K) -> u64,
    mut other: impl FnMut(&[u8]) -> Result<()>,
) -> Result<()> {
    if bytes.is_empty() {
        return Ok(());
    }
    K::kept(|| {
        let mut pane = None;
        // All keys with one hash are of one key group, so they come together.
        let mut hashes = HashSet::new();
        for record in Records(bytes) {
            match record? {
                Record::Section { name: [], .. } => pane = None,
                Record::Section { name, header } => {
                    let span = read_all::<Durable, (i128, i128)>(name)?;
                    let span = Span { start: span.0, end: span.0.wrapping_add(span.1) };
                    pane = Some(panes.select(span, header == [1]));
                    hashes.clear();
                }
                Record::Put { key, value } => match &mut pane {
                    Some(table) => {
                        let (key, value) = (read_all::<M, K>(key)?, read_all::<M, A>(value)?);
                        let hash = hash_of(&key);
                        if !hashes.insert(hash) {
                            table.share(hash);
                        }
                        table.push(hash, key, value, &hash_of);
                    }
                    None => other(value)?,
                },
                Record::Removed { .. } | Record::Dropped { .. } => return Err(broken("something is gone")),
            }
        }
        Ok(())
    })
}

/// The next `N` bytes.
pub(crate) fn take<const N: usize>(bytes: &mut &[u8]) -> Result<[u8; N]> {
    let Some((head, rest)) = bytes.split_first_chunk::<N>() else {
        return Err(Error::new(ErrorKind::State, "the state of a window is cut short"));
    };
    *bytes = rest;
    Ok(*head)
}

#[cfg(test)]
mod tests;

//! Where the keyed state of a stage goes at a barrier: a buffer for each key group, which is handed on in blocks.
//!
//! One pass over a table serves all groups. The pass may be interrupted and go on later, and entries of several tables may
//! come in any order: `records.rs` says in which section an entry is whenever that changes.

use super::Saves;
use super::records::{Part, dropped, frame, framed, removed, section};
use crate::error::{Error, Result};
use crate::exchange::{KEY_GROUPS, key_group};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Bytes of a group that are handed on together. So many are held for each of the groups.
const BLOCK: usize = 1 << 15;

/// No section.
const NONE: u32 = 0;

/// The groups of which the last checkpoint has a piece. A clone is the same one.
#[derive(Clone, Default)]
pub(crate) struct Had(Arc<Mutex<Vec<bool>>>);

impl Had {
    /// Says that group `at` has one now, or none; whether it had.
    fn replace(&self, at: usize, has: bool) -> bool {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.resize(KEY_GROUPS, false);
        all.get_mut(at).is_some_and(|had| std::mem::replace(had, has))
    }
}

/// The state of a stage instance at one checkpoint, on its way. A clone is the same one.
#[derive(Clone)]
pub struct Groups {
    /// Whether all is to be written, and not what has changed since the last time.
    whole: bool,
    had: Had,
    inner: Arc<Mutex<Inner>>,
}

struct Inner {
    to: To,
    groups: Vec<Group>,
    sections: u32,
    /// Why it cannot be written.
    failed: Option<Error>,
    /// How many entries have been written.
    #[cfg(test)]
    written: usize,
}

#[derive(Default)]
struct Group {
    /// Whether it is one of this instance.
    owned: bool,
    /// The section of the last record.
    section: u32,
    bytes: Vec<u8>,
}

enum To {
    Saves { saves: Saves, id: u64, state: String },
    Memory(Vec<(usize, Vec<u8>)>),
}

/// A section of what is written; see `records.rs`.
#[derive(Clone)]
pub struct Section {
    number: u32,
    name: Arc<[u8]>,
    header: Arc<[u8]>,
}

/// State that is written in one piece for each key group.
pub struct Pieces(Vec<Vec<u8>>);

impl Default for Pieces {
    fn default() -> Self {
        Pieces(vec![Vec::new(); KEY_GROUPS])
    }
}

impl Pieces {
    /// Where the state of a key with this hash goes.
    pub fn of(&mut self, hash: u64) -> &mut Vec<u8> {
        &mut self.0[key_group(hash)]
    }

    /// The piece of each group.
    pub fn each(&mut self) -> impl Iterator<Item = &mut Vec<u8>> {
        self.0.iter_mut()
    }

    /// Appends to each piece how many of the items are of its group, as a little-endian `u32`, then what `write` makes of each. Items
    /// come with the hashes of their keys.
    ///
    /// # Errors
    /// What `write` reports.
    pub fn list<T>(
        &mut self,
        items: impl Iterator<Item = (u64, T)>,
        mut write: impl FnMut(T, &mut Vec<u8>) -> Result<()>,
    ) -> Result<()> {
        let begins: Vec<usize> = self.0.iter().map(Vec::len).collect();
        self.0.iter_mut().for_each(|piece| piece.extend_from_slice(&[0; 4]));
        let mut counts = vec![0u32; KEY_GROUPS];
        for (hash, item) in items {
            counts[key_group(hash)] += 1;
            write(item, self.of(hash))?;
        }
        for ((piece, begin), count) in self.0.iter_mut().zip(begins).zip(counts) {
            piece[begin..begin + 4].copy_from_slice(&count.to_le_bytes());
        }
        Ok(())
    }
}

impl Groups {
    /// Of the stage `state` at checkpoint `id`.
    pub(crate) fn new(saves: Saves, id: u64, state: &str, owned: &[usize], had: Had) -> Self {
        let whole = saves.wants_whole(id);
        saves.keyed(id, state, whole);
        Self::to(To::Saves { saves, id, state: state.to_owned() }, whole, owned, had)
    }

    /// Into memory.
    pub(crate) fn in_memory(whole: bool, owned: &[usize], had: Had) -> Self {
        Self::to(To::Memory(Vec::new()), whole, owned, had)
    }

    fn to(to: To, whole: bool, owned: &[usize], had: Had) -> Self {
        let of = |group| Group { owned: owned.contains(&group), ..Group::default() };
        let groups = (0..KEY_GROUPS).map(of).collect();
        let inner = Inner {
            to,
            groups,
            sections: NONE,
            failed: None,
            #[cfg(test)]
            written: 0,
        };
        Groups { whole, had, inner: Arc::new(Mutex::new(inner)) }
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether all is to be written, and not what has changed since the last time.
    pub fn is_whole(&self) -> bool {
        self.whole
    }

    /// Whether it goes into memory.
    pub(crate) fn is_in_memory(&self) -> bool {
        matches!(self.lock().to, To::Memory(_))
    }

    /// A section for entries to come.
    pub(crate) fn section(&self, part: Part, name: &[u8], header: &[u8]) -> Section {
        let mut inner = self.lock();
        inner.sections += 1;
        let name = [&[part as u8], name].concat();
        Section { number: inner.sections, name: name.into(), header: header.into() }
    }

    /// Of sections whose names begin so nothing is left that earlier checkpoints have.
    pub(crate) fn drop_sections(&self, part: Part, names: &[u8]) {
        let names = [&[part as u8], names].concat();
        for group in self.lock().groups.iter_mut().filter(|group| group.owned) {
            dropped(&names, &mut group.bytes);
            group.section = NONE;
        }
    }

    /// The section is there, even where no entry of it has changed: its header may have.
    pub(crate) fn declare(&self, of: &Section) {
        for group in self.lock().groups.iter_mut().filter(|group| group.owned) {
            group.enter(of);
        }
    }

    /// Writes an entry to all groups.
    pub(crate) fn put_everywhere(&self, of: &Section, key: &[u8], value: &[u8]) {
        for group in self.lock().groups.iter_mut().filter(|group| group.owned) {
            group.enter(of);
            framed(1, key, &mut group.bytes);
            framed(1, value, &mut group.bytes);
        }
    }

    /// Writes entries with the hashes of their keys; `write` appends the key of one, then its value.
    pub(crate) fn put<T: Copy>(
        &self,
        of: &Section,
        entries: impl Iterator<Item = (u64, T)>,
        key: impl Fn(T, &mut Vec<u8>) -> Result<()>,
        value: impl Fn(T, &mut Vec<u8>) -> Result<()>,
    ) {
        let mut inner = self.lock();
        for (hash, entry) in entries {
            let at = key_group(hash);
            let group = &mut inner.groups[at];
            group.enter(of);
            let begin = group.bytes.len();
            let written = frame(&mut group.bytes, |out| key(entry, out));
            if let Err(error) = written.and_then(|()| frame(&mut group.bytes, |out| value(entry, out))) {
                group.bytes.truncate(begin);
                inner.failed.get_or_insert(error);
                return;
            }
            if group.bytes.len() >= BLOCK {
                inner.hand_on(at);
            }
            #[cfg(test)]
            {
                inner.written += 1;
            }
        }
    }

    /// How many entries have been written.
    #[cfg(test)]
    pub fn written(&self) -> usize {
        self.lock().written
    }

    /// Writes entries of one group that are records already.
    pub(crate) fn put_records(&self, of: &Section, at: usize, records: &[u8]) {
        let mut inner = self.lock();
        let Some(group) = inner.groups.get_mut(at) else { return };
        group.enter(of);
        group.bytes.extend_from_slice(records);
        if group.bytes.len() >= BLOCK {
            inner.hand_on(at);
        }
    }

    /// A key has left.
    pub(crate) fn remove(&self, of: &Section, at: usize, key: &[u8]) {
        let mut inner = self.lock();
        let Some(group) = inner.groups.get_mut(at) else { return };
        group.enter(of);
        removed(key, &mut group.bytes);
        if group.bytes.len() >= BLOCK {
            inner.hand_on(at);
        }
    }

    /// Writes what `write` makes in one piece for each group.
    ///
    /// # Errors
    /// What `write` reports.
    pub(crate) fn pieces(&self, write: impl FnOnce(&mut Pieces) -> Result<()>) -> Result<()> {
        let mut pieces = Pieces::default();
        write(&mut pieces)?;
        self.put_pieces(pieces);
        Ok(())
    }

    fn put_pieces(&self, pieces: Pieces) {
        let of = self.section(Part::Piece, &[], &[]);
        let mut inner = self.lock();
        for (at, piece) in pieces.0.into_iter().enumerate() {
            let had = self.had.replace(at, !piece.is_empty());
            let group = &mut inner.groups[at];
            if !group.owned || (piece.is_empty() && (self.whole || !had)) {
                continue;
            }
            group.enter(&of);
            if piece.is_empty() {
                removed(&[], &mut group.bytes);
            } else {
                framed(1, &[], &mut group.bytes);
                framed(1, &piece, &mut group.bytes);
            }
            inner.hand_on(at);
        }
    }

    /// All is written: hands on what is left, and gives out what has gone into memory.
    ///
    /// # Errors
    /// When something could not be written.
    pub(crate) fn finish(&self) -> Result<Vec<(usize, Vec<u8>)>> {
        let mut inner = self.lock();
        if let Some(error) = inner.failed.take() {
            return Err(error);
        }
        for at in 0..KEY_GROUPS {
            inner.hand_on(at);
        }
        match &mut inner.to {
            To::Saves { .. } => Ok(Vec::new()),
            To::Memory(blocks) => Ok(std::mem::take(blocks)),
        }
    }
}

impl Group {
    /// What follows is in a section.
    #[inline]
    fn enter(&mut self, of: &Section) {
        if self.section != of.number {
            self.section = of.number;
            section(&of.name, &of.header, &mut self.bytes);
        }
    }
}

impl Inner {
    #[cold]
    fn hand_on(&mut self, at: usize) {
        let Group { bytes, .. } = &mut self.groups[at];
        if bytes.is_empty() {
            return;
        }
        let more = if bytes.len() >= BLOCK { BLOCK + BLOCK / 8 } else { 0 };
        let block = std::mem::replace(bytes, Vec::with_capacity(more));
        match &mut self.to {
            To::Saves { saves, id, state } => saves.group(*id, state, at, block),
            To::Memory(blocks) => match blocks.iter_mut().find(|known| known.0 == at) {
                Some(known) => known.1.extend_from_slice(&block),
                None => blocks.push((at, block)),
            },
        }
    }
}

//! Entries of a table that lie in a store of the state backend. This is what does not depend on their types; see `spilled.rs` for the rest.
//!
//! **Each entry is in one place**: in the table's memory, or here. Who reads one takes it out. So at a barrier a snapshot of the store has
//! just those entries that the memory has not, and nobody has to say which of two is the newer one.
//!
//! ```text
//! store  := entries* note*
//! entry  := 0 group^2 hash^8  ->  (n key^(n-1) m value^(m-1))+      all entries whose keys have this hash, as in `checkpoint/records.rs`
//! note   := 1 interval^4 group^2 hash^8  ->                         one of them has changed since checkpoint `interval` of this table
//! ```
//!
//! Numbers are big-endian, so that key groups lie together. An entry is found by its hash alone: keys that are equal need not look the same when they
//! are written. That two keys have one hash is rare; where they have, what lies there is read before it is written, else it need not be.
//!
//! **Checkpoints.** One of changes has, of what lies here, what has a note; what has been taken out since is in the table's memory, where it counts as changed. A whole
//! one has everything. Either is read from a snapshot in slices, while the store goes on. Before a table's first checkpoint nothing is noted: that one has everything.

use super::backend::{Changes, Space};
use super::flight::{Flights, Kind, behind};
use crate::checkpoint::{Groups, Section};
use crate::error::Result;
use crate::exchange::key_group;
use std::collections::HashSet;

/// The first byte of keys of entries, and of notes.
const ENTRY: u8 = 0;
const NOTE: u8 = 1;
const ENTRIES: Kind = Kind { records: ENTRY, notes: NOTE, beside: false };

/// Changes that are written together: bytes at most, about.
const CHANGES: usize = 1 << 18;

/// Entries that are looked at together.
const CHUNK: usize = 256;

pub(super) struct Spill {
    pub space: Space,
    changes: Changes,
    changed: usize,
    /// How many entries lie here.
    count: usize,
    /// Whether there has been any.
    used: bool,
    /// Hashes that several keys have.
    shared: HashSet<u64>,
    flights: Flights,
    /// For what is read, and for what is made before it is written.
    found: Vec<u8>,
}

/// The key under which entries of this hash lie.
fn entry_key(hash: u64) -> [u8; 11] {
    let mut key = [ENTRY; 11];
    key[1..3].copy_from_slice(&(key_group(hash) as u16).to_be_bytes());
    key[3..].copy_from_slice(&hash.to_be_bytes());
    key
}

/// The key group and the hash in an entry's key.
fn parts_of(key: &[u8]) -> Option<(usize, u64)> {
    let (group, hash) = key.get(1..)?.split_first_chunk()?;
    Some((u16::from_be_bytes(*group).into(), u64::from_be_bytes(hash.try_into().ok()?)))
}

impl Spill {
    pub fn new(space: Space) -> Self {
        Spill {
            space,
            changes: Changes::default(),
            changed: 0,
            count: 0,
            used: false,
            shared: HashSet::new(),
            flights: Flights::new(ENTRIES),
            found: Vec::new(),
        }
    }

    /// How many entries lie here.
    pub fn count(&self) -> usize {
        self.count
    }

    fn ok<T>(&self, done: Result<T>) -> Option<T> {
        done.map_err(|error| self.space.report(error)).ok()
    }

    /// All entries whose keys have this hash.
    pub fn get(&mut self, hash: u64) -> Option<Vec<u8>> {
        let mut found = std::mem::take(&mut self.found);
        let got = self.space.store.get(&entry_key(hash), &mut found);
        match self.ok(got) {
            Some(true) => return Some(found),
            _ => self.found = found,
        }
        None
    }

    /// The same, where it is only looked at.
    pub fn look(&self, hash: u64) -> Option<Vec<u8>> {
        let mut found = Vec::new();
        let got = self.space.store.get(&entry_key(hash), &mut found);
        self.ok(got).filter(|there| *there).map(|_| found)
    }

    /// Gives back what [`Spill::get`] gave, for its memory.
    pub fn give_back(&mut self, found: Vec<u8>) {
        self.found = found;
    }

    /// Of the entries whose keys have this hash `left` have been taken out, and `rest` remains.
    pub fn replace(&mut self, hash: u64, rest: &[u8], left: usize) {
        if rest.is_empty() {
            self.shared.remove(&hash);
            self.changes.remove(&entry_key(hash));
        } else {
            self.changes.put(&entry_key(hash), |out| out.extend_from_slice(rest));
        }
        self.count = self.count.saturating_sub(left);
        self.changed(rest.len());
    }

    /// Several keys have this hash.
    pub fn share(&mut self, hash: u64) {
        self.shared.insert(hash);
    }

    /// Puts an entry in, which `write` writes; `changed` says whether it is not as the last checkpoint has it.
    pub fn put(&mut self, hash: u64, changed: bool, write: impl FnOnce(&mut Vec<u8>) -> Result<()>) {
        let mut bytes = std::mem::take(&mut self.found);
        bytes.clear();
        if self.shared.contains(&hash) {
            // What is under way may have the same hash.
            self.flush();
            let got = self.space.store.get(&entry_key(hash), &mut bytes);
            self.ok(got);
        }
        let written = write(&mut bytes);
        if self.ok(written).is_some() {
            self.changes.put(&entry_key(hash), |out| out.extend_from_slice(&bytes));
            if changed && let Some(note) = self.flights.note(&entry_key(hash)) {
                self.changes.put(&note, |_| {});
            }
            self.count += 1;
            self.used = true;
            self.changed(bytes.len());
        }
        self.found = bytes;
    }

    fn changed(&mut self, bytes: usize) {
        self.changed += bytes;
        if self.changed >= CHANGES {
            self.flush();
        }
    }

    /// Writes what has been changed.
    pub fn flush(&mut self) {
        let written = self.space.store.write(&self.changes);
        self.ok(written);
        self.changes.clear();
        self.changed = 0;
    }

    /// The next entries from `from` on, which moves on; each with its hash. None when all have been seen.
    pub fn chunk(&self, from: &mut Vec<u8>) -> Vec<(u64, Vec<u8>)> {
        self.chunk_of(from, CHUNK)
    }

    /// The same, of so many hashes at most.
    pub fn chunk_of(&self, from: &mut Vec<u8>, most: usize) -> Vec<(u64, Vec<u8>)> {
        let mut chunk = Vec::new();
        let mut bytes = 0;
        let scanned = self.space.store.scan(&from.clone(), &[NOTE], &mut |key, value| {
            chunk.extend(parts_of(key).map(|(_, hash)| (hash, value.to_vec())));
            *from = behind(key);
            bytes += value.len();
            chunk.len() < most && bytes < CHANGES
        });
        self.ok(scanned);
        chunk
    }

    /// Forgets everything: as if it were new.
    pub fn wipe(&mut self) {
        self.flush();
        let (mut from, mut more) = (beginning(), self.used);
        while more {
            let mut keys = 0;
            let Spill { space, changes, .. } = self;
            let scanned = space.store.scan(&from.clone(), &[NOTE + 1], &mut |key, _| {
                changes.remove(key);
                from = behind(key);
                keys += 1;
                keys < CHUNK
            });
            more = self.ok(scanned).is_some() && keys == CHUNK;
            self.flush();
        }
        (self.count, self.used, self.flights) = (0, false, Flights::new(ENTRIES));
        self.shared.clear();
    }

    /// A checkpoint: what lies here, or of that what has been noted, goes to `section` of `out`, as it is now.
    pub fn begin_save(&mut self, out: &Groups, section: Section, whole: bool) {
        while !self.save_more(&mut usize::MAX.clone()) {}
        if self.used {
            self.flights.begin(&self.space, out, section, whole);
        } else {
            self.flights.pass();
        }
    }

    /// Goes on with it, as far as `left` allows; whether all is written.
    pub fn save_more(&mut self, left: &mut usize) -> bool {
        self.flights.more(&self.space, &mut self.changes, left)
    }
}

/// From where [`Spill::chunk`] begins.
pub(super) fn beginning() -> Vec<u8> {
    vec![ENTRY]
}

#[cfg(test)]
mod tests;

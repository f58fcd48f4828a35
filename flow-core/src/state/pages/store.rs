//! Pages in the store of the state backend. What is to be changed there waits, so that many changes are written together; and who takes one
//! page after the other out gets them from what has been read together.

use super::super::backend::{Changes, Space};
use super::super::flight::{Flights, Kind};
use crate::checkpoint::records::{Record, Records, broken};
use crate::checkpoint::{Groups, Section};
use crate::error::{Error, Result};
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

const KIND: Kind = Kind { records: 2, notes: 3, beside: false };

/// Bytes of changes that wait to be written together, about, and what each takes beside them.
const CHANGES: usize = if cfg!(test) { 1 << 10 } else { 1 << 16 };
const WAITING: usize = 64;

/// Bytes of pages that are read together, about.
const AHEAD: usize = if cfg!(test) { 300 } else { 1 << 14 };

/// The key of a page in the store, and how much of it is the same for all of an owner.
pub(super) type StoreKey = [u8; OWNER + 8];
const OWNER: usize = 11;

/// The key of a page of an owner in a group.
pub(super) fn store_key(group: usize, owner: u64, page: u64) -> StoreKey {
    let mut key = [KIND.records; OWNER + 8];
    key[1..3].copy_from_slice(&(group as u16).to_be_bytes());
    key[3..OWNER].copy_from_slice(&owner.to_be_bytes());
    key[OWNER..].copy_from_slice(&page.to_be_bytes());
    key
}

/// A change of the store that has not been made.
struct Waiting {
    /// The record of a page; none where it goes.
    record: Option<Vec<u8>>,
    /// It is to be noted as changed.
    noted: bool,
    /// Whether there is one in the store: a page that comes and goes before it has been written needs no change.
    is_there: bool,
}

/// See the module.
pub(super) struct Stored {
    space: Option<Space>,
    /// What is to be written, and how many bytes that is.
    waiting: BTreeMap<StoreKey, Waiting>,
    bytes: usize,
    /// Copies of pages that follow one that was taken out, and the beginning of its key.
    ahead: BTreeMap<StoreKey, Vec<u8>>,
    taken: Vec<u8>,
    /// For what is being written.
    changes: Changes,
    flights: Flights,
}

/// The elements in the record of a page.
fn elements_of(key: &StoreKey, record: &[u8]) -> Result<Vec<u8>> {
    match Records(record).next() {
        Some(Ok(Record::Put { value, .. })) => Ok(value.to_vec()),
        _ => Err(lost(key, record)),
    }
}

/// The store has not what was put there.
#[cold]
fn lost(key: &StoreKey, record: &[u8]) -> Error {
    let group = u16::from_be_bytes([key[1], key[2]]);
    let number = |at: usize| key[at..at + 8].iter().fold(0u64, |n, byte| n << 8 | u64::from(*byte));
    let (owner, page) = (number(3), number(OWNER));
    let how = if record.is_empty() {
        "is not in the state backend any more"
    } else {
        "is not what was put into the state backend"
    };
    broken(&format!("of a long list, number {owner} in key group {group}, page {page} {how}")).note(
        "nothing but the job may change what lies in its state backend; the next start begins with an empty one, from the newest checkpoint",
    )
}

impl Stored {
    /// There are none, nor can there be where there is no store.
    pub fn new(space: Option<Space>) -> Self {
        Stored {
            space,
            waiting: BTreeMap::new(),
            bytes: 0,
            ahead: BTreeMap::new(),
            taken: Vec::new(),
            changes: Changes::default(),
            flights: Flights::new(KIND),
        }
    }

    /// Nobody asks any more.
    pub fn close(&mut self) {
        self.space = None;
    }

    /// Whether there is a store.
    pub fn is_open(&self) -> bool {
        self.space.is_some()
    }

    /// Ends the job.
    #[cold]
    pub fn report(&self, error: crate::error::Error) {
        if let Some(space) = &self.space {
            space.report(error);
        }
    }

    /// Puts the record of a page there, where it is not; `changed` says whether it is not as the last checkpoint has it.
    pub fn put(&mut self, key: StoreKey, changed: bool, record: Vec<u8>) {
        let length = record.len();
        let new = Waiting { record: None, noted: false, is_there: false };
        let waiting = self.waiting.entry(key).or_insert(new);
        (waiting.record, waiting.noted) = (Some(record), changed);
        self.wait(length);
    }

    /// The elements of a page.
    ///
    /// # Errors
    /// When they cannot be read.
    pub fn look(&self, key: &StoreKey) -> Result<Vec<u8>> {
        match self.waiting.get(key) {
            Some(waiting) => elements_of(key, waiting.record.as_deref().unwrap_or_default()),
            None => self.stored(key),
        }
    }

    /// Takes a page out: its elements. That at `end` is behind the last of the same owner.
    ///
    /// # Errors
    /// When they cannot be read.
    pub fn take(&mut self, key: StoreKey, end: &StoreKey) -> Result<Vec<u8>> {
        if self.waiting.contains_key(&key) {
            return elements_of(&key, &self.remove(key).unwrap_or_default());
        }
        let elements = self.fetch(&key, end)?;
        self.remove(key);
        Ok(elements)
    }

    /// A checkpoint begins: see [`Flights::begin`].
    pub fn begin_save(&mut self, out: &Groups, section: Section, whole: bool) {
        self.flush();
        if let Some(space) = &self.space {
            self.flights.begin(space, out, section, whole);
        }
    }

    /// See [`Flights::more`].
    pub fn save_more(&mut self, left: &mut usize) -> bool {
        let Stored { space, flights, changes, .. } = self;
        space.as_ref().is_none_or(|space| flights.more(space, changes, left))
    }

    fn flush(&mut self) {
        let Stored { space, waiting, changes, flights, .. } = self;
        let waiting = std::mem::take(waiting);
        self.bytes = 0;
        let Some(space) = space.as_ref().filter(|_| !waiting.is_empty()) else { return };
        for (key, Waiting { record, noted, .. }) in waiting {
            let Some(record) = record else {
                changes.remove(&key);
                continue;
            };
            changes.put(&key, |out| out.extend_from_slice(&record));
            if noted && let Some(note) = flights.note(&key) {
                changes.put(&note, |_| {});
            }
        }
        if let Err(error) = space.store.write(changes) {
            space.report(error);
        }
        changes.clear();
    }

    fn wait(&mut self, bytes: usize) {
        self.bytes += bytes + WAITING;
        if self.bytes >= CHANGES {
            self.flush();
        }
    }

    /// What the store itself has of a page.
    fn stored(&self, key: &StoreKey) -> Result<Vec<u8>> {
        let mut found = Vec::new();
        let space = self.space.as_ref().ok_or_else(|| broken("a page has no store"))?;
        space.store.get(key, &mut found)?;
        elements_of(key, &found)
    }

    /// The same of a page that is to be taken out. If that of the same owner was done last, those that follow, up to `end`, are likely to be next.
    fn fetch(&mut self, key: &StoreKey, end: &StoreKey) -> Result<Vec<u8>> {
        if let Some(record) = self.ahead.remove(key) {
            return elements_of(key, &record);
        }
        self.ahead.clear();
        let owner = &key[..OWNER];
        if self.taken != owner {
            self.taken = owner.to_vec();
            return self.stored(key);
        }
        let Stored { space: Some(space), waiting, ahead, .. } = self else { return self.stored(key) };
        let mut bytes = 0;
        space.store.scan(key, end, &mut |key, record| {
            bytes += record.len() + WAITING;
            if let Ok(key) = key.try_into()
                && !waiting.contains_key(&key)
            {
                ahead.insert(key, record.to_vec());
            }
            bytes < AHEAD
        })?;
        elements_of(key, &ahead.remove(key).unwrap_or_default())
    }

    /// All pages from `from` on go, up to `to`; no more of them are looked at than there are.
    pub fn remove_found(&mut self, from: StoreKey, to: &StoreKey) {
        self.flush();
        let mut found: Vec<StoreKey> = Vec::new();
        let Some(space) = &self.space else { return };
        let mut note = |key: &[u8], _: &[u8]| {
            found.extend(<StoreKey>::try_from(key));
            true
        };
        if let Err(error) = space.store.scan(&from, to, &mut note) {
            space.report(error);
        }
        found.into_iter().for_each(|key| drop(self.remove(key)));
    }

    /// A page goes: what was to be written of it.
    pub fn remove(&mut self, key: StoreKey) -> Option<Vec<u8>> {
        self.ahead.remove(&key);
        let found = match self.waiting.entry(key) {
            Entry::Vacant(place) => {
                place.insert(Waiting { record: None, noted: false, is_there: true });
                None
            }
            Entry::Occupied(place) if !place.get().is_there => place.remove().record,
            Entry::Occupied(mut place) => place.get_mut().record.take(),
        };
        self.wait(0);
        found
    }
}

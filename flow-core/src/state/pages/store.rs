//! Pages in the store of the state backend. What is to be changed there waits, so that many changes are written together; and who takes one
//! page after the other out gets them from what has been read together.
//!
//! The store has neighbours under one key where they are small ([`Together`]), their records one after the other: what it costs to write, read and remove
//! something small is for the most part by key. Whoever changes some of them reads the others; a list that grows or is taken from the front does so at its ends alone.

use super::super::backend::{Changes, Space};
use super::super::flight::{Flights, Kind};
use super::pager::{Together, page_of};
use crate::checkpoint::records::{Record, Records, broken};
use crate::checkpoint::{Groups, Section};
use crate::error::{Error, Result};
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::ops::Range;

const KIND: Kind = Kind { records: 2, notes: 3, beside: false };

/// Bytes of changes that wait to be written together, about, and what each takes beside them.
const CHANGES: usize = if cfg!(test) { 1 << 10 } else { 1 << 16 };
const WAITING: usize = 64;

/// Bytes of pages that are read together, about.
const AHEAD: usize = if cfg!(test) { 300 } else { 1 << 14 };

/// A page of an owner in a group, and the key of it and its neighbours in the store.
pub(super) type PageId = (u16, u64, u64);
type StoreKey = [u8; 19];

fn store_key((group, owner, page): PageId) -> StoreKey {
    key_of_run(group, owner, page / Together::pages(owner))
}

/// The first key behind those of the pages of an owner up to `end`.
fn key_behind(group: u16, owner: u64, end: u64) -> StoreKey {
    key_of_run(group, owner, end.div_ceil(Together::pages(owner)))
}

fn key_of_run(group: u16, owner: u64, run: u64) -> StoreKey {
    let mut key = [KIND.records; size_of::<StoreKey>()];
    key[1..3].copy_from_slice(&group.to_be_bytes());
    key[3..11].copy_from_slice(&owner.to_be_bytes());
    key[11..].copy_from_slice(&run.to_be_bytes());
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
    waiting: BTreeMap<PageId, Waiting>,
    bytes: usize,
    /// Copies of the records of pages beside one that was taken out, and behind it.
    ahead: BTreeMap<PageId, Vec<u8>>,
    /// The group and the owner of which a page was taken out last.
    taken: (u16, u64),
    /// For what is being written.
    changes: Changes,
    flights: Flights,
}

/// The elements in the record of a page.
fn elements_of(page: PageId, record: &[u8]) -> Result<Vec<u8>> {
    match Records(record).next() {
        Some(Ok(Record::Put { value, .. })) => Ok(value.to_vec()),
        _ => Err(lost(page, record)),
    }
}

/// The store has not what was put there.
#[cold]
fn lost((group, owner, page): PageId, record: &[u8]) -> Error {
    let how = if record.is_empty() {
        "is not in the state backend any more"
    } else {
        "is not what was put into the state backend"
    };
    broken(&format!("of a long list, number {owner} in key group {group}, page {page} {how}")).note(
        "nothing but the job may change what lies in its state backend; the next start begins with an empty one, from the newest checkpoint",
    )
}

/// Shows the pages in `records`, which lie under the key of `page`, and the record of each.
fn each_of(page: PageId, mut records: &[u8], mut each: impl FnMut(PageId, &[u8])) -> Result<()> {
    let key = store_key(page);
    loop {
        let mut rest = Records(records);
        let found = match rest.next() {
            None => return Ok(()),
            Some(Ok(Record::Put { key, .. })) => page_of(key).map(|(owner, number)| (page.0, owner, number)),
            Some(_) => None,
        };
        let found = found.filter(|found| store_key(*found) == key).ok_or_else(|| lost(page, records))?;
        let (own, others) = records.split_at(records.len() - rest.0.len());
        each(found, own);
        records = others;
    }
}

/// A page of a store's key.
fn first_page(key: &[u8]) -> Option<PageId> {
    let key: &StoreKey = key.try_into().ok()?;
    let number = |at: usize| key[at..at + 8].iter().fold(0u64, |n, byte| n << 8 | u64::from(*byte));
    let owner = number(3);
    Some((u16::from_be_bytes([key[1], key[2]]), owner, number(11).checked_mul(Together::pages(owner))?))
}

impl Stored {
    /// There are none, nor can there be where there is no store.
    pub fn new(space: Option<Space>) -> Self {
        Stored {
            space,
            waiting: BTreeMap::new(),
            bytes: 0,
            ahead: BTreeMap::new(),
            taken: (0, 0),
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
    pub fn put(&mut self, page: PageId, changed: bool, record: Vec<u8>) {
        let length = record.len();
        let new = Waiting { record: None, noted: false, is_there: false };
        let waiting = self.waiting.entry(page).or_insert(new);
        (waiting.record, waiting.noted) = (Some(record), changed);
        self.wait(length);
    }

    /// The elements of a page.
    ///
    /// # Errors
    /// When they cannot be read.
    pub fn look(&self, page: PageId) -> Result<Vec<u8>> {
        if let Some(waiting) = self.waiting.get(&page) {
            return elements_of(page, waiting.record.as_deref().unwrap_or_default());
        }
        let mut found = Vec::new();
        each_of(page, &self.stored(page)?, |other, record| {
            if other == page {
                found = record.to_vec();
            }
        })?;
        elements_of(page, &found)
    }

    /// Takes a page out: its elements. Page `end` is behind the last of the same owner.
    ///
    /// # Errors
    /// When they cannot be read.
    pub fn take(&mut self, page: PageId, end: u64) -> Result<Vec<u8>> {
        if self.waiting.contains_key(&page) {
            return elements_of(page, &self.remove(page).unwrap_or_default());
        }
        let elements = self.fetch(page, end)?;
        self.remove(page);
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
        let waiting = std::mem::take(&mut self.waiting);
        self.bytes = 0;
        if waiting.is_empty() || self.space.is_none() {
            return;
        }
        let mut changes = std::mem::take(&mut self.changes);
        let mut waiting = waiting.into_iter().peekable();
        let mut written = Ok(());
        while let Some(first) = waiting.next() {
            let key = store_key(first.0);
            let mut neighbours = vec![first];
            while let Some(next) = waiting.next_if(|next| store_key(next.0) == key) {
                neighbours.push(next);
            }
            written = written.and_then(|()| self.write(&key, &neighbours, &mut changes));
        }
        if let Some(space) = &mut self.space
            && let Err(error) = written.and_then(|()| space.store.write(&changes))
        {
            space.report(error);
        }
        changes.clear();
        self.changes = changes;
    }

    /// Writes neighbours of which these have changed.
    fn write(&self, key: &StoreKey, changed: &[(PageId, Waiting)], changes: &mut Changes) -> Result<()> {
        let mut records = Vec::new();
        if let Some((first, _)) = changed.first()
            && (changed.len() as u64) < Together::pages(first.1)
        {
            each_of(*first, &self.stored(*first)?, |page, record| {
                if !changed.iter().any(|(other, _)| *other == page) {
                    records.extend_from_slice(record);
                }
            })?;
        }
        changed
            .iter()
            .filter_map(|(_, page)| page.record.as_ref())
            .for_each(|new| records.extend_from_slice(new));
        if records.is_empty() {
            changes.remove(key);
            return Ok(());
        }
        changes.put(key, |out| out.extend_from_slice(&records));
        if changed.iter().any(|(_, page)| page.noted && page.record.is_some())
            && let Some(note) = self.flights.note(key)
        {
            changes.put(&note, |_| {});
        }
        Ok(())
    }

    fn wait(&mut self, bytes: usize) {
        self.bytes += bytes + WAITING;
        if self.bytes >= CHANGES {
            self.flush();
        }
    }

    /// What the store itself has of a page and its neighbours: their records.
    fn stored(&self, page: PageId) -> Result<Vec<u8>> {
        let mut found = Vec::new();
        let space = self.space.as_ref().ok_or_else(|| broken("a page has no store"))?;
        if !space.store.get(&store_key(page), &mut found)? {
            found.clear();
        }
        Ok(found)
    }

    /// What the store itself has of a page that is to be taken out, and with it copies of its neighbours. If one of the same owner was taken out
    /// last, those that follow, up to `end`, are likely to be next.
    fn fetch(&mut self, page: PageId, end: u64) -> Result<Vec<u8>> {
        if let Some(record) = self.ahead.remove(&page) {
            return elements_of(page, &record);
        }
        self.ahead.clear();
        let (group, owner, _) = page;
        let more = std::mem::replace(&mut self.taken, (group, owner)) == (group, owner);
        let Stored { space: Some(space), waiting, ahead, .. } = self else {
            return Err(broken("a page has no store"));
        };
        let behind = key_behind(group, owner, end);
        let (mut bytes, mut read) = (0, Ok(()));
        space.store.scan(&store_key(page), &behind, &mut |key, records| {
            read = each_of(first_page(key).unwrap_or(page), records, |page, record| {
                bytes += record.len() + WAITING;
                if !waiting.contains_key(&page) {
                    ahead.insert(page, record.to_vec());
                }
            });
            more && bytes < AHEAD && read.is_ok()
        })?;
        read?;
        elements_of(page, &ahead.remove(&page).unwrap_or_default())
    }

    /// These pages of an owner go; no more of them are looked at than there are.
    pub fn remove_found(&mut self, (group, owner): (u16, u64), pages: &Range<u64>) {
        let Some(space) = &self.space else { return };
        let waiting = self.waiting.range((group, owner, pages.start)..(group, owner, pages.end));
        let mut found: Vec<PageId> = waiting.map(|(page, _)| *page).collect();
        let mut read = Ok(());
        let first = (group, owner, pages.start);
        let scanned =
            space.store.scan(&store_key(first), &key_behind(group, owner, pages.end), &mut |key, records| {
                read = each_of(first_page(key).unwrap_or(first), records, |page, _| {
                    found.extend(pages.contains(&page.2).then_some(page));
                });
                read.is_ok()
            });
        if let Err(error) = scanned.and(read) {
            space.report(error);
        }
        found.into_iter().for_each(|page| drop(self.remove(page)));
    }

    /// A page goes: what was to be written of it.
    pub fn remove(&mut self, page: PageId) -> Option<Vec<u8>> {
        self.ahead.remove(&page);
        let found = match self.waiting.entry(page) {
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

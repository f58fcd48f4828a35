//! Where the pages of a table's entries go.

use super::super::backend::Space;
use super::store::{PageId, Stored};
use crate::checkpoint::records::{framed, removed};
use crate::checkpoint::{Groups, Section};
use crate::error::Result;
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// So many runs of pages that are gone are kept for the next checkpoint; beyond that it is whole.
const GONE_MAX: usize = if cfg!(test) { 8 } else { 1 << 16 };

/// When something is kept in pages, and how large they are.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    /// Elements that never are.
    pub few: usize,
    /// Bytes of elements that are not.
    pub inline: usize,
    /// Bytes of a page, about.
    pub page: usize,
    /// Elements of a page, at least and at most.
    pub elements: (usize, usize),
    /// The same at least of a page of large elements.
    pub large: usize,
}

/// Bytes of elements that are small, and of those that are not large.
const SMALL: usize = 12;
const MIDDLE: usize = 64;

impl Limits {
    /// How many elements, of about so many bytes each, a page has.
    pub fn length(self, about: usize) -> usize {
        let (least, most) = self.elements;
        (self.page / about.max(1)).clamp(if about > MIDDLE { self.large } else { least }, most)
    }
}

/// How many pages an owner has under one key of the store. So that what is read and written again beside a page that changes is no more than
/// a few thousand bytes, it depends on how large the elements were when the owner began to have pages; the last two bits of its number say it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Together(u64);

impl Together {
    /// Of elements of about so many bytes.
    pub fn of(about: usize) -> Self {
        Together(if about <= SMALL {
            0
        } else if about <= MIDDLE {
            1
        } else {
            2
        })
    }

    /// How many pages the owner of this number has.
    pub(super) fn pages(owner: u64) -> u64 {
        match owner & 3 {
            0 => FEW_BYTES,
            1 => 4,
            _ => 1,
        }
    }
}

/// Pages of small elements under one key.
const FEW_BYTES: u64 = if cfg!(test) { 4 } else { 32 };

const LIMITS: Limits = Limits { few: 16, inline: 512, page: 48, elements: (8, 1024), large: 4 };

#[cfg(not(test))]
fn limits() -> Limits {
    LIMITS
}

#[cfg(test)]
thread_local! {
    static OF_TEST: std::cell::Cell<Limits> = const { std::cell::Cell::new(LIMITS) };
}

#[cfg(test)]
fn limits() -> Limits {
    OF_TEST.get()
}

/// Pagers that are made in `f` have these limits.
#[cfg(test)]
pub(crate) fn with_limits<R>(limits: Limits, f: impl FnOnce() -> R) -> R {
    let before = OF_TEST.replace(limits);
    let done = f();
    OF_TEST.set(before);
    done
}

/// A group, an owner, and which of its pages.
pub(crate) type GonePages = (usize, u64, Range<u64>);

/// The pages of one table. A clone is the same one; one thread alone uses it at a time.
#[derive(Clone)]
pub(crate) struct Pager(Arc<Mutex<Inner>>);

struct Inner {
    pages: Stored,
    limits: Limits,
    /// The number of the next owner.
    next: u64,
    /// What has gone since the last checkpoint: group, owner, pages.
    gone: Vec<GonePages>,
    /// Whether there has been a checkpoint: before the first nobody asks what has gone.
    noting: bool,
    /// There was too much of it.
    lost: bool,
}

/// The key of a page in a checkpoint.
pub(super) fn key_of(owner: u64, page: u64) -> [u8; 16] {
    let mut key = [0; 16];
    key[..8].copy_from_slice(&owner.to_le_bytes());
    key[8..].copy_from_slice(&page.to_le_bytes());
    key
}

/// What such a key says.
pub(super) fn page_of(key: &[u8]) -> Option<(u64, u64)> {
    let (owner, page) = key.split_first_chunk()?;
    Some((u64::from_le_bytes(*owner), u64::from_le_bytes(page.try_into().ok()?)))
}

/// Appends the record of a page.
pub(super) fn record(owner: u64, page: u64, elements: &[u8], out: &mut Vec<u8>) {
    framed(1, &key_of(owner, page), out);
    framed(1, elements, out);
}

impl Pager {
    /// Of a table whose entries go to `space`, if there is one.
    pub fn new(space: Option<Space>) -> Self {
        Pager(Arc::new(Mutex::new(Inner {
            pages: Stored::new(space),
            limits: limits(),
            next: 1,
            gone: Vec::new(),
            noting: false,
            lost: false,
        })))
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether there is a store.
    pub fn has_store(&self) -> bool {
        self.lock().pages.is_open()
    }

    /// The table ends: nobody asks for pages any more, nor for what has gone.
    pub fn close(&self) {
        let mut inner = self.lock();
        inner.pages.close();
        inner.noting = false;
    }

    /// See [`Limits`].
    pub fn limits(&self) -> Limits {
        self.lock().limits
    }

    /// Where an owner in a group has its pages.
    pub fn home(&self, group: usize, owner: u64) -> Home {
        let mut inner = self.lock();
        inner.next = inner.next.max(owner.saturating_add(1));
        Home { pager: self.clone(), group, owner }
    }

    /// The same of a new one.
    pub fn new_home(&self, group: usize, together: Together) -> Home {
        let next = self.lock().next;
        self.home(group, next.next_multiple_of(4) | together.0)
    }

    /// What has gone since this was asked last, with which [`Pager::write_gone`] is called; none where the checkpoint has to have all.
    pub fn gone(&self) -> Option<Vec<GonePages>> {
        let mut inner = self.lock();
        let known = std::mem::replace(&mut inner.noting, true) && !std::mem::take(&mut inner.lost);
        let gone = std::mem::take(&mut inner.gone);
        known.then_some(gone)
    }

    /// A checkpoint: the pages in the store, or those of them that have changed, go to `section` of `out`, as they are now.
    pub fn begin_save(&self, out: &Groups, section: Section, whole: bool) {
        while !self.save_more(&mut usize::MAX.clone()) {}
        self.lock().pages.begin_save(out, section, whole);
    }

    /// Goes on with it, as far as `left` allows; whether all is written.
    pub fn save_more(&self, left: &mut usize) -> bool {
        self.lock().pages.save_more(left)
    }
}

/// Writes what [`Pager::gone`] gave.
pub(in super::super) fn write_gone(gone: &[GonePages], section: &Section, out: &Groups) {
    for (group, owner, pages) in gone {
        for page in pages.clone() {
            out.remove(section, *group, &key_of(*owner, page));
        }
    }
}

/// Whose pages they are.
pub(crate) struct Home {
    pager: Pager,
    group: usize,
    owner: u64,
}

impl Home {
    /// The number of the owner.
    pub fn owner(&self) -> u64 {
        self.owner
    }

    /// Whether there is a store.
    pub fn has_store(&self) -> bool {
        self.pager.has_store()
    }

    fn id(&self, page: u64) -> PageId {
        (self.group as u16, self.owner, page)
    }

    /// Appends the record of a page to those of a checkpoint.
    pub fn record(&self, page: u64, elements: &[u8], out: &mut Vec<u8>) {
        record(self.owner, page, elements, out);
    }

    /// The same of a page that is gone.
    pub fn removed(&self, page: u64, out: &mut Vec<u8>) {
        removed(&key_of(self.owner, page), out);
    }

    /// Puts a page into the store, where it is not; `changed` says whether it is not as the last checkpoint has it.
    pub fn put(&self, page: u64, changed: bool, elements: &[u8]) {
        let mut new = Vec::with_capacity(elements.len() + 24);
        record(self.owner, page, elements, &mut new);
        self.pager.lock().pages.put(self.id(page), changed, new);
    }

    /// A copy of a page in the store.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn look(&self, page: u64) -> Result<Vec<u8>> {
        self.pager.lock().pages.look(self.id(page))
    }

    /// Takes the first of these pages, which are all there, out of the store.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn take(&self, pages: Range<u64>) -> Result<Vec<u8>> {
        self.pager.lock().pages.take(self.id(pages.start), pages.end)
    }

    /// Takes pages out of the store that nobody needs.
    pub fn forget(&self, pages: Range<u64>) {
        let stored = &mut self.pager.lock().pages;
        if stored.is_open() {
            pages.for_each(|page| drop(stored.remove(self.id(page))));
        }
    }

    /// The same of those that are there, of a range in which there may be few.
    pub fn forget_found(&self, pages: Range<u64>) {
        self.pager.lock().pages.remove_found((self.group as u16, self.owner), &pages);
    }

    /// These pages, which a checkpoint may have, are gone.
    pub fn gone(&self, pages: Range<u64>) {
        let mut inner = self.pager.lock();
        if pages.is_empty() || !inner.noting || inner.lost {
            return;
        }
        if let Some(last) = inner.gone.last_mut()
            && (last.0, last.1, last.2.end) == (self.group, self.owner, pages.start)
        {
            last.2.end = pages.end;
            return;
        }
        inner.gone.push((self.group, self.owner, pages));
        if inner.gone.len() > GONE_MAX {
            (inner.lost, inner.gone) = (true, Vec::new());
        }
    }

    /// Ends the job: a page could not be read.
    #[cold]
    pub fn report(&self, error: crate::error::Error) {
        self.pager.lock().pages.report(error);
    }
}

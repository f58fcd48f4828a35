//! What is being done with an entry while its parts are written or read.

use super::PAGES;
use super::pager::{Home, Limits, Pager, page_of};
use crate::checkpoint::records::{Part, broken};
use crate::checkpoint::{Groups, Section};
use crate::error::Result;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ops::Range;

/// The pages of a key group: of each owner by number.
type Found = BTreeMap<(u64, u64), Vec<u8>>;

/// It is taken by the part that is written or read, and given back when that has been.
pub(crate) enum Task {
    /// It goes into a checkpoint: pages in memory that have changed, or all of them, are appended as records.
    Save { pager: Pager, group: usize, whole: bool, out: Vec<u8> },
    /// It goes to the store: all pages in memory are put there.
    Leave { pager: Pager, group: usize },
    /// Only how long it would be is asked: `more` is what is not written.
    Weigh { more: usize },
    /// It comes from the store, where its pages stay.
    Load { pager: Pager, group: usize },
    /// It comes from a checkpoint; its pages are in the store already, or else in `found`. Owners say that they are there.
    Restore { pager: Pager, group: usize, found: Found, owners: Vec<u64> },
}

impl Task {
    /// A number for an owner that has none, where there may be pages.
    pub fn home(&self) -> Option<Home> {
        match self {
            Task::Save { pager, group, .. } | Task::Leave { pager, group } => Some(pager.home(*group, None)),
            _ => None,
        }
    }

    /// When something has pages, where it may.
    pub fn limits(&self) -> Option<Limits> {
        match self {
            Task::Save { pager, .. } | Task::Leave { pager, .. } => Some(pager.limits()),
            _ => None,
        }
    }

    /// The owner of this number, which has been read.
    pub fn known(&mut self, owner: u64) -> Option<Home> {
        match self {
            Task::Load { pager, group } => Some(pager.home(*group, Some(owner))),
            Task::Restore { pager, group, owners, .. } => {
                owners.push(owner);
                Some(pager.home(*group, Some(owner)))
            }
            _ => None,
        }
    }

    /// A page of an owner that is read, where it is not in a store.
    pub fn page(&mut self, owner: u64, page: u64) -> Option<Vec<u8>> {
        match self {
            Task::Restore { found, .. } => found.remove(&(owner, page)),
            _ => None,
        }
    }
}

thread_local! {
    static TASK: RefCell<Option<Task>> = const { RefCell::new(None) };
}

/// What is being done; whoever takes it gives it back.
pub(crate) fn take_task() -> Option<Task> {
    TASK.take()
}

/// See [`take_task`].
pub(crate) fn give_back(task: Option<Task>) {
    TASK.set(task);
}

/// Nothing is being done any more, also where the user's code has panicked.
struct End;

impl Drop for End {
    fn drop(&mut self) {
        TASK.take();
    }
}

/// Writes or reads an entry, `f`, with this task, and gives it back.
pub(in super::super) fn during<R>(task: Task, f: impl FnOnce() -> R) -> (R, Option<Task>) {
    let _end = End;
    TASK.set(Some(task));
    let done = f();
    (done, TASK.take())
}

/// The pages of entries that are written to a checkpoint.
pub(in super::super) struct Collected {
    pager: Pager,
    section: Section,
    whole: bool,
    /// Records, by group.
    pages: RefCell<Vec<(usize, Vec<u8>)>>,
}

impl Collected {
    pub fn new(pager: Pager, section: Section, whole: bool) -> Self {
        Collected { pager, section, whole, pages: RefCell::default() }
    }

    /// Writes an entry of a group.
    pub fn of<R>(&self, group: usize, f: impl FnOnce() -> R) -> R {
        let (pager, whole) = (self.pager.clone(), self.whole);
        let (done, task) = during(Task::Save { pager, group, whole, out: Vec::new() }, f);
        if let Some(Task::Save { out, .. }) = task
            && !out.is_empty()
        {
            self.pages.borrow_mut().push((group, out));
        }
        done
    }

    /// The pages of all that have been written go to `out`.
    pub fn hand_on(&self, out: &Groups) {
        for (group, records) in self.pages.take() {
            out.put_records(&self.section, group, &records);
        }
    }
}

/// Entries of a key group that are read from a checkpoint.
pub(crate) struct Restoring {
    pager: Pager,
    group: usize,
    found: Found,
    /// Those of which there are pages and that have not been read, with all their pages.
    missing: BTreeMap<u64, Range<u64>>,
}

impl Restoring {
    /// Of this group.
    pub fn new(pager: Pager, group: usize) -> Self {
        Restoring { pager, group, found: Found::new(), missing: BTreeMap::new() }
    }

    /// A record of the section of pages; all have to be known before entries are read.
    ///
    /// # Errors
    /// When it is none.
    pub fn page(&mut self, key: &[u8], elements: &[u8]) -> Result<()> {
        let (owner, page) = page_of(key).ok_or_else(|| broken("the key of a page is cut short"))?;
        let pages = self.missing.entry(owner).or_insert(page..page);
        *pages = pages.start.min(page)..pages.end.max(page.saturating_add(1));
        let home = self.pager.home(self.group, Some(owner));
        if self.pager.has_store() {
            home.put(page, false, elements);
        } else {
            self.found.insert((owner, page), elements.to_vec());
        }
        Ok(())
    }

    /// Reads an entry.
    pub fn read<R>(&mut self, f: impl FnOnce() -> R) -> R {
        let (pager, group, found) = (self.pager.clone(), self.group, std::mem::take(&mut self.found));
        let (done, task) = during(Task::Restore { pager, group, found, owners: Vec::new() }, f);
        if let Some(Task::Restore { found, owners, .. }) = task {
            self.found = found;
            for owner in owners {
                self.missing.remove(&owner);
            }
        }
        done
    }

    /// All entries have been read: pages whose owner is not there go. How many owners and pages in memory were nobody's.
    pub fn finish(self) -> usize {
        let nobodys = self.missing.len() + self.found.len();
        for (owner, pages) in self.missing {
            self.pager.home(self.group, Some(owner)).forget(pages);
        }
        nobodys
    }
}

/// The section of pages in a checkpoint.
pub(in super::super) fn section(out: &Groups, part: Part) -> Section {
    out.section(part, PAGES, &[])
}

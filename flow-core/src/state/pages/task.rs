//! What is being done with an entry while its parts are written or read.

use super::PAGES;
use super::pager::{Home, Limits, Pager, Together, page_of};
use crate::checkpoint::records::{Part, broken};
use crate::checkpoint::{Groups, Section};
use crate::error::{Error, Result};
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
    /// It comes from a checkpoint; its pages are in the store already, or else in `found`. Owners take out of `come` what there is of theirs.
    Restore { pager: Pager, group: usize, found: Found, come: BTreeMap<u64, Come> },
}

/// The pages of an owner that have come: from the first to the last, and how many.
pub(crate) struct Come {
    pages: Range<u64>,
    count: u64,
    /// The sum of their numbers: so one that comes twice does not stand for another.
    sum: u64,
}

impl Come {
    /// Whether it is these, as far as can be said without looking for each of them. So nobody goes through more pages than have come.
    fn are(&self, pages: &Range<u64>) -> bool {
        let (count, ends) =
            (pages.end.saturating_sub(pages.start), u128::from(pages.start) + u128::from(pages.end));
        let sum = (ends.saturating_sub(1) * u128::from(count) / 2) as u64;
        self.pages == *pages && (self.count, self.sum) == (count, sum)
    }
}

impl Task {
    /// A number for an owner that has none, where there may be pages.
    pub fn home(&self, together: Together) -> Option<Home> {
        match self {
            Task::Save { pager, group, .. } | Task::Leave { pager, group } => {
                Some(pager.new_home(*group, together))
            }
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

    /// The owner of this number, which has been read and has these pages.
    ///
    /// # Errors
    /// When it comes from a checkpoint in which some of them are missing, or from where there are no pages.
    pub fn known(&mut self, owner: u64, pages: &Range<u64>) -> Result<Home> {
        match self {
            Task::Load { pager, group } => Ok(pager.home(*group, owner)),
            Task::Restore { pager, group, come, .. } => match come.remove(&owner) {
                Some(come) if come.are(pages) => Ok(pager.home(*group, owner)),
                Some(Come { pages: Range { start, end }, count, .. }) => {
                    let what = format!("{count} have come, of {start} to {}", end.saturating_sub(1));
                    Err(missing((*group, owner), pages, &what))
                }
                None => Err(missing((*group, owner), pages, "none has come")),
            },
            _ => Err(broken("elements of a list lie in pages beside the state, and these are not at hand")),
        }
    }

    /// A page of an owner that is read, where it is not in a store; it is one of `pages`.
    ///
    /// # Errors
    /// When it is not there.
    pub fn page(&mut self, owner: u64, page: u64, pages: &Range<u64>) -> Result<Vec<u8>> {
        match self {
            Task::Restore { group, found, .. } => {
                let there = found.remove(&(owner, page));
                there.ok_or_else(|| missing((*group, owner), pages, &format!("{page} has not come")))
            }
            _ => Err(broken("a page of a list is not at hand")),
        }
    }
}

/// A checkpoint has other pages of an owner than he says.
#[cold]
fn missing((group, owner): (usize, u64), pages: &Range<u64>, come: &str) -> Error {
    let last = pages.end.saturating_sub(1);
    let what = format!(
        "of a long list, number {owner} in key group {group}, there are to be pages {} to {last}: {come}",
        pages.start
    );
    broken(&what).note(
        "where the checkpoint was made by `import`, take all lines of its key group from one export; else start from another checkpoint: `Checkpoints::restore_from(…)`",
    )
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
    /// Those of which there are pages and that have not been read.
    come: BTreeMap<u64, Come>,
}

impl Restoring {
    /// Of this group.
    pub fn new(pager: Pager, group: usize) -> Self {
        Restoring { pager, group, found: Found::new(), come: BTreeMap::new() }
    }

    /// A record of the section of pages; all have to be known before entries are read.
    ///
    /// # Errors
    /// When it is none.
    pub fn page(&mut self, key: &[u8], elements: &[u8]) -> Result<()> {
        let (owner, page) = page_of(key).ok_or_else(|| broken("the key of a page is cut short"))?;
        let come = self.come.entry(owner).or_insert(Come { pages: page..page, count: 0, sum: 0 });
        come.pages = come.pages.start.min(page)..come.pages.end.max(page.saturating_add(1));
        come.count += 1;
        come.sum = come.sum.wrapping_add(page);
        let home = self.pager.home(self.group, owner);
        if self.pager.has_store() {
            home.put(page, false, elements);
        } else {
            self.found.insert((owner, page), elements.to_vec());
        }
        Ok(())
    }

    /// Reads an entry.
    pub fn read<R>(&mut self, f: impl FnOnce() -> R) -> R {
        let (pager, group) = (self.pager.clone(), self.group);
        let (found, come) = (std::mem::take(&mut self.found), std::mem::take(&mut self.come));
        let (done, task) = during(Task::Restore { pager, group, found, come }, f);
        if let Some(Task::Restore { found, come, .. }) = task {
            (self.found, self.come) = (found, come);
        }
        done
    }

    /// All entries have been read: pages whose owner is not there go. How many owners and pages in memory were nobody's.
    pub fn finish(self) -> usize {
        let nobodys = self.come.len() + self.found.len();
        for (owner, come) in self.come {
            self.pager.home(self.group, owner).forget_found(come.pages);
        }
        nobodys
    }
}

/// The section of pages in a checkpoint.
pub(in super::super) fn section(out: &Groups, part: Part) -> Section {
    out.section(part, PAGES, &[])
}

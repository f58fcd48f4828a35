//! How a list is written and read: its elements, or the last of them and what is said of the pages of the others.
//!
//! ```text
//! list   := elements option<header>                    header: see `paged.rs`; none where all elements stand here
//! elements := a sequence of (value, when it was written)
//! ```

use super::paged::{Header, Paged, ReadPage, checked, entry};
use super::{Entry, ListState};
use crate::checkpoint::records::broken;
use crate::error::{Error, Result};
use crate::state::pages::{Task, decode, encode, give_back, take_task};
use serde_core::de::{DeserializeOwned, Deserializer, Error as _};
use serde_core::ser::{Error as _, Serializer};
use serde_core::{Deserialize, Serialize};
use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::ops::Range;

/// Elements of which the length is estimated.
const SAMPLE: usize = 16;

/// Some of the elements.
struct Elements<'a, T>(&'a VecDeque<Entry<T>>, Range<usize>);

impl<T: Serialize> Serialize for Elements<'_, T> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_seq(self.0.range(self.1.clone()).map(|(value, written)| (value, written.get())))
    }
}

/// How long an element is when it is written, about.
fn about<T: Serialize>(entries: &VecDeque<Entry<T>>) -> Result<usize> {
    let (sample, mut bytes) = (entries.len().min(SAMPLE), Vec::new());
    encode(&Elements(entries, 0..sample), &mut bytes)?;
    Ok(bytes.len().div_ceil(sample.max(1)))
}

impl<T: Serialize> Paged<T> {
    /// Hands out the pages in memory that have changed, or all of them.
    fn hand_out(&self, entries: &VecDeque<Entry<T>>, end: u64, task: &mut Task) -> Result<()> {
        let (begin, behind) = (self.first_page(), self.behind() / self.length);
        let every = !matches!(task, Task::Save { whole: false, .. });
        let mut page = |page: u64, elements: Elements<'_, T>| {
            let mut bytes = Vec::new();
            encode(&elements, &mut bytes)?;
            match task {
                Task::Save { out, .. } => self.home.record(page, &bytes, out),
                _ => self.home.put(page, !self.clean.contains(&page), &bytes),
            }
            Ok::<_, Error>(())
        };
        if !self.front.is_empty() && (every || !self.clean.contains(&begin)) {
            page(begin, Elements(&self.front, 0..self.front.len()))?;
        }
        // Those that are as they were are one run, which nobody has to go through.
        let clean = if every {
            end..end
        } else {
            self.clean.start.clamp(behind, end)..self.clean.end.clamp(behind, end)
        };
        let clean = if clean.is_empty() { end..end } else { clean };
        for number in (behind..clean.start).chain(clean.end..end) {
            let numbers = self.numbers(number);
            let at = |number: u64| (number - self.behind()) as usize;
            page(number, Elements(entries, at(numbers.start)..at(numbers.end)))?;
        }
        Ok(())
    }
}

impl<T: Serialize> ListState<T> {
    /// Whether it has pages now, where there may be some.
    fn page(&self, paged: &mut Option<Box<Paged<T>>>, task: &Task) -> Result<()> {
        if paged.is_some() || self.entries.len() <= 8 {
            return Ok(());
        }
        let Some(limits) = task.limits().filter(|limits| self.entries.len() > limits.few) else {
            return Ok(());
        };
        let about = about(&self.entries)?;
        if about * self.entries.len() > limits.inline
            && let Some(home) = task.home()
        {
            let length = (limits.page / about).clamp(limits.elements.0, limits.elements.1);
            *paged = Some(Box::new(Paged::new(home, length as u64)));
        }
        Ok(())
    }

    /// Hands out pages. What stands in the entry itself: elements from one on, and the header.
    fn write(&self, task: &mut Task) -> Result<(usize, Option<Header>)> {
        if let Task::Weigh { more } = task {
            if self.entries.len() <= SAMPLE {
                return Ok((0, None));
            }
            *more += about(&self.entries)? * self.entries.len();
            return Ok((self.entries.len(), None));
        }
        let mut paged = self.paged.borrow_mut();
        self.page(&mut paged, task)?;
        let Some(paged) = paged.as_deref_mut() else { return Ok((0, None)) };
        let begin = paged.first_page();
        let end = ((paged.behind() + self.entries.len() as u64) / paged.length).max(begin);
        paged.hand_out(&self.entries, end, task)?;
        match task {
            Task::Leave { .. } => paged.left = true,
            _ => paged.clean = begin..end,
        }
        paged.written = paged.written.max(end);
        if begin == end {
            return Ok((0, None));
        }
        let header = (paged.home.owner(), paged.first, end, paged.length, self.oldest, self.mixed.get());
        Ok(((end * paged.length - paged.behind()) as usize, Some(header)))
    }

    /// Nobody asks for pages: all elements.
    fn write_all<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let paged = self.paged.borrow();
        let (mut front, mut stored) = (None, Vec::new());
        if let Some(paged) = &*paged {
            front = Some(&paged.front);
            for page in paged.stored.clone() {
                stored.extend(paged.look(page).map_err(S::Error::custom)?);
            }
        }
        let front = front.into_iter().flatten().map(|(value, written)| (value, written.get()));
        let stored = stored.iter().map(|(value, written)| (value, *written));
        let entries = self.entries.iter().map(|(value, written)| (value, written.get()));
        let all: Vec<(&T, i64)> = front.chain(stored).chain(entries).collect();
        (all, None::<Header>).serialize(to)
    }
}

impl<T: Serialize> Serialize for ListState<T> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        // Lists in the elements have no pages.
        let Some(mut task) = take_task() else { return self.write_all(to) };
        let written = self.write(&mut task).map_err(S::Error::custom);
        let done = written.and_then(|(from, header)| {
            (Elements(&self.entries, from..self.entries.len()), header).serialize(to)
        });
        give_back(Some(task));
        done
    }
}

/// A list whose pages `task` has, or says where they are.
fn read<T: DeserializeOwned>(
    entries: VecDeque<Entry<T>>,
    header: Header,
    task: Option<&mut Task>,
) -> Result<ListState<T>> {
    let (owner, first, end, length, oldest, mixed) = header;
    let mut list = ListState { entries, ..ListState::default() };
    let begin = first.checked_div(length).ok_or_else(|| broken("a list has pages of no element"))?;
    if begin >= end {
        return Ok(list);
    }
    if end.checked_add(1).and_then(|end| end.checked_mul(length)).is_none_or(|all| all > i64::MAX as u64) {
        return Err(broken("a list has more pages than there can be"));
    }
    let nowhere = "elements of a list lie in pages beside the state, and these are not at hand";
    let (task, home) =
        task.and_then(|task| task.known(owner).map(|home| (task, home))).ok_or_else(|| broken(nowhere))?;
    let mut paged = Paged::new(home, length);
    (paged.first, paged.written, paged.clean) = (first, end, begin..end);
    if paged.home.has_store() {
        let read: ReadPage<T> = |bytes| decode(bytes);
        (paged.stored, paged.read) = (begin..end, Some(read));
    } else {
        let mut all = VecDeque::new();
        for page in begin..end {
            let bytes = task.page(owner, page).ok_or_else(|| broken("a page of a list is not there"))?;
            all.extend(checked(decode(&bytes)?, paged.numbers(page))?.into_iter().map(entry));
        }
        all.append(&mut list.entries);
        list.entries = all;
    }
    (list.oldest, list.mixed) = (oldest, Cell::new(mixed));
    list.paged = RefCell::new(Some(Box::new(paged)));
    Ok(list)
}

impl<'de, T: DeserializeOwned> Deserialize<'de> for ListState<T> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let mut task = take_task();
        let found = <(Vec<(T, i64)>, Option<Header>)>::deserialize(from);
        let list = found.and_then(|(entries, header)| {
            let entries = entries.into_iter().map(entry).collect();
            match header {
                Some(header) => read(entries, header, task.as_mut()).map_err(D::Error::custom),
                None => Ok(ListState { entries, ..ListState::default() }),
            }
        });
        give_back(task);
        list
    }
}

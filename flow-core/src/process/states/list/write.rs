//! How a list is written and read: its elements, or the first and the last of them and what is said of the pages of the others.
//!
//! ```text
//! list   := elements option<header>                    header: see `paged.rs`; none where all elements stand here
//! elements := a sequence of (value, when it was written)
//! ```

use super::paged::{Header, Paged, ReadPage, checked, entry, packed, unpacked};
use super::{Entry, ListState};
use crate::checkpoint::records::broken;
use crate::error::Result;
use crate::state::pages::{Task, Together, decode, encode, give_back, take_task};
use serde_core::de::{DeserializeOwned, Deserializer, Error as _};
use serde_core::ser::{Error as _, SerializeSeq, Serializer};
use serde_core::{Deserialize, Serialize};
use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::ops::Range;

/// Elements of which the length is estimated.
const SAMPLE: usize = 16;

/// Some of the elements, and others that follow.
struct Elements<'a, T>(&'a VecDeque<Entry<T>>, Range<usize>, Range<usize>);

impl<T: Serialize> Serialize for Elements<'_, T> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let Elements(entries, some, others) = self;
        let mut seq = to.serialize_seq(Some(some.len() + others.len()))?;
        let both = entries.range(some.clone()).chain(entries.range(others.clone()));
        both.into_iter().try_for_each(|(value, written)| seq.serialize_element(&(value, written.get())))?;
        seq.end()
    }
}

/// How long an element is when it is written, about.
fn about<T: Serialize>(entries: &VecDeque<Entry<T>>) -> Result<usize> {
    let (sample, mut bytes) = (entries.len().min(SAMPLE), Vec::new());
    encode(&Elements(entries, 0..sample, 0..0), &mut bytes)?;
    Ok(bytes.len().div_ceil(sample.max(1)))
}

/// What stands in the entry itself: elements before the pages, others behind them, and the header.
type Own = (Range<usize>, Range<usize>, Option<Header>);

impl<T: Serialize> Paged<T> {
    /// Hands out the pages in memory that have changed, or all of them; there are to be those from `begin` to `end`.
    fn hand_out(
        &self,
        entries: &VecDeque<Entry<T>>,
        (begin, end): (u64, u64),
        task: &mut Task,
    ) -> Result<()> {
        let (at, behind) = self.behind();
        let begin = begin.max(behind / self.length);
        // Those that are as they were are one run, which nobody has to go through.
        let clean = if matches!(task, Task::Save { whole: false, .. }) {
            self.clean.start.clamp(begin, end)..self.clean.end.clamp(begin, end)
        } else {
            end..end
        };
        let clean = if clean.is_empty() { end..end } else { clean };
        for number in (begin..clean.start).chain(clean.end..end) {
            let from = at + (number * self.length - behind) as usize;
            let mut bytes = Vec::new();
            encode(&Elements(entries, from..from + self.length as usize, 0..0), &mut bytes)?;
            match task {
                Task::Save { out, .. } => self.home.record(number, &bytes, out),
                _ => self.home.put(number, !self.clean.contains(&number), &bytes),
            }
        }
        Ok(())
    }

    /// There are no pages before `begin` any more.
    fn begin_at(&mut self, begin: u64, task: &mut Task) {
        let gone = self.begin..begin.min(self.written);
        match task {
            // In the same checkpoint as what says so.
            Task::Save { whole, out, .. } if !*whole => gone.for_each(|page| self.home.removed(page, out)),
            Task::Save { .. } => {}
            _ => self.home.gone(gone),
        }
        self.begin = begin;
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
            && let Some(home) = task.home(Together::of(about))
        {
            *paged = Some(Box::new(Paged::new(home, limits.length(about) as u64)));
        }
        Ok(())
    }

    /// Hands out pages, and says what else there is.
    fn write(&self, task: &mut Task) -> Result<Own> {
        let len = self.entries.len();
        if let Task::Weigh { more } = task {
            if len <= SAMPLE {
                return Ok((0..0, 0..len, None));
            }
            *more += about(&self.entries)? * len;
            return Ok((0..0, len..len, None));
        }
        let mut paged = self.paged.borrow_mut();
        self.page(&mut paged, task)?;
        let Some(paged) = paged.as_deref_mut() else { return Ok((0..0, 0..len, None)) };
        let (at, behind) = paged.behind();
        let begin = paged.first_page();
        let end = ((behind + (len - at) as u64) / paged.length).max(begin);
        paged.begin_at(begin, task);
        paged.hand_out(&self.entries, (begin, end), task)?;
        match task {
            Task::Leave { .. } => paged.left = true,
            _ => paged.clean = begin..end,
        }
        paged.written = paged.written.max(end);
        if begin == end {
            return Ok((0..0, 0..len, None));
        }
        let front = if paged.stored.is_empty() { (begin * paged.length - paged.first) as usize } else { at };
        let packed = packed(paged.length, front as u64);
        let header = (paged.home.owner(), paged.first, end, packed, self.oldest, self.mixed.get());
        Ok((0..front, at + (end * paged.length - behind) as usize..len, Some(header)))
    }

    /// Nobody asks for pages: all elements.
    fn write_all<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let paged = self.paged.borrow();
        let (mut front, mut stored) = (0, Vec::new());
        if let Some(paged) = &*paged {
            front = paged.behind().0;
            for page in paged.stored.clone() {
                stored.extend(paged.look(page).map_err(S::Error::custom)?);
            }
        }
        let mut all: Vec<(&T, i64)> =
            self.entries.iter().map(|(value, written)| (value, written.get())).collect();
        all.splice(front..front, stored.iter().map(|(value, written)| (value, *written)));
        (all, None::<Header>).serialize(to)
    }
}

impl<T: Serialize> Serialize for ListState<T> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        // Lists in the elements have no pages.
        let Some(mut task) = take_task() else { return self.write_all(to) };
        let written = self.write(&mut task).map_err(S::Error::custom);
        let done = written.and_then(|(front, behind, header)| {
            (Elements(&self.entries, front, behind), header).serialize(to)
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
    let (owner, first, end, packed, oldest, mixed) = header;
    let (length, front) = unpacked(packed);
    let mut list = ListState { entries, ..ListState::default() };
    let begin = first.checked_add(front).and_then(|begin| begin.checked_div(length));
    let begin = begin.ok_or_else(|| broken("a list has pages of no element"))?;
    if front > list.entries.len() as u64 || (front > 0 && (first + front) % length != 0) {
        return Err(broken("a list has not the elements before its pages that it says"));
    }
    if begin >= end {
        return Ok(list);
    }
    if end.checked_add(1).and_then(|end| end.checked_mul(length)).is_none_or(|all| all > i64::MAX as u64) {
        return Err(broken("a list has more pages than there can be"));
    }
    let nowhere = "elements of a list lie in pages beside the state, and these are not at hand";
    let task = task.ok_or_else(|| broken(nowhere))?;
    let home = task.known(owner, &(begin..end))?;
    let mut paged = Paged::new(home, length);
    (paged.first, paged.begin, paged.written, paged.clean) = (first, begin, end, begin..end);
    if paged.home.has_store() {
        let read: ReadPage<T> = |bytes| decode(bytes);
        (paged.front, paged.stored, paged.read) = (front as usize, begin..end, Some(read));
    } else {
        let behind = list.entries.split_off(front as usize);
        for page in begin..end {
            let bytes = task.page(owner, page, &(begin..end))?;
            list.entries.extend(checked(decode(&bytes)?, paged.numbers(page))?.into_iter().map(entry));
        }
        list.entries.extend(behind);
    }
    (list.oldest, list.mixed) = (oldest, Cell::new(mixed));
    list.paged = RefCell::new(Some(Box::new(paged)));
    Ok(list)
}

impl<'de, T: DeserializeOwned> Deserialize<'de> for ListState<T> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let mut task = take_task();
        let found = <(VecDeque<Entry<T>>, Option<Header>)>::deserialize(from);
        let list = found.and_then(|(entries, header)| match header {
            Some(header) => read(entries, header, task.as_mut()).map_err(D::Error::custom),
            None => Ok(ListState { entries, ..ListState::default() }),
        });
        give_back(task);
        list
    }
}

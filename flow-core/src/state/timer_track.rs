//! What timers know for checkpoints: which have come and gone since the last one, and how far the one in flight is written.
//!
//! ```text
//! key time interval -> number        i64, i64, u64, little-endian; the number is that of its coming: of equal times the lower fires first
//! ```
//!
//! A timer never changes: it comes, and it goes. Each has a number, so those that have come since a checkpoint have one from that
//! checkpoint's on, and those that had come before and are set still are what there was at its barrier. They are written between batches by a cursor
//! which goes through them in the order in which they fire, or, of a checkpoint of changes, through the list of those that have come; one that goes before
//! the cursor has come to it is written first.
//!
//! **Limits.** Of what has come no more is noted than twice what is set, and of what has gone no more than timers take ([`Gone`]): beyond
//! that all that are set are written again.

use super::Keep;
use super::slot_track::begin;
use super::timers::{Known, Queue, Timer, Timers, Turn};
use super::track::Gone;
use crate::checkpoint::records::{Part, broken};
use crate::checkpoint::{Groups, Section};
use crate::error::Result;
use crate::exchange::key_group;
use crate::time::Timestamp;
use std::ops::Bound;

/// Units that writing a timer costs, as that of an entry of a table.
const COST: usize = 8;

/// So many are noted of those that have come, without asking whether they are set still.
const CAME_MIN: usize = 512;

/// Bytes that a timer takes at least: two entries of trees.
const BYTES: usize = 128;

/// See the module.
pub(super) struct Tracked<K> {
    /// The number of the first that has come since the last checkpoint.
    since: u64,
    /// Those that have, and are set still or were when there was a look.
    came: Vec<Turn>,
    /// How many may be noted before there is a look.
    room: usize,
    gone: Gone<Timer<K>>,
    flight: Option<Flight<K>>,
}

/// Writes a timer: key, time and interval.
type Write<K> = fn(&K, (i64, i64), &mut Vec<u8>) -> Result<()>;

/// A timer with the hash of its key, as it is written: with its number too.
type Written<'a, K> = (u64, (&'a K, (i64, i64), u64));

/// A checkpoint being written: of those that had come before number `until`.
struct Flight<K> {
    write: Write<K>,
    out: Groups,
    section: Section,
    until: u64,
    at: Cursor,
}

enum Cursor {
    /// Through all; the last that it has come to.
    Turns(Option<Turn>),
    /// Through these, from that place on.
    Came(Vec<Turn>, usize),
}

impl<K> Default for Tracked<K> {
    fn default() -> Self {
        Tracked { since: 0, came: Vec::new(), room: CAME_MIN, gone: Gone::default(), flight: None }
    }
}

impl<K> Tracked<K> {
    /// A timer has come.
    pub fn came(&mut self, turn: Turn, queue: &Queue) {
        if self.came.len() >= self.room {
            self.came.retain(|turn| queue.turns.contains_key(turn));
            self.room = 2 * self.came.len().max(CAME_MIN);
        }
        self.came.push(turn);
    }

    /// A timer has gone; so many are left.
    pub fn left(&mut self, turn: Turn, timer: &Timer<K>, left: usize) {
        if let Some(flight) = &self.flight
            && flight.is_to_write(turn)
        {
            let written = (&timer.key, (timer.at.0, timer.every), turn.order);
            flight.put([(timer.hash, written)].into_iter());
        }
        if turn.order < self.since {
            self.gone.note(key_group(timer.hash), timer, left.saturating_mul(BYTES));
        }
    }
}

#[cfg(test)]
impl<K> Tracked<K> {
    /// How many are noted of those that have come.
    pub fn noted(&self) -> usize {
        self.came.len()
    }
}

impl<K> Flight<K> {
    /// Whether one that has gone was there at the barrier, and is still to be written.
    fn is_to_write(&self, turn: Turn) -> bool {
        turn.order < self.until
            && match &self.at {
                Cursor::Turns(last) => last.is_none_or(|last| turn > last),
                Cursor::Came(all, at) => all.get(*at).is_some_and(|next| turn.order >= next.order),
            }
    }

    fn put<'a>(&self, timers: impl Iterator<Item = Written<'a, K>>)
    where
        K: 'a,
    {
        let write = self.write;
        let number = |(.., number): (&K, (i64, i64), u64), out: &mut Vec<u8>| {
            out.extend_from_slice(&number.to_le_bytes());
            Ok(())
        };
        self.out.put(&self.section, timers, |(key, times, _), out| write(key, times, out), number);
    }

    /// Whether all are written.
    fn go_on(&mut self, queue: &Queue, keys: &[Option<K>], left: &mut usize) -> bool {
        let n = left.div_ceil(COST);
        let of = |(turn, (hash, every, at, place)): (Turn, Known)| {
            let key = keys.get(place as usize)?.as_ref()?;
            Some((hash, (key, (at, every), turn.order)))
        };
        let seen = match &self.at {
            Cursor::Turns(last) => {
                let from = last.map_or(Bound::Unbounded, Bound::Excluded);
                let (mut seen, mut last) = (0, *last);
                let some = queue.turns.range((from, Bound::Unbounded)).take(n).inspect(|(turn, _)| {
                    (seen, last) = (seen + 1, Some(**turn));
                });
                let some = some.filter(|(turn, _)| turn.order < self.until);
                self.put(some.filter_map(|(turn, known)| of((*turn, *known))));
                self.at = Cursor::Turns(last);
                seen
            }
            Cursor::Came(all, at) => {
                let some = &all[*at..all.len().min(at.saturating_add(n))];
                let set = some.iter().filter_map(|turn| Some((*turn, *queue.turns.get(turn)?)));
                self.put(set.filter_map(of));
                let seen = some.len();
                if let Cursor::Came(_, at) = &mut self.at {
                    *at += seen;
                }
                seen
            }
        };
        *left = left.saturating_sub(COST.saturating_mul(seen));
        seen < n
    }
}

impl<K> Timers<K> {
    /// A checkpoint: what has changed goes to `out`, in a section of this name, or all there is, as it is now; [`Timers::save_more`] writes it.
    ///
    /// # Errors
    /// When the mode keeps no state.
    pub(crate) fn begin_save<M>(&mut self, out: &Groups, part: Part, name: &[u8]) -> Result<()>
    where
        K: Keep<M>,
    {
        K::kept(|| {
            self.save_more(&mut usize::MAX.clone());
            let section = out.section(part, name, &[]);
            let tracked = self.tracked.get_or_insert_default();
            let gone = tracked
                .gone
                .since_last(|timer, out| write::<M, K>(&timer.key, (timer.at.0, timer.every), out));
            let all = begin(gone.as_deref(), &section, (part, name), out);
            let came = std::mem::take(&mut tracked.came);
            let at = if all { Cursor::Turns(None) } else { Cursor::Came(came, 0) };
            let until = self.queue.set;
            (tracked.since, tracked.room) = (until, CAME_MIN);
            tracked.flight = Some(Flight { write: write::<M, K>, out: out.clone(), section, until, at });
            Ok(())
        })
    }

    /// Goes on with what [`Timers::begin_save`] began, as far as `left` allows; whether that is written.
    pub(crate) fn save_more(&mut self, left: &mut usize) -> bool {
        let Some(tracked) = &mut self.tracked else { return true };
        let Some(flight) = &mut tracked.flight else { return true };
        if !flight.go_on(&self.queue, &self.keys, left) {
            return false;
        }
        tracked.flight = None;
        true
    }
}

/// Takes a timer from what [`Timers::begin_save`] wrote: its number, its key, its time and its interval.
///
/// # Errors
/// When the bytes are of something else.
pub(crate) fn read_timer<M, K: Keep<M>>(mut key: &[u8], value: &[u8]) -> Result<(u64, K, Timestamp, i64)> {
    let owner = K::read(&mut key)?;
    let times = key.split_first_chunk::<8>().map(|(at, every)| (*at, every.try_into()));
    match (times, value.try_into()) {
        (Some((at, Ok(every))), Ok(number)) => {
            let number = u64::from_le_bytes(number);
            Ok((number, owner, Timestamp(i64::from_le_bytes(at)), i64::from_le_bytes(every)))
        }
        _ => Err(broken("a timer is cut short, or something stands behind it")),
    }
}

fn write<M, K: Keep<M>>(key: &K, (at, every): (i64, i64), out: &mut Vec<u8>) -> Result<()> {
    key.write(out)?;
    out.extend_from_slice(&at.to_le_bytes());
    out.extend_from_slice(&every.to_le_bytes());
    Ok(())
}

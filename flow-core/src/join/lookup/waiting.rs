//! Left elements that wait until the table is whole, or for room: they come behind all others and leave in front.
//!
//! ```text
//! number -> key time left        little-endian: u64, i64
//! ```
//!
//! Each has a number, that of its arrival, so what has come since a checkpoint are those from a number on. None leaves before the table is whole, and then all
//! do: the first checkpoint behind that begins anew.

use crate::checkpoint::records::{Part, broken};
use crate::checkpoint::{Groups, Section, is_restored};
use crate::error::Result;
use crate::state::{Keep, Mode, Only, read_all};
use crate::time::Timestamp;
use crate::window::base::Item;
use crate::window::saved::take;
use std::collections::VecDeque;

/// Units that writing one costs.
const COST: usize = 8;

/// Writes one with its number.
type Save<Q, L> = Box<dyn FnMut(u64, &Item<Q, L>) + Send>;

/// See the module.
pub struct Waiting<Q, L, M: Mode> {
    all: VecDeque<Item<Q, L>>,
    /// The number of the first.
    first: u64,
    tracked: M::Only<Tracked<Q, L>>,
}

/// What there is to know for checkpoints.
pub struct Tracked<Q, L> {
    /// The number of the first that no checkpoint has; none before the first checkpoint.
    since: Option<u64>,
    /// Some have left that the last one has.
    some_left: bool,
    /// The checkpoint in flight: what writes one, the number of the next, and that of the first that it has not.
    flight: Option<(Save<Q, L>, u64, u64)>,
}

impl<Q, L> Default for Tracked<Q, L> {
    fn default() -> Self {
        Tracked { since: None, some_left: false, flight: None }
    }
}

impl<Q, L, M: Mode> Default for Waiting<Q, L, M> {
    fn default() -> Self {
        Waiting { all: VecDeque::new(), first: 0, tracked: <M::Only<Tracked<Q, L>>>::default() }
    }
}

impl<Q, L, M: Mode> Waiting<Q, L, M> {
    /// Whether none waits.
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// One that waits, counted from the first.
    pub fn get(&self, at: usize) -> Option<&Item<Q, L>> {
        self.all.get(at)
    }

    /// One comes.
    pub fn push(&mut self, left: Item<Q, L>) {
        self.all.push_back(left);
    }

    /// The first is taken; it may be put back.
    pub fn pop(&mut self) -> Option<Item<Q, L>> {
        let left = self.all.pop_front()?;
        if let Some(tracked) = self.tracked.get() {
            tracked.left(self.first, &left);
        }
        self.first += 1;
        Some(left)
    }

    /// Puts back what was the first, or puts in what would have been had anything waited.
    pub fn put_back(&mut self, left: Item<Q, L>) {
        if !self.all.is_empty() {
            self.first -= 1;
        }
        self.all.push_front(left);
    }

    /// A checkpoint: what has come goes to `out`, in a section of this name, or all that wait; [`Waiting::save_more`] writes it.
    ///
    /// # Errors
    /// When the mode keeps no state.
    pub fn begin_save(&mut self, out: &Groups, name: &[u8]) -> Result<()>
    where
        Q: Keep<M>,
        L: Keep<M>,
    {
        Q::kept(|| {
            self.save_more(&mut usize::MAX.clone());
            let Some(tracked) = self.tracked.get() else { return Ok(()) };
            let section = out.section(Part::Head, name, &[]);
            let known = if tracked.some_left { None } else { tracked.since };
            if known.is_none() && !out.is_whole() {
                out.drop_sections(Part::Head, name);
            }
            let from = known.filter(|_| !out.is_whole()).unwrap_or(self.first);
            let until = self.first + self.all.len() as u64;
            let save = save::<M, Q, L>(out.clone(), section);
            *tracked = Tracked { since: Some(until), some_left: false, flight: Some((save, from, until)) };
            Ok(())
        })
    }

    /// Goes on with what [`Waiting::begin_save`] began, as far as `left` allows; whether that is written.
    pub fn save_more(&mut self, left: &mut usize) -> bool {
        let Waiting { all, first, tracked } = self;
        let Some(tracked) = tracked.get() else { return true };
        let Some((save, next, until)) = &mut tracked.flight else { return true };
        while *next < *until {
            if *left == 0 {
                return false;
            }
            *left = left.saturating_sub(COST);
            if let Some(item) = next.checked_sub(*first).and_then(|at| all.get(at as usize)) {
                save(*next, item);
            }
            *next += 1;
        }
        tracked.flight = None;
        true
    }
}

impl<Q, L> Tracked<Q, L> {
    /// That of this number leaves.
    fn left(&mut self, number: u64, item: &Item<Q, L>) {
        if let Some((save, next, until)) = &mut self.flight
            && (*next..*until).contains(&number)
        {
            save(number, item);
            *next = number + 1;
        }
        self.some_left |= self.since.is_some_and(|since| number < since);
    }
}

fn save<M: Mode, Q: Keep<M>, L: Keep<M>>(out: Groups, section: Section) -> Save<Q, L> {
    Box::new(move |number, item| {
        let one = [(item.hash, item)].into_iter();
        let key = |_: &Item<Q, L>, out: &mut Vec<u8>| {
            out.extend_from_slice(&number.to_le_bytes());
            Ok(())
        };
        out.put(&section, one, key, |item, out| {
            item.route.write(out)?;
            out.extend_from_slice(&item.time.0.to_le_bytes());
            item.load.write(out)
        });
    })
}

/// Reads one that was written, with its number.
pub fn read<M, Q: Keep<M>, L: Keep<M>>(
    key: &[u8],
    mut value: &[u8],
    hash_of: impl Fn(&Q) -> u64,
) -> Result<(u64, Item<Q, L>)> {
    let number = key.try_into().map_err(|_| broken("it is not the number of one that waits"))?;
    let route = Q::read(&mut value)?;
    let time = Timestamp(i64::from_le_bytes(take(&mut value)?));
    let hash = hash_of(&route);
    is_restored(hash);
    let item = Item { hash, time, route, load: read_all::<M, L>(value)? };
    Ok((u64::from_le_bytes(number), item))
}

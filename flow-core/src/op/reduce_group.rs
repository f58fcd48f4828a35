//! `reduce_group`: all records of a key at once, at the end of the input.
//!
//! They are sorted by the hashes of their keys, so that those of a key come one after the other, and the function takes them from there: what does not fit into
//! memory is on the disk, however many records a key has. Keys of one hash, which are rare, are taken one after the other, and the records of the others wait.

use super::key_fn::{KeyFn, KeyTypes};
use super::keyed::KeyedStream;
use super::kind::{BeginsAnew, Ends};
use super::rolling::{ByKeyGroup, Item};
use super::sort::SpillOf;
use super::{Chain, Kind, Proved, Stream, Visit};
use crate::error::{Error, Result};
use crate::external::{Memory, Merge, Order, Reading, Share, Side, Sorter, Spill};
use crate::metrics::Counter;
use crate::stage::{
    BuildCx, Count, EdgeKind, EdgeRef, Faults, Fire, Head, HeadStage, Meta, OpenCx, Push, Stamp, Tail,
};
use crate::time::{Grid, Timestamp};
use std::cmp::Ordering;
use std::convert::Infallible;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::vec::IntoIter;

/// Groups between two looks at the room for their rows.
const GROUPS: usize = 64;

/// A record with its key and the key's hash.
type Row<Q, T> = (u64, Q, T);

/// By the hashes of keys.
#[derive(Clone)]
struct ByHash;
impl<Q, T> Order<Row<Q, T>> for ByHash {
    #[inline]
    fn order(&self, a: &Row<Q, T>, b: &Row<Q, T>) -> Ordering {
        a.0.cmp(&b.0)
    }
}

/// The records of a key, in the order in which they came, if they came from one sender: an iterator. What is left of them when the function returns is passed over.
///
/// Where records cannot be read again from the disk, it ends early: the function returns, its value is not used, and the job ends with the error of the disk, also where the function
/// panics because of what is missing. So what a function does beside giving a value, it does not do for a group that may be in part.
pub struct Group<'a, T>(&'a mut dyn FnMut() -> Option<T>);

impl<T> Iterator for Group<'_, T> {
    type Item = T;
    fn next(&mut self) -> Option<T> {
        (self.0)()
    }
}

/// Sorted records, group by group.
struct Groups<Q, T> {
    sorted: Merge<Row<Q, T>, ByHash>,
    first: Option<Row<Q, T>>,
    /// Records of the last hash whose key was another one; those on the disk came later.
    waiting: Option<(IntoIter<Row<Q, T>>, Option<Reading<Row<Q, T>>>)>,
    share: Share,
}

impl<Q: Eq + Spill, T: Spill> Groups<Q, T> {
    fn new(sorter: Sorter<Row<Q, T>, ByHash>, memory: &Memory) -> Result<Self> {
        let mut sorted = sorter.finish()?;
        Ok(Groups { first: sorted.next()?, sorted, waiting: None, share: memory.share() })
    }

    /// The next record, if it is of this hash.
    fn of(&mut self, hash: u64) -> Result<Option<Row<Q, T>>> {
        if let Some((here, file)) = &mut self.waiting {
            return Ok(match here.next() {
                None => file.as_mut().map_or(Ok(None), Reading::next)?,
                some => some,
            });
        }
        if self.first.as_ref().is_none_or(|first| first.0 != hash) {
            return Ok(None);
        }
        let next = self.sorted.next()?;
        Ok(std::mem::replace(&mut self.first, next))
    }

    /// The first record of the next group.
    fn begin(&mut self) -> Result<Option<Row<Q, T>>> {
        if self.waiting.is_some() {
            if let Some(row) = self.of(0)? {
                return Ok(Some(row));
            }
            self.waiting = None;
        }
        let Some(hash) = self.first.as_ref().map(|first| first.0) else { return Ok(None) };
        self.of(hash)
    }

    /// What the function makes of the next group.
    fn next<U>(&mut self, function: &impl Fn(&Q, &mut Group<'_, T>) -> U) -> Result<Option<(Q, U)>> {
        let Some((hash, key, first)) = self.begin()? else { return Ok(None) };
        let (mut first, mut others, mut failed, mut bytes) = (Some(first), Side::default(), None, 0);
        let mut next = || {
            if let Some(first) = first.take() {
                return Some(first);
            }
            while failed.is_none() {
                match self.of(hash) {
                    Ok(Some((_, other, record))) if other == key => return Some(record),
                    Ok(Some(row)) => {
                        failed = put_aside(&mut others, row, &mut bytes, &mut self.share).err();
                    }
                    Ok(None) => return None,
                    Err(error) => failed = Some(error),
                }
            }
            None
        };
        let made = catch_unwind(AssertUnwindSafe(|| function(&key, &mut Group(&mut next))));
        if made.is_ok() {
            while next().is_some() {}
        }
        // What the function made of too few records, be it a panic, is of no interest: it stands where the cause should.
        if let Some(error) = failed {
            return Err(error);
        }
        let made = made.unwrap_or_else(|panic| resume_unwind(panic));
        let (file, here) = others.finish()?;
        self.waiting = (file.is_some() || !here.is_empty()).then(|| (here.into_iter(), file));
        Ok(Some((key, made)))
    }
}

/// Puts a record of another key aside, into memory as long as there is some.
#[cold]
fn put_aside<T: Spill>(side: &mut Side<T>, row: T, bytes: &mut usize, share: &mut Share) -> Result<()> {
    let (more, meanwhile) = side.more(&row)?;
    *bytes += more;
    if share.reaches(*bytes + meanwhile) {
        side.keep(row, more);
        return Ok(());
    }
    // From now on all of them, so that they stay in their order.
    *bytes = usize::MAX / 2;
    side.put(&row, share.memory())
}

/// A chain with `reduce_group` behind it.
pub struct ReduceGroup<C, F, G> {
    prev: C,
    key: F,
    function: G,
    edge: EdgeRef,
    meta: Meta,
}

impl<C: Clone, F: Clone, G: Clone> Clone for ReduceGroup<C, F, G> {
    fn clone(&self) -> Self {
        let (prev, key, function) = (self.prev.clone(), self.key.clone(), self.function.clone());
        ReduceGroup { prev, key, function, edge: self.edge.clone(), meta: self.meta }
    }
}

impl<C, F, G, U> Chain for ReduceGroup<C, F, G>
where
    C: Chain,
    F: KeyFn<C::Out, Key: Eq + Spill, Value: Spill>,
    G: Fn(&F::Key, &mut Group<'_, F::Value>) -> U + Clone + Send + 'static,
    U: 'static,
{
    type Out = (F::Key, U);
    type Stamp = ();
    type Root = C::Root;
    fn build<N: Push<Self::Out, ()>, V: Visit>(self, cx: &mut BuildCx, next: N, visit: V) {
        let meta = cx.op(&self.meta, "all records of a key at once, at the end of the input: sorted by key");
        // Event time ends here.
        self.edge.listen(Grid::none());
        let head = GroupHead::<C::Out, F, G, N> {
            state: None,
            ended: false,
            key: self.key.clone(),
            function: self.function,
            memory: Memory::default(),
            next,
            meta,
            faults: Faults::default(),
            spilled: Counter::default(),
        };
        let stage = HeadStage::new::<Item<C::Out, F, C::Stamp>, _>(head);
        cx.head(&meta, Count::Parallelism, &[(self.edge.clone(), EdgeKind::KeyBy)], stage);
        cx.out(&self.edge);
        self.prev.build(cx, ByKeyGroup::new(self.key, self.edge), visit);
    }
}

enum State<Q, T> {
    In(Sorter<Row<Q, T>, ByHash>),
    Out(Groups<Q, T>),
}

/// The head of the stage.
struct GroupHead<X, F: KeyFn<X>, G, N> {
    /// Nothing, where it has failed or is done.
    state: Option<State<F::Key, F::Value>>,
    ended: bool,
    key: F,
    function: G,
    memory: Memory,
    next: N,
    meta: Meta,
    faults: Faults,
    spilled: Counter,
}

impl<X, F, G, N, U: 'static> GroupHead<X, F, G, N>
where
    F: KeyFn<X, Key: Eq + Spill, Value: Spill>,
    G: Fn(&F::Key, &mut Group<'_, F::Value>) -> U,
    N: Push<(F::Key, U), ()>,
{
    #[cold]
    #[inline(never)]
    fn fail(&mut self, error: Error) {
        self.state = None;
        self.faults.raise(error.in_stage(self.meta.id()).at(self.meta.at()));
    }

    fn emit(&mut self) -> Result<Fire> {
        if let Some(State::In(sorter)) = self.state.take_if(|state| matches!(state, State::In(_))) {
            self.spilled.add(sorter.spilled());
            self.state = Some(State::Out(Groups::new(sorter, &self.memory)?));
        }
        while let Some(State::Out(groups)) = &mut self.state {
            if !self.next.room() {
                return Ok(Fire::Paused);
            }
            for _ in 0..GROUPS {
                let Some(row) = groups.next(&self.function)? else {
                    self.state = None;
                    break;
                };
                self.next.push(row, ());
            }
        }
        Ok(Fire::Done)
    }
}

impl<X, F, G, N, S, U> Head<Item<X, F, S>> for GroupHead<X, F, G, N>
where
    X: 'static,
    F: KeyFn<X, Key: Eq + Spill, Value: Spill>,
    G: Fn(&F::Key, &mut Group<'_, F::Value>) -> U + Send + 'static,
    N: Push<(F::Key, U), ()>,
    S: Stamp,
    U: 'static,
{
    type Part = Infallible;

    fn tail(&mut self) -> &mut dyn Tail {
        &mut self.next
    }

    fn tail_ref(&self) -> &dyn Tail {
        &self.next
    }

    fn open(&mut self, cx: &mut OpenCx) -> Result<()> {
        self.faults = cx.faults().clone();
        self.spilled = cx.metrics().counter(&format!("{}.spilled", self.meta.id()));
        self.memory = cx.memory().clone();
        self.state = Some(State::In(Sorter::new(&self.memory, ByHash)));
        Ok(())
    }

    fn items(&mut self, _: usize, items: &mut IntoIter<Item<X, F, S>>, n: usize) {
        let Some(State::In(sorter)) = &mut self.state else { return };
        let key = &self.key;
        let taken = items.by_ref().take(n).try_for_each(|(hash, route, rest, _)| {
            let (key, value) = key.unite(route, rest);
            sorter.push((hash, key, value))
        });
        if let Err(error) = taken {
            self.fail(error);
        }
    }

    fn watermark(&mut self, w: Timestamp) {
        self.ended |= w == Timestamp::MAX;
    }

    fn end(&mut self) {
        self.ended = true;
    }

    fn ends_at_a_cut(&self) -> bool {
        true
    }

    fn fire(&mut self) -> Fire {
        if !self.ended {
            return Fire::Done;
        }
        self.emit().unwrap_or_else(|error| {
            self.fail(error);
            Fire::Done
        })
    }

    fn passes(&self, _: Timestamp) -> Timestamp {
        Timestamp::MIN
    }
}

impl<X: 'static, K: Kind, C, F: KeyTypes<X>> KeyedStream<X, K, C, F> {
    /// Calls the function with each key and all of its records, at the end of the input: `(K, U)`, one row a key, without event time. The records are an iterator, which gives them in
    /// the order in which they came, if they came from one sender, one at a time: a group may be larger than the memory. For several rows of a key return a `Vec`, and flatten it behind.
    ///
    /// Beyond the job's [`memory`](crate::Job::memory) records lie on the disk, sorted by the hashes of their keys; `spilled` counts them. Groups come in the order of those
    /// hashes. Where a sum, a fold or another aggregate will do, take that: it keeps one value for each key.
    ///
    /// ```
    /// # use flow_core::prelude::*;
    /// # let out = Collected::new();
    /// # let job = Job::build("doc", |job| {
    /// let prices = source(from_vec(vec![(1, 30), (2, 7), (1, 10), (1, 50)])).batch();
    /// let medians = prices.key_by(|p| p.0).reduce_group(|_, prices| {
    ///     let mut all: Vec<i32> = prices.map(|p| p.1).collect();
    ///     all.sort_unstable();
    ///     all[all.len() / 2]
    /// });
    /// job.add(medians.collect(&out));
    /// # });
    /// # job.run().unwrap();
    /// let mut rows = out.take();
    /// rows.sort();
    /// assert_eq!(rows, [(1, 30), (2, 7)]);
    /// ```
    #[track_caller]
    pub fn reduce_group<U: 'static, G, P, O>(
        self,
        function: G,
    ) -> Stream<(F::Key, U), K::Untimed, Proved<P, Proved<O, ReduceGroup<C, F, G>>>>
    where
        K: Ends + BeginsAnew,
        F::Key: SpillOf<P>,
        F::Value: SpillOf<O>,
        G: Fn(&F::Key, &mut Group<'_, F::Value>) -> U + Clone + Send + 'static,
    {
        let KeyedStream { chain: prev, key, .. } = self;
        Stream::of(ReduceGroup {
            prev,
            key,
            function,
            edge: EdgeRef::fresh(),
            meta: Meta::new("reduce_group"),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Groups of records whose hashes are of few values, so that keys share them.
    fn grouped(rows: &[(u64, u32, u32)], least: usize) -> Vec<(u32, Vec<u32>)> {
        let folder = tempfile::tempdir().unwrap();
        let memory = Memory::with_least(0, least, folder.path().to_owned());
        let mut sorter = Sorter::new(&memory, ByHash);
        rows.iter().for_each(|row| sorter.push(*row).unwrap());
        let mut groups = Groups::new(sorter, &memory).unwrap();
        let mut all = Vec::new();
        while let Some(row) =
            groups.next(&|_: &u32, group: &mut Group<'_, u32>| group.collect::<Vec<_>>()).unwrap()
        {
            all.push(row);
        }
        all.sort();
        all
    }

    #[test]
    fn keys_of_one_hash_are_groups_of_their_own() {
        let rows: Vec<(u64, u32, u32)> = (0..2_000).map(|n| (u64::from(n % 5 % 3), n % 5, n)).collect();
        let expected: Vec<(u32, Vec<u32>)> =
            (0..5).map(|key| (key, (0..2_000).filter(|n| n % 5 == key).collect())).collect();
        for least in [0, 500, 1 << 20] {
            assert_eq!(grouped(&rows, least), expected, "with {least} bytes");
        }
    }

    #[test]
    fn what_is_left_of_a_group_is_passed_over() {
        let memory = Memory::default();
        let mut sorter = Sorter::new(&memory, ByHash);
        for n in 0..100u32 {
            sorter.push((u64::from(n % 2), n % 4, n)).unwrap();
        }
        let mut groups = Groups::new(sorter, &memory).unwrap();
        let mut firsts = Vec::new();
        while let Some(row) = groups.next(&|_: &u32, group: &mut Group<'_, u32>| group.next()).unwrap() {
            firsts.push(row);
        }
        firsts.sort();
        assert_eq!(firsts, [(0, Some(0)), (1, Some(1)), (2, Some(2)), (3, Some(3))]);
    }
}

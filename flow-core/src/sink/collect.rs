//! Records in memory, for the program to take after the run.

use super::for_each::last_tail;
use crate::batch::Mark;
use crate::checkpoint::{Committer, Saves};
use crate::error::Result;
use crate::metrics::Counter;
use crate::op::{Chain, Kind, Stream, Terminal, Visit};
use crate::sorted::Sorted;
use crate::stage::{BuildCx, Commit, Commits, Meta, OpenCx, Push, Stamp, Tail};
use crate::time::Grid;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// What a pipeline has collected. A clone is the same collection.
///
/// ```
/// use flow_core::prelude::*;
/// let squares = Collected::new();
/// let job = Job::build("squares", |job| job.add(source(from_iter(1..4)).map(|n| n * n).collect(&squares)));
/// job.run().unwrap();
/// assert_eq!(squares.take(), [1, 4, 9]);
/// ```
pub struct Collected<T>(Arc<Mutex<Shelves<T>>>);

struct Shelves<T> {
    /// What counts: by instance, in the order in which it was committed.
    done: Vec<(usize, Vec<T>)>,
    /// What was staged for a checkpoint: by its number, the end, and the instance.
    staged: Sorted<(u64, String, u32), Vec<T>>,
}

impl<T> Clone for Collected<T> {
    fn clone(&self) -> Self {
        Collected(Arc::clone(&self.0))
    }
}

impl<T> Default for Collected<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T> std::fmt::Debug for Collected<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Collected").finish_non_exhaustive()
    }
}

impl<T> Collected<T> {
    /// An empty one.
    pub fn new() -> Self {
        Collected(Arc::new(Mutex::new(Shelves { done: Vec::new(), staged: Sorted::default() })))
    }

    fn lock(&self) -> MutexGuard<'_, Shelves<T>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes what the finished run has collected: instance by instance, each in the order in which it came.
    pub fn take(&self) -> Vec<T> {
        let mut parts = std::mem::take(&mut self.lock().done);
        parts.sort_by_key(|part| part.0);
        parts.into_iter().flat_map(|part| part.1).collect()
    }
}

#[cfg(test)]
impl<T> Collected<T> {
    /// Commits what any end has staged for these checkpoints and instances, and drops all else.
    pub(crate) fn settle(&self, staged: &[(u64, u32)]) {
        let mut shelves = self.lock();
        for ((checkpoint, _, instance), items) in std::mem::take(&mut shelves.staged) {
            if staged.contains(&(checkpoint, instance)) {
                shelves.done.push((instance as usize, items));
            }
        }
    }
}

/// See [`Stream::collect`].
pub struct Collect<C, T> {
    prev: C,
    out: Collected<T>,
    meta: Meta,
}

impl<C: Clone, T> Clone for Collect<C, T> {
    fn clone(&self) -> Self {
        Collect { prev: self.prev.clone(), out: self.out.clone(), meta: self.meta }
    }
}

impl<T: Send + 'static, K: Kind, C> Stream<T, K, C> {
    /// Ends the stream: collects its records in memory. They can be taken when the run has succeeded.
    #[track_caller]
    pub fn collect(self, out: &Collected<T>) -> Collect<C, T> {
        Collect { prev: self.chain, out: out.clone(), meta: Meta::new("collect") }
    }
}

impl<C: Chain<Out = T>, T: Send + 'static> Terminal for Collect<C, T> {
    fn build_end<V: Visit>(self, cx: &mut BuildCx, visit: V) {
        let meta = cx.op(&self.meta, "");
        cx.committer(&meta, Box::new(End { out: self.out.clone(), id: meta.id() }));
        let push = CollectPush {
            items: Vec::new(),
            instance: 0,
            out: self.out,
            written: Counter::default(),
            commits: Commits::default(),
            saves: Saves::default(),
            checkpoint: 1,
            meta,
        };
        self.prev.build(cx, push, visit);
    }
}

struct CollectPush<T> {
    items: Vec<T>,
    instance: usize,
    out: Collected<T>,
    written: Counter,
    commits: Commits,
    saves: Saves,
    /// The checkpoint to which belongs what comes now.
    checkpoint: u64,
    meta: Meta,
}

/// What an instance has collected, until the job has succeeded.
struct Part<T> {
    instance: usize,
    items: Vec<T>,
    out: Collected<T>,
}

impl<T: Send> Commit for Part<T> {
    fn commit(self: Box<Self>) -> Result<()> {
        let Part { instance, items, out } = *self;
        out.lock().done.push((instance, items));
        Ok(())
    }
    fn abort(self: Box<Self>) {}
}

/// An end of a pipeline, of which a collection may have several.
struct End<T> {
    out: Collected<T>,
    id: String,
}

/// What is done for checkpoints. The collection survives a simulated death, as a file would a real one.
impl<T: Send + 'static> Committer for End<T> {
    fn commit(&mut self, checkpoint: u64, instance: u32, _: &[u8]) -> Result<()> {
        let mut shelves = self.out.lock();
        if let Some(items) = shelves.staged.remove(&(checkpoint, self.id.clone(), instance)) {
            shelves.done.push((instance as usize, items));
        }
        Ok(())
    }
    fn abort(&mut self, checkpoint: u64, instance: u32, _: &[u8]) {
        self.out.lock().staged.remove(&(checkpoint, self.id.clone(), instance));
    }
    fn recover(&mut self, checkpoint: u64) -> Result<()> {
        self.out.lock().staged.retain(|staged, _| staged.0 <= checkpoint || staged.1 != self.id);
        Ok(())
    }
}

impl<T> CollectPush<T> {
    #[cold]
    fn stage(&mut self, checkpoint: u64, instance: u32) {
        let items = std::mem::take(&mut self.items);
        self.written.add(items.len() as u64);
        if !items.is_empty() {
            let id = self.meta.id();
            self.out.lock().staged.insert((checkpoint, id.clone(), instance), items);
            self.saves.staged(checkpoint, &id, Vec::new());
        }
        self.checkpoint = checkpoint + 1;
    }
}

impl<T: Send + 'static, S: Stamp> Push<T, S> for CollectPush<T> {
    #[inline(always)]
    fn push(&mut self, item: T, _: S) {
        self.items.push(item);
    }
}

impl<T: Send + 'static> Tail for CollectPush<T> {
    fn open(&mut self, cx: &mut OpenCx) -> Result<()> {
        self.instance = cx.context().instance();
        self.written = cx.metrics().records_out.clone();
        self.commits = cx.commits().clone();
        self.saves = cx.saves().clone();
        self.checkpoint = cx.checkpoint() + 1;
        Ok(())
    }
    fn mark(&mut self, mark: Mark) {
        let instance = u32::try_from(self.instance).unwrap_or(u32::MAX);
        if self.saves.is_on() {
            match mark {
                Mark::End => self.stage(self.checkpoint, instance),
                Mark::Barrier(id) => self.stage(id, instance),
                Mark::Watermark(_) | Mark::Idle | Mark::Active => {}
            }
        } else if mark == Mark::End {
            self.written.add(self.items.len() as u64);
            let items = std::mem::take(&mut self.items);
            let part = Part { instance: self.instance, items, out: self.out.clone() };
            self.commits.push(&self.meta, Box::new(part));
        }
    }
    fn flush(&mut self) {}
    last_tail!();
}

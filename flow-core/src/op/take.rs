//! `take` and `skip`. They count over all parallel instances together.
//!
//! In a checkpoint stands how many records each instance has counted itself before the barrier, as a little-endian `u64`: the barrier
//! passes the instances at different times, and what they have left together says nothing about any of them.

use super::operator::{OpError, Operator, Then};
use super::{Kind, Stream};
use crate::channel::Signal;
use crate::stage::{BuildCx, Context};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// The records that a `take` or `skip` has yet to count, over all instances.
///
/// The count belongs to one run, and what it goes on from: a clone of the untouched original is made for each instance, and those of a
/// run share it.
#[derive(Clone)]
pub struct Remaining {
    all: u64,
    shared: Arc<Shared>,
    /// What this instance has counted.
    counted: u64,
}

struct Shared {
    left: AtomicU64,
    /// The threads of all instances: those that wait for records have to hear that no more are wanted.
    waiting: Mutex<Vec<Signal>>,
    /// Whether what was counted up to a checkpoint has been taken off.
    restored: Mutex<bool>,
}

impl Shared {
    fn new(n: u64) -> Self {
        Shared { left: AtomicU64::new(n), waiting: Mutex::default(), restored: Mutex::default() }
    }
}

impl Remaining {
    fn new(n: u64) -> Self {
        Remaining { all: n, shared: Arc::new(Shared::new(n)), counted: 0 }
    }

    fn of_run(&mut self, cx: &mut BuildCx) {
        self.shared = cx.of_run().of(&self.shared, || Shared::new(self.all));
    }

    fn waits(&self, signal: &Signal) {
        self.shared.waiting.lock().unwrap_or_else(PoisonError::into_inner).push(signal.clone());
    }

    #[cold]
    fn tell(&self) {
        self.shared.waiting.lock().unwrap_or_else(PoisonError::into_inner).iter().for_each(Signal::wake);
    }

    /// Whether one more was left to count.
    #[inline]
    fn one(&mut self) -> bool {
        // One instance pays a load once the count is used up; before that each record is one read-modify-write.
        if self.none() {
            return false;
        }
        let less = |n: u64| n.checked_sub(1);
        let before = self.shared.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less);
        if before == Ok(1) {
            self.tell();
        }
        self.counted += u64::from(before.is_ok());
        before.is_ok()
    }

    #[cold]
    fn save(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.counted.to_le_bytes());
    }

    /// All instances are given what all have counted. The first takes it off and goes on as if it had counted all; nobody has
    /// begun to count before.
    #[cold]
    fn restore(&mut self, states: Vec<Vec<u8>>) -> Result<(), OpError> {
        let mut restored = self.shared.restored.lock().unwrap_or_else(PoisonError::into_inner);
        if std::mem::replace(&mut *restored, true) {
            return Ok(());
        }
        for state in states {
            let counted = state.try_into().map(u64::from_le_bytes);
            let counted = counted.map_err(|state| format!("{} bytes, and a count is 8", state.len()))?;
            self.counted = self.counted.saturating_add(counted);
        }
        let left = self.shared.left.load(Ordering::Relaxed).saturating_sub(self.counted);
        self.shared.left.store(left, Ordering::Relaxed);
        Ok(())
    }

    fn none(&self) -> bool {
        self.shared.left.load(Ordering::Relaxed) == 0
    }
}

/// See [`Stream::take`].
#[derive(Clone)]
pub struct Take(Remaining);
#[diagnostic::do_not_recommend]
impl<T: 'static> Operator<T> for Take {
    type Out = T;
    const FALLIBLE: bool = false;
    const KEEPS: bool = true;
    const EVERYWHERE: bool = true;
    fn name(&self) -> &'static str {
        "take"
    }
    fn of_run(&mut self, cx: &mut BuildCx) {
        self.0.of_run(cx);
    }
    fn save(&self, out: &mut Vec<u8>) {
        self.0.save(out);
    }
    fn restore(&mut self, states: Vec<Vec<u8>>) -> Result<(), OpError> {
        self.0.restore(states)
    }
    fn open(&mut self, cx: &Context) -> Result<(), OpError> {
        self.0.waits(cx.signal());
        Ok(())
    }
    #[inline]
    fn item<O: FnMut(T)>(&mut self, item: T, out: &mut O) -> Result<(), OpError> {
        if self.0.one() {
            out(item);
        }
        Ok(())
    }
    fn enough(&self) -> bool {
        self.0.none()
    }
}

/// See [`Stream::skip`].
#[derive(Clone)]
pub struct Skip(Remaining);
#[diagnostic::do_not_recommend]
impl<T: 'static> Operator<T> for Skip {
    type Out = T;
    const FALLIBLE: bool = false;
    const KEEPS: bool = true;
    const EVERYWHERE: bool = true;
    fn name(&self) -> &'static str {
        "skip"
    }
    fn of_run(&mut self, cx: &mut BuildCx) {
        self.0.of_run(cx);
    }
    fn save(&self, out: &mut Vec<u8>) {
        self.0.save(out);
    }
    fn restore(&mut self, states: Vec<Vec<u8>>) -> Result<(), OpError> {
        self.0.restore(states)
    }
    #[inline]
    fn item<O: FnMut(T)>(&mut self, item: T, out: &mut O) -> Result<(), OpError> {
        if !self.0.one() {
            out(item);
        }
        Ok(())
    }
}

impl<T: 'static, K: Kind, C> Stream<T, K, C> {
    /// The first `n` records; then the stream ends, and what is before it ends too if nobody else uses it. With several
    /// parallel instances it is `n` in all, whichever come first. The result is bounded, whatever the source.
    ///
    /// ```
    /// # use flow_core::prelude::*;
    /// # let out = Collected::new();
    /// # let job = Job::build("doc", |job| {
    /// job.add(source(generate(u64::MAX, |i| i)).take(3).collect(&out));
    /// # });
    /// # job.run().unwrap();
    /// assert_eq!(out.take(), [0, 1, 2]);
    /// ```
    #[track_caller]
    pub fn take(self, n: u64) -> Stream<T, K::Ending, Then<C, Take>> {
        let taken = self.then(Take(Remaining::new(n)));
        Stream::of(taken.chain)
    }

    /// All but the first `n` records (in all, over the parallel instances).
    ///
    /// ```
    /// # use flow_core::prelude::*;
    /// # let out = Collected::new();
    /// # let job = Job::build("doc", |job| {
    /// job.add(source(from_iter(0..5)).skip(3).collect(&out));
    /// # });
    /// # job.run().unwrap();
    /// assert_eq!(out.take(), [3, 4]);
    /// ```
    #[track_caller]
    pub fn skip(self, n: u64) -> Stream<T, K, Then<C, Skip>> {
        self.then(Skip(Remaining::new(n)))
    }
}

//! `take` and `skip`. They count over all parallel instances together.

use super::operator::{OpError, Operator, Then};
use super::{Kind, Stream};
use crate::channel::Signal;
use crate::stage::Context;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// The records that a `take` or `skip` has yet to count, over all instances.
///
/// The count belongs to one run: a clone of the untouched original is made for each instance, and those share it.
#[derive(Clone)]
pub struct Remaining(Arc<Shared>);

struct Shared {
    left: AtomicU64,
    /// The threads of all instances: those that wait for records have to hear that no more are wanted.
    waiting: Mutex<Vec<Signal>>,
}

impl Remaining {
    fn new(n: u64) -> Self {
        Remaining(Arc::new(Shared { left: AtomicU64::new(n), waiting: Mutex::default() }))
    }

    fn waits(&self, signal: &Signal) {
        self.0.waiting.lock().unwrap_or_else(PoisonError::into_inner).push(signal.clone());
    }

    #[cold]
    fn tell(&self) {
        self.0.waiting.lock().unwrap_or_else(PoisonError::into_inner).iter().for_each(Signal::wake);
    }

    /// Whether one more was left to count.
    #[inline]
    fn one(&self) -> bool {
        // One instance pays a load once the count is used up; before that each record is one read-modify-write.
        if self.none() {
            return false;
        }
        let less = |n: u64| n.checked_sub(1);
        let before = self.0.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less);
        if before == Ok(1) {
            self.tell();
        }
        before.is_ok()
    }

    fn none(&self) -> bool {
        self.0.left.load(Ordering::Relaxed) == 0
    }
}

/// See [`Stream::take`].
#[derive(Clone)]
pub struct Take(Remaining);
#[diagnostic::do_not_recommend]
impl<T: 'static> Operator<T> for Take {
    type Out = T;
    const FALLIBLE: bool = false;
    fn name(&self) -> &'static str {
        "take"
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
    fn name(&self) -> &'static str {
        "skip"
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

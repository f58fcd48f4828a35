//! How a thread sleeps until one of its rings has something for it, and how it is woken.
//!
//! A thread has one [`Waiter`] and everybody who may have news for it a [`Signal`] of it, whatever the number of rings.
//!
//! # No wake-up is lost
//!
//! News is something written before [`Signal::wake`] and read by the waiter's re-check: a ring's index, a flag.
//!
//! | the waking thread | the sleeping thread |
//! |---|---|
//! | 1. publishes the news | a. `asleep = true` |
//! | 2. `fence(SeqCst)` | b. `fence(SeqCst)` |
//! | 3. reads `asleep`; if set, clears it and unparks | c. re-checks for news; if there is none, parks |
//!
//! The two fences have an order. If 2 comes first, c sees what 1 wrote; if b comes first, 3 sees what a wrote. So
//! one side always acts. With either fence gone, the processor may keep the stores 1 and a in the store buffers
//! of the two cores while both loads run: c sees no news, 3 sees nobody asleep, and the thread sleeps beside an
//! unread item. With c gone, news between the last look and a is missed in the same way.
//!
//! The flag is only read and written `Relaxed`: the fences order it against the news, and the data itself is
//! handed over by the ring's own `Release` and `Acquire`. Every write is a swap, so that each is next to the one
//! it read: a late waker's cannot slip in behind a later a. The waker that finds the flag set is the one that
//! unparks, so a sleeper is unparked once however many have news. It may be unparked late, when it is awake again; the
//! parker keeps the token, the next park returns at once, sees its flag still set, and parks again.

use std::sync::atomic::Ordering::{Relaxed, SeqCst};
use std::time::{Duration, Instant};

use super::sync::{Arc, AtomicBool, AtomicU64, Parker, Unparker, fence};

/// The longest uninterrupted sleep. Correct code needs no limit; with one, a bug in the waking degrades to
/// latency instead of a hang, and ten look-ups a second cost an idle thread nothing measurable.
pub const PARK_MAX: Duration = Duration::from_millis(100);

#[derive(Debug)]
struct Shared {
    /// Whether the waiter sleeps or is about to. Set and cleared by the waiter, cleared by the waker that unparks.
    asleep: AtomicBool,
    /// Wake-ups that did not come. Written by the waiter.
    rescues: AtomicU64,
}

/// Wakes the thread that owns the [`Waiter`]; cheap while that thread is awake.
#[derive(Clone, Debug)]
pub struct Signal {
    shared: Arc<Shared>,
    unparker: Unparker,
}

impl Signal {
    /// A signal, to be cloned to everybody who may have news, and the waiter of the thread it wakes.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
    /// use flow_core::channel::Signal;
    ///
    /// let (signal, mut waiter) = Signal::new();
    /// let news = Arc::new(AtomicBool::new(false));
    /// let seen = Arc::clone(&news);
    /// let thread = std::thread::spawn(move || {
    ///     while !seen.load(Relaxed) {
    ///         waiter.wait(None, || seen.load(Relaxed));
    ///     }
    /// });
    /// news.store(true, Relaxed);
    /// signal.wake();
    /// thread.join().unwrap();
    /// assert_eq!(signal.rescues(), 0);
    /// ```
    pub fn new() -> (Self, Waiter) {
        let parker = Parker::new();
        let shared = Arc::new(Shared { asleep: AtomicBool::new(false), rescues: AtomicU64::new(0) });
        let signal = Self { shared, unparker: parker.unparker().clone() };
        (signal.clone(), Waiter { signal, parker })
    }

    /// Wakes the thread if it sleeps. Call it after the news is published.
    #[inline]
    pub fn wake(&self) {
        fence(SeqCst);
        if self.shared.asleep.load(Relaxed) {
            self.unpark();
        }
    }

    #[cold]
    fn unpark(&self) {
        if self.shared.asleep.swap(false, Relaxed) {
            self.unparker.unpark();
        }
    }

    /// How often the waiter found news beside which it had slept for two timeouts on end: wake-ups that were lost.
    /// Always 0, or there is a bug in whoever should have woken it.
    pub fn rescues(&self) -> u64 {
        self.shared.rescues.load(Relaxed)
    }
}

/// The sleeping end of a [`Signal`]: owned by the thread that sleeps.
pub struct Waiter {
    signal: Signal,
    parker: Parker,
}

/// Why [`Waiter::wait`] returned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wake {
    /// There was news before the thread slept.
    Ready,
    /// A signal came.
    Signalled,
    /// The time was up.
    TimedOut,
    /// There was news but its signal did not come; see [`Signal::rescues`].
    Rescued,
}

impl Waiter {
    /// Another signal for this waiter.
    pub fn signal(&self) -> Signal {
        self.signal.clone()
    }

    /// Sleeps until a signal comes or `limit` has passed, unless `ready` says that there is news already.
    ///
    /// `ready` may only report news that is followed by a [`Signal::wake`]: not that a time has come. After a
    /// signal the news may be gone or meant for another ring: look, and wait again.
    pub fn wait(&mut self, limit: Option<Duration>, mut ready: impl FnMut() -> bool) -> Wake {
        let mut sleep = self.prepare();
        if ready() {
            return Wake::Ready;
        }
        let end = limit.and_then(|limit| Instant::now().checked_add(limit));
        let left = || end.map(|end| end.saturating_duration_since(Instant::now()));
        let mut overdue = false;
        loop {
            sleep = match sleep.park(if overdue { None } else { left() }) {
                Parked::Signalled => return Wake::Signalled,
                Parked::TimedOut(sleep) => sleep,
            };
            // The flag is still set, so whoever published the news has not read it yet. Either it is about to, and
            // wakes the thread during one more park; or it never will.
            let news = ready();
            if news && overdue {
                sleep.count_rescue();
                return Wake::Rescued;
            }
            if !news && left() == Some(Duration::ZERO) {
                return Wake::TimedOut;
            }
            overdue = news;
        }
    }

    /// Says that the thread is about to sleep. After this, look for news once more, then [`Sleep::park`];
    /// or drop the [`Sleep`] if there is news. [`wait`](Self::wait) does these steps.
    pub fn prepare(&mut self) -> Sleep<'_> {
        self.signal.shared.asleep.swap(true, Relaxed);
        fence(SeqCst);
        Sleep { waiter: self }
    }
}

/// The time between [`Waiter::prepare`] and the end of the sleep. Dropping it calls the sleep off.
#[must_use = "dropping it calls the sleep off"]
pub struct Sleep<'a> {
    waiter: &'a mut Waiter,
}

/// How [`Sleep::park`] ended.
pub enum Parked<'a> {
    /// A signal came.
    Signalled,
    /// No signal came in time. The thread still counts as asleep, so it may park again.
    TimedOut(Sleep<'a>),
}

impl<'a> Sleep<'a> {
    /// Sleeps until a signal comes, for at most `limit` and at most [`PARK_MAX`].
    pub fn park(self, limit: Option<Duration>) -> Parked<'a> {
        let end = Instant::now() + limit.map_or(PARK_MAX, |limit| limit.min(PARK_MAX));
        loop {
            self.waiter.parker.park_deadline(end);
            if !self.waiter.signal.shared.asleep.load(Relaxed) {
                return Parked::Signalled;
            }
            // Still asleep before the end: the token was a late one of an earlier sleep.
            if Instant::now() >= end {
                return Parked::TimedOut(self);
            }
        }
    }

    /// Counts a wake-up that did not come: see [`Signal::rescues`].
    pub fn count_rescue(&self) {
        self.waiter.signal.shared.rescues.fetch_add(1, Relaxed);
    }
}

impl Drop for Sleep<'_> {
    fn drop(&mut self) {
        self.waiter.signal.shared.asleep.swap(false, Relaxed);
    }
}

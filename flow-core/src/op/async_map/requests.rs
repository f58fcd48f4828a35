//! The requests of an instance, in the order of their records, with the marks between them.

use super::Pending;
use super::settings::Settings;
use crate::batch::Mark;
use crate::channel::Signal;
use crate::op::operator::OpError;
use crate::stage::held::Held;
use crate::time::Millis;
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Wake, Waker};

/// So often in a row a future may ask to be polled at once; then others have their turn.
const ROUNDS_MAX: usize = 64;

/// Rings when a future has news, and wakes the stage.
struct Bell {
    rung: AtomicBool,
    signal: Option<Signal>,
}

impl Wake for Bell {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }
    fn wake_by_ref(self: &Arc<Self>) {
        self.rung.store(true, Ordering::Release);
        if let Some(signal) = &self.signal {
            signal.wake();
        }
    }
}

/// A place in the queue.
enum Slot<T, S, U> {
    /// Not begun.
    Waiting(T, S),
    Asked(Asked<T, S, U>),
    /// With its record, so that it can be asked again after a restart.
    Answered(Result<U, OpError>, S, T),
    Mark(Mark),
}

impl<T, S, U> Slot<T, S, U> {
    /// What is under way is answered.
    fn answer(&mut self, answer: Result<U, OpError>) {
        // The place is never seen with the mark in it.
        match std::mem::replace(self, Slot::Mark(Mark::Active)) {
            Slot::Asked(Asked { record, stamp, .. }) => *self = Slot::Answered(answer, stamp, record),
            other => *self = other,
        }
    }
}

/// A request that is under way.
struct Asked<T, S, U> {
    number: u64,
    /// None when it gave an error, and is asked again.
    future: Option<Pending<U>>,
    bell: Arc<Bell>,
    record: T,
    stamp: S,
    until: i64,
    tries_left: u32,
}

/// A request that had no answer in time, or an error.
pub(super) struct Request<T> {
    pub number: u64,
    pub record: T,
    pub tries_left: u32,
    /// It was the time; else an error.
    pub timed_out: bool,
}

/// What goes on.
pub(super) enum Answer<S, U> {
    Record(Result<U, OpError>, S),
    Mark(Mark),
}

/// See the module.
pub(super) struct Requests<T, S, U> {
    slots: VecDeque<Slot<T, S, U>>,
    settings: Settings,
    signal: Option<Signal>,
    /// How many have begun and not gone on: under way, or answered and behind one that is not.
    begun: usize,
    waiting: usize,
    /// Whether the end is among the marks.
    ending: bool,
    next_number: u64,
    now: i64,
}

impl<T: Clone + Send + 'static, S: Copy, U: Send + 'static> Requests<T, S, U> {
    pub fn new(settings: &Settings) -> Self {
        let (slots, settings) = (VecDeque::new(), *settings);
        Requests {
            slots,
            settings,
            signal: None,
            begun: 0,
            waiting: 0,
            ending: false,
            next_number: 0,
            now: 0,
        }
    }

    pub fn open(&mut self, signal: &Signal) {
        self.signal = Some(signal.clone());
    }

    pub fn timeout(&self) -> Millis {
        self.settings.timeout
    }

    pub fn push(&mut self, record: T, stamp: S) {
        self.waiting += 1;
        self.slots.push_back(Slot::Waiting(record, stamp));
    }

    pub fn mark(&mut self, mark: Mark) {
        self.ending |= mark == Mark::End;
        self.slots.push_back(Slot::Mark(mark));
    }

    /// What has not gone on, in order: records, answered or not, and the watermarks between them.
    pub fn kept(&self) -> impl Iterator<Item = Held<&T, S>> {
        self.slots.iter().filter_map(|slot| match slot {
            Slot::Waiting(record, stamp) | Slot::Answered(_, stamp, record) => {
                Some(Held::Record(record, *stamp))
            }
            Slot::Asked(asked) => Some(Held::Record(&asked.record, asked.stamp)),
            Slot::Mark(Mark::Watermark(w)) => Some(Held::Watermark(*w)),
            Slot::Mark(_) => None,
        })
    }

    pub fn is_empty(&self) -> bool {
        self.slots.is_empty()
    }

    /// Whether more may come: none that came waits to begin, and the end is not due.
    pub fn has_room(&self) -> bool {
        self.waiting == 0 && !self.ending
    }

    /// Whether a bell has rung.
    pub fn has_news(&self) -> bool {
        let rung = |slot: &Slot<T, S, U>| matches!(slot, Slot::Asked(asked) if asked.bell.rung.load(Ordering::Acquire));
        self.slots.iter().any(rung)
    }

    /// Drops all requests: nobody wants the answers.
    pub fn forget(&mut self) {
        self.slots.retain(|slot| matches!(slot, Slot::Mark(_)));
        (self.begun, self.waiting) = (0, 0);
    }

    /// When the first request under way has had its time; at once where one still has news, or may begin.
    pub fn deadline(&self) -> Option<i64> {
        if self.waiting > 0 && self.begun < self.settings.capacity {
            return Some(self.now);
        }
        let until = self.slots.iter().filter_map(|slot| match slot {
            Slot::Asked(asked) if asked.bell.rung.load(Ordering::Relaxed) => Some(self.now),
            Slot::Asked(asked) => Some(asked.until),
            _ => None,
        });
        until.min()
    }

    /// Begins requests up to the capacity, and polls those whose bell has rung.
    pub fn poll(&mut self, now: i64, ask: impl Fn(T) -> Pending<U>) {
        self.now = now;
        for _ in 0..ROUNDS_MAX {
            self.begin(&ask);
            let mut polled = false;
            for slot in &mut self.slots {
                let Slot::Asked(asked) = slot else { continue };
                let Some(future) = &mut asked.future else { continue };
                if !asked.bell.rung.swap(false, Ordering::Acquire) {
                    continue;
                }
                polled = true;
                let waker = Waker::from(Arc::clone(&asked.bell));
                match future.as_mut().poll(&mut Context::from_waker(&waker)) {
                    Poll::Pending => {}
                    // An error may be asked for again: see `next_overdue`.
                    Poll::Ready(Err(_)) if asked.tries_left > 0 => {
                        (asked.future, asked.until) = (None, i64::MIN);
                    }
                    Poll::Ready(answer) => slot.answer(answer),
                }
            }
            if !polled {
                return;
            }
        }
    }

    fn begin(&mut self, ask: &impl Fn(T) -> Pending<U>) {
        if self.waiting == 0 || self.begun >= self.settings.capacity {
            return;
        }
        let until = self.now.saturating_add(self.settings.timeout.0);
        for slot in &mut self.slots {
            if self.begun >= self.settings.capacity {
                return;
            }
            let Slot::Waiting(record, stamp) = slot else { continue };
            let bell = Arc::new(Bell { rung: AtomicBool::new(true), signal: self.signal.clone() });
            let (record, stamp) = (record.clone(), *stamp);
            let (number, tries_left) = (self.next_number, self.settings.retries);
            let future = Some(ask(record.clone()));
            *slot = Slot::Asked(Asked { number, future, bell, record, stamp, until, tries_left });
            self.next_number += 1;
            self.begun += 1;
            self.waiting -= 1;
        }
    }

    /// A request whose time is over; it waits for [`Requests::again`] or [`Requests::answer`].
    pub fn next_overdue(&mut self) -> Option<Request<T>> {
        let now = self.now;
        self.slots.iter_mut().find_map(|slot| match slot {
            Slot::Asked(asked) if asked.until <= now => {
                let timed_out = asked.until > i64::MIN;
                asked.until = i64::MAX;
                let (number, tries_left) = (asked.number, asked.tries_left);
                Some(Request { number, record: asked.record.clone(), tries_left, timed_out })
            }
            _ => None,
        })
    }

    /// Repeats a request.
    pub fn again(&mut self, request: Request<T>, now: i64, ask: impl Fn(T) -> Pending<U>) {
        let until = now.saturating_add(self.settings.timeout.0);
        let Some(Slot::Asked(asked)) = self.find(request.number) else { return };
        asked.future = Some(ask(request.record));
        asked.tries_left -= 1;
        asked.until = until;
        asked.bell.wake_by_ref();
    }

    /// Answers a request.
    pub fn answer(&mut self, number: u64, out: U) {
        if let Some(slot) = self.find(number) {
            slot.answer(Ok(out));
        }
    }

    fn find(&mut self, number: u64) -> Option<&mut Slot<T, S, U>> {
        self.slots.iter_mut().find(|slot| matches!(slot, Slot::Asked(asked) if asked.number == number))
    }

    /// Whether something may go on.
    pub fn has_answer(&self) -> bool {
        self.answered().is_some()
    }

    fn answered(&self) -> Option<usize> {
        match self.slots.front()? {
            Slot::Mark(_) | Slot::Answered(..) => Some(0),
            _ if self.settings.ordered => None,
            _ => {
                let until = self.slots.iter().position(|slot| matches!(slot, Slot::Mark(_)));
                let mut before = self.slots.iter().take(until.unwrap_or(self.slots.len()));
                before.position(|slot| matches!(slot, Slot::Answered(..)))
            }
        }
    }

    /// What goes on next: the first, or, where the order is free, the first answer before the next mark.
    pub fn pop(&mut self) -> Option<Answer<S, U>> {
        let at = self.answered()?;
        match self.slots.remove(at)? {
            Slot::Answered(answer, stamp, _) => {
                self.begun -= 1;
                Some(Answer::Record(answer, stamp))
            }
            Slot::Mark(mark) => {
                self.ending &= mark != Mark::End;
                Some(Answer::Mark(mark))
            }
            // Only answers and marks are found.
            Slot::Waiting(..) | Slot::Asked(_) => None,
        }
    }
}

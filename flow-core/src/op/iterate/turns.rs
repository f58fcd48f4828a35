//! Whether there is another superstep.

use crate::channel::Signal;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The loop is over.
const OVER: u64 = u64::MAX;

/// The coordination of a loop in one run of a job.
pub(super) struct Turns {
    /// How many supersteps there may be.
    rounds: u64,
    /// Up to which superstep the entries may go; [`OVER`] when there is none after the last.
    allowed: AtomicU64,
    step: Mutex<Step>,
}

/// The superstep that is under way.
#[derive(Default)]
struct Step {
    number: u64,
    /// How many there have been in which there was something.
    done: u64,
    /// How many records have entered it.
    entered: u64,
    /// How many instances of the exit have seen all of it, and what has come back to them.
    seen: usize,
    returned: u64,
    entries: Vec<Signal>,
}

/// What an entry may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Turn {
    /// The superstep is under way.
    Wait,
    /// This one begins.
    Begin(u64),
    /// The loop is over.
    Over,
}

impl Turns {
    pub fn new(rounds: u64) -> Self {
        let step = Step { number: 1, ..Step::default() };
        Turns { rounds, allowed: AtomicU64::new(1), step: Mutex::new(step) }
    }

    fn step(&self) -> MutexGuard<'_, Step> {
        self.step.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The thread of an entry.
    pub fn wakes(&self, signal: &Signal) {
        self.step().entries.push(signal.clone());
    }

    /// So many records have entered the first superstep by an entry.
    pub fn enter(&self, records: u64) {
        self.step().entered += records;
    }

    /// What comes after superstep `last`.
    pub fn after(&self, last: u64) -> Turn {
        match self.allowed.load(Ordering::Acquire) {
            OVER => Turn::Over,
            allowed if allowed > last => Turn::Begin(last + 1),
            _ => Turn::Wait,
        }
    }

    /// One of so many exits has seen all of a superstep, of which so many records have come back to it. The last one decides.
    pub fn seen(&self, exits: usize, returned: u64) {
        let mut step = self.step();
        step.seen += 1;
        step.returned += returned;
        if step.seen < exits {
            return;
        }
        let goes_on = step.returned > 0 && step.number < self.rounds;
        let next = if goes_on { step.number + 1 } else { OVER };
        step.done += u64::from(step.entered > 0);
        (step.number, step.entered) = (step.number + 1, step.returned);
        (step.seen, step.returned) = (0, 0);
        self.allowed.store(next, Ordering::Release);
        step.entries.iter().for_each(Signal::wake);
    }

    /// How many supersteps there have been in which there was something.
    pub fn supersteps(&self) -> u64 {
        self.step().done
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_exit_decides() {
        let turns = Turns::new(3);
        turns.enter(2);
        assert_eq!(turns.after(1), Turn::Wait);
        turns.seen(2, 1);
        assert_eq!(turns.after(1), Turn::Wait);
        turns.seen(2, 0);
        assert_eq!(turns.after(1), Turn::Begin(2));
        assert_eq!(turns.after(2), Turn::Wait);
        turns.seen(1, 5);
        assert_eq!(turns.after(2), Turn::Begin(3));
        turns.seen(1, 5);
        assert_eq!((turns.after(3), turns.supersteps()), (Turn::Over, 3), "three were allowed");
    }

    #[test]
    fn nothing_is_no_superstep() {
        let turns = Turns::new(3);
        turns.seen(1, 0);
        assert_eq!((turns.after(1), turns.supersteps()), (Turn::Over, 0));
    }

    #[test]
    fn without_records_that_come_back_it_is_over() {
        let turns = Turns::new(u64::MAX);
        turns.enter(1);
        turns.seen(1, 0);
        assert_eq!((turns.after(1), turns.supersteps()), (Turn::Over, 1));
    }
}

//! Whether there is another superstep, and on which side of that decision a checkpoint is.

use super::number::{anew, is_before, superstep};
use crate::channel::Signal;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The loop is over.
const OVER: u64 = u64::MAX;

/// The coordination of a loop in one run of a job.
pub(super) struct Turns {
    /// The superstep in which its input is, and how many there may be.
    first: u64,
    rounds: u64,
    /// In the body of another loop: when it is over it begins anew.
    nested: bool,
    entries: usize,
    /// Up to which superstep the entries may go; [`OVER`] when there is none after the last.
    allowed: AtomicU64,
    /// It has ended because nobody wants what leaves it.
    cut: AtomicBool,
    /// The job is to end: there is no superstep after this one.
    stopped: AtomicBool,
    step: Mutex<Step>,
}

/// The superstep that is under way.
struct Step {
    number: u64,
    /// How many there have been in this run in which there was something, and how often the last was one because of the bound.
    done: u64,
    at_bound: u64,
    /// How many records have entered it.
    entered: u64,
    /// How many entries have all of the input. In a job that starts from a checkpoint the loop goes on when all have, though its input may be in it.
    started: usize,
    /// How many instances of the exit have seen all of it, and what has come back to them; the last one says whether it is enough.
    seen: usize,
    returned: u64,
    all_seen: bool,
    enough: bool,
    /// A checkpoint of this superstep, that not all instances of the exit have come to; and how many have.
    barrier: Option<u64>,
    passed: usize,
    /// How many instances of the exit have nobody behind them who wants more.
    unwanted: usize,
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

/// Where a loop stands at a checkpoint: the superstep, and how many records have entered it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Place {
    pub number: u64,
    pub entered: u64,
}

/// Whether the loop is to end for another reason than that nothing comes back: asked after each superstep.
pub(super) type Enough<'a> = &'a dyn Fn() -> bool;

impl Turns {
    /// Of a loop whose first superstep is `first`, in which its input is under way.
    pub fn new(first: u64, rounds: u64, nested: bool, entries: usize) -> Self {
        let step = Step {
            number: first,
            done: 0,
            at_bound: 0,
            entered: 0,
            started: 0,
            seen: 0,
            returned: 0,
            all_seen: false,
            enough: false,
            barrier: None,
            passed: 0,
            unwanted: 0,
            entries: Vec::new(),
        };
        Turns {
            first,
            rounds,
            nested,
            entries,
            allowed: AtomicU64::new(first),
            cut: AtomicBool::new(false),
            stopped: AtomicBool::new(false),
            step: Mutex::new(step),
        }
    }

    fn step(&self) -> MutexGuard<'_, Step> {
        self.step.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The thread of an entry.
    pub fn wakes(&self, signal: &Signal) {
        self.step().entries.push(signal.clone());
    }

    /// An entry has all of the input: so many records have entered by it.
    pub fn enter(&self, records: u64) {
        let mut step = self.step();
        step.entered += records;
        step.started += 1;
        self.decide(&mut step);
    }

    /// What comes after superstep `last`.
    pub fn after(&self, last: u64) -> Turn {
        match self.allowed.load(Ordering::Acquire) {
            OVER => Turn::Over,
            allowed if is_before(last, allowed) => Turn::Over,
            allowed if allowed > last => Turn::Begin(last + 1),
            _ => Turn::Wait,
        }
    }

    /// An entry that is in superstep `number` wants to let the barrier of a checkpoint pass: not where that superstep is over. Until all instances of the exit
    /// have seen the barrier it is not: so all entries let it pass in the same superstep, and what goes from exits to entries stays where
    /// it is.
    pub fn asks(&self, number: u64, barrier: u64) -> bool {
        let mut step = self.step();
        let open = self.allowed.load(Ordering::Acquire) == number;
        if open && step.barrier != Some(barrier) {
            debug_assert!(
                step.barrier.is_none(),
                "no checkpoint begins before the barriers of another have passed"
            );
            (step.barrier, step.passed) = (Some(barrier), 0);
        }
        open
    }

    /// One of so many exits has come to the barrier of a checkpoint.
    pub fn passed(&self, exits: usize, barrier: u64) {
        let mut step = self.step();
        if step.barrier == Some(barrier) {
            step.passed += 1;
            if step.passed == exits {
                (step.barrier, step.passed) = (None, 0);
                self.decide(&mut step);
            }
        }
    }

    /// One of so many exits has seen all of a superstep, of which so many records have come back to it. The last one decides.
    pub fn seen(&self, exits: usize, returned: u64, enough: Enough<'_>) {
        let mut step = self.step();
        step.seen += 1;
        step.returned += returned;
        if step.seen == exits {
            // Superstep 0 only takes the input in: no condition is about that.
            (step.all_seen, step.enough) = (true, enough() && superstep(step.number) > 0);
            self.decide(&mut step);
        }
    }

    fn decide(&self, step: &mut Step) {
        if self.is_cut() || !step.all_seen || step.barrier.is_some() || step.started < self.entries {
            return;
        }
        let ends = step.enough || self.stopped.load(Ordering::Acquire);
        let number = superstep(step.number);
        let goes_on = step.returned > 0 && number < self.rounds && !ends;
        // Superstep 0 only takes the input in.
        step.done += u64::from(step.entered > 0 && number > 0);
        step.at_bound += u64::from(step.returned > 0 && number >= self.rounds && !ends);
        (step.number, step.entered) = (step.number + 1, step.returned);
        (step.seen, step.returned, step.all_seen) = (0, 0, false);
        let mut next = if goes_on { step.number } else { OVER };
        if !goes_on && self.nested {
            // The input of the next one is yet to come.
            next = anew(step.number - 1, self.first);
            (step.number, step.entered, step.started) = (next, 0, 0);
        }
        self.allowed.store(next, Ordering::Release);
        step.entries.iter().for_each(Signal::wake);
    }

    /// Whether it is over.
    pub fn is_over(&self) -> bool {
        self.allowed.load(Ordering::Acquire) == OVER
    }

    /// It ends, whatever there is: its body has ended before it.
    pub fn give_up(&self) {
        self.end(&self.step());
    }

    fn end(&self, step: &Step) {
        self.allowed.store(OVER, Ordering::Release);
        step.entries.iter().for_each(Signal::wake);
    }

    /// Nobody wants more of what one of so many exits gives. It stays, since its superstep is not over without it; when it is so of all, the loop ends.
    pub fn unwanted(&self, exits: usize) {
        let mut step = self.step();
        step.unwanted += 1;
        if step.unwanted == exits {
            self.cut(&step);
        }
    }

    /// What it is part of has ended, in whatever place of a superstep.
    pub fn cut_short(&self) {
        self.cut(&self.step());
    }

    fn cut(&self, step: &Step) {
        self.cut.store(true, Ordering::Release);
        self.end(step);
    }

    /// Whether it has ended for that, in whatever place of a superstep.
    pub fn is_cut(&self) -> bool {
        self.cut.load(Ordering::Acquire)
    }

    /// The job is to end: the superstep that is under way is the last.
    pub fn stop(&self) {
        self.stopped.store(true, Ordering::Release);
    }

    /// Where it stands.
    pub fn place(&self) -> Place {
        let step = self.step();
        Place { number: step.number, entered: step.entered }
    }

    /// It stood there at the checkpoint that the job starts from. All entries and exits say so, none of which knows who is first.
    pub fn resume(&self, place: Place) {
        let mut step = self.step();
        if place.number > step.number && step.seen == 0 {
            step.number = place.number;
            self.allowed.store(place.number, Ordering::Release);
        }
        if place.number == step.number {
            step.entered = step.entered.max(place.entered);
        }
    }

    /// How many supersteps there have been in which there was something.
    pub fn supersteps(&self) -> u64 {
        self.step().done
    }

    /// How often the loop was ended by its bound, though something came back.
    pub fn at_bound(&self) -> u64 {
        self.step().at_bound
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn no() -> bool {
        false
    }

    #[test]
    fn the_last_exit_decides() {
        let turns = Turns::new(1, 3, false, 1);
        turns.enter(2);
        assert_eq!(turns.after(1), Turn::Wait);
        turns.seen(2, 1, &no);
        assert_eq!(turns.after(1), Turn::Wait);
        turns.seen(2, 0, &no);
        assert_eq!(turns.after(1), Turn::Begin(2));
        assert_eq!(turns.after(2), Turn::Wait);
        turns.seen(1, 5, &no);
        assert_eq!(turns.after(2), Turn::Begin(3));
        turns.seen(1, 5, &no);
        assert_eq!((turns.after(3), turns.supersteps()), (Turn::Over, 3), "three were allowed");
        assert_eq!(turns.at_bound(), 1);
    }

    #[test]
    fn nothing_is_no_superstep() {
        let turns = Turns::new(1, 3, false, 1);
        turns.enter(0);
        turns.seen(1, 0, &no);
        assert_eq!((turns.after(1), turns.supersteps()), (Turn::Over, 0));
    }

    #[test]
    fn without_records_that_come_back_it_is_over() {
        let turns = Turns::new(1, u64::MAX, false, 1);
        turns.enter(1);
        turns.seen(1, 0, &no);
        assert_eq!((turns.after(1), turns.supersteps()), (Turn::Over, 1));
    }

    #[test]
    fn it_ends_where_it_is_enough() {
        let turns = Turns::new(1, u64::MAX, false, 1);
        turns.enter(1);
        turns.seen(1, 7, &no);
        turns.seen(1, 7, &|| true);
        assert_eq!((turns.after(2), turns.supersteps(), turns.at_bound()), (Turn::Over, 2, 0));
    }

    #[test]
    fn it_ends_where_no_exit_is_wanted() {
        let turns = Turns::new(1, u64::MAX, false, 1);
        turns.enter(1);
        turns.unwanted(2);
        turns.seen(2, 1, &no);
        assert_eq!(turns.after(1), Turn::Wait, "the other is");
        turns.unwanted(2);
        assert_eq!((turns.after(1), turns.is_cut()), (Turn::Over, true));
        turns.seen(2, 1, &no);
        assert_eq!(turns.after(1), Turn::Over);
    }

    #[test]
    fn a_superstep_is_not_over_before_its_barrier_has_passed() {
        let turns = Turns::new(1, 9, false, 1);
        turns.enter(1);
        turns.seen(2, 1, &no);
        assert!(turns.asks(1, 4), "one exit has not seen all");
        turns.seen(2, 1, &no);
        assert_eq!(turns.after(1), Turn::Wait);
        turns.passed(2, 4);
        assert_eq!(turns.after(1), Turn::Wait);
        turns.passed(2, 4);
        assert_eq!(turns.after(1), Turn::Begin(2));
        assert!(!turns.asks(1, 5), "that superstep is over");
        assert!(turns.asks(2, 5));
        turns.passed(2, 5);
        turns.passed(2, 5);
        assert_eq!(turns.after(2), Turn::Wait);
    }

    #[test]
    fn a_barrier_of_the_input_passes_before_it_goes_on() {
        let turns = Turns::new(1, 9, false, 1);
        turns.resume(Place { number: 4, entered: 1 });
        turns.seen(1, 1, &no);
        assert!(turns.asks(4, 1));
        turns.enter(0);
        assert_eq!(turns.after(4), Turn::Wait);
        turns.passed(1, 1);
        assert_eq!(turns.after(4), Turn::Begin(5));
    }

    #[test]
    fn it_goes_on_where_it_was() {
        let turns = Turns::new(1, 9, false, 1);
        let place = Place { number: 5, entered: 2 };
        turns.resume(place);
        turns.seen(2, 1, &no);
        turns.resume(place);
        turns.seen(2, 1, &no);
        assert_eq!(turns.after(5), Turn::Wait, "a checkpoint may come with what there is of the input");
        turns.enter(0);
        assert_eq!(turns.after(5), Turn::Begin(6));
        turns.resume(place);
        assert_eq!((turns.after(5), turns.supersteps()), (Turn::Begin(6), 1));
    }

    #[test]
    fn a_nested_one_begins_anew() {
        let turns = Turns::new(1, 2, true, 2);
        turns.enter(3);
        turns.enter(0);
        turns.seen(1, 2, &no);
        assert_eq!(turns.after(1), Turn::Begin(2));
        turns.seen(1, 2, &no);
        let second = anew(2, 1);
        assert_eq!(turns.place(), Place { number: second, entered: 0 });
        // Whoever comes late hears it too, and who has begun anew waits for the others.
        assert_eq!((turns.after(2), turns.after(second)), (Turn::Over, Turn::Wait));
        turns.enter(1);
        turns.seen(1, 1, &no);
        assert_eq!((turns.after(2), turns.after(second)), (Turn::Over, Turn::Wait));
        turns.enter(0);
        assert_eq!(turns.after(second), Turn::Begin(second + 1));
        turns.seen(1, 0, &no);
        assert_eq!((turns.after(second + 1), turns.supersteps(), turns.is_over()), (Turn::Over, 4, false));
        turns.give_up();
        assert!(turns.is_over());
    }
}

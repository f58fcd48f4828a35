//! What every exit of a loop does: it hands over what has come back, decides with the others, and writes both down.
//!
//! In checkpoints, for each instance: `ID (returned)`, the records that have come back in the superstep, as `workset.rs` writes them; and `ID (turn)`,
//! `number entered state`: the superstep and how many records have entered it, little-endian `u64`s, and a byte, the [`State`].

use super::handed::Handed;
use super::number::{Told, begin_of, is_before, told, told_before};
use super::turns::Place;
use super::until::Until;
use super::workset::{Giver, Workset};
use crate::aggregate::Overflow;
use crate::error::{Error, ErrorKind, Result};
use crate::external::{Memory, Spill};
use crate::metrics::Counter;
use crate::stage::own::{Own, take};
use crate::stage::{Faults, Meta, OpenCx};
use crate::time::Timestamp;
use std::sync::{Arc, Mutex, PoisonError};

/// What is known for the condition of the loop, of the exits that have seen all of the superstep.
pub(super) type Known<A> = Arc<Mutex<Option<A>>>;

/// Where an exit stands in a superstep; in checkpoints by its number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// Records come back.
    Returning,
    /// All has come back, and is handed over.
    Complete,
    /// The same of a loop that is over, whose end has not been told here: an operator in the body was held up.
    Over,
}

/// Where each of another number of exits stands, that they together stood in these places. Where some had seen all of the superstep, it comes again to all; where the end of the loop has been
/// told to some, these have nothing left.
fn together(all: &[(Place, State)]) -> State {
    match all {
        _ if all.iter().any(|one| one.1 == State::Over) => State::Over,
        [_, ..] if all.iter().all(|one| one.1 == State::Complete) => State::Complete,
        _ => State::Returning,
    }
}

/// The part of an exit's head that does not depend on what is done with a record.
pub(super) struct Back<T, U: Until<T>> {
    pub handed: Arc<Handed<T>>,
    until: U,
    all_known: Known<U::Acc>,
    known: U::Acc,
    instance: usize,
    exits: usize,
    /// What has come back in this superstep.
    returned: Workset<T>,
    /// The last superstep of which it has seen all.
    seen: Option<u64>,
    /// Nobody wants more of what leaves here.
    unwanted: bool,
    memory: Memory,
    records: Own,
    turn: Own,
    spilled: Counter,
    meta: Meta,
    faults: Faults,
}

impl<T: Spill, U: Until<T>> Back<T, U> {
    pub fn new(handed: Arc<Handed<T>>, until: U, all_known: Known<U::Acc>, meta: Meta) -> Self {
        let known = until.start();
        Back {
            handed,
            until,
            all_known,
            known,
            instance: 0,
            exits: 1,
            returned: Workset::default(),
            seen: None,
            unwanted: false,
            memory: Memory::default(),
            records: Own::part(meta, "returned"),
            turn: Own::part(meta, "turn"),
            spilled: Counter::default(),
            meta,
            faults: Faults::default(),
        }
    }

    /// Opens it, and takes back what there was at the checkpoint that the job starts from.
    pub fn open(&mut self, cx: &mut OpenCx) -> Result<()> {
        (self.instance, self.exits) = (cx.context().instance(), cx.context().parallelism());
        (self.memory, self.faults) = (cx.memory().clone(), cx.faults().clone());
        self.spilled = cx.metrics().counter(&format!("{}.spilled", self.meta.id()));
        let all = cx.take_back_everywhere(&format!("{} (turn)", self.meta.id()))?;
        self.turn.open(cx)?;
        let all = all.iter().map(|bytes| self.read_turn(cx, bytes)).collect::<Result<Vec<_>>>()?;
        all.iter().for_each(|(place, _)| self.handed.turns.resume(*place));
        let own = all.get(self.instance).filter(|_| all.len() == self.exits);
        let state = own.map_or_else(|| together(&all), |own| own.1);
        self.take_back(cx, state)?;
        let number = all.first().map_or(0, |(place, _)| place.number);
        match state {
            State::Returning => {}
            State::Complete => self.see(number)?,
            State::Over => {
                // Also at the next barrier, if its end has not been told by then.
                self.seen = Some(number);
                if self.handed.is_nested() {
                    self.seen = told_before(begin_of(number, 0), 0);
                } else {
                    self.handed.turns.give_up();
                }
                let returned = std::mem::take(&mut self.returned);
                self.handed.of_exit(self.instance, |slot| *slot = returned);
            }
        }
        Ok(())
    }

    /// Takes back what had come back; of a loop that is over no condition is asked for any more.
    fn take_back(&mut self, cx: &OpenCx, state: State) -> Result<()> {
        let Back { returned, memory, until, known, .. } = self;
        let mut overflow = Ok(());
        self.records.open_with(cx, &mut |bytes| {
            let mut back = Workset::default();
            back.restore(bytes, memory)?;
            let mut back = back.into_giver()?;
            let mut pushed = Ok(());
            while back.give(usize::MAX, |record| {
                if overflow.is_ok() && pushed.is_ok() {
                    if state != State::Over {
                        overflow = until.look(known, &record);
                    }
                    pushed = returned.push(record, memory);
                }
            })? {}
            pushed
        })?;
        overflow.map_err(|overflow| self.named(overflow))
    }

    fn read_turn(&self, cx: &OpenCx, mut bytes: &[u8]) -> Result<(Place, State)> {
        let length = bytes.len();
        let mut read = || {
            let (number, entered) =
                (u64::from_le_bytes(take(&mut bytes)?), u64::from_le_bytes(take(&mut bytes)?));
            let [state] = take(&mut bytes)?;
            let state = match state {
                0 => State::Returning,
                1 => State::Complete,
                2 => State::Over,
                _ => return Err(Error::new(ErrorKind::State, "a state that no loop has")),
            };
            Ok((Place { number, entered }, state))
        };
        read().map_err(|error: Error| self.turn.broken(cx, error.message(), length))
    }

    #[cold]
    fn named(&self, overflow: Overflow) -> Error {
        Error::new(ErrorKind::Operator, overflow.to_string()).in_stage(self.meta.id()).at(self.meta.at())
    }

    /// Ends the job.
    #[cold]
    #[inline(never)]
    pub fn fail(&self, error: Error) {
        self.faults.raise(error.in_stage(self.meta.id()).at(self.meta.at()));
    }

    /// A record for the next superstep.
    #[inline]
    pub fn push(&mut self, record: T) {
        if let Err(overflow) = self.until.look(&mut self.known, &record) {
            let error = self.named(overflow);
            self.faults.raise(error);
        }
        if let Err(error) = self.returned.push(record, &self.memory) {
            self.fail(error);
        }
    }

    /// All of superstep `number` has been seen.
    pub fn end_of(&mut self, number: u64) {
        // It may have said so before the job began again.
        if self.seen != Some(number)
            && let Err(error) = self.see(number)
        {
            self.faults.raise(error);
        }
    }

    /// Hands over what has come back; the last exit decides.
    fn see(&mut self, number: u64) -> Result<()> {
        self.seen = Some(number);
        let known = std::mem::replace(&mut self.known, self.until.start());
        {
            let mut all = self.all_known.lock().unwrap_or_else(PoisonError::into_inner);
            let merged = match &mut *all {
                Some(all) => self.until.merge(all, known),
                none => {
                    *none = Some(known);
                    Ok(())
                }
            };
            merged.map_err(|overflow| self.named(overflow))?;
        }
        let returned = std::mem::take(&mut self.returned);
        let records = returned.len();
        self.spilled.add(returned.spilled());
        self.handed.of_exit(self.instance, |slot| *slot = returned);
        self.handed.turns.seen(self.exits, records, &|| self.is_enough());
        Ok(())
    }

    /// The time that is passed on when the watermark `w` of the body has come and what was due has left: outside there is another than inside.
    pub fn passes(&self, w: Timestamp) -> Timestamp {
        if told(w) == Told::End { self.handed.outer() } else { Timestamp::MIN }
    }

    /// Whether the condition holds, when the superstep is over.
    fn is_enough(&self) -> bool {
        let known = self.all_known.lock().unwrap_or_else(PoisonError::into_inner).take();
        known.is_some_and(|known| self.until.is_enough(known))
    }

    /// Whether what is behind it wants more. It does not go when that has ended: others would wait for it; it says so once.
    pub fn hears(&mut self, enough: bool) {
        if enough && !std::mem::replace(&mut self.unwanted, true) {
            self.handed.turns.unwanted(self.exits);
        }
    }

    /// The body has ended: the loop is over, or an operator in it has ended it.
    pub fn end(&mut self) {
        // In this order: who cuts a loop short says so before it is over.
        let over = self.handed.turns.is_over();
        let what = if self.handed.turns.is_cut() {
            return;
        } else if !over {
            "the body of the loop has ended before the loop"
        } else if self.returned.len() > 0 {
            "records have come out of the body of the loop behind its last superstep"
        } else {
            return;
        };
        self.handed.turns.cut_short();
        let note = "an operator in the body ends its stream, as `take` does, or gives a result when its input ends: put it before or behind the loop";
        self.fail(Error::new(ErrorKind::Operator, what).note(note));
    }

    /// The end of the loop has been told, in the body of another.
    pub fn over(&mut self) {
        self.seen = None;
    }

    /// What came back last, when the loop is over.
    ///
    /// # Errors
    /// When the disk is full.
    pub fn last(&mut self) -> Result<Giver<T>> {
        self.handed.of_exit(self.instance, std::mem::take).into_giver()
    }

    /// Where it stands in superstep `number`.
    fn state(&self, number: u64) -> State {
        match self.seen {
            Some(seen) if is_before(seen, number) || self.handed.turns.is_over() => State::Over,
            Some(seen) if seen == number => State::Complete,
            _ => State::Returning,
        }
    }

    /// The barrier of checkpoint `id` has come: writes down what has come back.
    #[cold]
    pub fn save(&mut self, id: u64) {
        let Place { number, entered } = self.handed.turns.place();
        let state = self.state(number);
        let Back { handed, returned, records, memory, instance, .. } = self;
        let mut put = |piece| records.put(id, piece);
        let saved = if state == State::Returning {
            returned.save(memory, &mut put)
        } else {
            handed.of_exit(*instance, |slot| slot.save(memory, &mut put))
        };
        if let Err(error) = saved {
            return self.fail(error);
        }
        let mut turn = number.to_le_bytes().to_vec();
        turn.extend_from_slice(&entered.to_le_bytes());
        turn.push(state as u8);
        self.turn.put(id, turn);
        self.handed.turns.passed(self.exits, id);
    }
}

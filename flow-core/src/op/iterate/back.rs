//! What every exit of a loop does: it hands over what has come back, decides with the others, and writes both down.
//!
//! In checkpoints, for each instance: `ID (returned)`, the records that have come back in the superstep, as `workset.rs` writes them; and `ID (turn)`,
//! `number entered complete`: the superstep and how many records have entered it, little-endian `u64`s, and a byte, 1 where all of it has come back.

use super::handed::Handed;
use super::number::{Told, told};
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
        let Back { returned, memory, until, known, .. } = self;
        let mut overflow = Ok(());
        self.records.open_with(cx, &mut |bytes| {
            let mut back = Workset::default();
            back.restore(bytes, memory)?;
            let mut back = back.into_giver()?;
            let mut pushed = Ok(());
            while back.give(usize::MAX, |record| {
                if overflow.is_ok() && pushed.is_ok() {
                    overflow = until.look(known, &record);
                    pushed = returned.push(record, memory);
                }
            })? {}
            pushed
        })?;
        overflow.map_err(|overflow| self.named(overflow))?;
        let all = cx.take_back_everywhere(&format!("{} (turn)", self.meta.id()))?;
        self.turn.open(cx)?;
        let all = all.iter().map(|bytes| self.read_turn(cx, bytes)).collect::<Result<Vec<_>>>()?;
        for (place, _) in &all {
            self.handed.turns.resume(*place);
        }
        // Where the number of exits has changed, those that had seen all of it see that again, or it comes again to all.
        let own = all.get(self.instance).filter(|_| all.len() == self.exits);
        let complete = own.map_or(!all.is_empty() && all.iter().all(|one| one.1), |one| one.1);
        match all.first() {
            Some((place, _)) if complete => self.see(place.number),
            _ => Ok(()),
        }
    }

    fn read_turn(&self, cx: &OpenCx, mut bytes: &[u8]) -> Result<(Place, bool)> {
        let length = bytes.len();
        let mut read = || {
            let (number, entered) =
                (u64::from_le_bytes(take(&mut bytes)?), u64::from_le_bytes(take(&mut bytes)?));
            let [complete] = take(&mut bytes)?;
            Ok((Place { number, entered }, complete == 1))
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

    /// What came back last, when the loop is over.
    ///
    /// # Errors
    /// When the disk is full.
    pub fn last(&mut self) -> Result<Giver<T>> {
        self.handed.of_exit(self.instance, std::mem::take).into_giver()
    }

    /// The barrier of checkpoint `id` has come: writes down what has come back.
    #[cold]
    pub fn save(&mut self, id: u64) {
        let Place { number, entered } = self.handed.turns.place();
        let complete = self.seen == Some(number);
        let Back { handed, returned, records, memory, instance, .. } = self;
        let mut put = |piece| records.put(id, piece);
        let saved = if complete {
            handed.of_exit(*instance, |slot| slot.save(memory, &mut put))
        } else {
            returned.save(memory, &mut put)
        };
        if let Err(error) = saved {
            return self.fail(error);
        }
        let mut turn = number.to_le_bytes().to_vec();
        turn.extend_from_slice(&entered.to_le_bytes());
        turn.push(u8::from(complete));
        self.turn.put(id, turn);
        self.handed.turns.passed(self.exits, id);
    }
}

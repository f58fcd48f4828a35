//! The typed beginning of a stage behind an edge.
//!
//! [`Head`] is an operator with state that takes runs of items, and fires. `Typed` is all that is made anew for each: the
//! head with the items it has been given. What does not depend on their types is compiled once, in
//! [`HeadStage`](super::HeadStage).

use super::{OpenCx, Tail};
use crate::batch::{Batch, emptied};
use crate::checkpoint::records::{Apart, apart};
use crate::checkpoint::{Groups, Pieces};
use crate::error::{Error, ErrorKind, Result};
use crate::time::Timestamp;
use std::vec::IntoIter;

/// Items taken between two looks at the room downstream. It bounds what one step adds to the overflow.
const CHUNK: usize = 256;

/// Whether a firing is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fire {
    /// All that was due has been emitted.
    Done,
    /// There was no room; call again.
    Paused,
    /// This checkpoint is to be taken here, of what is left to be fired too: of a head that [takes orders](Head::order).
    Barrier(u64),
}

/// An operator at the beginning of a stage, taking items of type `M`.
pub trait Head<M>: Send + 'static {
    /// What a sender may have merged before sending; [`std::convert::Infallible`] where it never does.
    type Part: Send + 'static;

    /// What lies behind it.
    fn tail(&mut self) -> &mut dyn Tail;
    /// The same, to look at.
    fn tail_ref(&self) -> &dyn Tail;
    /// Opens it; what lies behind it is opened by the caller.
    ///
    /// # Errors
    /// What the operator reports.
    fn open(&mut self, cx: &mut OpenCx) -> Result<()> {
        let _ = cx;
        Ok(())
    }
    /// Takes the first `n` items.
    fn items(&mut self, input: usize, items: &mut IntoIter<M>, n: usize);
    /// Takes what a sender has merged, all at once: it is not asked before whether there is room, so what it emits, if anything,
    /// goes to the overflow. May give the part back, emptied, for its memory. To be written where `Part` can be anything.
    fn part(&mut self, part: Self::Part) -> Option<Self::Part> {
        debug_assert!(false, "a part for a head that takes none: a bug of its sender");
        drop(part);
        None
    }
    /// The watermark has risen to `w`; [`Head::fire`] will be called until it is done, then the mark is passed on.
    fn watermark(&mut self, w: Timestamp) {
        let _ = w;
    }
    /// The watermark was at `w` at the checkpoint that the job starts from: it fires nothing again. Before its state comes back.
    fn was_told(&mut self, w: Timestamp) {
        self.watermark(w);
    }
    /// An input has ended; those of the first edge come first.
    fn ended(&mut self, input: usize) {
        let _ = input;
    }
    /// All input has arrived; [`Head::fire`] will be called until it is done.
    fn end(&mut self) {}
    /// Whether it goes on for long when all its input has come, as a source: then the coordinator asks it for checkpoints, since no barrier
    /// comes from elsewhere.
    fn takes_orders(&self) -> bool {
        false
    }
    /// It is asked for checkpoint `id`: [`Fire::Barrier`] says when.
    fn order(&mut self, id: u64) {
        let _ = id;
    }
    /// Whether it waits for others while it fires, and reads its inputs meanwhile: nothing can come there but barriers, which are given to [`Head::order`].
    fn listens(&self) -> bool {
        false
    }
    /// The watermark that it is told at the start from a checkpoint that is taken now, when it has been told `told`: lower where it is to hear that once more.
    fn stands_at(&self, told: Timestamp) -> Timestamp {
        told
    }
    /// Whether the end of the history of a stream is the end of its input, at which it gives what it has: of what it keeps nothing is a state that the
    /// stream would go on with. Else it keeps its state for the stream, and fires nothing.
    fn ends_at_a_cut(&self) -> bool {
        false
    }
    /// The job is to end, and its sources do. For who would go on for ever without them.
    fn stop(&mut self) {}
    /// Emits what is due, as far as there is room.
    fn fire(&mut self) -> Fire {
        Fire::Done
    }
    /// Whether the clock has come to something, so that [`Head::fire`] is to be called before more items are given.
    fn overdue(&mut self) -> bool {
        false
    }
    /// The first watermark at which it has something to fire, where somebody else tells it the time.
    fn due(&self) -> Option<i128> {
        None
    }
    /// The tick at which [`Head::overdue`] should be asked although nothing arrives.
    fn deadline(&self) -> Option<i64> {
        None
    }
    /// The watermark passed on when [`Head::fire`] is done at `w`: lower where elements that are still kept may leave behind it.
    /// One that does not rise is not passed on; at the end of the input what is passed on is the end.
    fn passes(&self, w: Timestamp) -> Timestamp {
        w
    }
    /// Whether it keeps elements that wait for something else than time, as for the end of an input. Until they have left, it is
    /// not said that its inputs are idle: others behind it would go on, and the elements come too late.
    fn waits(&self) -> bool {
        false
    }
    /// How far the clock has come for it, where that must not go back; it stands in checkpoints.
    fn clock(&self) -> Option<Timestamp> {
        None
    }
    /// The clock is not behind `clock`, which [`Head::clock`] said at the checkpoint that the job starts from.
    fn clock_was(&mut self, clock: Timestamp) {
        let _ = clock;
    }
    /// The types of its keyed state, as `key -> value`; empty where it keeps none, or none is written down.
    fn schema(&self) -> Result<String> {
        Ok(String::new())
    }
    /// Whether its keyed state leaves the memory where the job has a state backend, and so has a share of it.
    fn spills(&self) -> bool {
        false
    }
    /// Writes its keyed state, in one pass: that of a key to [`Pieces::of`] its hash.
    ///
    /// # Errors
    /// When the pipeline's mode keeps no state or a value cannot be written.
    fn snapshot(&mut self, out: &mut Pieces) -> Result<()> {
        let _ = out;
        Ok(())
    }
    /// Begins to write its keyed state as it is now. What it does not write at once is written by [`Head::save_more`]; until that is through the state
    /// changes meanwhile, and what is written does not. Without it all is written at once, by [`Head::snapshot`].
    ///
    /// # Errors
    /// As [`Head::snapshot`].
    fn begin_save(&mut self, out: &Groups) -> Result<()> {
        out.pieces(|pieces| self.snapshot(pieces))
    }
    /// Writes some more, as far as `left` allows, which it lessens. Whether all is written.
    fn save_more(&mut self, left: &mut usize) -> bool {
        let _ = left;
        true
    }
    /// Takes over the state of one key group: what [`Head::snapshot`] wrote, or the records of what [`Head::begin_save`] did, as
    /// [`Stage::restore`](super::Stage::restore).
    ///
    /// # Errors
    /// When the bytes are not what it writes.
    fn restore(&mut self, group: usize, bytes: &[u8]) -> Result<()> {
        let _ = group;
        if bytes.is_empty() {
            Ok(())
        } else {
            Err(Error::new(ErrorKind::State, "this operator keeps no state"))
        }
    }
}

/// What has been taken out of a batch of one input.
enum Items<M, P> {
    None,
    Whole(IntoIter<M>),
    /// Taken as a whole.
    Part(Option<P>),
}

/// A head with the items of its inputs.
pub(super) struct Typed<M, H: Head<M>> {
    head: H,
    inputs: Vec<Items<M, H::Part>>,
}

impl<M, H: Head<M>> Typed<M, H> {
    pub fn new(head: H) -> Self {
        Typed { head, inputs: Vec::new() }
    }
}

/// [`Typed`] as its stage sees it.
pub(super) trait Work: Send {
    fn tail(&mut self) -> &mut dyn Tail;
    fn tail_ref(&self) -> &dyn Tail;
    fn open(&mut self, cx: &mut OpenCx) -> Result<()>;
    /// Takes what is in a batch of `input`, whose last one has been given back; `false` where it is of a foreign type.
    fn unpack(&mut self, input: usize, batch: &mut Batch) -> bool;
    /// Works on up to `n` items of `input`; a part is taken as a whole. How many it took.
    fn take(&mut self, input: usize, n: usize) -> usize;
    /// Puts the emptied buffers back into their batch.
    fn give_back(&mut self, input: usize, batch: &mut Batch);
    fn watermark(&mut self, w: Timestamp);
    fn was_told(&mut self, w: Timestamp);
    fn takes_orders(&self) -> bool;
    fn order(&mut self, id: u64);
    fn listens(&self) -> bool;
    fn stands_at(&self, told: Timestamp) -> Timestamp;
    fn ends_at_a_cut(&self) -> bool;
    fn stop(&mut self);
    fn ended(&mut self, input: usize);
    fn end(&mut self);
    fn fire(&mut self) -> Fire;
    fn overdue(&mut self) -> bool;
    fn deadline(&self) -> Option<i64>;
    fn passes(&self, w: Timestamp) -> Timestamp;
    fn waits(&self) -> bool;
    fn clock(&self) -> Option<Timestamp>;
    fn clock_was(&mut self, clock: Timestamp);
    fn schema(&self) -> Result<String>;
    /// See [`Stage::tables`](super::Stage::tables).
    fn tables(&self) -> usize;
    fn begin_save(&mut self, out: &Groups) -> Result<()>;
    /// See [`Head::save_more`].
    fn save_more(&mut self, left: &mut usize) -> bool;
    /// Takes over a key group, as it came out of its history.
    fn restore(&mut self, group: usize, bytes: &[u8]) -> Result<()>;
}

impl<M: Send + 'static, H: Head<M>> Work for Typed<M, H> {
    fn tail(&mut self) -> &mut dyn Tail {
        self.head.tail()
    }

    fn tail_ref(&self) -> &dyn Tail {
        self.head.tail_ref()
    }

    fn open(&mut self, cx: &mut OpenCx) -> Result<()> {
        for _ in 0..cx.inputs() {
            self.inputs.push(Items::None);
        }
        self.head.open(cx)
    }

    fn unpack(&mut self, input: usize, batch: &mut Batch) -> bool {
        self.inputs[input] = if let Some(items) = batch.items.downcast_mut::<Vec<M>>() {
            Items::Whole(std::mem::take(items).into_iter())
        } else if let Some(part) = batch.items.downcast_mut::<Option<H::Part>>() {
            Items::Part(part.take())
        } else {
            return false;
        };
        true
    }

    fn take(&mut self, input: usize, n: usize) -> usize {
        match &mut self.inputs[input] {
            Items::Whole(items) => {
                let n = n.min(CHUNK);
                self.head.items(input, items, n);
                return n;
            }
            Items::Part(part) => {
                if let Some(full) = part.take() {
                    *part = self.head.part(full);
                }
            }
            Items::None => {}
        }
        n
    }

    fn give_back(&mut self, input: usize, batch: &mut Batch) {
        match std::mem::replace(&mut self.inputs[input], Items::None) {
            Items::Whole(empty) => {
                if let Some(home) = batch.items.downcast_mut::<Vec<M>>() {
                    *home = emptied(empty);
                }
            }
            Items::Part(empty) => {
                if let Some(home) = batch.items.downcast_mut::<Option<H::Part>>() {
                    *home = empty;
                }
            }
            Items::None => {}
        }
    }

    fn watermark(&mut self, w: Timestamp) {
        self.head.watermark(w);
    }

    fn was_told(&mut self, w: Timestamp) {
        self.head.was_told(w);
    }

    fn takes_orders(&self) -> bool {
        self.head.takes_orders()
    }

    fn order(&mut self, id: u64) {
        self.head.order(id);
    }
    fn listens(&self) -> bool {
        self.head.listens()
    }
    fn stands_at(&self, told: Timestamp) -> Timestamp {
        self.head.stands_at(told)
    }

    fn ends_at_a_cut(&self) -> bool {
        self.head.ends_at_a_cut()
    }

    fn stop(&mut self) {
        self.head.stop();
    }

    fn ended(&mut self, input: usize) {
        self.head.ended(input);
    }

    fn end(&mut self) {
        self.head.end();
    }

    fn fire(&mut self) -> Fire {
        self.head.fire()
    }

    fn overdue(&mut self) -> bool {
        self.head.overdue()
    }

    /// The head's, or that of what lies behind it.
    fn deadline(&self) -> Option<i64> {
        [self.head.deadline(), self.head.tail_ref().deadline()].into_iter().flatten().min()
    }

    fn passes(&self, w: Timestamp) -> Timestamp {
        self.head.passes(w)
    }

    fn waits(&self) -> bool {
        self.head.waits()
    }

    fn clock(&self) -> Option<Timestamp> {
        self.head.clock()
    }

    fn clock_was(&mut self, clock: Timestamp) {
        self.head.clock_was(clock);
    }

    fn schema(&self) -> Result<String> {
        let (head, behind) = (self.head.schema()?, self.head.tail_ref().state_schema()?);
        let alone = head.is_empty() || behind.is_empty();
        Ok(if alone { head } else { format!("{head} and {behind}") })
    }

    fn tables(&self) -> usize {
        usize::from(self.head.spills()) + usize::from(self.head.tail_ref().keeps_state())
    }

    fn begin_save(&mut self, out: &Groups) -> Result<()> {
        self.head.begin_save(out)?;
        if self.head.tail_ref().keeps_state() { self.head.tail().begin_save(out) } else { Ok(()) }
    }

    fn save_more(&mut self, left: &mut usize) -> bool {
        self.head.save_more(left) && (!self.head.tail_ref().keeps_state() || self.head.tail().save_more(left))
    }

    fn restore(&mut self, group: usize, bytes: &[u8]) -> Result<()> {
        let Apart { head, behind, piece } = apart(bytes)?;
        let own = piece.unwrap_or(head);
        if !own.is_empty() {
            self.head.restore(group, &own)?;
        }
        if behind.is_empty() { Ok(()) } else { self.head.tail().restore(&behind) }
    }
}

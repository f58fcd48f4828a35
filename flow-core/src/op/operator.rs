//! The one-to-one operator: one record in, any number out, fused into its stage.

use super::{Chain, Kind, Proved, Stream, Visit};
use crate::aggregate::Overflow;
use crate::batch::Mark;
use crate::error::{Error, ErrorKind, Result};
use crate::stage::own::broken;
use crate::stage::push::forward_tail;
use crate::stage::{BuildCx, Context, Faults, Meta, OpenCx, Push, Stamp, Tail};
use std::marker::PhantomData;

/// What an operator may say instead of emitting: an error, which ends the job.
pub type OpError = Box<dyn std::error::Error + Send + Sync>;

/// A one-to-one operator over records of type `T`. All of `map`, `filter`, `flat_map` … are written with it, and so
/// is your own: [`Stream::apply`].
///
/// Each parallel instance works on a clone of the untouched original. State of keys belongs into `map_with_state`. What the
/// operator keeps beside it is lost when the job ends, unless it says [`KEEPS`](Operator::KEEPS): then it stands in
/// checkpoints, see [`Operator::save`].
///
/// ```
/// use flow_core::prelude::*;
/// use flow_core::op::operator::{OpError, Operator};
///
/// /// Emits the difference to the record before.
/// #[derive(Clone, Default)]
/// struct Differences(Option<i64>);
///
/// impl Operator<i64> for Differences {
///     type Out = i64;
///     fn name(&self) -> &'static str {
///         "differences"
///     }
///     fn item<O: FnMut(i64)>(&mut self, item: i64, out: &mut O) -> Result<(), OpError> {
///         if let Some(before) = self.0.replace(item) {
///             out(item - before);
///         }
///         Ok(())
///     }
/// }
///
/// let out = Collected::new();
/// let job = Job::build("d", |job| {
///     job.add(source(from_vec(vec![1, 4, 9])).apply(Differences::default()).collect(&out));
/// });
/// job.run().unwrap();
/// assert_eq!(out.take(), [3, 5]);
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an operator over `{T}`",
    label = "cannot be applied to a stream of `{T}`",
    note = "implement `flow_core::op::Operator<{T}>` for it"
)]
pub trait Operator<T>: Clone + Send + 'static {
    /// What it emits.
    type Out: 'static;
    /// Whether [`Operator::item`] ever fails; `false` saves a look a record.
    const FALLIBLE: bool = true;
    /// Whether it keeps something that stands in checkpoints: see [`Operator::save`].
    const KEEPS: bool = false;
    /// Whether each instance is given what all have kept, when the job starts from a checkpoint: for what they count together. Else
    /// each gets its own, and where their number has changed what comes to it in turn: a list that is dealt out.
    const EVERYWHERE: bool = false;
    /// Its name in ids, graphs and errors.
    fn name(&self) -> &'static str;
    /// A run of the job is built: what its instances share must not be what those of a run before have shared.
    #[doc(hidden)]
    fn of_run(&mut self, cx: &mut BuildCx) {
        let _ = cx;
    }
    /// Opens what it needs, once for each parallel instance.
    ///
    /// # Errors
    /// Ends the job before any record is read.
    fn open(&mut self, cx: &Context) -> Result<(), OpError> {
        let _ = cx;
        Ok(())
    }
    /// Takes one record and emits any number into `out`; they carry the record's timestamp.
    ///
    /// # Errors
    /// Ends the job; nothing more is emitted.
    fn item<O: FnMut(Self::Out)>(&mut self, item: T, out: &mut O) -> Result<(), OpError>;
    /// Whether it will emit nothing more, so that its input may end.
    fn enough(&self) -> bool {
        false
    }
    /// Writes down what it keeps, where it [`KEEPS`](Operator::KEEPS) something: called when the records before a checkpoint have
    /// come and those behind it have not. It has to be quick; the codec is yours.
    ///
    /// ```
    /// use flow_core::prelude::*;
    /// use flow_core::op::operator::{OpError, Operator};
    ///
    /// /// Numbers its records, from 0.
    /// #[derive(Clone, Default)]
    /// struct Numbered(u64);
    ///
    /// impl Operator<char> for Numbered {
    ///     type Out = (u64, char);
    ///     const KEEPS: bool = true;
    ///     fn name(&self) -> &'static str {
    ///         "numbered"
    ///     }
    ///     fn item<O: FnMut((u64, char))>(&mut self, item: char, out: &mut O) -> Result<(), OpError> {
    ///         out((self.0, item));
    ///         self.0 += 1;
    ///         Ok(())
    ///     }
    ///     fn save(&self, out: &mut Vec<u8>) {
    ///         out.extend(self.0.to_le_bytes());
    ///     }
    ///     fn restore(&mut self, states: Vec<Vec<u8>>) -> Result<(), OpError> {
    ///         // Of several, after a change of the parallelism, the one that has come farthest.
    ///         for state in states {
    ///             self.0 = self.0.max(u64::from_le_bytes(state.try_into().map_err(|_| "not a number")?));
    ///         }
    ///         Ok(())
    ///     }
    /// }
    ///
    /// let out = Collected::new();
    /// let job = Job::build("numbered", |job| {
    ///     job.add(source(from_iter("ab".chars())).apply(Numbered::default()).collect(&out));
    /// });
    /// job.run().unwrap();
    /// assert_eq!(out.take(), [(0, 'a'), (1, 'b')]);
    ///
    /// let mut again = Numbered::default();
    /// again.restore(vec![7u64.to_le_bytes().to_vec()]).unwrap();
    /// let mut state = Vec::new();
    /// again.save(&mut state);
    /// assert_eq!(state, 7u64.to_le_bytes());
    /// assert!(again.restore(vec![vec![1, 2, 3]]).is_err());
    /// ```
    fn save(&self, out: &mut Vec<u8>) {
        let _ = out;
    }
    /// Takes back what instances have written, right after [`Operator::open`], when the job starts from a checkpoint in which there is
    /// some for this instance.
    ///
    /// # Errors
    /// When that is nothing that it has written: the job does not start.
    fn restore(&mut self, states: Vec<Vec<u8>>) -> Result<(), OpError> {
        let _ = states;
        Ok(())
    }
}

/// A chain with an operator behind it.
#[derive(Clone)]
pub struct Then<C, O> {
    prev: C,
    op: O,
    meta: Meta,
}

impl<T: 'static, K: Kind, C> Stream<T, K, C> {
    /// Applies an operator of your own: see [`Operator`].
    #[track_caller]
    pub fn apply<O: Operator<T>>(self, op: O) -> Stream<O::Out, K, Proved<O::Out, Then<C, O>>> {
        self.then(op)
    }

    #[track_caller]
    pub(crate) fn then<O: Operator<T>>(self, op: O) -> Stream<O::Out, K, Then<C, O>> {
        let meta = Meta::new(op.name());
        Stream::of(Then { prev: self.chain, op, meta })
    }
}

impl<C, O> Then<C, O> {
    /// For operators that are reached through another handle than [`Stream`].
    pub(crate) fn new(prev: C, op: O, meta: Meta) -> Self {
        Then { prev, op, meta }
    }
}

impl<C: Chain, O: Operator<C::Out>> Chain for Then<C, O> {
    type Out = O::Out;
    type Stamp = C::Stamp;
    type Root = C::Root;
    fn build<N: Push<O::Out, C::Stamp>, V: Visit>(mut self, cx: &mut BuildCx, next: N, visit: V) {
        let meta = cx.op(&self.meta, "");
        self.op.of_run(cx);
        self.prev.build(
            cx,
            ThenPush {
                op: self.op,
                next,
                faults: Faults::default(),
                failed: false,
                ended: false,
                meta,
                record: PhantomData,
            },
            visit,
        );
    }
}

/// An operator in its stage.
struct ThenPush<T, O, N> {
    op: O,
    next: N,
    faults: Faults,
    /// An operator that failed emits nothing more; the stage stops when its batch is over.
    failed: bool,
    /// Whether the end has been passed on: nothing follows it.
    ended: bool,
    meta: Meta,
    record: PhantomData<fn() -> T>,
}

impl<T, O, N> ThenPush<T, O, N> {
    #[cold]
    #[inline(never)]
    fn fail(&mut self, error: &OpError) {
        self.failed = true;
        self.faults.raise(operator_error(&self.meta, error));
    }
}

impl<T, O: Operator<T>, N> ThenPush<T, O, N> {
    /// Leaves what the operator keeps: at a checkpoint, or for good when nothing comes any more.
    #[cold]
    #[inline(never)]
    fn keep(&mut self, mark: Mark) {
        let saves = self.faults.saves();
        if !saves.is_on() || !matches!(mark, Mark::Barrier(_) | Mark::End) {
            return;
        }
        let mut state = Vec::new();
        self.op.save(&mut state);
        match mark {
            Mark::Barrier(id) => saves.operator(id, &self.meta.id(), state),
            _ => saves.last(&self.meta.id(), state),
        }
    }

    #[cold]
    #[inline(never)]
    fn take_back(&mut self, cx: &OpenCx) -> Result<()> {
        let id = self.meta.id();
        let states = if O::EVERYWHERE { cx.take_back_everywhere(&id) } else { cx.take_back(&id) }?;
        let bytes = states.iter().map(Vec::len).sum();
        if states.is_empty() {
            return Ok(());
        }
        self.op.restore(states).map_err(|error| broken(&self.meta, cx, &error.to_string(), bytes))
    }
}

/// The error of an operator's closure, with who and where.
pub(crate) fn operator_error(meta: &Meta, error: &OpError) -> Error {
    let kind = if error.is::<Overflow>() { ErrorKind::Overflow } else { ErrorKind::Operator };
    Error::new(kind, error.to_string()).in_stage(meta.id()).at(meta.at())
}

impl<T: 'static, S: Stamp, O: Operator<T>, N: Push<O::Out, S>> Push<T, S> for ThenPush<T, O, N> {
    #[inline(always)]
    fn push(&mut self, item: T, stamp: S) {
        if O::FALLIBLE && self.failed {
            return;
        }
        let next = &mut self.next;
        if let Err(error) = self.op.item(item, &mut |y| next.push(y, stamp)) {
            self.fail(&error);
        }
    }
}

impl<T: 'static, O: Operator<T>, N: Tail> Tail for ThenPush<T, O, N> {
    fn open(&mut self, cx: &mut OpenCx) -> Result<()> {
        self.faults = cx.faults().clone();
        self.op.open(cx.context()).map_err(|error| operator_error(&self.meta, &error))?;
        if O::KEEPS {
            self.take_back(cx)?;
        }
        self.next.open(cx)
    }
    /// Behind the end comes nothing but barriers: what is behind may hold records back, which have to be written down.
    fn mark(&mut self, mark: Mark) {
        if O::KEEPS {
            self.keep(mark);
        }
        if !self.ended || matches!(mark, Mark::Barrier(_)) {
            self.ended |= mark == Mark::End;
            self.next.mark(mark);
        }
    }
    /// Looked at in every step: an operator that has enough ends what is behind it, whoever else goes on.
    fn room(&mut self) -> bool {
        if !self.ended && self.op.enough() {
            self.mark(Mark::End);
        }
        self.next.room()
    }
    fn enough(&self) -> bool {
        self.ended || self.op.enough() || self.next.enough()
    }
    fn deadline(&self) -> Option<i64> {
        if self.ended { None } else { self.next.deadline() }
    }
    fn tick(&mut self, now: i64) {
        if !self.ended {
            self.next.tick(now);
        }
    }
    forward_tail!(next: grid flush);
}

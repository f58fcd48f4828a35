//! What a window does before the exchange: it lifts elements, and merges those that are on time.
//!
//! Merging ([`Merging`]) is for aggregates that commute, and is switched off where it does not reduce. An input that has been
//! idle does not know the merged watermark; from then on its elements travel one by one, as those do that are behind
//! its own: the receiver judges them. So is it after a restart: a checkpoint has a byte of each sender whose elements travel one by
//! one because of that, as `ID (senders)`, and none of others.

use super::base::{Accu, Item, ItemOf, Load, MergedOf, Row};
use super::late::Policy;
use super::merging::{Merge, Merging};
use super::panes::Panes;
use super::run::add_run;
use super::spec::{Assign, Span};
use crate::aggregate::{Aggregate, Algebra, Overflow};
use crate::batch::{Mark, emptied};
use crate::checkpoint::Saves;
use crate::error::Result;
use crate::op::KeyFn;
use crate::op::operator::operator_error;
use crate::stage::{EdgeRef, Faults, Meta, OpenCx, Outs, Push, Stamp, Tail};
use crate::time::{Grid, Timestamp};
use std::marker::PhantomData;
use std::vec::IntoIter;

/// Elements that are merged together. They wait for each other so that the look-ups run in a loop of their own, where
/// several are under way at once: fused with the user's code behind the source each cost half as much again (workload W4).
const STAGED_MAX: usize = 256;

/// The end of the stage before a window.
pub struct WindowSend<X, F: KeyFn<X>, W, A: Aggregate<F::Value>, P: Policy<Row<X, F, A>, F::Value>> {
    how: How<X, F, W, A, P>,
    outs: Outs<ItemOf<X, F, A, P>, MergedOf<X, F, A>>,
    edge: EdgeRef,
    meta: Meta,
    faults: Faults,
    /// Elements to be merged.
    staged: Vec<ItemOf<X, F, A, P>>,
    /// How many wait for each other.
    staged_max: usize,
    merging: Option<Merging<F::Key, Accu<X, F, A>>>,
    /// Whether the input has been idle.
    idled: bool,
}

/// How elements become state.
struct How<X, F, W, A, P> {
    key: F,
    assign: W,
    aggregate: A,
    types: PhantomData<fn(X) -> P>,
}

impl<X, F, W, A, P> Merge<F::Route, Load<X, F, A, P>, F::Key, Accu<X, F, A>> for How<X, F, W, A, P>
where
    F: KeyFn<X>,
    W: Assign,
    A: Aggregate<F::Value>,
    P: Policy<Row<X, F, A>, F::Value>,
{
    fn add_run(
        &self,
        panes: &mut Panes<F::Key, Accu<X, F, A>>,
        items: &mut IntoIter<ItemOf<X, F, A, P>>,
    ) -> Result<(), Overflow> {
        let n = items.len();
        add_run::<X, F, A, P, _>(panes, items, n, &self.key, &self.aggregate).map(drop)
    }
    fn span(&self, time: Timestamp) -> Span {
        self.assign.span(time)
    }
    fn hash(&self, key: &F::Key) -> u64 {
        self.key.hash(key)
    }
}

impl<X, F, W, A, P> WindowSend<X, F, W, A, P>
where
    X: 'static,
    F: KeyFn<X>,
    W: Assign,
    A: Aggregate<F::Value>,
    P: Policy<Row<X, F, A>, F::Value>,
{
    pub fn new(key: F, assign: W, aggregate: A, edge: EdgeRef, meta: Meta) -> Self {
        let (how, outs) = (How { key, assign, aggregate, types: PhantomData }, Outs::new(edge.id));
        let (faults, staged, staged_max) = (Faults::default(), Vec::new(), STAGED_MAX);
        WindowSend { how, outs, edge, meta, faults, staged, staged_max, merging: None, idled: false }
    }

    /// Merges what is staged, or sends it.
    #[inline(never)]
    fn unstage(&mut self) {
        let mut items = std::mem::take(&mut self.staged).into_iter();
        if let Some(merging) = &mut self.merging
            && let Err(error) = merging.take(&mut items, &mut self.outs, &self.how)
        {
            self.faults.raise(operator_error(&self.meta, &error.into()));
        }
        if self.merging.as_ref().is_some_and(Merging::is_in_vain) {
            self.stop_merging();
        }
        // Where nothing is merged.
        for item in items.by_ref() {
            let to = self.outs.of_key(item.hash);
            self.outs.send(to, item);
        }
        self.staged = emptied(items);
    }

    /// Merges all that is staged, and sends the panes that are due at `until`.
    fn send_merged(&mut self, until: Timestamp) {
        self.unstage();
        if let Some(merging) = &mut self.merging {
            merging.send_due(until, &mut self.outs, &self.how);
        }
    }

    /// From now on elements travel one by one.
    fn stop_merging(&mut self) {
        if let Some(mut merging) = self.merging.take() {
            merging.send_due(Timestamp::MAX, &mut self.outs, &self.how);
        }
    }
}

/// What senders keep of a window's: a state beside that of the window itself.
fn of_senders(meta: &Meta) -> String {
    format!("{} (senders)", meta.id())
}

#[cold]
fn save_idled(saves: &Saves, id: u64, meta: &Meta) {
    if saves.is_on() {
        saves.operator(id, &of_senders(meta), vec![1]);
    }
}

/// Whether any sender had been idle: which of them it was, nobody knows when their number has changed.
fn has_idled(cx: &OpenCx, meta: &Meta) -> Result<bool> {
    Ok(!cx.take_back_everywhere(&of_senders(meta))?.is_empty())
}

impl<X, F, W, A, P, S> Push<X, S> for WindowSend<X, F, W, A, P>
where
    X: 'static,
    F: KeyFn<X>,
    W: Assign,
    A: Aggregate<F::Value>,
    P: Policy<Row<X, F, A>, F::Value>,
    S: Stamp,
{
    #[inline(always)]
    fn push(&mut self, item: X, stamp: S) {
        let How { key, aggregate, .. } = &self.how;
        let (hash, route, rest) = key.split(item);
        let time = stamp.time();
        let load = P::load(rest, |rest| aggregate.lift_at(key.peek(&route, rest), time));
        let item = Item { hash, time, route, load };
        if A::Algebra::COMMUTES {
            self.staged.push(item);
            if self.staged.len() >= self.staged_max {
                self.unstage();
            }
        } else {
            let to = self.outs.of_key(hash);
            self.outs.send(to, item);
        }
    }
}

impl<X, F, W, A, P> Tail for WindowSend<X, F, W, A, P>
where
    X: 'static,
    F: KeyFn<X>,
    W: Assign,
    A: Aggregate<F::Value>,
    P: Policy<Row<X, F, A>, F::Value>,
{
    fn open(&mut self, cx: &mut OpenCx) -> Result<()> {
        self.outs.open(cx);
        self.faults = cx.faults().clone();
        if A::Algebra::COMMUTES {
            let mut size = cx.batch_size();
            self.staged_max = size.next().min(STAGED_MAX);
            self.staged.reserve(self.staged_max);
            self.idled = has_idled(cx, &self.meta)?;
            if !self.idled {
                self.merging = Some(Merging::new(self.outs.receivers(), size));
            }
        }
        Ok(())
    }

    fn mark(&mut self, mark: Mark) {
        match mark {
            Mark::Watermark(w) => {
                self.send_merged(w);
                if let Some(merging) = &mut self.merging {
                    merging.watermark(w);
                }
            }
            Mark::Idle => {
                self.unstage();
                self.stop_merging();
                self.idled = true;
            }
            Mark::Active => {}
            Mark::Barrier(_) | Mark::End => self.send_merged(Timestamp::MAX),
        }
        if self.idled
            && let Mark::Barrier(id) = mark
        {
            save_idled(self.outs.saves(), id, &self.meta);
        }
        self.outs.mark(mark);
    }

    fn grid(&self) -> Grid {
        self.edge.grid()
    }

    fn room(&mut self) -> bool {
        self.outs.pump()
    }

    fn flush(&mut self) {
        // Among what is staged may be late elements, for which the receiver has something to do at once.
        self.unstage();
        self.outs.flush();
    }

    fn enough(&self) -> bool {
        self.outs.is_closed()
    }
}

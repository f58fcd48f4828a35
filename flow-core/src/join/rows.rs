//! The rows that are made of the elements of a window and key. A window of a thousand elements on each side has a million of them, so
//! they leave as there is room; meanwhile the elements wait, and with them every mark behind.

use super::form::Grouping;
use super::grouped::Groups;
use super::nothing::is_nothing;
use crate::op::Either;
use crate::stage::push::forward_tail;
use crate::stage::{Push, Stamp, Tail};
use crate::window::late::Policy;
use crate::window::spec::Windowed;
use std::collections::VecDeque;
use std::marker::PhantomData;

/// Rows that leave between two looks at the room downstream.
const ROWS_AT_ONCE: usize = 1024;

/// A window's result before its rows are made.
type Whole<Q, L, R> = Windowed<Q, Groups<L, R>>;
/// A row.
type RowOf<Q, L, R, F> = Windowed<Q, <F as Grouping<L, R>>::Out>;
/// The rows of a window and key that have not left, and their stamp.
type Waiting<Q, L, R, F, S> = (Windowed<Q, <F as Grouping<L, R>>::Rows>, S);

/// Makes the rows of each window of what it holds, and passes late elements on.
pub struct Rows<Q, L, R, F: Grouping<L, R>, P, S, N> {
    next: N,
    /// How many may leave before there is a look at the room.
    free: usize,
    waiting: VecDeque<Waiting<Q, L, R, F, S>>,
    policy: PhantomData<fn() -> P>,
}

impl<Q, L, R, F: Grouping<L, R>, P, S, N> Rows<Q, L, R, F, P, S, N> {
    pub fn new(next: N) -> Self {
        Rows { next, free: ROWS_AT_ONCE, waiting: VecDeque::new(), policy: PhantomData }
    }
}

impl<Q, L, R, F, P, S, N> Rows<Q, L, R, F, P, S, N>
where
    Q: Clone + 'static,
    L: 'static,
    R: 'static,
    F: Grouping<L, R>,
    P: Policy<RowOf<Q, L, R, F>, Either<L, R>>,
    S: Stamp,
    N: Push<P::Emit, S>,
{
    /// Emits rows while some are free; whether these were all.
    fn emit(&mut self, window: &mut Windowed<Q, F::Rows>, stamp: S) -> bool {
        let (start, end) = (window.start, window.end);
        while self.free > 0 {
            let Some(value) = window.value.next() else { return true };
            self.free -= 1;
            self.next.push(P::result(Windowed { key: window.key.clone(), start, end, value }), stamp);
        }
        false
    }

    /// Emits what waits while some are free.
    fn drain(&mut self) {
        while let Some((mut window, stamp)) = self.waiting.pop_front() {
            if !self.emit(&mut window, stamp) {
                return self.waiting.push_front((window, stamp));
            }
        }
    }
}

impl<Q, L, R, F, P, S, N> Push<<P as Policy<Whole<Q, L, R>, Either<L, R>>>::Emit, S>
    for Rows<Q, L, R, F, P, S, N>
where
    Q: Clone + Send + 'static,
    L: 'static,
    R: 'static,
    F: Grouping<L, R>,
    P: Policy<Whole<Q, L, R>, Either<L, R>> + Policy<RowOf<Q, L, R, F>, Either<L, R>>,
    S: Stamp,
    N: Push<<P as Policy<RowOf<Q, L, R, F>, Either<L, R>>>::Emit, S>,
{
    fn push(&mut self, item: <P as Policy<Whole<Q, L, R>, Either<L, R>>>::Emit, stamp: S) {
        match <P as Policy<Whole<Q, L, R>, Either<L, R>>>::open(item) {
            Either::A(Windowed { key, start, end, value: (lefts, rights) }) => {
                let value = F::rows(lefts, rights, !is_nothing(&key));
                let mut window = Windowed { key, start, end, value };
                if !self.waiting.is_empty() || !self.emit(&mut window, stamp) {
                    self.waiting.push_back((window, stamp));
                }
            }
            Either::B(late) => {
                if let Some(late) = <P as Policy<RowOf<Q, L, R, F>, _>>::late(late) {
                    self.next.push(late, stamp);
                }
            }
        }
    }
}

impl<Q, L, R, F, P, S, N> Tail for Rows<Q, L, R, F, P, S, N>
where
    Q: Clone + Send + 'static,
    L: 'static,
    R: 'static,
    F: Grouping<L, R>,
    P: Policy<RowOf<Q, L, R, F>, Either<L, R>>,
    S: Stamp,
    N: Push<P::Emit, S>,
{
    forward_tail!(next: open mark grid flush enough deadline tick);

    /// None before all that waits has left.
    fn room(&mut self) -> bool {
        loop {
            if !self.next.room() {
                return false;
            }
            self.free = ROWS_AT_ONCE;
            if self.waiting.is_empty() {
                return true;
            }
            self.drain();
        }
    }

    fn holds(&self) -> bool {
        !self.waiting.is_empty()
    }
}

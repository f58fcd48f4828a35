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
pub const ROWS_AT_ONCE: usize = 1024;

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

    /// None before all that waits has left, of which some leaves now.
    fn room(&mut self) -> bool {
        if !self.next.room() {
            return false;
        }
        self.free = ROWS_AT_ONCE;
        if self.waiting.is_empty() {
            return true;
        }
        if self.next.enough() {
            self.waiting.clear();
        }
        self.drain();
        self.waiting.is_empty() && self.next.room()
    }

    fn is_clear(&mut self) -> bool {
        self.next.room()
    }

    fn holds(&self) -> bool {
        !self.waiting.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::batch::Mark;
    use crate::error::Result;
    use crate::join::form::{CoGroup, Full, Inner};
    use crate::stage::OpenCx;
    use crate::time::{Grid, Timestamp};
    use crate::window::late::DropLate;

    /// Has room for so many pushes after each look.
    struct Narrow<T> {
        rows: Vec<T>,
        since: usize,
        most: usize,
        looks: usize,
    }

    impl<T: Send + 'static> Push<Windowed<Option<u8>, T>, Timestamp> for Narrow<T> {
        fn push(&mut self, item: Windowed<Option<u8>, T>, _: Timestamp) {
            self.rows.push(item.value);
            self.since += 1;
            self.most = self.most.max(self.since);
        }
    }

    impl<T: Send + 'static> Tail for Narrow<T> {
        fn open(&mut self, _: &mut OpenCx) -> Result<()> {
            Ok(())
        }
        fn mark(&mut self, _: Mark) {}
        fn grid(&self) -> Grid {
            Grid::none()
        }
        fn room(&mut self) -> bool {
            (self.since, self.looks) = (0, self.looks + 1);
            !self.looks.is_multiple_of(2)
        }
        fn flush(&mut self) {}
        fn enough(&self) -> bool {
            false
        }
    }

    /// The rows of windows of so many elements on both sides, all pushed at once.
    fn rows<F: Grouping<usize, usize, Out: Send>>(
        windows: &[(usize, usize)],
        key: Option<u8>,
    ) -> Vec<F::Out> {
        let narrow = Narrow { rows: Vec::new(), since: 0, most: 0, looks: 0 };
        let mut all = Rows::<Option<u8>, usize, usize, F, DropLate, Timestamp, _>::new(narrow);
        for (lefts, rights) in windows {
            let value = ((0..*lefts).collect(), (0..*rights).collect());
            all.push(Windowed { key, start: Timestamp(0), end: Timestamp(9), value }, Timestamp(8));
        }
        while all.holds() {
            let room = all.room();
            assert!(!(room && all.holds()), "there is no room as long as rows wait");
        }
        assert!(all.next.most <= ROWS_AT_ONCE, "{} at once", all.next.most);
        all.next.rows
    }

    #[test]
    fn a_window_of_many_rows_stops_and_goes_on() {
        let found = rows::<Inner>(&[(2, 3), (90, 70), (0, 5), (40, 60)], Some(1));
        let pairs = |lefts: usize, rights: usize| (0..lefts * rights).map(move |i| (i / rights, i % rights));
        assert_eq!(found, pairs(2, 3).chain(pairs(90, 70)).chain(pairs(40, 60)).collect::<Vec<_>>());
        let alone = rows::<Full>(&[(3_000, 2_000)], None);
        let lefts = (0..3_000).map(|left| (Some(left), None));
        assert_eq!(alone, lefts.chain((0..2_000).map(|right| (None, Some(right)))).collect::<Vec<_>>());
        assert_eq!(rows::<CoGroup>(&[(1, 1); 3_000], Some(1)).len(), 3_000);
        assert_eq!(rows::<CoGroup>(&[(1, 2); 2], None).len(), 4, "nothing is with nothing");
    }
}

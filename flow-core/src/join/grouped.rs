//! The elements of both sides of a window and key: how they are kept, and the rows that are made of them.

use super::form::Grouping;
use super::nothing::is_nothing;
use crate::aggregate::{Aggregate, Mergeable, Merges, Overflow};
use crate::op::Either;
use crate::stage::push::forward_tail;
use crate::stage::{Push, Stamp, Tail};
use crate::window::late::Policy;
use crate::window::spec::Windowed;
use std::marker::PhantomData;

/// The elements of both sides.
pub type Groups<L, R> = (Vec<L>, Vec<R>);

/// All elements of each side, in order of arrival.
pub struct Gather;

impl Clone for Gather {
    fn clone(&self) -> Self {
        Gather
    }
}

#[diagnostic::do_not_recommend]
impl<L, R> Aggregate<Either<L, R>> for Gather
where
    L: Clone + Send + 'static,
    R: Clone + Send + 'static,
{
    type In = Either<L, R>;
    type Acc = Groups<L, R>;
    type Out = Groups<L, R>;
    type Algebra = Merges;
    fn name(&self) -> String {
        "both sides".into()
    }
    fn start(&self) -> Groups<L, R> {
        (Vec::new(), Vec::new())
    }
    fn lift(&self, record: &Either<L, R>) -> Either<L, R> {
        record.clone()
    }
    fn add(&self, acc: &mut Groups<L, R>, x: Either<L, R>) -> Result<(), Overflow> {
        match x {
            Either::A(left) => acc.0.push(left),
            Either::B(right) => acc.1.push(right),
        }
        Ok(())
    }
    fn result(&self, acc: &Groups<L, R>) -> Option<Groups<L, R>> {
        Some(acc.clone())
    }
    fn take_result(&self, acc: Groups<L, R>) -> Option<Groups<L, R>> {
        Some(acc)
    }
}

impl<L: Clone + Send + 'static, R: Clone + Send + 'static> Mergeable<Either<L, R>> for Gather {
    fn merge(&self, acc: &mut Groups<L, R>, mut later: Groups<L, R>) -> Result<(), Overflow> {
        acc.0.append(&mut later.0);
        acc.1.append(&mut later.1);
        Ok(())
    }
}

/// Makes the rows of each window of what it holds, and passes late elements on.
pub struct Rows<Q, L, R, F, P, N> {
    next: N,
    types: PhantomData<fn() -> (Q, L, R, F, P)>,
}

impl<Q, L, R, F, P, N> Rows<Q, L, R, F, P, N> {
    pub fn new(next: N) -> Self {
        Rows { next, types: PhantomData }
    }
}

/// A window's result before its rows are made.
type Whole<Q, L, R> = Windowed<Q, Groups<L, R>>;
/// A row.
type RowOf<Q, L, R, F> = Windowed<Q, <F as Grouping<L, R>>::Out>;

impl<Q, L, R, F, P, S, N> Push<<P as Policy<Whole<Q, L, R>, Either<L, R>>>::Emit, S>
    for Rows<Q, L, R, F, P, N>
where
    Q: Clone + 'static,
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
                let meet = !is_nothing(&key);
                F::rows(lefts, rights, meet, &mut |value| {
                    let row = Windowed { key: key.clone(), start, end, value };
                    self.next.push(<P as Policy<RowOf<Q, L, R, F>, _>>::result(row), stamp);
                });
            }
            Either::B(late) => {
                if let Some(late) = <P as Policy<RowOf<Q, L, R, F>, _>>::late(late) {
                    self.next.push(late, stamp);
                }
            }
        }
    }
}

impl<Q: 'static, L: 'static, R: 'static, F: 'static, P: 'static, N: Tail> Tail for Rows<Q, L, R, F, P, N> {
    forward_tail!(next);
}

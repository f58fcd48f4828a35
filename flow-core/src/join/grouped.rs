//! The elements of both sides of a window and key: how they are kept.

use crate::aggregate::{Aggregate, Mergeable, Merges, Overflow};
use crate::op::Either;

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

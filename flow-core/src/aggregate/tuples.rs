//! A tuple of aggregates is an aggregate. It has a result when each part has one: for any record, since a part over values that
//! may be missing gives an `Option`.

use super::{Aggregate, Algebra, Joins, Overflow};
use crate::stage::{Meta, OpenCx};
use crate::time::Timestamp;

/// The algebra of a tuple: what all its parts can do.
pub struct Each;

/// A tuple whose every part merges. It stands between the tuples and [`Joins`] so that messages name the part, and no tuples of
/// other lengths.
pub trait EachJoins<T>: Aggregate<T, Algebra = Each> {}
impl<T, A: EachJoins<T>> Joins<T, A> for Each where Each: Algebra<T, A> {}

macro_rules! tuples {
    ($($a:ident $i:tt),+) => {
        #[diagnostic::do_not_recommend]
        impl<T, $($a: Aggregate<T>),+> Aggregate<T> for ($($a,)+) {
            type In = ($($a::In,)+);
            type Acc = ($($a::Acc,)+);
            type Out = ($($a::Out,)+);
            type Algebra = Each;
            fn name(&self) -> String {
                [$(self.$i.name()),+].join(", ")
            }
            fn check(&self) -> crate::error::Result<()> {
                $(self.$i.check()?;)+
                Ok(())
            }
            fn open(&mut self, cx: &OpenCx, meta: &Meta) {
                $(self.$i.open(cx, meta);)+
            }
            #[inline(always)]
            fn start(&self) -> Self::Acc {
                ($(self.$i.start(),)+)
            }
            #[inline(always)]
            fn lift(&self, record: &T) -> Self::In {
                ($(self.$i.lift(record),)+)
            }
            #[inline(always)]
            fn lift_at(&self, record: &T, time: Timestamp) -> Self::In {
                ($(self.$i.lift_at(record, time),)+)
            }
            #[inline(always)]
            fn add(&self, acc: &mut Self::Acc, x: Self::In) -> Result<(), Overflow> {
                $(self.$i.add(&mut acc.$i, x.$i)?;)+
                Ok(())
            }
            #[inline(always)]
            fn result(&self, acc: &Self::Acc) -> Option<Self::Out> {
                Some(($(self.$i.result(&acc.$i)?,)+))
            }
            #[inline(always)]
            fn take_result(&self, acc: Self::Acc) -> Option<Self::Out> {
                Some(($(self.$i.take_result(acc.$i)?,)+))
            }
        }
        impl<T, $($a: Aggregate<T>),+> Algebra<T, ($($a,)+)> for Each {
            const MERGES: bool = $($a::Algebra::MERGES)&&+;
            const COMMUTES: bool = $($a::Algebra::COMMUTES)&&+;
            const INVERTS: bool = $($a::Algebra::INVERTS)&&+;
            #[inline(always)]
            fn merge(aggregate: &($($a,)+), acc: &mut ($($a::Acc,)+), later: ($($a::Acc,)+)) -> Result<(), Overflow> {
                $(<$a::Algebra as Algebra<T, $a>>::merge(&aggregate.$i, &mut acc.$i, later.$i)?;)+
                Ok(())
            }
            #[inline(always)]
            fn remove(aggregate: &($($a,)+), acc: &mut ($($a::Acc,)+), part: &($($a::Acc,)+)) -> Result<(), Overflow> {
                $(<$a::Algebra as Algebra<T, $a>>::remove(&aggregate.$i, &mut acc.$i, &part.$i)?;)+
                Ok(())
            }
        }
        impl<T, $($a: Aggregate<T, Algebra: Joins<T, $a>>),+> EachJoins<T> for ($($a,)+) {}
    };
}
tuples!(A 0);
tuples!(A 0, B 1);
tuples!(A 0, B 1, C 2);
tuples!(A 0, B 1, C 2, D 3);
tuples!(A 0, B 1, C 2, D 3, E 4);
tuples!(A 0, B 1, C 2, D 3, E 4, F 5);
tuples!(A 0, B 1, C 2, D 3, E 4, F 5, G 6);
tuples!(A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7);

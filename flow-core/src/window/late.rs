//! What happens to an element that is late for its window: it is counted, and dropped, sent to a side, or an error.

use super::fields::serde_fields;
use crate::error::{Error, ErrorKind};
use crate::op::{Either, Forked, Stream};
use crate::stage::Meta;
use crate::time::{Millis, Timestamp};
use std::ops::Deref;

/// An element that came too late, with how late it was. It gives access to the element as a box does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Late<T> {
    /// The element.
    pub value: T,
    /// Its event time.
    pub timestamp: Timestamp,
    /// By how much the watermark had passed the last moment at which it would have counted.
    pub late_by: Millis,
}
serde_fields!(Late<T> { value, timestamp, late_by });

impl<T> Deref for Late<T> {
    type Target = T;
    fn deref(&self) -> &T {
        &self.value
    }
}

/// The error of an element that is late where none may be.
#[cold]
pub(super) fn too_late(meta: &Meta, time: Timestamp, late_by: Millis) -> Error {
    let what = format!("an element at {time} came {late_by} too late for its window");
    let error = Error::new(ErrorKind::Late, what).in_stage(meta.id()).at(meta.at());
    error.note("allow more disorder or lateness, or say `late = drop` or `late = side`")
}

/// How late an element may be, and what happens to later ones: a policy `P`.
#[derive(Debug, Clone, Copy)]
pub struct Lateness<P> {
    /// For so long a window that has fired takes elements, and fires again for each.
    pub allowed: Millis,
    /// What happens to an element that is later.
    pub policy: P,
}

/// Windows for which an element can be late.
#[diagnostic::on_unimplemented(
    message = "no element is late for `{Self}`: it happens when it arrives",
    label = "says what becomes of late elements",
    note = "remove it: windows of processing time take every element"
)]
pub trait Lates {}

/// Late elements are counted and dropped.
#[derive(Debug, Clone, Copy)]
pub struct DropLate;
/// Late elements are counted and go to a side stream: `let (results, late) = …`.
#[derive(Debug, Clone, Copy)]
pub struct SideLate;
/// A late element ends the job.
#[derive(Debug, Clone, Copy)]
pub struct FailLate;

/// What a window does with a late element of type `T`, its results being `R`.
pub trait Policy<R: 'static, T: 'static>: Clone + Copy + Send + 'static {
    /// What the operator emits.
    type Emit: 'static;
    /// What the user gets for a stream of `Emit`.
    type Output<K, C>;
    /// What crosses the exchange: the lifted value `I`, or the rest of the record `R` where a late one is given out.
    type Load<I: Send + 'static, Rest: Send + 'static>: Send + 'static;
    /// Whether late elements are reported with how late they are.
    const REPORTS: bool;
    /// Whether a late element ends the job.
    const FAILS: bool;
    /// A result.
    fn result(r: R) -> Self::Emit;
    /// A late element, where it is emitted.
    fn late(late: Late<T>) -> Option<Self::Emit>;
    /// A result or a late element again.
    fn open(emitted: Self::Emit) -> Either<R, Late<T>>;
    /// What the user gets.
    fn output<K, C>(stream: Stream<Self::Emit, K, C>) -> Self::Output<K, C>;
    /// Packs what crosses.
    fn load<I: Send + 'static, Rest: Send + 'static>(
        rest: Rest,
        lift: impl FnOnce(&Rest) -> I,
    ) -> Self::Load<I, Rest>;
    /// The lifted value.
    fn lifted<I: Send + 'static, Rest: Send + 'static>(
        load: Self::Load<I, Rest>,
        lift: impl FnOnce(&Rest) -> I,
    ) -> I;
    /// The rest of the record, where it crossed.
    fn rest<I: Send + 'static, Rest: Send + 'static>(load: Self::Load<I, Rest>) -> Option<Rest>;
}

macro_rules! silent {
    ($policy:ident, $reports:literal, $fails:literal) => {
        impl<R: 'static, T: 'static> Policy<R, T> for $policy {
            type Emit = R;
            type Output<K, C> = Stream<R, K, C>;
            type Load<I: Send + 'static, Rest: Send + 'static> = I;
            const REPORTS: bool = $reports;
            const FAILS: bool = $fails;
            #[inline(always)]
            fn result(r: R) -> R {
                r
            }
            fn late(_: Late<T>) -> Option<R> {
                None
            }
            #[inline(always)]
            fn open(emitted: R) -> Either<R, Late<T>> {
                Either::A(emitted)
            }
            fn output<K, C>(stream: Stream<R, K, C>) -> Stream<R, K, C> {
                stream
            }
            #[inline(always)]
            fn load<I: Send + 'static, Rest: Send + 'static>(rest: Rest, lift: impl FnOnce(&Rest) -> I) -> I {
                lift(&rest)
            }
            #[inline(always)]
            fn lifted<I: Send + 'static, Rest: Send + 'static>(load: I, _: impl FnOnce(&Rest) -> I) -> I {
                load
            }
            fn rest<I: Send + 'static, Rest: Send + 'static>(_: I) -> Option<Rest> {
                None
            }
        }
    };
}
silent!(DropLate, false, false);
silent!(FailLate, true, true);

impl<R: 'static, T: 'static> Policy<R, T> for SideLate {
    type Emit = Either<R, Late<T>>;
    type Output<K, C> = Forked<Either<R, Late<T>>, K, C>;
    type Load<I: Send + 'static, Rest: Send + 'static> = Rest;
    const REPORTS: bool = true;
    const FAILS: bool = false;
    #[inline(always)]
    fn result(r: R) -> Self::Emit {
        Either::A(r)
    }
    fn late(late: Late<T>) -> Option<Self::Emit> {
        Some(Either::B(late))
    }
    fn open(emitted: Self::Emit) -> Either<R, Late<T>> {
        emitted
    }
    fn output<K, C>(stream: Stream<Self::Emit, K, C>) -> Self::Output<K, C> {
        Forked::of(stream)
    }
    #[inline(always)]
    fn load<I: Send + 'static, Rest: Send + 'static>(rest: Rest, _: impl FnOnce(&Rest) -> I) -> Rest {
        rest
    }
    #[inline(always)]
    fn lifted<I: Send + 'static, Rest: Send + 'static>(load: Rest, lift: impl FnOnce(&Rest) -> I) -> I {
        lift(&load)
    }
    fn rest<I: Send + 'static, Rest: Send + 'static>(load: Rest) -> Option<Rest> {
        Some(load)
    }
}

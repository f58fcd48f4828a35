//! Windows of processing time: an element belongs to the windows that are open on the clock when it arrives.
//!
//! * `head`: windows of event time, told the time of the clock;
//! * `chain`: how they are put behind a stream.

mod chain;
mod head;

pub use chain::{ByClock, ClockedAgg};
pub use head::{OnWatermark, Tells};

use super::late::{Late, Policy};
use crate::op::{Either, Stream};

/// Windows `W` of processing time: `tumbling(10s, time = processing)`.
#[derive(Debug, Clone, Copy)]
pub struct Clocked<W>(pub(in crate::window) W);

/// The time of the clock, not of the records: `tumbling(Millis(10_000)).time(processing)`.
#[derive(Debug, Clone, Copy)]
pub struct Processing;

/// The time of the clock: see [`Processing`].
#[expect(non_upper_case_globals, reason = "written as a word in a pipeline")]
pub const processing: Processing = Processing;

/// The policy where no element can be late, and none is lifted before it has its time.
#[derive(Debug, Clone, Copy)]
pub struct NeverLate;

impl<R: 'static, T: 'static> Policy<R, T> for NeverLate {
    type Emit = R;
    type Output<K, C> = Stream<R, K, C>;
    type Load<I: Send + 'static, Rest: Send + 'static> = Rest;
    const REPORTS: bool = false;
    const FAILS: bool = false;
    #[inline(always)]
    fn result(r: R) -> R {
        r
    }
    fn late(_: Late<T>) -> Option<R> {
        None
    }
    fn open(emitted: R) -> Either<R, Late<T>> {
        Either::A(emitted)
    }
    fn output<K, C>(stream: Stream<R, K, C>) -> Stream<R, K, C> {
        stream
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

//! Elements of a join that are behind the watermark: they are late, counted, and go where the pipeline says.

use crate::error::{Error, ErrorKind, Result};
use crate::metrics::Counter;
use crate::stage::{Faults, Meta, OpenCx, Push, Stamp};
use crate::state::Space;
use crate::time::{Millis, Timestamp};
use crate::window::late::{Late, Policy};

/// How far time is, and what has come behind it.
pub struct Tardy {
    /// The watermark.
    pub watermark: Timestamp,
    /// The job is about to end.
    pub failed: bool,
    meta: Meta,
    late: Counter,
    faults: Faults,
}

impl Tardy {
    pub fn new(meta: Meta) -> Self {
        let (late, faults) = (Counter::default(), Faults::default());
        Tardy { watermark: Timestamp::MIN, failed: false, meta, late, faults }
    }

    /// Opens it; gives what its operator has of a state backend.
    ///
    /// # Errors
    /// When that cannot be opened.
    pub fn open(&mut self, cx: &OpenCx) -> Result<Option<Space>> {
        self.faults = cx.faults().clone();
        self.late = cx.metrics().counter(&format!("{}.late", self.meta.id()));
        cx.space(&self.meta)
    }

    /// Whether an element is late: the watermark has promised that none at its time comes any more.
    #[inline(always)]
    pub fn is_late(&self, time: Timestamp) -> bool {
        time <= self.watermark && self.watermark != Timestamp::MIN
    }

    /// How far time has come: nothing is before the first watermark.
    #[inline]
    pub fn now(&self) -> i128 {
        if self.watermark == Timestamp::MIN { i128::MIN } else { self.watermark.0.into() }
    }

    /// Counts a late element, and does with it what the policy says.
    #[cold]
    #[inline(never)]
    pub fn late<R, T, P, S, N>(&mut self, value: T, time: Timestamp, next: &mut N)
    where
        R: 'static,
        T: 'static,
        P: Policy<R, T>,
        S: Stamp,
        N: Push<P::Emit, S>,
    {
        self.late.add(1);
        let late_by = Millis(self.watermark.0.saturating_sub(time.0));
        if P::FAILS {
            self.failed = true;
            self.faults.raise(behind(&self.meta, time, late_by));
        } else if let Some(late) = P::late(Late { value, timestamp: time, late_by }) {
            next.push(late, S::of(time));
        }
    }
}

#[cold]
fn behind(meta: &Meta, time: Timestamp, late_by: Millis) -> Error {
    let what = format!(
        "an element at {time} came {late_by} behind the watermark, which had promised that none would"
    );
    let error = Error::new(ErrorKind::Late, what).in_stage(meta.id()).at(meta.at());
    error.note("allow more disorder, or say `late = drop` or `late = side`")
}

//! What lies behind an operator inside a stage.
//!
//! `Push::push` runs for each record and is inlined into one loop; everything in [`Tail`] runs once a batch or less.

use super::OpenCx;
use crate::batch::Mark;
use crate::checkpoint::Groups;
use crate::error::{Error, ErrorKind, Result};
use crate::time::{Grid, Timestamp};

/// What a record carries beside itself: nothing, or its event time. Known at compile time, so a stream without event
/// time carries no timestamps.
pub trait Stamp: Copy + Send + 'static {
    /// The event time; [`Timestamp::MIN`] where there is none.
    fn time(self) -> Timestamp;
    /// The stamp of a result at `t`.
    fn of(t: Timestamp) -> Self;
}

impl Stamp for () {
    #[inline(always)]
    fn time(self) -> Timestamp {
        Timestamp::MIN
    }
    #[inline(always)]
    fn of(_: Timestamp) -> Self {}
}

impl Stamp for Timestamp {
    #[inline(always)]
    fn time(self) -> Timestamp {
        self
    }
    #[inline(always)]
    fn of(t: Timestamp) -> Self {
        t
    }
}

/// The part of an operator that has nothing to do with the record type.
pub trait Tail: Send + 'static {
    /// Opens it and what lies behind it.
    ///
    /// # Errors
    /// What the user's sinks and resources report.
    fn open(&mut self, cx: &mut OpenCx) -> Result<()>;
    /// Passes a mark on, after doing what it means here.
    fn mark(&mut self, mark: Mark);
    /// The watermarks that this operator or one behind it can tell apart.
    fn grid(&self) -> Grid;
    /// Whether there is room behind it; moves overflow where it can.
    fn room(&mut self) -> bool;
    /// Sends what is buffered.
    fn flush(&mut self);
    /// Whether nothing more is wanted.
    fn enough(&self) -> bool;
    /// The tick at which it wants [`Tail::tick`].
    fn deadline(&self) -> Option<i64> {
        None
    }
    /// The clock has reached `now`.
    fn tick(&mut self, now: i64) {
        let _ = now;
    }
    /// Whether results of the head that it lies directly behind wait in it for room: [`Tail::room`] lets some of them go. Marks stay behind
    /// them. Nobody else is asked.
    fn holds(&self) -> bool {
        false
    }
    /// Whether a step would find room: as [`Tail::room`], but nothing waiting is let go, since whoever asks outside of a step is not
    /// prepared for what the user's closures do. Nobody but the one directly behind a head is asked.
    fn is_clear(&mut self) -> bool {
        self.room()
    }
    /// Whether it keeps state of the keys of the head that it lies directly behind; nobody else is asked.
    fn keeps_state(&self) -> bool {
        false
    }
    /// The type of its state, if it is written down.
    fn state_schema(&self) -> String {
        String::new()
    }
    /// Begins to write that state, as [`Head::begin_save`](super::Head::begin_save).
    ///
    /// # Errors
    /// See there.
    fn begin_save(&mut self, out: &Groups) -> Result<()> {
        let _ = out;
        Ok(())
    }
    /// See [`Head::save_more`](super::Head::save_more).
    fn save_more(&mut self, left: &mut usize) -> bool {
        let _ = left;
        true
    }
    /// Takes over the records of one key group.
    ///
    /// # Errors
    /// See [`Stage::restore`](super::Stage::restore); always where it keeps none.
    fn restore(&mut self, bytes: &[u8]) -> Result<()> {
        let _ = bytes;
        Err(Error::new(
            ErrorKind::State,
            "there is state of an operator behind a window's, which keeps none now",
        ))
    }
}

/// An operator, with all that is fused behind it, taking records of type `T`.
///
/// Implement it for an operator of your own: see [`crate::op::Operator`] for the simple way.
pub trait Push<T: 'static, S: Stamp>: Tail {
    /// Takes one record.
    fn push(&mut self, item: T, stamp: S);
}

/// Forwards the methods of [`Tail`] to the field `$next`; those written before it in the impl are left out by name.
macro_rules! forward_tail {
    ($next:tt) => {
        $crate::stage::push::forward_tail!($next: open mark grid room flush enough deadline tick);
    };
    ($next:tt: $($method:ident)*) => {
        $($crate::stage::push::forward_tail!(@ $next $method);)*
    };
    (@ $next:tt open) => {
        fn open(&mut self, cx: &mut $crate::stage::OpenCx) -> $crate::error::Result<()> {
            self.$next.open(cx)
        }
    };
    (@ $next:tt mark) => {
        fn mark(&mut self, mark: $crate::batch::Mark) {
            self.$next.mark(mark)
        }
    };
    (@ $next:tt grid) => {
        fn grid(&self) -> $crate::time::Grid {
            self.$next.grid()
        }
    };
    (@ $next:tt room) => {
        fn room(&mut self) -> bool {
            self.$next.room()
        }
    };
    (@ $next:tt flush) => {
        fn flush(&mut self) {
            self.$next.flush()
        }
    };
    (@ $next:tt enough) => {
        fn enough(&self) -> bool {
            self.$next.enough()
        }
    };
    (@ $next:tt deadline) => {
        fn deadline(&self) -> Option<i64> {
            self.$next.deadline()
        }
    };
    (@ $next:tt tick) => {
        fn tick(&mut self, now: i64) {
            self.$next.tick(now)
        }
    };
}
pub(crate) use forward_tail;

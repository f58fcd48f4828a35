//! A head of event time that is told the time of the clock instead.

use crate::checkpoint::Groups;
use crate::error::Result;
use crate::stage::{Fire, Head, HeadStage, OpenCx, Tail};
use crate::state::shape::on_the_clock;
use crate::time::{Clock, Timestamp, VirtualClock};
use crate::window::base::Item;
use crate::window::spec::saturate;
use std::sync::Arc;
use std::vec::IntoIter;

/// Who tells a window's head what time it is.
pub trait Tells {
    /// The stage of a head.
    fn stage<R: Send + 'static, L: Send + 'static, H: Head<Item<R, L>>>(self, head: H) -> HeadStage;
}

/// The watermark, and elements say when they happened.
pub struct OnWatermark;

impl Tells for OnWatermark {
    fn stage<R: Send + 'static, L: Send + 'static, H: Head<Item<R, L>>>(self, head: H) -> HeadStage {
        HeadStage::new::<Item<R, L>, _>(head)
    }
}

/// The clock.
pub struct OnClock;

impl Tells for OnClock {
    fn stage<R: Send + 'static, L: Send + 'static, H: Head<Item<R, L>>>(self, head: H) -> HeadStage {
        let (clock, now, ended) = (Arc::new(VirtualClock::new()), Timestamp::MIN, false);
        HeadStage::new::<Item<R, L>, _>(Clocked { head, clock, now, ahead: i64::MIN, ended })
    }
}

/// A head that takes the clock for its watermark: what arrives now happens now, and when the clock has come to the end of a window
/// nothing can happen in it any more.
struct Clocked<H> {
    head: H,
    clock: Arc<dyn Clock>,
    /// What the clock said last.
    now: Timestamp,
    /// How far before the ticks it was in the run before, where the job has started from a checkpoint.
    ahead: i64,
    ended: bool,
}

impl<H> Clocked<H> {
    /// It never goes back, nor from one run to the next: where it has been set back in between, it goes on from where it was.
    fn wall(&self) -> Timestamp {
        self.clock.wall().max(Timestamp(self.clock.ticks().saturating_add(self.ahead)))
    }
}

impl<R: Send + 'static, L: Send + 'static, H: Head<Item<R, L>>> Head<Item<R, L>> for Clocked<H> {
    type Part = H::Part;

    fn tail(&mut self) -> &mut dyn Tail {
        self.head.tail()
    }

    fn tail_ref(&self) -> &dyn Tail {
        self.head.tail_ref()
    }

    fn open(&mut self, cx: &mut OpenCx) -> Result<()> {
        self.clock = Arc::clone(cx.clock());
        self.head.open(cx)
    }

    fn items(&mut self, input: usize, items: &mut IntoIter<Item<R, L>>, n: usize) {
        for item in items.as_mut_slice().iter_mut().take(n) {
            item.time = self.now;
        }
        self.head.items(input, items, n);
    }

    /// Elements know nothing of the clock, so watermarks say nothing but that the input has ended.
    fn watermark(&mut self, w: Timestamp) {
        if w == Timestamp::MAX {
            self.end();
        }
    }

    fn end(&mut self) {
        if !std::mem::replace(&mut self.ended, true) {
            self.head.watermark(Timestamp::MAX);
            self.head.end();
        }
    }

    fn overdue(&mut self) -> bool {
        let now = self.wall().max(self.now);
        if now == self.now || self.ended {
            return false;
        }
        self.now = now;
        self.head.watermark(Timestamp(now.0.saturating_sub(1)));
        self.head.due().is_some_and(|due| due < i128::from(now.0))
    }

    fn deadline(&self) -> Option<i64> {
        if self.ended {
            return None;
        }
        // A moment after the last instant of the window.
        let wait = self.head.due()? + 1 - i128::from(self.wall().0);
        Some(self.clock.ticks().saturating_add(saturate(wait).0.max(0)))
    }

    fn fire(&mut self) -> Fire {
        self.head.fire()
    }

    fn clock(&self) -> Option<Timestamp> {
        Some(self.now)
    }

    fn clock_was(&mut self, clock: Timestamp) {
        self.now = clock;
        self.ahead = clock.0.saturating_sub(self.clock.ticks());
        self.head.watermark(Timestamp(clock.0.saturating_sub(1)));
    }

    fn begin_save(&mut self, out: &Groups) -> Result<()> {
        self.head.begin_save(out)
    }

    fn save_more(&mut self, left: &mut usize) -> bool {
        self.head.save_more(left)
    }

    fn spills(&self) -> bool {
        self.head.spills()
    }

    fn schema(&self) -> Result<String> {
        Ok(on_the_clock(self.head.schema()?))
    }

    fn restore(&mut self, group: usize, bytes: &[u8]) -> Result<()> {
        self.head.restore(group, bytes)
    }
}

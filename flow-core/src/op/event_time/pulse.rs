//! What all strategies have in common: a watermark is sent where it matters, and not twice; the input may fall silent, and may have to wait
//! for others. Nothing here depends on the types of records.

use super::Waits;
use crate::batch::Mark;
use crate::channel::Signal;
use crate::error::Result;
use crate::stage::alarm::Alarm;
use crate::stage::drift::Member;
use crate::stage::{OpenCx, Tail};
use crate::time::{Clock, Grid, Timestamp};
use std::sync::Arc;

/// See the module.
pub(super) struct Pulse {
    grid: Grid,
    /// The last watermark that was sent.
    sent: Timestamp,
    idle: Option<Idle>,
    member: Option<Member>,
    /// Whether it is held, so that what it has sent has been flushed.
    held: bool,
    /// The checkpoint at which this input ends, and a stream goes on with others.
    cut: Option<u64>,
    signal: Option<Signal>,
    clock: Option<Arc<dyn Clock>>,
    /// The time of the step.
    alarm: Alarm,
}

/// Idleness: since when nothing has come.
struct Idle {
    after: i64,
    last: i64,
    silent: bool,
    /// Whether it could not go on when it was asked last: that is not silence.
    stopped: bool,
}

impl Pulse {
    pub fn new(waits: &Waits, member: Option<Member>) -> Self {
        let idle =
            waits.idle.map(|after| Idle { after: after.0.max(1), last: 0, silent: false, stopped: false });
        let (grid, sent) = (Grid::none(), Timestamp::MIN);
        let alarm = Alarm::default();
        Pulse { grid, sent, idle, member, held: false, cut: None, signal: None, clock: None, alarm }
    }

    /// Opens what is behind, and asks which watermarks matter there.
    pub fn open(&mut self, cx: &mut OpenCx, next: &mut dyn Tail) -> Result<()> {
        next.open(cx)?;
        self.grid = next.grid();
        self.cut = cx.saves().cut();
        self.signal = Some(cx.signal().clone());
        self.clock = Some(Arc::clone(cx.clock()));
        self.alarm = cx.alarm().clone();
        if let Some(idle) = &mut self.idle {
            idle.last = cx.clock().ticks();
        }
        Ok(())
    }

    /// Whether single records matter to it beside the watermark that they raise.
    pub fn is_careful(&self) -> bool {
        self.idle.is_some() || self.member.is_some() || self.grid.exact_late()
    }

    /// Whether an element at `time` is to meet the exact watermark: whoever reports by how much it is late has to know.
    pub fn is_exact(&self, time: Timestamp, watermark: Timestamp) -> bool {
        self.grid.exact_late() && time <= watermark
    }

    /// Sends a watermark if it has risen; returns the next one that matters.
    #[cold]
    #[inline(never)]
    pub fn send(&mut self, watermark: Timestamp, next: &mut dyn Tail) -> Timestamp {
        if watermark > self.sent {
            self.sent = watermark;
            next.mark(Mark::Watermark(watermark));
        }
        self.grid.next_after(self.sent)
    }

    /// The input speaks again.
    pub fn wake(&mut self, next: &mut dyn Tail) {
        if let Some(idle) = &mut self.idle {
            idle.last = self.alarm.now();
            if std::mem::replace(&mut idle.silent, false) {
                next.mark(Mark::Active);
            }
        }
    }

    /// Wall-clock time.
    pub fn wall(&self) -> Timestamp {
        self.clock.as_ref().map_or(Timestamp::MIN, |clock| clock.wall())
    }

    pub fn mark(&mut self, mark: Mark, next: &mut dyn Tail) {
        match mark {
            // Event time begins here: watermarks from before are of another time, and so is the silence of whoever told them.
            Mark::Watermark(_) | Mark::Idle | Mark::Active => {}
            other => {
                if other == Mark::End || matches!(other, Mark::Barrier(id) if self.cut == Some(id)) {
                    self.member = None;
                }
                next.mark(other);
            }
        }
    }

    pub fn deadline(&self, next: &dyn Tail) -> Option<i64> {
        let own = self.idle.as_ref().filter(|idle| !idle.silent);
        let own = own.map(|idle| idle.last.saturating_add(idle.after));
        [own, next.deadline()].into_iter().flatten().min()
    }

    /// Whether it has told that it holds back nobody.
    pub fn is_silent(&self) -> bool {
        self.idle.as_ref().is_some_and(|idle| idle.silent)
    }

    /// Whether the input has just fallen silent: then [`Pulse::fall_silent`] is called, when its watermark has been sent.
    pub fn has_fallen_silent(&mut self, now: i64) -> bool {
        let Some(idle) = &mut self.idle else { return false };
        if !idle.silent && now >= idle.last.saturating_add(idle.after) {
            idle.silent = true;
            return true;
        }
        false
    }

    /// Tells that it holds back nobody.
    pub fn fall_silent(&mut self, next: &mut dyn Tail) {
        next.mark(Mark::Idle);
        if let Some(member) = &self.member {
            member.rest();
        }
    }

    /// Whether there is room behind it, and it need not wait for other inputs.
    pub fn room(&mut self, watermark: Timestamp, next: &mut dyn Tail) -> bool {
        // Asked first, whether or not it has to wait: what is fused behind may hold records, and goes on when it is asked.
        let room = next.room();
        let room = self.may_go(watermark, next) && room;
        if let Some(idle) = &mut self.idle {
            // Until now, too, where it has just found room.
            if std::mem::replace(&mut idle.stopped, !room) || !room {
                idle.last = idle.last.max(self.alarm.now());
            }
        }
        room
    }

    fn may_go(&mut self, watermark: Timestamp, next: &mut dyn Tail) -> bool {
        let Some(member) = &self.member else { return true };
        if self.is_silent() || next.enough() {
            return true;
        }
        let held = !member.may_go(watermark, self.signal.as_ref());
        if held && !std::mem::replace(&mut self.held, held) {
            // What it has sent may be what the others need to go on.
            next.flush();
        }
        self.held = held;
        !held
    }
}

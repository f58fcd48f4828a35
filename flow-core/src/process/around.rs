//! What an instance of a process has beside the state of its keys: its timers, how far the watermark has come, its clock.
//!
//! Time goes on as if by single milliseconds: inside a firing the watermark is at the timer's time.

use super::states::Moment;
use super::watched::Watched;
use crate::metrics::Counter;
use crate::stage::OpenCx;
use crate::state::{Timer, Timers};
use crate::time::{Clock, Timestamp};
use std::cell::Cell;
use std::sync::Arc;

/// Which time a timer was set in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum In {
    /// Event time.
    Event,
    /// The host's clock.
    Processing,
}

/// See the module.
pub struct Around<K> {
    /// Timers in event time.
    pub event: Timers<K>,
    /// Timers of the clock.
    pub processing: Timers<K>,
    /// Where the watermark is.
    pub watermark: Timestamp,
    /// Where it is for what has a time to live: the end of the input moves it no further than to the last timer in event time.
    lived: Timestamp,
    /// Where it goes.
    target: Timestamp,
    /// The last instant of the clock whose timers have fired.
    fired: Timestamp,
    /// The last instant of the clock whose timers may fire.
    until: Timestamp,
    /// Whether a timer of the clock is firing.
    firing: bool,
    now: Cell<Option<Timestamp>>,
    /// The latest that has been read of the clock.
    latest: Cell<Timestamp>,
    clock: Option<Arc<dyn Clock>>,
    /// The number of this instance, and how many there are.
    pub instance: (usize, usize),
    dropped: Counter,
    /// How much of the state has expired.
    pub expired: Counter,
    /// What the user asked for that cannot be: it ends the job behind the call.
    pub wrong: Option<String>,
    /// When something of a key expires.
    pub watched: Watched,
}

impl<K> Default for Around<K> {
    fn default() -> Self {
        let start = Timestamp::MIN;
        Around {
            event: Timers::default(),
            processing: Timers::default(),
            watermark: start,
            lived: start,
            target: start,
            fired: start,
            until: start,
            firing: false,
            now: Cell::new(None),
            latest: Cell::new(start),
            clock: None,
            instance: (0, 1),
            dropped: Counter::default(),
            expired: Counter::default(),
            wrong: None,
            watched: Watched::default(),
        }
    }
}

impl<K> Around<K> {
    /// Connects it to the clock and the counters of its stage; `id` is the operator's, `lives` says that state expires.
    pub fn open(&mut self, cx: &OpenCx, id: &str, lives: bool) {
        self.clock = Some(Arc::clone(cx.clock()));
        self.instance = (cx.context().instance(), cx.context().parallelism());
        self.dropped = cx.metrics().counter(&format!("{id}.timers_dropped"));
        if lives {
            self.expired = cx.metrics().counter(&format!("{id}.expired"));
        }
    }

    /// The clock, which never goes back. It is read once between two calls of [`Around::forget_now`].
    pub fn now(&self) -> Timestamp {
        self.now.get().unwrap_or_else(|| self.read_now())
    }

    #[cold]
    fn read_now(&self) -> Timestamp {
        let now = self.clock.as_ref().map_or(Timestamp::MIN, |clock| clock.wall());
        let latest = self.latest.get().max(now);
        self.latest.set(latest);
        self.now.set(Some(latest));
        latest
    }

    /// The clock is to be read anew.
    pub fn forget_now(&mut self) {
        self.now.set(None);
    }

    /// What time it is, for a record at `record`.
    pub fn moment(&self, record: Timestamp) -> Moment {
        Moment { clock: self.now(), watermark: self.lived, record, anew: false }
    }

    /// The watermark rises to `w`; [`Around::pop`] says what fires. Where nothing does it is there at once: a job that goes on from a
    /// checkpoint says so before there are timers, and asks nobody to fire before the first record.
    pub fn rise(&mut self, w: Timestamp) {
        self.target = self.target.max(w);
        if self.event.first().is_none_or(|due| due > self.target) {
            self.arrive();
        }
    }

    /// No timer fires any more before the watermark is where it goes.
    fn arrive(&mut self) {
        self.watermark = self.watermark.max(self.target);
        if !self.is_ending() {
            self.lived = self.watermark;
        }
    }

    /// All input has arrived: all timers fire.
    pub fn end(&mut self) {
        (self.target, self.until) = (Timestamp::MAX, Timestamp::MAX);
    }

    /// Whether the input is at its end: a timer that is set now would never fire, and is counted.
    pub fn is_ending(&self) -> bool {
        self.target == Timestamp::MAX
    }

    /// Counts a timer that is set when the input is at its end.
    #[cold]
    pub fn drop_timer(&mut self) {
        self.dropped.add(1);
    }

    /// How far time has come, for a timer that is set.
    pub fn passed(&self, time: In) -> Timestamp {
        match time {
            In::Event => self.watermark,
            In::Processing if self.firing => self.fired,
            In::Processing => self.fired.max(self.last_instant()),
        }
    }

    /// The last instant that the clock has passed.
    fn last_instant(&self) -> Timestamp {
        Timestamp(self.now().0.saturating_sub(1))
    }

    /// The timers of that time.
    pub fn timers(&mut self, time: In) -> &mut Timers<K> {
        match time {
            In::Event => &mut self.event,
            In::Processing => &mut self.processing,
        }
    }

    /// Whether the clock has come to a timer. It fires when the clock has passed its instant.
    pub fn overdue(&mut self) -> bool {
        let Some(first) = self.processing.first() else { return false };
        self.forget_now();
        self.until = self.until.max(self.last_instant());
        first <= self.until
    }

    /// The tick at which the first timer of the clock fires.
    pub fn deadline(&self) -> Option<i64> {
        let first = self.processing.first()?;
        let clock = self.clock.as_ref()?;
        let wait = first.0.saturating_add(1).saturating_sub(clock.wall().0);
        Some(clock.ticks().saturating_add(wait.max(0)))
    }
}

impl<K: Clone> Around<K> {
    /// The next timer to fire. When there is none the watermark has come to where it goes.
    pub fn pop(&mut self, same: &dyn Fn(&K, &K) -> bool) -> Option<(In, Timer<K>)> {
        self.firing = false;
        let event = self.event.pop(self.target).map(|timer| (In::Event, timer));
        let (time, timer) = event.or_else(|| {
            self.arrive();
            self.processing.pop(self.until).map(|timer| (In::Processing, timer))
        })?;
        if time == In::Event {
            self.watermark = self.watermark.max(timer.due);
            self.lived = self.watermark;
        } else {
            (self.firing, self.fired) = (true, self.fired.max(timer.due));
        }
        self.go_on(time, &timer, same);
        Some((time, timer))
    }

    /// An interval goes on until it is ended, or the input is.
    fn go_on(&mut self, time: In, timer: &Timer<K>, same: &dyn Fn(&K, &K) -> bool) {
        if timer.every > 0 && !self.is_ending() {
            let at = Timestamp(timer.at.0.saturating_add(timer.every));
            let passed = self.passed(time);
            self.timers(time).set_every((timer.hash, &timer.key, same), at, passed, timer.every);
        }
    }
}

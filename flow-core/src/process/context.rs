//! What a process can ask and do while it is called.

use super::around::{Around, In};
use super::kinds::{EventTimers, InEventTime, OnTheClock, TimerKinds};
use super::states::{Moment, On};
use crate::stage::Stamp;
use crate::state::Owner;
use crate::time::{Millis, Timestamp};

/// The context of a call: of keys `K`, emitting `O`, on a stream whose records carry `S`, with timers of kind `P`.
pub struct Context<'a, K, O, S: Stamp = Timestamp, P: TimerKinds = EventTimers> {
    pub(super) key: &'a K,
    pub(super) hash: u64,
    pub(super) same: &'a dyn Fn(&K, &K) -> bool,
    pub(super) stamp: S,
    pub(super) out: &'a mut Vec<(P::Item<O>, P::Stamp<S>)>,
    pub(super) around: &'a mut Around<K>,
    pub(super) clear: bool,
}

impl<K, O, S: Stamp, P: TimerKinds> Context<'_, K, O, S, P> {
    /// The key whose record or timer it is.
    #[inline(always)]
    pub fn key(&self) -> &K {
        self.key
    }

    /// Emits `x`, at the timestamp of the record, or at the time of the timer.
    #[inline(always)]
    pub fn emit(&mut self, x: O) {
        self.out.push((P::item(x), P::stamp(self.stamp)));
    }

    /// The host's clock. It is read once for a batch.
    pub fn now(&self) -> Timestamp {
        self.around.now()
    }

    /// The number of this parallel instance, from 0.
    pub fn instance(&self) -> usize {
        self.around.instance.0
    }

    /// How many instances of this operator there are.
    pub fn parallelism(&self) -> usize {
        self.around.instance.1
    }

    /// What time it is, for what has a time to live.
    pub(super) fn moment(&self) -> Moment {
        self.around.moment(self.stamp.time())
    }

    /// Counts what was found expired.
    #[inline(always)]
    pub(super) fn count_expired(&mut self, n: u64) {
        if n > 0 {
            self.around.expired.add(n);
        }
    }

    /// Lets what has a time to live be looked at again; a state that is as if it were new leaves the table.
    pub(super) fn settle(&mut self, settle: impl FnOnce(Moment, &mut u64, &mut dyn FnMut(On, i64)) -> bool) {
        let (now, hash, mut expired) = (self.around.moment(self.stamp.time()), self.hash, 0);
        let around = &mut *self.around;
        self.clear |= settle(now, &mut expired, &mut |on, at| around.watched.add(on, at, hash));
        self.around.expired.add(expired);
    }

    /// Forgets the state of the key: it leaves the table after this call. Its timers stay.
    pub fn clear(&mut self) {
        self.clear = true;
    }

    /// The time of the record, or that for which the timer was set. In a timer of the clock, where the watermark is.
    #[inline(always)]
    pub fn timestamp(&self) -> Timestamp
    where
        S: InEventTime,
    {
        self.stamp.time()
    }

    /// Where the watermark is. Inside a firing, at the timer's time.
    #[inline(always)]
    pub fn watermark(&self) -> Timestamp
    where
        S: InEventTime,
    {
        self.around.watermark
    }
}

impl<K: Clone, O, S: Stamp, P: TimerKinds> Context<'_, K, O, S, P> {
    /// Sets a timer of this key in event time: it fires when the watermark reaches `at`, once, however often it is set. Where the
    /// watermark has passed `at` it fires when the watermark rises next.
    pub fn set_timer(&mut self, at: Timestamp)
    where
        S: InEventTime,
    {
        self.set(In::Event, at, 0);
    }

    /// Deletes the timer of this key at `at`, if it is set.
    pub fn delete_timer(&mut self, at: Timestamp)
    where
        S: InEventTime,
    {
        self.delete(In::Event, at);
    }

    /// From now on a timer of this key fires at each multiple of `every` in event time, as often as that is, until it is deleted
    /// or the input ends. The first is behind the watermark and the record.
    ///
    /// An interval that is not longer than zero ends the job.
    #[track_caller]
    pub fn set_interval(&mut self, every: Millis)
    where
        S: InEventTime,
    {
        let from = self.around.watermark.max(self.stamp.time());
        self.set_interval_from(In::Event, from, every);
    }

    /// Ends the interval of this length, if there is one.
    pub fn delete_interval(&mut self, every: Millis)
    where
        S: InEventTime,
    {
        self.around.event.delete_interval((self.hash, self.key, self.same), every.0);
    }

    /// Sets a timer of this key on the host's clock: it fires when the clock has passed `at`, or at the end of the input.
    pub fn set_processing_timer(&mut self, at: Timestamp)
    where
        P: OnTheClock,
    {
        self.set(In::Processing, at, 0);
    }

    /// Deletes the timer of this key on the host's clock at `at`, if it is set.
    pub fn delete_processing_timer(&mut self, at: Timestamp)
    where
        P: OnTheClock,
    {
        self.delete(In::Processing, at);
    }

    /// [`Context::set_interval`] on the host's clock.
    ///
    /// An interval that is not longer than zero ends the job.
    #[track_caller]
    pub fn set_processing_interval(&mut self, every: Millis)
    where
        P: OnTheClock,
    {
        let from = self.now();
        self.set_interval_from(In::Processing, from, every);
    }

    /// Ends the interval of this length on the host's clock, if there is one.
    pub fn delete_processing_interval(&mut self, every: Millis)
    where
        P: OnTheClock,
    {
        self.around.processing.delete_interval((self.hash, self.key, self.same), every.0);
    }

    fn set(&mut self, time: In, at: Timestamp, every: i64) {
        if self.around.is_ending() {
            return self.around.drop_timer();
        }
        let passed = self.around.passed(time);
        let of: Owner<K> = (self.hash, self.key, self.same);
        self.around.timers(time).set_every(of, at, passed, every);
    }

    fn delete(&mut self, time: In, at: Timestamp) {
        let of: Owner<K> = (self.hash, self.key, self.same);
        self.around.timers(time).delete(of, at);
    }

    /// What cannot be is said behind the call; the state goes with it.
    #[cold]
    #[inline(never)]
    fn refuse(&mut self, what: String) {
        self.around.wrong.get_or_insert(what);
        self.clear = true;
    }

    #[track_caller]
    fn set_interval_from(&mut self, time: In, from: Timestamp, every: Millis) {
        if every.0 <= 0 {
            let at = std::panic::Location::caller();
            return self.refuse(format!("{at}: an interval of {every}: it has to be longer than zero"));
        }
        let of: Owner<K> = (self.hash, self.key, self.same);
        if !self.around.timers(time).has_interval(of, every.0) {
            let next = from.0.div_euclid(every.0).saturating_add(1).saturating_mul(every.0);
            self.set(time, Timestamp(next), every.0);
        }
    }
}

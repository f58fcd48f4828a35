//! Sources that wait for each other: one whose watermark is far ahead of the others' is not read until they catch up.
//!
//! Pure bookkeeping behind a lock that is taken once a batch. A member is made when its stage is built, so that nobody runs
//! ahead of one that has not been opened yet, and leaves when it is dropped: when its stage is done, or was never needed.
//!
//! Nothing waits for ever: the member with the smallest watermark is never held, and one that is idle, at its end or
//! dropped holds nobody.

use crate::channel::Signal;
use crate::time::{Millis, Timestamp};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The sources of a job that wait for each other. A clone is the same group.
#[derive(Clone, Default)]
pub struct Drift(Arc<Mutex<Vec<State>>>);

struct State {
    watermark: Timestamp,
    /// Whether the others wait for it.
    counts: bool,
    /// Whom to wake when it may go on.
    waits: Option<Signal>,
}

impl Drift {
    /// A new member, which may be so far ahead of the others. They wait for its first record.
    pub fn join(&self, most: Millis) -> Member {
        let mut all = self.lock();
        all.push(State { watermark: Timestamp::MIN, counts: true, waits: None });
        Member { group: self.clone(), at: all.len() - 1, most }
    }

    fn lock(&self) -> MutexGuard<'_, Vec<State>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A source among those that wait for each other.
pub struct Member {
    group: Drift,
    at: usize,
    most: Millis,
}

impl Member {
    /// Its watermark is now `watermark`, and it speaks. Whether it may go on; if not, `signal` is woken when it may want to ask again.
    pub fn may_go(&self, watermark: Timestamp, signal: Option<&Signal>) -> bool {
        let mut all = self.group.lock();
        let own = &mut all[self.at];
        let rose = watermark > own.watermark;
        (own.watermark, own.counts, own.waits) = (watermark, true, None);
        if rose {
            wake(&mut all);
        }
        let least = all.iter().filter(|m| m.counts).map(|m| m.watermark).min().unwrap_or(watermark);
        let may = watermark <= least + self.most;
        if !may {
            all[self.at].waits = signal.cloned();
        }
        may
    }

    /// It holds nobody back until it speaks again.
    pub fn rest(&self) {
        let mut all = self.group.lock();
        all[self.at].counts = false;
        wake(&mut all);
    }
}

impl Drop for Member {
    fn drop(&mut self) {
        self.rest();
    }
}

fn wake(all: &mut [State]) {
    all.iter_mut().filter_map(|m| m.waits.take()).for_each(|signal| signal.wake());
}

#[cfg(test)]
mod tests {
    use super::Drift;
    use crate::time::{Millis, Timestamp};

    #[test]
    fn the_one_behind_is_never_held() {
        let group = Drift::default();
        let (a, b, c) = (group.join(Millis(10)), group.join(Millis(10)), group.join(Millis(0)));
        assert!(!a.may_go(Timestamp(5), None), "the others have given nothing yet");
        drop(c);
        assert!(b.may_go(Timestamp(2), None));
        assert!(a.may_go(Timestamp(12), None), "exactly as far as it may");
        assert!(!a.may_go(Timestamp(13), None));
        assert!(b.may_go(Timestamp(3), None));
        assert!(a.may_go(Timestamp(13), None));
        b.rest();
        assert!(a.may_go(Timestamp::MAX, None), "an idle one holds nobody");
        assert!(b.may_go(Timestamp(4), None));
        assert!(!a.may_go(Timestamp::MAX, None), "until it speaks again");
    }
}

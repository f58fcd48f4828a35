//! The guard against a timestamp from the far future.
//!
//! In a checkpoint: `believed doubted*`, a byte that is 1 where any has been believed, then timestamps as little-endian `i64`.

use crate::error::Result;
use crate::metrics::Counter;
use crate::stage::own::{take, take_i64};
use crate::time::{Millis, Timestamp};

/// So many timestamps in a row that are too far ahead are believed: time has jumped.
const IN_A_ROW: usize = 3;

/// Which timestamps raise the watermark. Pure: the same timestamps, the same answers.
#[derive(Default)]
pub(super) struct Ahead {
    most: Millis,
    /// Timestamps in a row that are too far ahead; before any is believed, all.
    /// In order.
    doubted: Vec<Timestamp>,
    believed: bool,
    /// Timestamps that raised nothing.
    pub ignored: Counter,
}

impl Ahead {
    pub fn new(most: Millis) -> Self {
        Ahead { most, ..Self::default() }
    }

    /// What counts instead of `time`, when `highest` is the highest that did: nothing where it is too far ahead.
    pub fn believe(&mut self, highest: Timestamp, time: Timestamp) -> Option<Timestamp> {
        if self.believed && time <= highest + self.most {
            self.forget();
            return Some(time);
        }
        self.doubt(time);
        if self.doubted.len() < IN_A_ROW {
            return None;
        }
        // The one in the middle is neither the outlier ahead nor the one behind.
        let limit = self.doubted[IN_A_ROW / 2] + self.most;
        let within = self.doubted.iter().copied().rfind(|t| *t <= limit);
        self.doubted.retain(|t| *t > limit);
        self.forget();
        self.believed = true;
        within
    }

    fn doubt(&mut self, time: Timestamp) {
        let at = self.doubted.partition_point(|other| *other <= time);
        self.doubted.insert(at, time);
    }

    pub fn save(&self, out: &mut Vec<u8>) {
        out.push(u8::from(self.believed));
        self.doubted.iter().for_each(|time| out.extend_from_slice(&time.0.to_le_bytes()));
    }

    /// Takes back what [`Ahead::save`] wrote, to the end.
    pub fn restore(&mut self, bytes: &mut &[u8]) -> Result<()> {
        let [believed] = take(bytes)?;
        self.believed = believed != 0;
        self.doubted.clear();
        // Three of them are no more doubted.
        while !bytes.is_empty() && self.doubted.len() + 1 < IN_A_ROW {
            let time = Timestamp(take_i64(bytes)?);
            self.doubt(time);
        }
        Ok(())
    }

    /// Those that were doubted were no jump.
    pub fn forget(&mut self) {
        if !self.doubted.is_empty() {
            self.ignored.add(self.doubted.len() as u64);
            self.doubted.clear();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Ahead;
    use crate::time::{Millis, Timestamp};

    /// Timestamps, the highest that counts after each, and how many were ignored in all.
    fn check(times: &[i64], highest: &[i64], ignored: u64) {
        let mut guard = Ahead::new(Millis(10));
        let mut top = Timestamp::MIN;
        let mut seen = Vec::new();
        for time in times {
            if let Some(time) = guard.believe(top, Timestamp(*time)) {
                top = top.max(time);
            }
            seen.push(top.0);
        }
        guard.forget();
        assert_eq!((seen.as_slice(), guard.ignored.get()), (highest, ignored), "{times:?}");
    }

    #[test]
    fn one_outlier_raises_nothing_and_a_jump_is_believed_at_its_third() {
        const NONE: i64 = i64::MIN;
        check(&[1, 2, 3, 13, 14], &[NONE, NONE, 3, 13, 14], 0);
        check(&[1, 2, 3, 999, 4], &[NONE, NONE, 3, 3, 4], 1);
        check(&[999, 2, 3, 4], &[NONE, NONE, 3, 4], 1);
        check(&[-999, 2, 3, 4], &[NONE, NONE, 3, 4], 0);
        check(&[1, 2, 3, 100, 101, 102, 103], &[NONE, NONE, 3, 3, 3, 102, 103], 0);
        check(&[1, 2, 3, 100, 101, 999, 103], &[NONE, NONE, 3, 3, 3, 101, 103], 1);
        check(&[1, 2, 3, 100, 4, 101, 5, 102, 6], &[NONE, NONE, 3, 3, 4, 4, 5, 5, 6], 3);
        check(&[7], &[NONE], 1);
        check(&[i64::MAX; 3], &[NONE, NONE, i64::MAX], 0);
    }
}

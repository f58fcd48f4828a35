//! Elements of one side and key that wait, in order of time, and at equal times in order of arrival. Pure.

use crate::error::Result;
use crate::state::Keep;
use crate::time::Timestamp;
use crate::window::saved::take;
use std::collections::VecDeque;

/// An element that waits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Held<T> {
    /// Its timestamp.
    pub time: Timestamp,
    /// Its number in the order of arrival, of the instance's.
    pub born: u64,
    /// Whether it has matched another.
    pub matched: bool,
    /// It.
    pub value: T,
}

/// Elements that wait.
#[derive(Debug)]
pub struct Line<T>(VecDeque<Held<T>>);

impl<T> Default for Line<T> {
    fn default() -> Self {
        Line(VecDeque::new())
    }
}

impl<T> Line<T> {
    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The first.
    pub fn first(&self) -> Option<&Held<T>> {
        self.0.front()
    }

    /// Adds an element that arrived after all others.
    #[inline]
    pub fn add(&mut self, held: Held<T>) {
        if self.0.back().is_none_or(|last| last.time <= held.time) {
            return self.0.push_back(held);
        }
        let at = self.0.partition_point(|other| other.time <= held.time);
        self.0.insert(at, held);
    }

    /// Those from one time to another, both included.
    #[inline]
    pub fn between(&mut self, first: Timestamp, last: Timestamp) -> impl Iterator<Item = &mut Held<T>> {
        let from = self.0.partition_point(|held| held.time < first);
        let to = self.0.partition_point(|held| held.time <= last).max(from);
        self.0.range_mut(from..to)
    }

    /// The last that is not after a time.
    #[inline]
    pub fn as_of(&self, time: Timestamp) -> Option<&Held<T>> {
        let after = self.0.partition_point(|held| held.time <= time);
        self.0.get(after.checked_sub(1)?)
    }

    /// Takes the first, if it `is` one that is done with.
    pub fn pop_if(&mut self, is: impl FnOnce(&Held<T>) -> bool) -> Option<Held<T>> {
        if is(self.0.front()?) { self.0.pop_front() } else { None }
    }

    /// Forgets all that are before the last one that is not after `time`.
    pub fn forget_before(&mut self, time: Timestamp) {
        let after = self.0.partition_point(|held| held.time <= time);
        self.0.drain(..after.saturating_sub(1));
    }

    /// The highest number of arrival.
    pub fn youngest(&self) -> Option<u64> {
        self.0.iter().map(|held| held.born).max()
    }

    /// Writes all: `count ( time born matched value )^count`, little-endian: u32, i64, u64, u8.
    pub fn write<M>(&self, out: &mut Vec<u8>) -> Result<()>
    where
        T: Keep<M>,
    {
        out.extend_from_slice(&u32::try_from(self.0.len()).unwrap_or(u32::MAX).to_le_bytes());
        self.0.iter().try_for_each(|held| {
            out.extend_from_slice(&held.time.0.to_le_bytes());
            out.extend_from_slice(&held.born.to_le_bytes());
            out.push(u8::from(held.matched));
            held.value.write(out)
        })
    }

    /// Reads what [`Line::write`] wrote.
    pub fn read<M>(bytes: &mut &[u8]) -> Result<Self>
    where
        T: Keep<M>,
    {
        let count = u32::from_le_bytes(take(bytes)?);
        let all = (0..count).map(|_| {
            let time = Timestamp(i64::from_le_bytes(take(bytes)?));
            let born = u64::from_le_bytes(take(bytes)?);
            let [matched] = take(bytes)?;
            Ok(Held { time, born, matched: matched != 0, value: T::read(bytes)? })
        });
        Ok(Line(all.collect::<Result<_>>()?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(times: &[i64]) -> Line<usize> {
        let mut line = Line::default();
        for (i, time) in times.iter().enumerate() {
            line.add(Held { time: Timestamp(*time), born: i as u64, matched: false, value: i });
        }
        line
    }

    #[test]
    fn elements_wait_by_time_then_arrival() {
        let mut line = line(&[5, 1, 5, 3, 1]);
        let order: Vec<usize> = line.between(Timestamp::MIN, Timestamp::MAX).map(|held| held.value).collect();
        assert_eq!(order, [1, 4, 3, 0, 2]);
        let between = |line: &mut Line<usize>, a, b| {
            line.between(Timestamp(a), Timestamp(b)).map(|h| h.value).collect::<Vec<_>>()
        };
        assert_eq!(between(&mut line, 1, 3), [1, 4, 3]);
        assert_eq!(between(&mut line, 2, 2), [0; 0]);
        assert_eq!(between(&mut line, 4, 2), [0; 0], "nothing is between a time and an earlier one");
        assert_eq!(line.as_of(Timestamp(4)).map(|held| held.value), Some(3));
        assert_eq!(line.as_of(Timestamp(0)), None);
        assert_eq!(
            line.as_of(Timestamp(1)).map(|held| held.value),
            Some(4),
            "of equal times the last to arrive"
        );
        line.forget_before(Timestamp(4));
        assert_eq!(between(&mut line, i64::MIN, i64::MAX), [3, 0, 2]);
        line.forget_before(Timestamp(0));
        assert_eq!(between(&mut line, i64::MIN, i64::MAX), [3, 0, 2]);
    }
}

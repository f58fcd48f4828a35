//! Records computed from their number, at a given rate.
//!
//! A position is the next number and how many are left in its block, each in 8 bytes, little-endian.

use super::unpack::{Unpack, foreign};
use super::{Poll, Reader, Source};
use crate::error::{Error, ErrorKind, Result};
use crate::op::kind::{Bounded, Replayable};
use crate::stage::OpenCx;
use crate::time::Clock;
use std::sync::Arc;

/// Numbers that a partition takes together, so that each is computed in a tight loop.
const BLOCK: u64 = 1024;

/// See [`generate()`].
#[derive(Clone)]
pub struct Generate<F> {
    count: u64,
    make: F,
    splits: u64,
    per_second: Option<u64>,
}

/// `make(0)`, `make(1)`, … up to `count` records.
///
/// ```
/// # use flow_core::prelude::*;
/// # let out = Collected::new();
/// # let job = Job::build("doc", |job| {
/// job.add(source(generate(3, |i| i * i)).collect(&out));
/// # });
/// # job.run().unwrap();
/// assert_eq!(out.take(), [0, 1, 4]);
/// ```
pub fn generate<T, F: Fn(u64) -> T + Clone + Send + 'static>(count: u64, make: F) -> Generate<F> {
    Generate { count, make, splits: 1, per_second: None }
}

impl<F> Generate<F> {
    /// In `n` partitions, each of which takes every n-th block of 1,024 numbers.
    #[must_use]
    pub fn splits(self, n: usize) -> Self {
        Generate { splits: n.max(1) as u64, ..self }
    }

    /// At most so many records a second, over all partitions.
    #[must_use]
    pub fn rate(self, per_second: u64) -> Self {
        Generate { per_second: Some(per_second.max(1)), ..self }
    }
}

#[diagnostic::do_not_recommend]
impl<T: 'static, F: Fn(u64) -> T + Clone + Send + 'static> Source for Generate<F> {
    type Item = T;
    type Split = u64;
    type Reader = GenerateReader<F>;
    type Bounds = Bounded;
    type Replay = Replayable;
    fn name(&self) -> &'static str {
        "generate"
    }
    fn splits(&self) -> Result<Vec<u64>> {
        Ok((0..self.splits).collect())
    }
    fn open(&self, split: u64, cx: &mut OpenCx) -> Result<GenerateReader<F>> {
        // With a rate a partition takes single numbers, so that all of them advance together.
        let block = if self.per_second.is_some() || self.splits == 1 { 1 } else { BLOCK };
        let pace = self.per_second.map(|per_second| Pace {
            clock: Arc::clone(cx.clock()),
            start: cx.clock().ticks(),
            from: 0,
            per_second,
        });
        let at = split * block;
        let skip = (self.splits - 1) * block;
        Ok(GenerateReader { make: self.make.clone(), at, left: block, block, skip, count: self.count, pace })
    }
    fn resume(&self, split: u64, position: &[u8], cx: &mut OpenCx) -> Result<GenerateReader<F>> {
        let mut reader = self.open(split, cx)?;
        let place = Unpack::all(position, |bytes| Some((bytes.u64()?, bytes.u64()?)));
        let place = place.filter(|place| reader.has(split, *place));
        let wrong = || foreign("a position that no generator with these partitions has written");
        (reader.at, reader.left) = place.ok_or_else(wrong)?;
        let given = reader.given(split);
        if given > self.count {
            return Err(shorter(given, self.count));
        }
        if let Some(pace) = &mut reader.pace {
            // The number at which it goes on is due now.
            pace.from = reader.at;
        }
        Ok(reader)
    }
}

#[cold]
fn shorter(given: u64, count: u64) -> Error {
    let what = format!("the generator had given {given} numbers at the checkpoint, and has {count} now");
    Error::new(ErrorKind::State, what)
        .note("let it have as many as it had, or more, or start without the checkpoint")
}

/// Reads a partition of a generator.
pub struct GenerateReader<F> {
    make: F,
    at: u64,
    /// Numbers left in the block, the size of blocks, and what lies between two of this partition.
    left: u64,
    block: u64,
    skip: u64,
    count: u64,
    pace: Option<Pace>,
}

impl<F> GenerateReader<F> {
    /// Whether partition `split` comes to number `at` with so many left in the block.
    fn has(&self, split: u64, (at, left): (u64, u64)) -> bool {
        let block = self.block;
        // One partition takes all numbers, and does not count.
        if self.skip == 0 {
            return left == block;
        }
        let of_split =
            at / block % (self.skip / block + 1) == split && Some(at % block) == block.checked_sub(left);
        // Behind the last number that there is it stands still.
        (1..=block).contains(&left) && (of_split || (at == u64::MAX && left == block))
    }
}

impl<F> GenerateReader<F> {
    /// How many numbers there are up to the last one that partition `split` has given.
    fn given(&self, split: u64) -> u64 {
        if self.skip == 0 || self.left < self.block {
            return self.at;
        }
        // It stands at the beginning of a block: those between are of other partitions.
        let first = self.at == split * self.block;
        if first { 0 } else { self.at.saturating_sub(self.skip) }
    }
}

/// When which number is due.
struct Pace {
    clock: Arc<dyn Clock>,
    start: i64,
    /// The number that was due at the start.
    from: u64,
    per_second: u64,
}

impl Pace {
    /// How many numbers are due by now; `Err` says when number `at` is.
    fn due(&self, at: u64) -> Result<u64, i64> {
        let since = u64::try_from(self.clock.ticks() - self.start).unwrap_or(0);
        let due = u128::from(since) * u128::from(self.per_second) / 1000 + 1;
        let due = u64::try_from(due).unwrap_or(u64::MAX).saturating_add(self.from);
        if at < due {
            return Ok(due);
        }
        let wait = (u128::from(at - self.from) * 1000).div_ceil(u128::from(self.per_second));
        Err(self.start.saturating_add(i64::try_from(wait).unwrap_or(i64::MAX)))
    }
}

impl<T: 'static, F: Fn(u64) -> T + Send + 'static> Reader<T> for GenerateReader<F> {
    #[inline(always)]
    fn poll<O: FnMut(T)>(&mut self, out: &mut O, budget: usize) -> Result<Poll> {
        let until = match &self.pace {
            None => self.count,
            Some(_) if self.at >= self.count => self.count,
            Some(pace) => match pace.due(self.at) {
                Ok(due) => due.min(self.count),
                Err(tick) => return Ok(Poll::WaitUntil(tick)),
            },
        };
        let mut budget = budget as u64;
        while budget > 0 && self.at < until {
            let n = if self.skip == 0 { budget } else { budget.min(self.left) };
            let stop = until.min(self.at.saturating_add(n));
            for i in self.at..stop {
                out((self.make)(i));
            }
            let made = stop - self.at;
            budget -= made;
            self.at = stop;
            if self.skip > 0 {
                self.left -= made;
                if self.left == 0 {
                    (self.at, self.left) = (self.at.saturating_add(self.skip), self.block);
                }
            }
        }
        Ok(if self.at >= self.count { Poll::End } else { Poll::More })
    }
    fn position(&self) -> Option<Vec<u8>> {
        Some([self.at.to_le_bytes(), self.left.to_le_bytes()].concat())
    }
}

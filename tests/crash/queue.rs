//! A source like a message broker: it keeps the numbers of each of two partitions until they are acknowledged, and then has them no more.

#![allow(clippy::unwrap_used, reason = "a test program that unwraps fails where it should")]

use flow_core::checkpoint::Acknowledge;
use flow_core::op::kind::{Bounded, Replayable};
use flow_core::prelude::*;
use flow_core::source::{Poll, Reader, Source};
use flow_core::stage::OpenCx;
use flow_core::time::Clock;
use std::path::{Path, PathBuf};
use std::sync::Arc;

const PARTITIONS: u64 = 2;

/// The numbers below `count`, the even ones in one partition and the odd ones in the other. In `safe-N` of the folder stands how many of a
/// partition are gone.
#[derive(Clone)]
pub struct Queue {
    folder: PathBuf,
    count: u64,
    rate: u64,
}

impl Queue {
    pub fn new(folder: PathBuf, count: u64, rate: u64) -> Self {
        std::fs::create_dir_all(&folder).unwrap();
        Queue { folder, count, rate }
    }

    fn reader(&self, partition: u64, at: u64, cx: &OpenCx) -> Numbers {
        let of_it = (self.count + PARTITIONS - 1 - partition) / PARTITIONS;
        let (clock, start) = (Arc::clone(cx.clock()), cx.clock().ticks());
        Numbers { partition, at, first: at, count: of_it, rate: self.rate / PARTITIONS, clock, start }
    }
}

fn gone(folder: &Path, partition: u64) -> u64 {
    std::fs::read_to_string(folder.join(format!("safe-{partition}"))).map_or(0, |text| text.parse().unwrap())
}

impl Source for Queue {
    type Item = u64;
    type Split = u64;
    type Reader = Numbers;
    type Bounds = Bounded;
    type Replay = Replayable;
    fn name(&self) -> &'static str {
        "queue"
    }
    fn splits(&self) -> Result<Vec<u64>> {
        Ok((0..PARTITIONS).collect())
    }
    fn open(&self, partition: u64, cx: &mut OpenCx) -> Result<Numbers> {
        Ok(self.reader(partition, gone(&self.folder, partition), cx))
    }
    fn resume(&self, partition: u64, position: &[u8], cx: &mut OpenCx) -> Result<Numbers> {
        let at = u64::from_le_bytes(position.try_into().unwrap());
        let gone = gone(&self.folder, partition);
        if at < gone {
            let what = format!("number {at} of partition {partition} is gone: {gone} are acknowledged");
            return Err(Error::new(ErrorKind::Source, what));
        }
        Ok(self.reader(partition, at, cx))
    }
    fn acknowledger(&self) -> Option<Box<dyn Acknowledge>> {
        Some(Box::new(Broker(self.folder.clone())))
    }
}

struct Broker(PathBuf);

impl Acknowledge for Broker {
    fn acknowledge(&mut self, _: u64, positions: &[Vec<u8>]) -> Result<()> {
        assert_eq!(positions.len() as u64, PARTITIONS);
        for (partition, position) in (0..).zip(positions) {
            let at = u64::from_le_bytes(position[..].try_into().unwrap());
            assert!(at >= gone(&self.0, partition), "acknowledgements go back");
            let beside = self.0.join("new");
            let write = std::fs::write(&beside, at.to_string());
            let named =
                write.and_then(|()| std::fs::rename(&beside, self.0.join(format!("safe-{partition}"))));
            named.map_err(|error| Error::new(ErrorKind::Source, error.to_string()))?;
        }
        Ok(())
    }
}

pub struct Numbers {
    partition: u64,
    at: u64,
    first: u64,
    count: u64,
    rate: u64,
    clock: Arc<dyn Clock>,
    start: i64,
}

impl Reader<u64> for Numbers {
    fn poll<O: FnMut(u64)>(&mut self, out: &mut O, budget: usize) -> Result<Poll> {
        if self.at >= self.count {
            return Ok(Poll::End);
        }
        let now = self.clock.ticks();
        let due = self.first + (now - self.start).unsigned_abs() * self.rate / 1000;
        let until = due.min(self.count).min(self.at + budget as u64);
        if until <= self.at {
            return Ok(Poll::WaitUntil(now + 1));
        }
        (self.at..until).for_each(|i| out(i * PARTITIONS + self.partition));
        self.at = until;
        Ok(Poll::More)
    }
    fn position(&self) -> Option<Vec<u8>> {
        Some(self.at.to_le_bytes().to_vec())
    }
}

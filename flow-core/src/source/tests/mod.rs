//! Sources that are left at a position and go on there, without a job around them.

mod files;
mod made;
mod random;
mod watched;

use super::{Poll, Reader, Source};
use crate::checkpoint::{Inbox, Orders, Saves};
use crate::error::Result;
use crate::stage::OpenCx;
use crate::stage::tests::open_cx;
use crate::time::VirtualClock;
use proptest::prelude::ProptestConfig;
use std::sync::Arc;

/// What a source is opened with in a job that takes checkpoints.
fn cx(clock: &Arc<VirtualClock>) -> OpenCx {
    let saves = Saves::new(Inbox::default(), Orders::default(), 0, 0);
    OpenCx { saves, clock: clock.clone(), ..open_cx(0) }
}

/// The readers of a source, and what each has given.
struct Run<S: Source> {
    source: S,
    clock: Arc<VirtualClock>,
    readers: Vec<Option<S::Reader>>,
    given: Vec<Vec<S::Item>>,
    /// What readers leave that have ended.
    last: Vec<Option<Vec<u8>>>,
    counters: Vec<OpenCx>,
}

impl<S: Source> Run<S> {
    fn start(source: S) -> Result<Self> {
        let clock = Arc::new(VirtualClock::new());
        let splits = source.splits()?;
        let n = splits.len();
        let mut run = Run {
            source,
            clock,
            readers: Vec::new(),
            given: (0..n).map(|_| Vec::new()).collect(),
            last: vec![None; n],
            counters: Vec::new(),
        };
        for split in splits {
            let mut cx = cx(&run.clock);
            run.readers.push(Some(run.source.open(split, &mut cx)?));
            run.counters.push(cx);
        }
        Ok(run)
    }

    /// Asks one of the readers for records; one that has ended does not come back.
    fn poll(&mut self, partition: usize, budget: usize) -> Result<Poll> {
        let Some(reader) = &mut self.readers[partition] else { return Ok(Poll::End) };
        let given = &mut self.given[partition];
        let poll = reader.poll(&mut |item| given.push(item), budget)?;
        if poll == Poll::End {
            self.last[partition] = reader.position();
            self.readers[partition] = None;
        }
        Ok(poll)
    }

    fn positions(&self) -> Vec<Vec<u8>> {
        let position = |(reader, last): (&Option<S::Reader>, &Option<Vec<u8>>)| match reader {
            Some(reader) => reader.position(),
            None => last.clone(),
        };
        self.readers
            .iter()
            .zip(&self.last)
            .map(position)
            .collect::<Option<_>>()
            .expect("all say where they stand")
    }

    /// The process dies, and another one goes on from where it stood.
    fn crash(self) -> Result<Self> {
        let positions = self.positions();
        let (source, given) = (self.source.clone(), self.given);
        drop((self.readers, self.source));
        Self::go_on(source, &positions, given, self.clock)
    }

    fn go_on(
        source: S,
        positions: &[Vec<u8>],
        given: Vec<Vec<S::Item>>,
        clock: Arc<VirtualClock>,
    ) -> Result<Self> {
        let splits = source.splits_at(positions)?;
        assert_eq!(splits.len(), positions.len());
        let last = vec![None; positions.len()];
        let mut run = Run { source, clock, readers: Vec::new(), given, last, counters: Vec::new() };
        for (split, position) in splits.into_iter().zip(positions) {
            let mut cx = cx(&run.clock);
            run.readers.push(Some(run.source.resume(split, position, &mut cx)?));
            run.counters.push(cx);
        }
        Ok(run)
    }

    /// Reads to the end.
    fn drain(mut self) -> Result<Vec<Vec<S::Item>>> {
        for partition in 0..self.readers.len() {
            while self.poll(partition, 3)? != Poll::End {}
        }
        Ok(self.given)
    }

    fn counter(&self, name: &str) -> u64 {
        self.counters.iter().map(|cx| cx.metrics().counter(name).get()).sum()
    }
}

fn config(cases: u32) -> ProptestConfig {
    let cases = std::env::var("FLOW_RANDOM_CASES").map_or(cases, |text| text.parse().expect("a number"));
    ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() }
}

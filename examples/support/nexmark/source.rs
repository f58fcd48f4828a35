//! The events as a source: of `p` partitions the `i`th makes the events i, i + p, i + 2p, …

use super::generator::Generator;
use super::records::Event;
use flow_core::op::kind::{Bounded, Replayable};
use flow_core::prelude::*;
use flow_core::source::{Poll, Reader, Source};
use flow_core::stage::OpenCx;

/// The first `count` events of the generator, in so many partitions.
#[derive(Clone, Copy, Debug)]
pub struct Events {
    pub generator: Generator,
    pub count: u64,
    pub partitions: u64,
}

impl Source for Events {
    type Item = Event;
    type Split = u64;
    type Reader = Partition;
    type Bounds = Bounded;
    type Replay = Replayable;

    fn name(&self) -> &'static str {
        "events"
    }

    fn splits(&self) -> Result<Vec<u64>> {
        Ok((0..self.partitions).collect())
    }

    fn open(&self, first: u64, _: &mut OpenCx) -> Result<Partition> {
        Ok(Partition { events: *self, next: first })
    }

    fn resume(&self, first: u64, position: &[u8], _: &mut OpenCx) -> Result<Partition> {
        let next = position.try_into().map(u64::from_le_bytes);
        match next.ok().filter(|next| next % self.partitions == first) {
            Some(next) => Ok(Partition { events: *self, next }),
            None => Err(Error::new(ErrorKind::State, "a position that is none of these events")),
        }
    }
}

/// Makes the events of one partition.
pub struct Partition {
    events: Events,
    next: u64,
}

impl Reader<Event> for Partition {
    fn poll<O: FnMut(Event)>(&mut self, out: &mut O, budget: usize) -> Result<Poll> {
        for _ in 0..budget {
            if self.next >= self.events.count {
                return Ok(Poll::End);
            }
            out(self.events.generator.event(self.next));
            self.next = self.next.saturating_add(self.events.partitions);
        }
        Ok(Poll::More)
    }

    fn position(&self) -> Option<Vec<u8>> {
        Some(self.next.to_le_bytes().to_vec())
    }
}

//! The stage that takes what the body of a loop returns.

use super::chain::Handed;
use crate::error::Result;
use crate::stage::{Fire, Head, OpenCx, Push, Stamp, Tail};
use crate::time::Timestamp;
use std::convert::Infallible;
use std::marker::PhantomData;
use std::sync::Arc;
use std::vec::IntoIter;

/// Records of a chunk of the workset: a list that grew would be moved.
const CHUNK: usize = 4096;
/// Results that leave between two looks at the room for them.
const AT_ONCE: usize = 256;

/// The head of the stage.
pub(super) struct Exit<T, N, S> {
    handed: Arc<Handed<T>>,
    instance: usize,
    exits: usize,
    /// What has come back in this superstep.
    returned: Vec<Vec<T>>,
    chunk: Vec<T>,
    /// The result, when the loop is over.
    result: Option<IntoIter<T>>,
    next: N,
    stamp: PhantomData<fn(S)>,
}

impl<T, N, S> Exit<T, N, S> {
    pub fn new(handed: Arc<Handed<T>>, next: N) -> Self {
        let (returned, chunk) = (Vec::new(), Vec::new());
        Exit { handed, instance: 0, exits: 1, returned, chunk, result: None, next, stamp: PhantomData }
    }

    fn close_chunk(&mut self) {
        let chunk = std::mem::take(&mut self.chunk);
        if !chunk.is_empty() {
            self.returned.push(chunk);
        }
    }
}

impl<T: Send + 'static, N: Push<T, ()>, S: Stamp> Head<(T, S)> for Exit<T, N, S> {
    type Part = Infallible;

    fn tail(&mut self) -> &mut dyn Tail {
        &mut self.next
    }

    fn tail_ref(&self) -> &dyn Tail {
        &self.next
    }

    fn open(&mut self, cx: &mut OpenCx) -> Result<()> {
        (self.instance, self.exits) = (cx.context().instance(), cx.context().parallelism());
        Ok(())
    }

    fn items(&mut self, _: usize, items: &mut IntoIter<(T, S)>, n: usize) {
        for (record, _) in items.by_ref().take(n) {
            if self.chunk.len() == self.chunk.capacity() {
                self.close_chunk();
                self.chunk.reserve_exact(CHUNK);
            }
            self.chunk.push(record);
        }
    }

    fn watermark(&mut self, w: Timestamp) {
        if w == Timestamp::MAX {
            return;
        }
        self.close_chunk();
        let returned = std::mem::take(&mut self.returned);
        let records = returned.iter().map(Vec::len).sum::<usize>() as u64;
        self.handed.give(self.instance, returned);
        self.handed.turns.seen(self.exits, records);
    }

    fn end(&mut self) {
        // What came back last.
        self.result = Some(
            self.handed
                .take_of(self.instance, self.exits)
                .into_iter()
                .flatten()
                .collect::<Vec<T>>()
                .into_iter(),
        );
    }

    fn fire(&mut self) -> Fire {
        let Some(result) = &mut self.result else { return Fire::Done };
        while result.len() > 0 {
            if !self.next.room() {
                return Fire::Paused;
            }
            for record in result.by_ref().take(AT_ONCE) {
                self.next.push(record, ());
            }
        }
        Fire::Done
    }

    fn passes(&self, _: Timestamp) -> Timestamp {
        Timestamp::MIN
    }
}

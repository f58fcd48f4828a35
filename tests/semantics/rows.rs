//! The sink of the suite: what came out, instance by instance, and how much so far. What it holds survives the death of a job.

use flow_core::checkpoint::Committer;
use flow_core::prelude::*;
use flow_core::sink::{CommittingSink, Sink, StagingWriter, Writer};
use flow_core::stage::{Commit, OpenCx};
use std::collections::BTreeMap;
use std::fmt::Display;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

/// What one instance was given.
type Part = (usize, Vec<String>);

#[derive(Clone, Default)]
pub struct Rows {
    shelf: Arc<Mutex<Shelf>>,
    left: Arc<AtomicUsize>,
    /// Rows are written with their timestamps.
    stamps: bool,
}

#[derive(Default)]
struct Shelf {
    /// What counts.
    done: Vec<Part>,
    /// What was staged for a checkpoint, by its number and the instance.
    staged: BTreeMap<(u64, usize), Vec<String>>,
}

impl Rows {
    pub fn new(stamps: bool) -> Self {
        Rows { stamps, ..Rows::default() }
    }

    /// How many rows have arrived so far; of what a job wrote that has died, those up to the checkpoint that the next one starts from.
    pub fn left(&self) -> usize {
        self.left.load(Ordering::SeqCst)
    }

    /// What came, instance by instance, each in its order.
    pub fn take(&self) -> Vec<String> {
        let mut parts = std::mem::take(&mut self.lock().done);
        parts.sort_by_key(|part| part.0);
        parts.into_iter().flat_map(|part| part.1).collect()
    }

    fn lock(&self) -> MutexGuard<'_, Shelf> {
        self.shelf.lock().expect("no writer panics")
    }
}

pub struct RowsWriter {
    instance: usize,
    rows: Vec<String>,
    to: Rows,
}

impl<T: Display> Sink<T> for Rows {
    type Writer = RowsWriter;
    fn name(&self) -> &'static str {
        "rows"
    }
    fn open(&self, cx: &mut OpenCx) -> Result<RowsWriter> {
        Ok(RowsWriter { instance: cx.context().instance(), rows: Vec::new(), to: self.clone() })
    }
}

impl<T: Display> Writer<T> for RowsWriter {
    fn write(&mut self, item: T, time: Timestamp) -> Result<()> {
        let stamp =
            if self.to.stamps { format!(" @{}", crate::case::instant(time.millis())) } else { String::new() };
        self.rows.push(format!("{item}{stamp}"));
        self.to.left.fetch_add(1, Ordering::SeqCst);
        Ok(())
    }

    fn finish(self) -> Result<Option<Box<dyn Commit>>> {
        self.to.lock().done.push((self.instance, self.rows));
        Ok(None)
    }
}

impl<T: Display> StagingWriter<T> for RowsWriter {
    fn stage(&mut self, checkpoint: u64) -> Result<Option<Vec<u8>>> {
        let rows = std::mem::take(&mut self.rows);
        if rows.is_empty() {
            return Ok(None);
        }
        self.to.lock().staged.insert((checkpoint, self.instance), rows);
        Ok(Some(Vec::new()))
    }
}

impl<T: Display> CommittingSink<T> for Rows {
    fn committer(&self) -> Box<dyn Committer> {
        Box::new(self.clone())
    }
}

impl Committer for Rows {
    fn commit(&mut self, checkpoint: u64, instance: u32, _: &[u8]) -> Result<()> {
        let mut shelf = self.lock();
        if let Some(rows) = shelf.staged.remove(&(checkpoint, instance as usize)) {
            shelf.done.push((instance as usize, rows));
        }
        Ok(())
    }
    fn abort(&mut self, checkpoint: u64, instance: u32, _: &[u8]) {
        self.lock().staged.remove(&(checkpoint, instance as usize));
    }
    fn recover(&mut self, checkpoint: u64) -> Result<()> {
        let mut shelf = self.lock();
        shelf.staged.retain(|staged, _| staged.0 <= checkpoint);
        let rows = shelf.done.iter().map(|part| &part.1).chain(shelf.staged.values());
        self.left.store(rows.map(Vec::len).sum(), Ordering::SeqCst);
        Ok(())
    }
}

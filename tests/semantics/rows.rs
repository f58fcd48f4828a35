//! The sink of the suite: what came out, instance by instance, and how much so far.

use flow_core::prelude::*;
use flow_core::sink::{Sink, Writer};
use flow_core::stage::{Commit, OpenCx};
use std::fmt::Display;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

/// What one instance was given.
type Part = (usize, Vec<String>);

#[derive(Clone, Default)]
pub struct Rows {
    parts: Arc<Mutex<Vec<Part>>>,
    left: Arc<AtomicUsize>,
    /// Rows are written with their timestamps.
    stamps: bool,
}

impl Rows {
    pub fn new(stamps: bool) -> Self {
        Rows { stamps, ..Rows::default() }
    }

    /// How many rows have arrived so far.
    pub fn left(&self) -> usize {
        self.left.load(Ordering::SeqCst)
    }

    /// What came, instance by instance, each in its order.
    pub fn take(&self) -> Vec<String> {
        let mut parts = std::mem::take(&mut *self.parts.lock().expect("no writer panics"));
        parts.sort_by_key(|part| part.0);
        parts.into_iter().flat_map(|part| part.1).collect()
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
        self.to.parts.lock().expect("no writer panics").push((self.instance, self.rows));
        Ok(None)
    }
}

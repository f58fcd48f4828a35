//! A text reader whose input may keep it waiting (a terminal, a pipe, a socket) on a thread of its own.
//!
//! The thread hands over what it has read before each read that may wait, so that a record is never
//! held back behind silence, and at [`BATCH_RECORDS_MAX`]. The queue is bounded: a slow pipeline makes
//! the thread wait, and with it whoever writes.

use super::broken::ReadError;
use super::reading::{OnBroken, Records};
use crate::channel::Signal;
use crate::error::{Error, ErrorKind, Result};
use crate::metrics::Counter;
use crate::source::{Poll, Reader};
use crate::stage::OpenCx;
use std::cell::RefCell;
use std::io::{self, Read};
use std::marker::PhantomData;
use std::rc::Rc;
use std::sync::mpsc::{Receiver, SyncSender, TryRecvError, sync_channel};
use std::vec::IntoIter;

/// Batches that may wait for the stage.
const QUEUE_BATCHES_MAX: usize = 4;

/// Records in a batch.
const BATCH_RECORDS_MAX: usize = 1024;

/// What a reader has to know of the stage it reads for.
#[derive(Clone)]
pub(super) struct ForStage {
    /// The stage's name.
    pub name: String,
    /// Wakes it.
    pub signal: Signal,
    /// Counts records that are not as they should be.
    pub invalid: Counter,
}

impl ForStage {
    /// The stage that opens.
    pub fn of(cx: &OpenCx) -> Self {
        let invalid = cx.metrics().counter("invalid");
        ForStage { name: cx.stage().to_string(), signal: cx.signal().clone(), invalid }
    }
}

/// What the thread hands over at a time.
struct Batch<T> {
    records: Vec<Result<T, ReadError>>,
    /// In how many of them invalid UTF-8 was replaced.
    replaced: u64,
    /// Nothing comes after it. A thread that panics hangs up without having said so.
    last: bool,
}

/// Records on their way to the stage.
struct Outbox<T> {
    ready: Vec<Result<T, ReadError>>,
    replaced: u64,
    queue: SyncSender<Batch<T>>,
    stage: Signal,
    /// The stage has gone.
    closed: bool,
}

impl<T> Outbox<T> {
    fn send(&mut self, last: bool) {
        if self.ready.is_empty() && !last {
            return;
        }
        let records = std::mem::take(&mut self.ready);
        let batch = Batch { records, replaced: std::mem::take(&mut self.replaced), last };
        self.closed |= self.queue.send(batch).is_err();
        self.stage.wake();
    }
}

/// The input as the records' reader sees it: before it may wait, what is ready goes out.
pub(super) struct Watched<R, T> {
    input: R,
    outbox: Rc<RefCell<Outbox<T>>>,
}

impl<R: Read, T> Read for Watched<R, T> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        self.outbox.borrow_mut().send(false);
        if self.outbox.borrow().closed { Ok(0) } else { self.input.read(bytes) }
    }
}

/// Wakes the stage when the thread ends, however it ends.
struct WakeAtEnd(Signal);

impl Drop for WakeAtEnd {
    fn drop(&mut self) {
        self.0.wake();
    }
}

/// The source reader: takes what the thread has read.
pub struct Pumped<T, B> {
    queue: Receiver<Batch<T>>,
    batch: IntoIter<Result<T, ReadError>>,
    last: bool,
    invalid: Counter,
    /// Ends the thread's waiting when the stage goes.
    close: Option<Box<dyn FnOnce() + Send>>,
    policy: PhantomData<fn() -> B>,
}

/// Reads `input` on a thread named after the stage. `records` makes the reader there; `close` is called when the
/// stage goes before the input ends, and should make a waiting read return.
///
/// # Errors
/// When the system gives no thread.
pub(super) fn pump<T, B, R, X>(
    input: R,
    records: impl FnOnce(Watched<R, T>) -> X + Send + 'static,
    close: Option<Box<dyn FnOnce() + Send>>,
    stage: ForStage,
) -> io::Result<Pumped<T, B>>
where
    T: Send + 'static,
    R: Read + Send + 'static,
    X: Records<T>,
{
    let (sender, queue) = sync_channel(QUEUE_BATCHES_MAX);
    let ForStage { name, signal, invalid } = stage;
    std::thread::Builder::new().name(format!("{name} reader")).spawn(move || {
        let at_end = WakeAtEnd(signal.clone());
        let outbox = Outbox { ready: Vec::new(), replaced: 0, queue: sender, stage: signal, closed: false };
        let outbox = Rc::new(RefCell::new(outbox));
        let mut records = records(Watched { input, outbox: outbox.clone() });
        read_all(&mut records, &outbox);
        // The queue is hung up first, so that the stage, once woken, sees the end.
        drop((records, outbox));
        drop(at_end);
    })?;
    Ok(Pumped { queue, batch: Vec::new().into_iter(), last: false, invalid, close, policy: PhantomData })
}

fn read_all<T>(records: &mut impl Records<T>, outbox: &RefCell<Outbox<T>>) {
    let mut counted = 0;
    loop {
        // The outbox must not be borrowed here: reading borrows it.
        let next = records.next();
        let mut outbox = outbox.borrow_mut();
        let over = matches!(next, Ok(None) | Err(ReadError::Io { .. }));
        outbox.ready.extend(next.transpose());
        outbox.replaced += records.replaced() - counted;
        counted = records.replaced();
        if over || outbox.ready.len() >= BATCH_RECORDS_MAX {
            outbox.send(over);
        }
        if over || outbox.closed {
            return;
        }
    }
}

impl<T, B> Drop for Pumped<T, B> {
    fn drop(&mut self) {
        if let Some(close) = self.close.take() {
            close();
        }
    }
}

impl<T: Send + 'static, B: OnBroken<T>> Reader<B::Item> for Pumped<T, B> {
    fn poll<O: FnMut(B::Item)>(&mut self, out: &mut O, budget: usize) -> Result<Poll> {
        let mut left = budget;
        while left > 0 {
            match self.batch.next() {
                Some(Ok(record)) => out(B::whole(record)),
                Some(Err(ReadError::Broken(broken))) => {
                    self.invalid.add(1);
                    out(B::broken(broken)?);
                }
                Some(Err(error)) => return Err(error.into()),
                None if self.last => return Ok(Poll::End),
                None => match self.queue.try_recv() {
                    Ok(batch) => {
                        (self.batch, self.last) = (batch.records.into_iter(), batch.last);
                        self.invalid.add(batch.replaced);
                        continue;
                    }
                    Err(TryRecvError::Empty) => return Ok(Poll::Wait),
                    Err(TryRecvError::Disconnected) => {
                        return Err(Error::new(
                            ErrorKind::Source,
                            "the thread that reads the input panicked",
                        ));
                    }
                },
            }
            left -= 1;
        }
        Ok(Poll::More)
    }
}

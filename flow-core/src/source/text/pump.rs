//! A text reader whose input may keep it waiting (a terminal, a pipe, a socket) on a thread of its own.
//!
//! The thread hands over what it has read before each read that may wait, so that a record is never
//! held back behind silence, and at [`BATCH_RECORDS_MAX`]. The queue is bounded: a slow pipeline makes
//! the thread wait, and with it whoever writes.
//!
//! Queue and thread do not know the records' type: what is generic here is compiled in every user's crate.

use super::broken::ReadError;
use super::queue::{Found, Receiver, Sender, queue};
use super::reading::{Next, Records};
use crate::channel::Signal;
use crate::error::{Error, ErrorKind, Result};
use crate::metrics::Counter;
use crate::spawn::spawn;
use crate::stage::OpenCx;
use std::any::Any;
use std::cell::RefCell;
use std::io::{self, Read};
use std::rc::Rc;
use std::vec::IntoIter;

/// Batches that may wait for the stage.
const QUEUE_BATCHES_MAX: usize = 4;

/// Records in a batch.
const BATCH_RECORDS_MAX: usize = 1024;

/// What a reader has to know of the stage it reads for.
#[derive(Clone)]
pub struct ForStage {
    /// The stage's name.
    pub name: String,
    /// Wakes it.
    pub signal: Signal,
    /// Counts records that are not as they should be.
    pub invalid: Counter,
    /// Whether the job takes checkpoints, and so asks where the reader stands.
    pub keeps: bool,
}

impl ForStage {
    /// The stage that opens.
    pub fn of(cx: &OpenCx) -> Self {
        let invalid = cx.metrics().counter("invalid");
        let keeps = cx.saves().is_on() && cx.saves().cut().is_none();
        ForStage { name: cx.stage().to_string(), signal: cx.signal().clone(), invalid, keeps }
    }
}

/// Reads from an input of any kind. A function, because of a [`Read`] all methods would be compiled.
pub type Bytes = Box<dyn FnMut(&mut [u8]) -> io::Result<usize> + Send>;

/// What makes a waiting read return.
type Close = Box<dyn FnOnce() + Send>;

/// What the thread hands over at a time.
struct Parcel {
    /// A `Vec<Result<T, ReadError>>`.
    records: Box<dyn Any + Send>,
    /// In how many of them invalid UTF-8 was replaced.
    replaced: u64,
    /// Nothing comes after it. A thread that panics hangs up without having said so.
    last: bool,
}

/// The thread's end of the queue.
struct Post {
    queue: Sender<Parcel>,
    stage: Signal,
    /// The stage has gone.
    closed: bool,
}

impl Post {
    fn send(&mut self, parcel: Parcel) {
        self.closed |= !self.queue.send(parcel);
        self.stage.wake();
    }
}

/// Records on their way to the stage.
struct Outbox<T> {
    ready: Vec<Result<T, ReadError>>,
    replaced: u64,
    post: Post,
}

/// What a reader does before it may wait.
trait Flush {
    /// Sends what is ready; whether the stage is still there.
    fn flush(&mut self) -> bool;
}

impl<T: Send + 'static> Outbox<T> {
    fn send(&mut self, last: bool) {
        if self.ready.is_empty() && !last {
            return;
        }
        let records = Box::new(std::mem::take(&mut self.ready));
        self.post.send(Parcel { records, replaced: std::mem::take(&mut self.replaced), last });
    }
}

impl<T: Send + 'static> Flush for Outbox<T> {
    fn flush(&mut self) -> bool {
        self.send(false);
        !self.post.closed
    }
}

/// The input as the records' reader sees it: before it may wait, what is ready goes out.
pub(super) struct Watched {
    input: Bytes,
    outbox: Rc<RefCell<dyn Flush>>,
}

impl Read for Watched {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        if self.outbox.borrow_mut().flush() { (self.input)(bytes) } else { Ok(0) }
    }
}

/// Wakes the stage when the thread ends, however it ends.
struct WakeAtEnd(Signal);

impl Drop for WakeAtEnd {
    fn drop(&mut self) {
        self.0.wake();
    }
}

/// Reads `input` on a thread named after the stage. `records` makes the reader there; `close` is called when the
/// stage goes before the input ends, and should make a waiting read return.
///
/// # Errors
/// When the system gives no thread.
pub(super) fn pump<T: Send + 'static, X: Records<T>>(
    input: Bytes,
    records: impl FnOnce(Watched) -> X + Send + 'static,
    close: Option<Close>,
    stage: ForStage,
) -> io::Result<Pumped<T>> {
    let read = move |post| {
        let outbox = Rc::new(RefCell::new(Outbox { ready: Vec::new(), replaced: 0, post }));
        let mut records = records(Watched { input, outbox: outbox.clone() });
        read_all(&mut records, &outbox);
    };
    let invalid = stage.invalid.clone();
    let inbox = start(Box::new(read), close, stage)?;
    Ok(Pumped { inbox, batch: Vec::new().into_iter(), invalid })
}

fn start(
    read: Box<dyn FnOnce(Post) + Send>,
    close: Option<Close>,
    stage: ForStage,
) -> io::Result<Box<dyn Parcels>> {
    let (sender, queue) = queue(QUEUE_BATCHES_MAX);
    let ForStage { name, signal, invalid, .. } = stage;
    let run = move || {
        let at_end = WakeAtEnd(signal.clone());
        // The queue is hung up when this returns, so that the stage, once woken, sees the end.
        read(Post { queue: sender, stage: signal, closed: false });
        drop(at_end);
    };
    spawn(format!("{name} reader"), Box::new(run))?;
    Ok(Box::new(Inbox { queue, last: false, invalid, close }))
}

fn read_all<T: Send + 'static>(records: &mut impl Records<T>, outbox: &RefCell<Outbox<T>>) {
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
        if over || outbox.post.closed {
            return;
        }
    }
}

/// The stage's end of the queue.
struct Inbox {
    queue: Receiver<Parcel>,
    last: bool,
    invalid: Counter,
    /// Ends the thread's waiting when the stage goes.
    close: Option<Close>,
}

impl Drop for Inbox {
    fn drop(&mut self) {
        if let Some(close) = self.close.take() {
            close();
        }
    }
}

/// The stage's end of the queue as its reader holds it: so the drop of a queue is not compiled there either.
trait Parcels: Send {
    /// The next records, or why there are none.
    fn next(&mut self) -> Result<Next<Box<dyn Any + Send>>>;

    /// Where the reader stands, if there is any going back.
    fn position(&self) -> Option<Vec<u8>> {
        None
    }
}

/// What had ended before the checkpoint that the job starts from, at this position.
struct Over(Vec<u8>);

impl Parcels for Over {
    fn next(&mut self) -> Result<Next<Box<dyn Any + Send>>> {
        Ok(Next::End)
    }

    fn position(&self) -> Option<Vec<u8>> {
        Some(self.0.clone())
    }
}

impl Parcels for Inbox {
    fn next(&mut self) -> Result<Next<Box<dyn Any + Send>>> {
        if self.last {
            return Ok(Next::End);
        }
        match self.queue.take() {
            Found::Item(parcel) => {
                self.last = parcel.last;
                self.invalid.add(parcel.replaced);
                Ok(Next::Record(parcel.records))
            }
            Found::Nothing => Ok(Next::Wait),
            Found::Gone => Err(Error::new(ErrorKind::Source, "the thread that reads the input panicked")),
        }
    }
}

/// Takes what the thread has read.
pub struct Pumped<T> {
    inbox: Box<dyn Parcels>,
    batch: IntoIter<Result<T, ReadError>>,
    invalid: Counter,
}

impl<T> Pumped<T> {
    /// Nothing: the input had ended, at `position`.
    pub(super) fn over(position: Vec<u8>) -> Self {
        Pumped { inbox: Box::new(Over(position)), batch: Vec::new().into_iter(), invalid: Counter::default() }
    }

    /// Where it stands, if it had ended.
    pub(super) fn position(&self) -> Option<Vec<u8>> {
        self.inbox.position()
    }
}

impl<T: Send + 'static> Pumped<T> {
    /// What comes next.
    ///
    /// # Errors
    /// When the input cannot be read.
    pub fn next(&mut self) -> Result<Next<T>> {
        loop {
            match self.batch.next() {
                Some(Ok(record)) => return Ok(Next::Record(record)),
                Some(Err(ReadError::Broken(broken))) => {
                    self.invalid.add(1);
                    return Ok(Next::Broken(Box::new(broken)));
                }
                Some(Err(error)) => return Err(error.into()),
                None => {}
            }
            match self.inbox.next()? {
                Next::Record(records) => {
                    let records = records.downcast::<Vec<Result<T, ReadError>>>();
                    self.batch = records.map(|records| *records).unwrap_or_default().into_iter();
                }
                Next::Broken(broken) => return Ok(Next::Broken(broken)),
                Next::Wait => return Ok(Next::Wait),
                Next::End => return Ok(Next::End),
            }
        }
    }
}

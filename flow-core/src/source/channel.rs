//! Records from other parts of the program: a bounded channel with any number of senders.

use super::{Poll, Reader, Source, once};
use crate::channel::Signal;
use crate::error::{Error, ErrorKind, Result};
use crate::op::kind::{Once, Unbounded};
use crate::stage::OpenCx;
use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

/// The shared end of a channel.
struct Shared<T> {
    queue: Mutex<Queue<T>>,
    room: Condvar,
    capacity: usize,
}

struct Queue<T> {
    items: VecDeque<T>,
    senders: usize,
    /// The thread of the stage that reads; none before it has opened.
    reader: Option<Signal>,
    /// The reading stage is gone.
    closed: bool,
}

impl<T> Shared<T> {
    fn lock(&self) -> MutexGuard<'_, Queue<T>> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Sends records into a pipeline. The stream ends when all clones of it are dropped.
pub struct ChannelSender<T>(Arc<Shared<T>>);

/// The pipeline that the sender fed has ended, failed, or was dropped before it ran; the record comes back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ended<T>(pub T);

impl<T> ChannelSender<T> {
    /// Sends a record; waits while the channel is full.
    ///
    /// # Errors
    /// When the pipeline has ended.
    pub fn send(&self, item: T) -> Result<(), Ended<T>> {
        let mut queue = self.0.lock();
        while queue.items.len() >= self.0.capacity && !queue.closed {
            queue = self.0.room.wait(queue).unwrap_or_else(PoisonError::into_inner);
        }
        if queue.closed {
            return Err(Ended(item));
        }
        queue.items.push_back(item);
        // The reader takes all there is: only the first record after that has to wake it.
        let wake = if queue.items.len() == 1 { queue.reader.clone() } else { None };
        drop(queue);
        if let Some(signal) = wake {
            signal.wake();
        }
        Ok(())
    }
}

impl<T> Clone for ChannelSender<T> {
    fn clone(&self) -> Self {
        self.0.lock().senders += 1;
        ChannelSender(Arc::clone(&self.0))
    }
}

impl<T> Drop for ChannelSender<T> {
    fn drop(&mut self) {
        let mut queue = self.0.lock();
        queue.senders -= 1;
        let wake = if queue.senders == 0 { queue.reader.clone() } else { None };
        drop(queue);
        if let Some(signal) = wake {
            signal.wake();
        }
    }
}

/// The receiving end, for `source(…)`: one partition.
pub struct ChannelSource<T>(Arc<Receiving<T>>);

impl<T> Clone for ChannelSource<T> {
    fn clone(&self) -> Self {
        ChannelSource(Arc::clone(&self.0))
    }
}

/// Shared by the clones of the receiving end and its reader: when all of them are gone, nobody will read any more. The
/// job may never have been run, or it failed before it opened the reader.
struct Receiving<T>(Arc<Shared<T>>);

impl<T> Receiving<T> {
    fn close(&self) {
        let mut queue = self.0.lock();
        queue.closed = true;
        let unread = std::mem::take(&mut queue.items);
        drop(queue);
        self.0.room.notify_all();
        // Outside the lock: what a record's destructor does is not known.
        drop(unread);
    }
}

impl<T> Drop for Receiving<T> {
    fn drop(&mut self) {
        self.close();
    }
}

/// A channel of at most `capacity` records into a pipeline.
///
/// ```
/// # use flow_core::prelude::*;
/// let (sender, records) = channel(16);
/// let out = Collected::new();
/// let job = Job::build("doc", |job| job.add(source(records).map(|n: u32| n + 1).collect(&out)));
/// let handle = job.start().unwrap();
/// sender.send(1).unwrap();
/// drop(sender);
/// handle.join().unwrap();
/// assert_eq!(out.take(), [2]);
/// ```
pub fn channel<T: Send + 'static>(capacity: usize) -> (ChannelSender<T>, ChannelSource<T>) {
    let queue = Queue { items: VecDeque::new(), senders: 1, reader: None, closed: false };
    let shared =
        Arc::new(Shared { queue: Mutex::new(queue), room: Condvar::new(), capacity: capacity.max(1) });
    (ChannelSender(Arc::clone(&shared)), ChannelSource(Arc::new(Receiving(shared))))
}

#[diagnostic::do_not_recommend]
impl<T: Send + 'static> Source for ChannelSource<T> {
    type Item = T;
    type Split = ();
    type Reader = ChannelReader<T>;
    type Bounds = Unbounded;
    type Replay = Once;
    fn name(&self) -> &'static str {
        "channel"
    }
    fn splits(&self) -> Result<Vec<()>> {
        Ok(vec![()])
    }
    fn open(&self, (): (), cx: &mut OpenCx) -> Result<ChannelReader<T>> {
        once(cx, "a channel")?;
        let mut queue = self.0.0.lock();
        if queue.reader.is_some() {
            return Err(Error::new(ErrorKind::Source, "a channel can be read by one stream only"));
        }
        queue.reader = Some(cx.signal().clone());
        Ok(ChannelReader { receiving: Arc::clone(&self.0), taken: VecDeque::new() })
    }
}

/// Reads a channel.
pub struct ChannelReader<T> {
    receiving: Arc<Receiving<T>>,
    /// Taken from the channel in one go, not yet given out.
    taken: VecDeque<T>,
}

impl<T: Send + 'static> Reader<T> for ChannelReader<T> {
    fn poll<O: FnMut(T)>(&mut self, out: &mut O, budget: usize) -> Result<Poll> {
        if self.taken.is_empty() {
            let shared = &self.receiving.0;
            let mut queue = shared.lock();
            std::mem::swap(&mut queue.items, &mut self.taken);
            let over = queue.senders == 0;
            drop(queue);
            if self.taken.is_empty() {
                return Ok(if over { Poll::End } else { Poll::Wait });
            }
            shared.room.notify_all();
        }
        let n = budget.min(self.taken.len());
        self.taken.drain(..n).for_each(out);
        Ok(Poll::More)
    }
}

impl<T> Drop for ChannelReader<T> {
    fn drop(&mut self) {
        self.receiving.close();
    }
}

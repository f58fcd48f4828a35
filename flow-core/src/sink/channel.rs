//! Records to other parts of the program, through a standard channel.

use super::{Sink, Writer, sink_error};
use crate::error::{Error, Result};
use crate::stage::{Commit, OpenCx};
use crate::time::Timestamp;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::mpsc::{SyncSender, TrySendError};
use std::time::Duration;

/// Between two tries while the channel is full: short at first, so that a quick reader does not run dry.
const PAUSE_MIN: Duration = Duration::from_micros(20);
const PAUSE_MAX: Duration = Duration::from_millis(1);

/// See [`to_channel`].
pub struct ChannelSink<T>(SyncSender<T>);

impl<T> Clone for ChannelSink<T> {
    fn clone(&self) -> Self {
        ChannelSink(self.0.clone())
    }
}

/// Sends each record into a bounded channel of the standard library. While it is full the sink's thread waits: read it on
/// another thread than the one that runs the job.
///
/// ```
/// # use flow_core::prelude::*;
/// let (sender, receiver) = std::sync::mpsc::sync_channel(8);
/// let job = Job::build("doc", |job| job.add(source(from_iter(0..100)).sink(to_channel(sender))));
/// let handle = job.start().unwrap();
/// assert_eq!(receiver.iter().sum::<i32>(), 4950);
/// handle.join().unwrap();
/// ```
pub fn to_channel<T: Send + 'static>(sender: SyncSender<T>) -> ChannelSink<T> {
    ChannelSink(sender)
}

#[diagnostic::do_not_recommend]
impl<T: Send + 'static> Sink<T> for ChannelSink<T> {
    type Writer = ChannelWriter<T>;
    fn name(&self) -> &'static str {
        "to_channel"
    }
    fn open(&self, cx: &mut OpenCx) -> Result<ChannelWriter<T>> {
        Ok(ChannelWriter { sender: self.0.clone(), over: Arc::clone(cx.over()) })
    }
}

/// Writes into a channel.
pub struct ChannelWriter<T> {
    sender: SyncSender<T>,
    over: Arc<AtomicBool>,
}

impl<T> ChannelWriter<T> {
    /// The channel is full. The standard library's own waiting would go on when the job has failed.
    #[cold]
    fn wait(&self, mut item: T) -> Result<()> {
        let mut pause = PAUSE_MIN;
        while !self.over.load(Relaxed) {
            std::thread::sleep(pause);
            pause = (2 * pause).min(PAUSE_MAX);
            item = match self.sender.try_send(item) {
                Ok(()) => return Ok(()),
                Err(TrySendError::Full(item)) => item,
                Err(TrySendError::Disconnected(_)) => return Err(gone()),
            };
        }
        Err(sink_error("the job ended while the channel was full"))
    }
}

fn gone() -> Error {
    sink_error("the receiving end of the channel is gone").note("keep it until the job has ended")
}

impl<T: Send + 'static> Writer<T> for ChannelWriter<T> {
    #[inline]
    fn write(&mut self, item: T, _: Timestamp) -> Result<()> {
        match self.sender.try_send(item) {
            Ok(()) => Ok(()),
            Err(TrySendError::Full(item)) => self.wait(item),
            Err(TrySendError::Disconnected(_)) => Err(gone()),
        }
    }
    fn finish(self) -> Result<Option<Box<dyn Commit>>> {
        Ok(None)
    }
}

//! Records to other parts of the program, through a standard channel.

use super::{Sink, Writer, sink_error};
use crate::error::Result;
use crate::stage::{Commit, OpenCx};
use crate::time::Timestamp;
use std::sync::mpsc::SyncSender;

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

impl<T: Send + 'static> Sink<T> for ChannelSink<T> {
    type Writer = ChannelWriter<T>;
    fn name(&self) -> &'static str {
        "to_channel"
    }
    fn open(&self, _: &mut OpenCx) -> Result<ChannelWriter<T>> {
        Ok(ChannelWriter(self.0.clone()))
    }
}

/// Writes into a channel.
pub struct ChannelWriter<T>(SyncSender<T>);

impl<T: Send + 'static> Writer<T> for ChannelWriter<T> {
    fn write(&mut self, item: T, _: Timestamp) -> Result<()> {
        let gone = |_| {
            sink_error("the receiving end of the channel is gone").note("keep it until the job has ended")
        };
        self.0.send(item).map_err(gone)
    }
    fn finish(self) -> Result<Option<Box<dyn Commit>>> {
        Ok(None)
    }
}

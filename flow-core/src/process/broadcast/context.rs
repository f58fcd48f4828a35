//! What can be asked where a record is taken that every instance gets.

use crate::process::kinds::InEventTime;
use crate::stage::Stamp;
use crate::time::Timestamp;

/// The context of [`BroadcastProcess::broadcast`](super::BroadcastProcess::broadcast): the record's time alone. The watermark, the
/// clock and the instance's number differ from instance to instance.
#[derive(Debug)]
pub struct BroadcastContext<S: Stamp = Timestamp> {
    pub(super) stamp: S,
}

impl<S: Stamp> BroadcastContext<S> {
    /// The time of the record.
    pub fn timestamp(&self) -> Timestamp
    where
        S: InEventTime,
    {
        self.stamp.time()
    }
}

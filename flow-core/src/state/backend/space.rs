//! What a stage instance has of a state backend.

use super::StateStore;
use crate::error::Error;

/// A store of one operator, with how much of its state may be in memory and what ends the job when the store fails.
pub(crate) struct Space {
    /// The store.
    pub store: Box<dyn StateStore>,
    /// Bytes of it that a table keeps in memory at most.
    pub share: usize,
    report: Box<dyn Fn(Error) + Send>,
}

impl Space {
    /// `report` ends the job with an error.
    pub fn new(store: Box<dyn StateStore>, share: usize, report: impl Fn(Error) + Send + 'static) -> Self {
        Space { store, share, report: Box::new(report) }
    }

    /// Ends the job: state could not be written or read back.
    #[cold]
    pub fn report(&self, error: Error) {
        (self.report)(error);
    }
}

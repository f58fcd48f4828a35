//! Where jobs of the suite keep their state: every case runs with each of them.

use flow_core::Job;

/// A state backend.
#[derive(Debug, Clone, Copy)]
pub enum Backend {
    Memory,
}

/// All that there are.
pub const BACKENDS: [Backend; 1] = [Backend::Memory];

impl Backend {
    /// The same job with this backend.
    pub fn give(self, job: Job) -> Job {
        match self {
            Backend::Memory => job,
        }
    }

    /// Whether the order of rows is defined with it, where nobody dies.
    pub fn in_order(self) -> bool {
        match self {
            Backend::Memory => true,
        }
    }
}

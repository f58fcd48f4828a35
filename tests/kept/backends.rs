//! Where jobs of the suite keep their state: every case runs with each of them.

use flow_core::Job;
use flow_core::testing::MapBackend;

/// A state backend.
#[derive(Debug, Clone, Copy)]
pub enum Backend {
    Memory,
    /// Nothing stays in the memory of a table that need not; the store is a map.
    Maps,
}

/// All that there are.
pub const BACKENDS: [Backend; 2] = [Backend::Memory, Backend::Maps];

impl Backend {
    /// The same job with this backend.
    pub fn give(self, job: Job) -> Job {
        match self {
            Backend::Memory => job,
            Backend::Maps => job.state_backend(MapBackend::with_limit(0)),
        }
    }

    /// Whether the order of rows is defined with it, where nobody dies.
    pub fn in_order(self) -> bool {
        match self {
            Backend::Memory => true,
            Backend::Maps => false,
        }
    }
}

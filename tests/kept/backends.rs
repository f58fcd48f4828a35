//! Where jobs of the suite keep their state: every case runs in memory and with a backend of maps, those about checkpoints on the disk
//! too, and all of them with `FLOW_FAULTS=all`.

use flow_core::Job;
use flow_core::prelude::Fjall;
use flow_core::testing::{MapBackend, NothingInMemory};

/// State on the disk, of which nothing stays in the memory of a table that need not. The folder goes with it.
pub struct Disk {
    folder: tempfile::TempDir,
    backend: NothingInMemory<Fjall>,
}

impl Disk {
    pub fn new() -> Self {
        // In memory where the system has such a folder: each run makes a database, and waits for the disk a dozen times.
        let folder = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir());
        let folder = folder.expect("a folder for temporary files");
        let backend = NothingInMemory::of(Fjall::at(folder.path()).memory_limit(16 << 20));
        Disk { folder, backend }
    }

    /// How many entries have gone there. No run has left anything.
    pub fn entries(&self) -> usize {
        let left = std::fs::read_dir(self.folder.path()).expect("the folder is there").count();
        assert_eq!(left, 0, "runs have left something on the disk");
        self.backend.puts()
    }
}

/// A state backend.
#[derive(Clone, Copy)]
pub enum Backend<'a> {
    Memory,
    /// Nothing stays in the memory of a table that need not; the store is a map.
    Maps,
    Disk(&'a Disk),
}

impl std::fmt::Debug for Backend<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        f.write_str(match self {
            Backend::Memory => "Memory",
            Backend::Maps => "Maps",
            Backend::Disk(_) => "Disk",
        })
    }
}

impl Backend<'_> {
    /// The same job with this backend.
    pub fn give(self, job: Job) -> Job {
        match self {
            Backend::Memory => job,
            Backend::Maps => job.state_backend(MapBackend::with_limit(0)),
            Backend::Disk(disk) => job.state_backend(disk.backend.clone()),
        }
    }

    /// Whether a run with it takes many times as long.
    pub fn is_slow(self) -> bool {
        matches!(self, Backend::Disk(_))
    }

    /// Whether the order of rows is defined with it, where nobody dies.
    pub fn in_order(self) -> bool {
        matches!(self, Backend::Memory)
    }
}

//! The few operations that checkpoints need of a disk.

use std::io;

/// A folder of files, without folders in it. [`Folder`](super::Folder) is a real one; [`SimFs`](crate::testing::SimFs) one that crashes.
///
/// What is written is on the disk after [`StorageFile::sync`]; which names there are, after [`sync_folder`](Storage::sync_folder).
/// After a failed sync what was to be synced is lost: it must not be tried again.
pub trait Storage: Send + Sync + 'static {
    /// A new, empty file.
    ///
    /// # Errors
    /// When there is one of that name (`AlreadyExists`), or it cannot be created.
    fn create(&self, name: &str) -> io::Result<Box<dyn StorageFile>>;

    /// The length of a file in bytes.
    ///
    /// # Errors
    /// When there is none (`NotFound`), or it cannot be looked at.
    fn len(&self, name: &str) -> io::Result<u64>;

    /// Exactly `bytes` bytes of a file, from byte `at` on.
    ///
    /// # Errors
    /// When the file has fewer (`UnexpectedEof`), or cannot be read.
    fn read_at(&self, name: &str, at: u64, bytes: usize) -> io::Result<Vec<u8>>;

    /// Gives a file another name.
    ///
    /// # Errors
    /// When that cannot be done.
    fn rename(&self, from: &str, to: &str) -> io::Result<()>;

    /// Removes a file.
    ///
    /// # Errors
    /// When there is none (`NotFound`), or it cannot be removed.
    fn remove(&self, name: &str) -> io::Result<()>;

    /// The names of all files, in no order.
    ///
    /// # Errors
    /// When the folder cannot be read.
    fn list(&self) -> io::Result<Vec<String>>;

    /// Brings the names to the disk: what was created, renamed and removed.
    ///
    /// # Errors
    /// When that cannot be done; which names are on the disk is not known then.
    fn sync_folder(&self) -> io::Result<()>;

    /// Locks the folder for this job until the guard is dropped, and writes who has it into the file [`LOCK`]: text that no other locking
    /// has ever written, so that a job can see whether the lock is still its own.
    ///
    /// # Errors
    /// `WouldBlock` when another process or job has it; the error names its process.
    fn lock(&self) -> io::Result<Box<dyn Send + Sync>>;

    /// What to call a file in a message: its path.
    fn describe(&self, name: &str) -> String;
}

/// A file that is being written.
pub trait StorageFile: Send {
    /// Appends bytes.
    ///
    /// # Errors
    /// When not all of them could be written, for instance because the disk is full.
    fn write(&mut self, bytes: &[u8]) -> io::Result<()>;

    /// Brings all that was written to the disk.
    ///
    /// # Errors
    /// When that cannot be done. What was written is lost then, and trying again may succeed without having done it.
    fn sync(&mut self) -> io::Result<()>;
}

/// The file that is locked, and says who has locked it.
pub const LOCK: &str = "lock";

/// What stands in the lock file: the process, and what tells this locking from all others.
pub(crate) fn lock_text(turn: u128) -> String {
    format!("process {} turn {turn}\n", std::process::id())
}

/// The error of a folder whose lock says `text`.
pub(crate) fn locked(text: &str) -> io::Error {
    let by = text.strip_prefix("process ").and_then(|rest| rest.split_whitespace().next());
    let by = by.map_or_else(|| "another process".into(), |pid| format!("process {pid}"));
    io::Error::new(io::ErrorKind::WouldBlock, format!("locked by {by}"))
}

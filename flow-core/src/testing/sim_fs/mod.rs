//! A simulated disk: every state in which a crash can leave it, and failures at any call.

mod crash;
#[cfg(test)]
mod tests;

pub use crash::{Crash, CrashPoint};

use crate::checkpoint::{LOCK, Storage, StorageFile, lock_text, locked};
use std::collections::BTreeMap;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A folder in memory that remembers what was done with it, so that every crash can be tried afterwards. Its clones are the same folder.
///
/// ```
/// use flow_core::checkpoint::Storage;
/// use flow_core::testing::SimFs;
///
/// let disk = SimFs::new();
/// let mut file = disk.create("note.tmp")?;
/// file.write(b"hello")?;
/// disk.rename("note.tmp", "note")?;
/// // Nothing was synced: after a crash there is the note or not, whole or cut short.
/// let left: Vec<_> = disk.crashes().map(|crash| crash.disk.contents().remove("note")).collect();
/// assert!(left.contains(&None) && left.contains(&Some(b"hello".to_vec())) && left.contains(&Some(vec![])));
///
/// file.sync()?;
/// disk.sync_folder()?;
/// let end = disk.crash_point(disk.operations());
/// assert_eq!(end.count(), 1);
/// assert_eq!(end.crash(0).disk.contents()["note"], b"hello");
/// # Ok::<(), std::io::Error>(())
/// ```
///
/// # What a crash may leave
/// * Of a file: what was synced, and any beginning of what was written since, cut where a write ends or at a multiple of 512 bytes. The rest is missing, or is
///   there and reads as zeros.
/// * Of names: those at the last sync of the folder, and any subset of the changes since, in their order. A rename is two changes, so that
///   a file may have both names or none.
/// * What was written to a file whose sync failed is lost, even if it is synced once more.
///
/// Not among them: sectors of one file that come to the disk in another order than they were written in, and, beyond 14 changes of names
/// without a sync of the folder, other subsets of them than their beginnings with one change more or less.
#[derive(Clone, Default)]
pub struct SimFs {
    disk: Arc<Mutex<Disk>>,
}

/// How a call of [`SimFs`] fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Failure {
    /// The disk is full (`ENOSPC`). Of what was to be written half is.
    Full,
    /// The device fails (`EIO`).
    Io,
}

impl Failure {
    #[inline]
    fn error(self) -> io::Error {
        match self {
            Self::Full => io::Error::new(io::ErrorKind::StorageFull, "no space left on device"),
            Self::Io => io::Error::other("input/output error"),
        }
    }
}

/// The number of a file, whatever its names.
type FileId = usize;

/// Something that was done to the disk.
#[derive(Debug, Clone)]
enum Done {
    Create(String, FileId),
    /// So many bytes were appended.
    Write(FileId, usize),
    Sync(FileId),
    /// A sync failed.
    Lost(FileId),
    Rename(String, String),
    Remove(String),
    SyncFolder,
}

#[derive(Default)]
struct Disk {
    /// All that was ever written, by file.
    files: Vec<Vec<u8>>,
    names: BTreeMap<String, FileId>,
    /// The names at the beginning; those files were on the disk as they were.
    began: BTreeMap<String, FileId>,
    /// The lengths of the files at the beginning.
    began_len: Vec<usize>,
    done: Vec<Done>,
    calls: u64,
    failures: BTreeMap<u64, Failure>,
    bytes_max: Option<usize>,
    /// What the lock file says.
    lock_text: Option<String>,
    /// Which turn has the lock.
    lock: Option<u128>,
    turns: u128,
}

impl SimFs {
    /// An empty folder.
    #[inline]
    pub fn new() -> Self {
        Self::default()
    }

    /// A folder with these files, all of them on the disk.
    #[inline]
    pub fn with(files: BTreeMap<String, Vec<u8>>) -> Self {
        let mut disk = Disk::default();
        for (name, bytes) in files {
            disk.names.insert(name, disk.files.len());
            disk.began_len.push(bytes.len());
            disk.files.push(bytes);
        }
        disk.began = disk.names.clone();
        SimFs { disk: Arc::new(Mutex::new(disk)) }
    }

    /// The files as a process sees them.
    #[inline]
    pub fn contents(&self) -> BTreeMap<String, Vec<u8>> {
        let disk = self.disk();
        disk.names.iter().map(|(name, file)| (name.clone(), disk.files[*file].clone())).collect()
    }

    /// Calls until now, but for those of `lock`.
    #[inline]
    pub fn calls(&self) -> u64 {
        self.disk().calls
    }

    /// Lets the `k`th call from now on fail, the next being the first.
    #[inline]
    pub fn fail(&self, k: u64, failure: Failure) {
        let mut disk = self.disk();
        let call = disk.calls + k;
        disk.failures.insert(call, failure);
    }

    /// From now on the files have so many bytes together, at most; `None` lifts it. Of a write that does not fit the beginning is written.
    #[inline]
    pub fn limit(&self, bytes_max: Option<usize>) {
        self.disk().bytes_max = bytes_max;
    }

    /// Takes the lock from whoever has it, as one who deletes the lock file does.
    #[inline]
    pub fn break_lock(&self) {
        let mut disk = self.disk();
        disk.lock = None;
        disk.lock_text = None;
    }

    /// Operations that changed something, until now.
    #[inline]
    pub fn operations(&self) -> usize {
        self.disk().done.len()
    }

    /// A crash after so many operations.
    #[inline]
    pub fn crash_point(&self, operations: usize) -> CrashPoint {
        CrashPoint::after(&self.disk(), operations)
    }

    /// Every state in which a crash at any time leaves the disk.
    #[inline]
    pub fn crashes(&self) -> impl Iterator<Item = Crash> + use<> {
        self.crashes_from(0)
    }

    /// Those of crashes after at least so many operations.
    #[inline]
    pub fn crashes_from(&self, operations: usize) -> impl Iterator<Item = Crash> + use<> {
        let (folder, end) = (self.clone(), self.operations());
        let points = (operations..=end).map(move |operations| folder.crash_point(operations));
        points.flat_map(|point| (0..point.count()).map(move |n| point.crash(n)))
    }

    #[inline]
    fn disk(&self) -> MutexGuard<'_, Disk> {
        self.disk.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts a call, which may have to fail.
    #[inline]
    fn call(&self) -> (MutexGuard<'_, Disk>, Option<Failure>) {
        let mut disk = self.disk();
        disk.calls += 1;
        let call = disk.calls;
        let failure = disk.failures.remove(&call);
        (disk, failure)
    }

    /// Counts a call, and fails if it has to.
    #[inline]
    fn ask(&self) -> io::Result<MutexGuard<'_, Disk>> {
        match self.call() {
            (_, Some(failure)) => Err(failure.error()),
            (disk, None) => Ok(disk),
        }
    }
}

impl Disk {
    #[inline]
    fn find(&self, name: &str) -> io::Result<&[u8]> {
        match &self.lock_text {
            Some(text) if name == LOCK => Ok(text.as_bytes()),
            _ => self.names.get(name).map(|file| &self.files[*file][..]).ok_or_else(gone),
        }
    }

    /// How many of `bytes` more fit.
    #[inline]
    fn room(&self, bytes: usize) -> usize {
        let Some(most) = self.bytes_max else { return bytes };
        let taken: usize = self.names.values().map(|file| self.files[*file].len()).sum();
        bytes.min(most.saturating_sub(taken))
    }
}

impl Storage for SimFs {
    #[inline]
    fn create(&self, name: &str) -> io::Result<Box<dyn StorageFile>> {
        let mut disk = self.ask()?;
        if disk.names.contains_key(name) {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        let file = disk.files.len();
        disk.files.push(Vec::new());
        disk.names.insert(name.to_owned(), file);
        disk.done.push(Done::Create(name.to_owned(), file));
        Ok(Box::new(SimFile { fs: self.clone(), file }))
    }

    #[inline]
    fn len(&self, name: &str) -> io::Result<u64> {
        Ok(self.ask()?.find(name)?.len() as u64)
    }

    #[inline]
    fn read_at(&self, name: &str, at: u64, bytes: usize) -> io::Result<Vec<u8>> {
        let disk = self.ask()?;
        let rest = disk.find(name)?.get(at as usize..).and_then(|rest| rest.get(..bytes));
        rest.map(<[u8]>::to_vec).ok_or_else(|| io::ErrorKind::UnexpectedEof.into())
    }

    #[inline]
    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        let mut disk = self.ask()?;
        let file = disk.names.remove(from).ok_or_else(gone)?;
        disk.names.insert(to.to_owned(), file);
        disk.done.push(Done::Rename(from.to_owned(), to.to_owned()));
        Ok(())
    }

    #[inline]
    fn remove(&self, name: &str) -> io::Result<()> {
        let mut disk = self.ask()?;
        disk.names.remove(name).ok_or_else(gone)?;
        disk.done.push(Done::Remove(name.to_owned()));
        Ok(())
    }

    #[inline]
    fn list(&self) -> io::Result<Vec<String>> {
        let disk = self.ask()?;
        let lock = disk.lock_text.is_some().then(|| LOCK.to_owned());
        Ok(disk.names.keys().cloned().chain(lock).collect())
    }

    #[inline]
    fn sync_folder(&self) -> io::Result<()> {
        self.ask()?.done.push(Done::SyncFolder);
        Ok(())
    }

    #[inline]
    fn lock(&self) -> io::Result<Box<dyn Send + Sync>> {
        let mut disk = self.disk();
        if disk.lock.is_some() {
            return Err(locked(disk.lock_text.as_deref().unwrap_or_default()));
        }
        disk.turns += 1;
        disk.lock = Some(disk.turns);
        disk.lock_text = Some(lock_text(disk.turns));
        Ok(Box::new(SimLock { fs: self.clone(), turn: disk.turns }))
    }

    #[inline]
    fn describe(&self, name: &str) -> String {
        format!("simulated/{name}")
    }
}

#[cold]
#[inline]
fn gone() -> io::Error {
    io::ErrorKind::NotFound.into()
}

struct SimFile {
    fs: SimFs,
    file: FileId,
}

impl StorageFile for SimFile {
    #[inline]
    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        let (mut disk, failure) = self.fs.call();
        let written = match failure {
            None => disk.room(bytes.len()),
            Some(Failure::Full) => bytes.len() / 2,
            Some(Failure::Io) => 0,
        };
        disk.files[self.file].extend_from_slice(&bytes[..written]);
        if written > 0 {
            disk.done.push(Done::Write(self.file, written));
        }
        match failure {
            Some(failure) => Err(failure.error()),
            None if written < bytes.len() => Err(Failure::Full.error()),
            None => Ok(()),
        }
    }

    #[inline]
    fn sync(&mut self) -> io::Result<()> {
        let (mut disk, failure) = self.fs.call();
        disk.done.push(if failure.is_some() { Done::Lost(self.file) } else { Done::Sync(self.file) });
        failure.map_or(Ok(()), |failure| Err(failure.error()))
    }
}

/// The lock, until it is dropped or taken by force.
struct SimLock {
    fs: SimFs,
    turn: u128,
}

impl Drop for SimLock {
    #[inline]
    fn drop(&mut self) {
        let mut disk = self.fs.disk();
        if disk.lock == Some(self.turn) {
            disk.lock = None;
        }
    }
}

//! A file that appears under its name only when it is whole.
//!
//! 1. Everything is written beside the target, in the same folder, as `NAME.part-PID-N`.
//! 2. `finish` gives it to the disk, so that a full disk is an error now and not after the commit.
//! 3. `commit` renames it. If the process dies before that, no partial file bears the target's name.
//!
//! Dropped before the commit, or aborted, the staged file is removed.

use crate::error::{Error, Result};
use crate::sink::{sink_error, write_error};
use crate::stage::Commit;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Tells apart the files one process stages for the same target.
static STAGED: AtomicU64 = AtomicU64::new(0);

/// The targets that sinks of this process are writing: two of them would replace each other's result.
static TARGETS: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

fn targets() -> MutexGuard<'static, Vec<PathBuf>> {
    TARGETS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Whether nobody else is writing `target`; from now on this sink is.
fn claim(target: &Path) -> bool {
    let mut targets = targets();
    let free = targets.iter().all(|other| other != target);
    if free {
        targets.push(target.into());
    }
    free
}

fn give_back(target: &Path) {
    targets().retain(|other| other != target);
}

/// The file while it is written.
#[derive(Debug)]
pub(super) struct StagedFile {
    target: PathBuf,
    /// Where it is staged; `None` for a target that is no regular file (a device, a pipe), which is
    /// written directly, and once nothing is left to remove.
    staged: Option<PathBuf>,
    file: File,
    bytes: u64,
}

impl StagedFile {
    /// Creates the staged file for `target`.
    ///
    /// `-` is standard output, written directly.
    pub fn create(target: &Path) -> Result<Self> {
        if target == Path::new("-") {
            let target = PathBuf::from("standard output");
            let file = standard_output().map_err(|error| failed(&target, &error))?;
            return Ok(StagedFile { target, staged: None, file, bytes: 0 });
        }
        let direct = fs::metadata(target).is_ok_and(|found| !found.is_file() && !found.is_dir());
        if direct {
            let file = File::options().write(true).open(target).map_err(|error| failed(target, &error))?;
            return Ok(StagedFile { target: target.into(), staged: None, file, bytes: 0 });
        }
        let not_a_file = || io::Error::new(io::ErrorKind::IsADirectory, "a file name is needed");
        let Some(name) = target.file_name().filter(|_| !target.is_dir()) else {
            return Err(failed(target, &not_a_file()));
        };
        if !claim(target) {
            let what = format!("{}: another sink is writing this file", target.display());
            return Err(sink_error(what).note("give each sink a file of its own"));
        }
        let n = STAGED.fetch_add(1, Ordering::Relaxed);
        let mut part = name.to_os_string();
        part.push(format!(".part-{}-{n}", std::process::id()));
        let staged = target.with_file_name(part);
        let file = File::create(&staged).map_err(|error| {
            give_back(target);
            failed(target, &error)
        })?;
        Ok(StagedFile { target: target.into(), staged: Some(staged), file, bytes: 0 })
    }

    /// Bytes written so far.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// An error of this file's.
    pub fn error(&self, error: &io::Error) -> Error {
        failed(&self.target, error)
    }

    /// An error of what was to be written.
    pub fn refused(&self, what: &str) -> Error {
        sink_error(format!("{}: {what}", self.target.display()))
    }

    /// Gives what was written to the disk. After it only the rename can fail.
    pub fn finish(&self) -> Result<()> {
        if self.staged.is_none() {
            return Ok(());
        }
        self.file.sync_all().map_err(|error| self.error(&error))
    }
}

impl Commit for StagedFile {
    fn commit(mut self: Box<Self>) -> Result<()> {
        let Some(staged) = self.staged.take() else { return Ok(()) };
        fs::rename(&staged, &self.target).map_err(|error| {
            self.error(&error).note(format!("the whole result stands in {}", staged.display()))
        })
    }

    fn abort(self: Box<Self>) {}
}

impl Write for StagedFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.file.write(bytes)?;
        self.bytes += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Drop for StagedFile {
    fn drop(&mut self) {
        if let Some(staged) = &self.staged {
            // Nothing can be done about a file that will not go; its name says that it is no result.
            let _ = fs::remove_file(staged);
        }
        give_back(&self.target);
    }
}

/// Standard output without the buffer and lock of `std::io::stdout`.
fn standard_output() -> io::Result<File> {
    #[cfg(unix)]
    let handle = std::os::fd::AsFd::as_fd(&io::stdout()).try_clone_to_owned();
    #[cfg(windows)]
    let handle = std::os::windows::io::AsHandle::as_handle(&io::stdout()).try_clone_to_owned();
    handle.map(File::from)
}

#[cold]
fn failed(target: &Path, error: &io::Error) -> Error {
    write_error(&target.display().to_string(), error)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).unwrap();
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
    }

    #[test]
    fn appears_whole_or_not_at_all() {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("out.txt");
        fs::write(&target, "old").unwrap();

        let mut dropped = StagedFile::create(&target).unwrap();
        dropped.write_all(b"half").unwrap();
        let part = format!("out.txt.part-{}-", std::process::id());
        assert!(names(folder.path()).iter().any(|name| name.starts_with(&part)));
        drop(dropped);
        assert_eq!((names(folder.path()).len(), fs::read_to_string(&target).unwrap().as_str()), (1, "old"));

        let mut aborted = StagedFile::create(&target).unwrap();
        aborted.write_all(b"half").unwrap();
        Box::new(aborted).abort();
        assert_eq!((names(folder.path()).len(), fs::read_to_string(&target).unwrap().as_str()), (1, "old"));

        let mut whole = StagedFile::create(&target).unwrap();
        whole.write_all(b"whole").unwrap();
        whole.finish().unwrap();
        assert_eq!((whole.bytes(), fs::read_to_string(&target).unwrap().as_str()), (5, "old"));
        Box::new(whole).commit().unwrap();
        assert_eq!((names(folder.path()).len(), fs::read_to_string(&target).unwrap().as_str()), (1, "whole"));
    }

    #[test]
    fn errors_name_the_file() {
        for path in ["/no/such/folder/out.txt", "/tmp", "/"] {
            let error = StagedFile::create(Path::new(path)).unwrap_err().to_string();
            assert!(error.starts_with(&format!("sink failed: {path}: cannot be written: ")), "{error}");
        }
    }
}

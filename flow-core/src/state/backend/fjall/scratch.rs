//! The folder of one run: made, held by a lock while the process lives, and removed.
//!
//! `flow-state-PID-N.lock` is locked before the folder `flow-state-PID-N` is made, and goes after it. So a folder whose lock can be taken
//! belongs to nobody any more.

use crate::error::{Error, ErrorKind, Result};
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

const PREFIX: &str = "flow-state-";
const LOCK: &str = "lock";

/// How often another number is tried, where somebody has taken the lock of ours for one that was left.
const TRIES_MAX: usize = 16;

pub(super) struct Scratch {
    folder: PathBuf,
    /// Held as long as this lives.
    _lock: File,
}

impl Scratch {
    /// A new one below `place`; those that belong to nobody go.
    pub fn make(place: &Path) -> Result<Self> {
        Self::try_make(place).map_err(|error| {
            let what = format!("the folder of the state backend {}: {error}", place.display());
            Error::new(ErrorKind::State, what)
                .note("`Fjall::at(folder)` has to be a folder that can be written")
        })
    }

    fn try_make(place: &Path) -> io::Result<Self> {
        fs::create_dir_all(place)?;
        remove_left(place)?;
        static NEXT: AtomicU64 = AtomicU64::new(0);
        for _ in 0..TRIES_MAX {
            let name = format!("{PREFIX}{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
            let folder = place.join(name);
            let path = folder.with_extension(LOCK);
            let lock = File::create(&path)?;
            // Another process may have found it before it was locked, and removed it.
            if lock.try_lock().is_ok() && path.exists() {
                fs::create_dir(&folder)?;
                return Ok(Scratch { folder, _lock: lock });
            }
        }
        Err(io::Error::other("no lock can be taken in it"))
    }

    /// Where the database lies.
    pub fn database(&self) -> PathBuf {
        self.folder.join("db")
    }

    /// What to do when something cannot be written or read.
    pub fn advice(&self) -> String {
        let place = self.folder.parent().unwrap_or(&self.folder);
        format!(
            "state beyond the memory limit lies in {}: see whether the disk is full or has failed, then start the job again: it goes on from its last checkpoint",
            place.display()
        )
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // What cannot be removed now the next run removes.
        let _ = fs::remove_dir_all(&self.folder);
        let _ = fs::remove_file(self.folder.with_extension(LOCK));
    }
}

/// Removes the folders of processes that have died.
fn remove_left(place: &Path) -> io::Result<()> {
    for entry in fs::read_dir(place)? {
        let path = entry?.path();
        let name = path.file_name().and_then(OsStr::to_str).unwrap_or_default();
        if !name.starts_with(PREFIX) || path.extension() != Some(OsStr::new(LOCK)) {
            continue;
        }
        let Ok(lock) = File::open(&path) else { continue };
        if lock.try_lock().is_ok() {
            match fs::remove_dir_all(path.with_extension("")) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => fs::remove_file(&path)?,
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_left_goes_and_what_lives_stays() {
        let place = tempfile::tempdir().unwrap();
        let names = || {
            let entries =
                fs::read_dir(place.path()).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap());
            let mut names: Vec<String> = entries.collect();
            names.sort();
            names
        };
        fs::write(place.path().join("flow-state-1-1.lock"), "").unwrap();
        fs::create_dir_all(place.path().join("flow-state-1-1/db")).unwrap();
        fs::write(place.path().join("flow-state-1-1/db/0.jnl"), "state").unwrap();
        fs::write(place.path().join("mine.lock"), "").unwrap();
        fs::create_dir(place.path().join("mine")).unwrap();
        let first = Scratch::make(place.path()).unwrap();
        fs::write(first.folder.join("file"), "state").unwrap();
        let second = Scratch::make(place.path()).unwrap();
        assert!(first.folder.join("file").exists() && second.folder.exists());
        assert_eq!(names().len(), 6, "{:?}", names());
        drop((first, second));
        assert_eq!(names(), ["mine", "mine.lock"]);
    }

    #[test]
    fn a_place_that_cannot_be_written_is_named() {
        let place = tempfile::tempdir().unwrap();
        let file = place.path().join("file");
        fs::write(&file, "").unwrap();
        let error = Scratch::make(&file).err().unwrap().to_string();
        assert!(error.contains("file") && error.contains("Fjall::at"), "{error}");
    }
}

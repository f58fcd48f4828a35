//! A file of records, written once and read once. It has no name, so whatever ends the process, it goes too.
//!
//! ```text
//! file   := block*
//! block  := length u32 (little-endian), records        the codec's bytes, one after the other; a record is in one block
//! ```

use super::Spill;
use crate::error::{Error, ErrorKind, Result};
use crate::state::{Durable, Keep};
use std::fs::{File, OpenOptions};
use std::hash::{BuildHasher, RandomState};
use std::io::{Read, Seek, SeekFrom, Write};
use std::marker::PhantomData;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// Bytes of a block, about.
pub(super) const BLOCK: usize = 1 << 16;

/// Names that are tried where something has the one before.
const NAMES: usize = 16;

/// A file that is being written.
pub(crate) struct Writing<T> {
    file: Unnamed,
    block: Vec<u8>,
    records: u64,
    types: PhantomData<fn(T)>,
}

impl<T: Spill> Writing<T> {
    /// A new one in `folder`.
    ///
    /// # Errors
    /// When it cannot be made.
    pub fn begin(folder: &Path) -> Result<Self> {
        let file = Unnamed::new(folder)?;
        Ok(Writing { file, block: vec![0; 4], records: 0, types: PhantomData })
    }

    /// Appends a record; how many bytes it takes.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn push(&mut self, record: &T) -> Result<usize> {
        let before = self.block.len();
        Keep::<Durable>::write(record, &mut self.block)?;
        let bytes = self.block.len() - before;
        self.records += 1;
        if self.block.len() >= BLOCK {
            self.file.append(&mut self.block)?;
        }
        Ok(bytes)
    }

    /// The file, from its beginning.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn finish(mut self) -> Result<Reading<T>> {
        if self.block.len() > 4 {
            self.file.append(&mut self.block)?;
        }
        let Unnamed { file, path, .. } = &mut self.file;
        file.seek(SeekFrom::Start(0)).map_err(|error| broken("read", path, &error))?;
        let records = self.records;
        Ok(Reading { file: self.file, block: Vec::new(), at: 0, records, left: records, types: PhantomData })
    }
}

/// A file that is being read.
pub(crate) struct Reading<T> {
    file: Unnamed,
    block: Vec<u8>,
    /// How far in the block.
    at: usize,
    records: u64,
    left: u64,
    types: PhantomData<fn() -> T>,
}

impl<T> Reading<T> {
    /// How many records it has.
    pub fn len(&self) -> usize {
        self.records as usize
    }

    /// Begins anew.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn rewind(&mut self) -> Result<()> {
        let Unnamed { file, path, .. } = &mut self.file;
        file.seek(SeekFrom::Start(0)).map_err(|error| broken("read", path, &error))?;
        self.block.clear();
        (self.at, self.left) = (0, self.records);
        Ok(())
    }
}

impl<T: Spill> Reading<T> {
    /// The next record.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn next(&mut self) -> Result<Option<T>> {
        if self.left == 0 {
            return Ok(None);
        }
        if self.at == self.block.len() {
            self.file.take(&mut self.block)?;
            self.at = 0;
        }
        let mut rest = &self.block[self.at..];
        let record = Keep::<Durable>::read(&mut rest)?;
        self.at = self.block.len() - rest.len();
        self.left -= 1;
        Ok(Some(record))
    }
}

/// A file that nobody else finds.
struct Unnamed {
    file: File,
    path: PathBuf,
    /// Where an open file cannot lose its name, it loses it at the end.
    named: bool,
}

impl Unnamed {
    fn new(folder: &Path) -> Result<Self> {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        let name = || {
            let number = NUMBER.fetch_add(1, Ordering::Relaxed);
            // Its keys are random, so nobody can put a file there beforehand.
            let chance = RandomState::new().hash_one(number);
            folder.join(format!("flow-run-{}-{number}-{chance:016x}", std::process::id()))
        };
        Self::at(name)
    }

    /// At the first of a few names at which nothing is.
    fn at(mut name: impl FnMut() -> PathBuf) -> Result<Self> {
        let mut options = OpenOptions::new();
        // What is there already, be it a link to somewhere else, is none of ours.
        options.read(true).write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let mut tries = 0;
        loop {
            let path = name();
            match options.open(&path) {
                Ok(file) => {
                    let named = std::fs::remove_file(&path).is_err();
                    return Ok(Unnamed { file, path, named });
                }
                Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists && tries < NAMES => {
                    tries += 1
                }
                Err(error) => return Err(broken("made", &path, &error)),
            }
        }
    }

    /// Writes a block, whose first four bytes are for its length, and empties it.
    fn append(&mut self, block: &mut Vec<u8>) -> Result<()> {
        let length = u32::try_from(block.len() - 4).map_err(|_| {
            Error::new(ErrorKind::State, "a record of more than 4 GiB cannot leave the memory")
        })?;
        block[..4].copy_from_slice(&length.to_le_bytes());
        self.file.write_all(block).map_err(|error| broken("written", &self.path, &error))?;
        block.truncate(4);
        Ok(())
    }

    fn take(&mut self, block: &mut Vec<u8>) -> Result<()> {
        let failed = |error| broken("read", &self.path, &error);
        let mut length = [0; 4];
        self.file.read_exact(&mut length).map_err(failed)?;
        block.resize(u32::from_le_bytes(length) as usize, 0);
        self.file.read_exact(block).map_err(failed)
    }
}

impl Drop for Unnamed {
    fn drop(&mut self) {
        if self.named {
            // It is of no use to anybody; that it cannot go is no failure of the job.
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

#[cold]
fn broken(what: &str, path: &Path, error: &std::io::Error) -> Error {
    let what = format!(
        "the file {} for records that are too many for the memory cannot be {what}: {error}",
        path.display()
    );
    // EMFILE and ENFILE, which have one number on all systems of this family; `std` has no kind for them.
    let too_many = cfg!(unix) && matches!(error.raw_os_error(), Some(23 | 24));
    Error::new(ErrorKind::State, what).note(if too_many {
        "raise how many files the process may have open (`ulimit -n`), or lower their number: a larger `job.memory(bytes)` or a smaller `job.parallelism(p)` needs fewer"
    } else {
        "make room there, or say with `job.memory(bytes).spill_to(folder)` how much stays in memory and where the rest goes"
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_is_taken_is_passed_over() {
        let folder = tempfile::tempdir().unwrap();
        let taken = folder.path().join("0");
        std::fs::write(&taken, "mine").unwrap();
        let mut number = 0;
        let file = Unnamed::at(|| {
            number += 1;
            folder.path().join(format!("{}", number / 4))
        });
        assert!(file.unwrap().path.ends_with("1"));
        assert_eq!(std::fs::read_to_string(&taken).unwrap(), "mine");
        let error = Unnamed::at(|| taken.clone()).err().unwrap().to_string();
        assert!(error.contains("cannot be made") && error.contains("exists"), "{error}");
    }

    #[cfg(unix)]
    #[test]
    fn nobody_else_may_read_it() {
        use std::os::unix::fs::PermissionsExt;
        let file = Unnamed::new(&std::env::temp_dir()).unwrap();
        assert_eq!(file.file.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    }

    #[cfg(unix)]
    #[test]
    fn too_many_open_files_are_told_from_a_full_disk() {
        let error =
            |number| broken("made", Path::new("x"), &std::io::Error::from_raw_os_error(number)).to_string();
        assert!(error(24).contains("ulimit -n"), "{}", error(24));
        assert!(error(28).contains("make room there"), "{}", error(28));
    }
}

//! The files that an instance writes: one for each partition, the next when one is full, and so many of them open at once.

use super::files::Options;
use super::names::{PartName, partition};
use super::place::{Writing, failed, remove_if_empty, sync_names};
use super::staged::StagedPart;
use crate::checkpoint::failpoint::point;
use crate::error::{Error, Result};
use crate::metrics::Counter;
use crate::sink::sink_error;
use crate::stage::OpenCx;
use crate::time::Clock;
use std::collections::HashMap;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Bytes gathered before they are written.
const BUFFER_BYTES: usize = 64 * 1024;

/// What an encoder has made.
#[derive(Debug, Default)]
pub struct Encoded {
    /// What each file begins with.
    pub head: Vec<u8>,
    /// The record.
    pub record: Vec<u8>,
}

/// See the module.
pub(super) struct Parts {
    writing: Writing,
    options: Options,
    partitioned: bool,
    /// The checkpoint to which belongs what comes now, as far as is known: the barrier may say a later one.
    checkpoint: u64,
    number: u32,
    parts: Vec<Part>,
    /// Where in `parts` the file of what is shown of a partition is.
    current: HashMap<String, usize>,
    /// The one that was used last.
    last: Option<(String, usize)>,
    /// Those with an open file.
    open: Vec<usize>,
    uses: u64,
    clock: Arc<dyn Clock>,
    bytes: Counter,
    files: Counter,
    pub encoded: Encoded,
}

/// A file of the checkpoint to come.
struct Part {
    /// The sub-folder; empty where there are none.
    folder: String,
    name: PartName,
    file: Option<File>,
    pending: Vec<u8>,
    /// With those that are pending.
    bytes: u64,
    began: i64,
    used: u64,
    /// Nothing more comes, and it is on the disk.
    closed: bool,
}

impl Parts {
    pub fn open(writing: Writing, options: Options, partitioned: bool, newest: u64, cx: &OpenCx) -> Self {
        let checkpoint = if writing.claim().is_checkpointed() { newest + 1 } else { 0 };
        let counter = |name| cx.metrics().counter(name);
        Parts {
            writing,
            options,
            partitioned,
            checkpoint,
            number: 0,
            parts: Vec::new(),
            current: HashMap::new(),
            last: None,
            open: Vec::new(),
            uses: 0,
            clock: Arc::clone(cx.clock()),
            bytes: counter("bytes"),
            files: counter("files"),
            encoded: Encoded::default(),
        }
    }

    pub fn writing(&self) -> &Writing {
        &self.writing
    }

    fn folder(&self) -> &Path {
        self.writing.claim().folder()
    }

    /// An error of what was to be written.
    #[cold]
    pub fn refused(&self, what: &str) -> Error {
        sink_error(format!("{}: {what}", self.folder().display()))
    }

    /// Writes the encoded record into the file of the partition that is shown as `shown`.
    pub fn append(&mut self, shown: &str) -> Result<()> {
        let mut at = match &self.last {
            Some((last, at)) if last == shown => *at,
            _ => self.find(shown)?,
        };
        if let Some(every) = self.options.roll_every
            && self.clock.ticks().saturating_sub(self.parts[at].began) >= every.0
        {
            self.close(shown, at)?;
            at = self.find(shown)?;
        }
        self.uses += 1;
        let part = &mut self.parts[at];
        part.used = self.uses;
        part.pending.extend_from_slice(&self.encoded.record);
        part.bytes += self.encoded.record.len() as u64;
        let full = self.options.roll_bytes.is_some_and(|most| part.bytes >= most);
        if full {
            self.close(shown, at)
        } else if part.pending.len() >= BUFFER_BYTES {
            self.write_out(at)
        } else {
            Ok(())
        }
    }

    /// The open file of a partition, which is used next.
    #[inline(never)]
    fn find(&mut self, shown: &str) -> Result<usize> {
        let known = self.current.get(shown).copied();
        let at = match known {
            Some(at) => {
                self.reopen(at)?;
                at
            }
            None => self.begin(shown)?,
        };
        self.last = Some((shown.to_owned(), at));
        Ok(at)
    }

    fn begin(&mut self, shown: &str) -> Result<usize> {
        self.make_room()?;
        let folder = if self.partitioned {
            partition(shown).map_err(|what| self.refused(&what))?
        } else {
            String::new()
        };
        let name =
            PartName { checkpoint: self.checkpoint, instance: self.writing.instance(), number: self.number };
        let path = self
            .folder()
            .join(&folder)
            .join(name.staged(&self.options.extension, self.writing.claim().opening()));
        let file = create(&path).map_err(|error| failed(&path, "cannot be created", &error))?;
        self.number += 1;
        let at = self.parts.len();
        let pending = self.encoded.head.clone();
        let (bytes, began) = (pending.len() as u64, self.clock.ticks());
        self.parts.push(Part {
            folder,
            name,
            file: Some(file),
            pending,
            bytes,
            began,
            used: 0,
            closed: false,
        });
        self.open.push(at);
        self.current.insert(shown.to_owned(), at);
        Ok(at)
    }

    fn path(&self, part: &Part) -> PathBuf {
        self.folder()
            .join(&part.folder)
            .join(part.name.staged(&self.options.extension, self.writing.claim().opening()))
    }

    fn reopen(&mut self, at: usize) -> Result<()> {
        if self.parts[at].file.is_some() {
            return Ok(());
        }
        self.make_room()?;
        let path = self.path(&self.parts[at]);
        let file = File::options().append(true).open(&path);
        self.parts[at].file = Some(file.map_err(|error| failed(&path, "cannot be opened again", &error))?);
        self.open.push(at);
        Ok(())
    }

    /// Closes the file that was used longest ago, where as many as may be are open. It is synced when it is staged: a sync for
    /// each record is what too few open files would cost otherwise. Linux reports to the new handle what could not be written before.
    fn make_room(&mut self) -> Result<()> {
        while self.open.len() >= self.options.max_open {
            let Some(at) = self.open.iter().copied().min_by_key(|at| self.parts[*at].used) else { break };
            self.write_out(at)?;
            self.let_go(at);
        }
        Ok(())
    }

    fn let_go(&mut self, at: usize) {
        self.open.retain(|open| *open != at);
        let part = &mut self.parts[at];
        (part.file, part.pending) = (None, Vec::new());
        if self.last.as_ref().is_some_and(|last| last.1 == at) {
            self.last = None;
        }
    }

    fn write_out(&mut self, at: usize) -> Result<()> {
        let part = &mut self.parts[at];
        let Some(file) = &mut part.file else { return Ok(()) };
        if let Err(error) = file.write_all(&part.pending) {
            return Err(self.cannot_write(at, &error));
        }
        part.pending.clear();
        Ok(())
    }

    #[cold]
    fn cannot_write(&self, at: usize, error: &io::Error) -> Error {
        failed(&self.path(&self.parts[at]), "cannot be written", error)
    }

    /// The file is full: what comes next for its partition goes into another.
    fn close(&mut self, shown: &str, at: usize) -> Result<()> {
        self.current.remove(shown);
        self.complete(at)
    }

    /// Brings a file to the disk, after which it cannot fail but for its name.
    fn complete(&mut self, at: usize) -> Result<()> {
        if self.parts[at].closed {
            return Ok(());
        }
        self.reopen(at)?;
        self.write_out(at)?;
        point("P6b");
        if let Some(file) = &self.parts[at].file {
            file.sync_all().map_err(|error| self.cannot_write(at, &error))?;
        }
        self.let_go(at);
        self.parts[at].closed = true;
        Ok(())
    }

    /// All that was written since the last time is of checkpoint `checkpoint`: brings it to the disk, with its names.
    ///
    /// # Errors
    /// When it cannot be brought there. It is still there to be removed.
    pub fn stage(&mut self, checkpoint: u64) -> Result<Vec<StagedPart>> {
        // Those that are open first: they need no room.
        let (open, all) = (self.open.clone(), 0..self.parts.len());
        open.into_iter().chain(all).try_for_each(|at| self.complete(at))?;
        let mut folders: Vec<PathBuf> =
            self.parts.iter().map(|part| self.folder().join(&part.folder)).collect();
        if !folders.is_empty() {
            // The names of new sub-folders.
            folders.push(self.folder().into());
        }
        folders.sort();
        folders.dedup();
        for folder in &folders {
            let failed = |error| failed(folder, "what was staged cannot be brought to the disk", &error);
            sync_names(folder).map_err(failed)?;
        }
        self.current.clear();
        self.last = None;
        if checkpoint >= self.checkpoint && checkpoint > 0 {
            (self.checkpoint, self.number) = (checkpoint + 1, 0);
        }
        let (extension, opening) = (&self.options.extension, self.writing.claim().opening());
        let parts: Vec<StagedPart> =
            self.parts.drain(..).map(|part| part.staged(extension, opening, checkpoint)).collect();
        self.files.add(parts.len() as u64);
        self.bytes.add(parts.iter().map(|part| part.bytes).sum());
        Ok(parts)
    }
}

impl Part {
    fn staged(self, extension: &str, opening: u64, checkpoint: u64) -> StagedPart {
        let below =
            |name: String| if self.folder.is_empty() { name } else { format!("{}/{name}", self.folder) };
        let last = PartName { checkpoint, ..self.name }.last(extension);
        StagedPart {
            bytes: self.bytes,
            staged: below(self.name.staged(extension, opening)),
            last: below(last),
        }
    }
}

/// What was not staged is taken back.
impl Drop for Parts {
    fn drop(&mut self) {
        for part in &self.parts {
            let path = self.path(part);
            // Its name says that it is no result, and the next start removes it.
            let _ = fs::remove_file(&path);
            remove_if_empty(self.folder(), &path);
        }
    }
}

/// A new file, in a folder that may be new, and that another instance may be removing: it had nothing else in it.
fn create(path: &Path) -> io::Result<File> {
    let mut tries = 3;
    loop {
        match File::create_new(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound && tries > 0 => {
                tries -= 1;
                if let Some(folder) = path.parent() {
                    fs::create_dir_all(folder)?;
                }
            }
            done => return done,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sink::text::folder::text_files;
    use crate::stage::tests::open_cx;

    fn parts(folder: &Path, most: usize) -> Parts {
        text_files(folder).max_open(most).parts(true, 0, &open_cx(1)).unwrap()
    }

    fn append(parts: &mut Parts, shown: &str, record: &str) -> Result<()> {
        parts.encoded.record = record.as_bytes().to_vec();
        parts.append(shown)
    }

    /// The one that was used longest ago is closed, and goes on where it was.
    #[test]
    fn few_files_are_open() {
        let folder = tempfile::tempdir().unwrap();
        let mut parts = parts(folder.path(), 2);
        for shown in ["a", "b", "a", "c", "a", "b", "d", "c"] {
            append(&mut parts, shown, shown).unwrap();
            let names: Vec<&str> = parts.open.iter().map(|at| parts.parts[*at].folder.as_str()).collect();
            assert!(names.len() <= 2 && names.contains(&shown), "{names:?}");
            if shown == "c" && parts.uses == 4 {
                assert_eq!(names, ["a", "c"], "`b` was used longest ago");
            }
        }
        let staged = parts.stage(0).unwrap();
        let read = |part: &StagedPart| fs::read_to_string(folder.path().join(&part.staged)).unwrap();
        assert_eq!(staged.iter().map(read).collect::<Vec<_>>(), ["aaa", "bb", "cc", "d"]);
        assert_eq!(staged.iter().map(|part| part.bytes).sum::<u64>(), 8);
    }

    /// An error that names the file; what was written is taken back.
    #[test]
    fn a_full_disk() {
        let Ok(full) = File::options().write(true).open("/dev/full") else {
            eprintln!("skipped: there is no /dev/full");
            return;
        };
        let folder = tempfile::tempdir().unwrap();
        for (bytes, staging) in [(BUFFER_BYTES, false), (1, true)] {
            let mut parts = parts(folder.path(), 2);
            append(&mut parts, "a", "x").unwrap();
            parts.parts[0].file = Some(full.try_clone().unwrap());
            let written = append(&mut parts, "a", &"x".repeat(bytes));
            let error = if staging { parts.stage(1).unwrap_err() } else { written.unwrap_err() }.to_string();
            let opening = parts.writing.claim().opening();
            let file = folder.path().join(format!("a/.part-0000000000-000-00000.txt.{opening:016x}.staged"));
            assert!(
                error.contains(&format!("{}: cannot be written: No space left", file.display())),
                "{error}"
            );
            drop(parts);
            assert!(!folder.path().join("a").exists());
        }
    }
}

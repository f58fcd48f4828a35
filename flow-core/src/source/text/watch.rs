//! Folders that are watched: files are read as they appear.

mod position;

use super::files::TextFiles;
use super::format::Format;
use super::inputs::{Inputs, is_missing};
use super::part::opened;
use super::position::{Origin, Position, WHOLE};
use super::reading::{Fail, Next, OnBroken, Reading};
use super::reopen::Reopened;
use crate::error::{Error, ErrorKind, Result};
use crate::metrics::Counter;
use crate::op::kind::{Replayable, Unbounded};
use crate::source::{Poll, Reader, Source};
use crate::stage::OpenCx;
use crate::time::{Clock, Millis};
use position::WatchPosition;
use std::collections::{HashMap, VecDeque};
use std::fs::{File, Metadata};
use std::io::{self, Seek};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

/// A source of text files that goes on with those that appear later: made by [`TextFiles::watch`].
#[derive(Debug)]
pub struct Watched<T, F, B = Fail> {
    files: TextFiles<T, F, B>,
    every: Millis,
}

impl<T, F: Clone, B> Clone for Watched<T, F, B> {
    fn clone(&self) -> Self {
        Watched { files: self.files.clone(), every: self.every }
    }
}

/// What `watch` takes: a duration.
#[diagnostic::on_unimplemented(
    message = "`watch` takes how often to look into the folder, and `{Self}` is no duration",
    label = "has no unit",
    note = "write `.watch(1s)`; outside `dataflow!` give `Millis(1_000)` or a `std::time::Duration`"
)]
pub trait Interval: Into<Millis> {}
#[diagnostic::do_not_recommend]
impl<T: Into<Millis>> Interval for T {}

impl<T, F, B> TextFiles<T, F, B> {
    /// Goes on with the files that appear later: looks into the folders, and for the globs, now and then, `every` so often. The stream
    /// does not end by itself.
    ///
    /// Each file is read once, to its end, one after the other; of those that a look finds, by name. They have to appear whole: write
    /// one under a name that begins with a dot, or beside the folder, and rename it. A file is known by its path. What it grows by before its
    /// end is reached is read; when a look finds that a file that was read is another, or has another size or time of change, that is counted in `changed`, once a change, and not read.
    /// A file that is deleted is forgotten, so that one that comes later under its name is a new one; one that is gone before it was opened is counted in `vanished`. Hidden
    /// files, and the `.part-` files that sinks write, are passed over.
    ///
    /// There is one partition. It remembers the path, size and time of each file that is still there, and so do the checkpoints of a job that takes some.
    ///
    /// ```
    /// # use flow_core::prelude::*;
    /// # let folder = tempfile::tempdir().unwrap();
    /// let inbox = folder.path().to_path_buf();
    /// std::fs::write(inbox.join("a.txt"), "one\n").unwrap();
    /// let out = Collected::new();
    /// let job = Job::build("doc", |job| {
    ///     let seen = source(lines(&inbox).watch(Millis(100))).take(2);
    ///     job.add(seen.collect(&out));
    /// });
    /// let running = job.start().unwrap();
    /// std::fs::write(inbox.join(".b.txt"), "two\n").unwrap();
    /// std::fs::rename(inbox.join(".b.txt"), inbox.join("b.txt")).unwrap();
    /// running.join().unwrap();
    /// assert_eq!(out.take(), ["one", "two"]);
    /// ```
    #[must_use]
    pub fn watch(self, every: impl Interval) -> Watched<T, F, B> {
        Watched { files: self, every: every.into() }
    }
}

impl<T: Send + 'static, F: Format<T>, B: OnBroken<T>> Source for Watched<T, F, B> {
    type Item = B::Item;
    type Split = ();
    type Reader = WatchReader<T, F, B>;
    type Bounds = Unbounded;
    type Replay = Replayable;

    fn name(&self) -> &'static str {
        self.files.format.name()
    }

    fn splits(&self) -> Result<Vec<()>> {
        check(self.every, self.files.splits)?;
        self.files.inputs.look()?;
        Ok(vec![()])
    }

    fn open(&self, (): (), cx: &mut OpenCx) -> Result<Self::Reader> {
        Ok(self.reader(cx))
    }

    fn resume(&self, (): (), position: &[u8], cx: &mut OpenCx) -> Result<Self::Reader> {
        let mut reader = self.reader(cx);
        if let Some(current) = reader.watch.resume(position)? {
            let Reopened { file, begin, origin } = current.reopen()?;
            let name = reader.watch.reads(current.path, &file);
            let records = self.files.format.resume(name, file, &begin)?;
            reader.reading = Some(Reading::new(records, None, reader.invalid.clone()).from(Some(origin)));
        }
        Ok(reader)
    }
}

impl<T, F: Format<T>, B> Watched<T, F, B> {
    fn reader(&self, cx: &OpenCx) -> WatchReader<T, F, B> {
        let invalid = cx.metrics().counter("invalid");
        let watch = Watch::open(self.files.inputs.clone(), self.every, cx);
        WatchReader { files: self.files.clone(), watch, reading: None, invalid }
    }
}

fn check(every: Millis, splits: usize) -> Result<()> {
    let what = if every.0 <= 0 {
        format!("a folder is watched every {every}: it has to be longer than zero")
    } else if splits > 1 {
        format!("`.splits({splits})` of a watched folder: it is one partition, whose files are read in turn")
    } else {
        return Ok(());
    };
    Err(Error::new(ErrorKind::Plan, what))
}

/// Reads one file after the other.
pub struct WatchReader<T, F: Format<T>, B> {
    files: TextFiles<T, F, B>,
    watch: Watch,
    reading: Option<Reading<T, F::Records>>,
    invalid: Counter,
}

impl<T: 'static, F: Format<T>, B: OnBroken<T>> Reader<B::Item> for WatchReader<T, F, B> {
    fn poll<O: FnMut(B::Item)>(&mut self, out: &mut O, budget: usize) -> Result<Poll> {
        for _ in 0..budget {
            let Some(reading) = &mut self.reading else {
                let (name, file, origin) = match self.watch.next()? {
                    Found::File(name, file, origin) => (name, file, origin),
                    Found::Nothing(until) => return Ok(Poll::WaitUntil(until)),
                };
                let records = self.files.format.whole(name, file);
                self.reading = Some(Reading::new(records, None, self.invalid.clone()).from(origin));
                continue;
            };
            match reading.next()? {
                Next::Record(record) => out(B::whole(record)),
                Next::Broken(broken) => out(B::broken(*broken)?),
                Next::Wait | Next::End => {
                    self.reading = None;
                    self.watch.finished();
                }
            }
        }
        Ok(Poll::More)
    }

    fn position(&self) -> Option<Vec<u8>> {
        let current = match &self.reading {
            None => None,
            Some(reading) => Some(reading.position()?),
        };
        Some(position::encode(&self.watch, current.as_ref()))
    }
}

/// Which files there are, which are new. Not generic: it is compiled once.
struct Watch {
    inputs: Inputs,
    every: Millis,
    clock: Arc<dyn Clock>,
    /// When the next look is due.
    next: i64,
    /// Files that are known and still there, with what they were when their end was reached; nothing before.
    known: HashMap<PathBuf, Option<Stamp>>,
    /// New ones, in their order.
    new: VecDeque<PathBuf>,
    /// The one that is read, and a second handle of it.
    current: Option<(PathBuf, io::Result<File>)>,
    changed: Counter,
    vanished: Counter,
    /// The job takes checkpoints.
    keeps: bool,
}

/// What tells that a file has changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Stamp {
    /// The device and the number of the file on it, where there are such.
    file: (u64, u64),
    size: u64,
    time: Option<SystemTime>,
}

enum Found {
    File(Arc<str>, File, Option<Origin>),
    /// Nothing before this tick.
    Nothing(i64),
}

impl Watch {
    fn open(inputs: Inputs, every: Millis, cx: &OpenCx) -> Self {
        Watch {
            inputs,
            every,
            clock: Arc::clone(cx.clock()),
            next: cx.clock().ticks(),
            known: HashMap::new(),
            new: VecDeque::new(),
            current: None,
            changed: cx.metrics().counter("changed"),
            vanished: cx.metrics().counter("vanished"),
            keeps: cx.saves().is_on(),
        }
    }

    /// Goes on at a position; the one in the file that was being read. It looks at once for what has come since.
    fn resume(&mut self, position: &[u8]) -> Result<Option<Position>> {
        let WatchPosition { known, new, current, .. } = WatchPosition::decode(position, self.inputs.paths())?;
        (self.known, self.new) = (known, new);
        Ok(current)
    }

    /// The file that is read from now on; its name in errors.
    fn reads(&mut self, path: PathBuf, file: &File) -> Arc<str> {
        let name = path.display().to_string().into();
        self.current = Some((path, file.try_clone()));
        name
    }

    /// The next file, or when to ask again.
    fn next(&mut self) -> Result<Found> {
        loop {
            while let Some(path) = self.new.pop_front() {
                match opened(&path, WHOLE, self.keeps) {
                    Ok((file, origin)) => return Ok(Found::File(self.reads(path, &file), file, origin)),
                    Err(error) if is_missing(&error) => {
                        self.vanished.add(1);
                        self.known.remove(&path);
                    }
                    Err(error) => return Err(error.into()),
                }
            }
            let now = self.clock.ticks();
            if now < self.next {
                return Ok(Found::Nothing(self.next));
            }
            self.next = now.saturating_add(self.every.0);
            self.look()?;
        }
    }

    /// The end of the current file was reached. What counts is what was read: another file may have its name by now, and it may have grown
    /// since.
    fn finished(&mut self) {
        let Some((path, file)) = self.current.take() else { return };
        if !path.exists() {
            // It has been deleted: what comes under its name is new.
            self.known.remove(&path);
            return;
        }
        let read = file.and_then(|mut file| {
            let (metadata, read) = (file.metadata()?, file.stream_position()?);
            Ok(Stamp { size: read, ..stamp(&metadata) })
        });
        self.known.insert(path, Some(read.unwrap_or_default()));
    }

    fn look(&mut self) -> Result<()> {
        let mut known = HashMap::new();
        for path in self.inputs.look()? {
            let before = self.known.remove(&path);
            let stamp = match &before {
                None => {
                    self.new.push_back(path.clone());
                    None
                }
                // Nobody has read it yet.
                Some(None) => None,
                Some(Some(before)) => Some(self.now(&path, *before)),
            };
            known.insert(path, stamp);
        }
        // What is left has been deleted.
        self.known = known;
        Ok(())
    }

    /// What a file is now that was `before` when its end was reached.
    fn now(&self, path: &Path, before: Stamp) -> Stamp {
        let Ok(metadata) = std::fs::metadata(path) else { return before };
        let now = stamp(&metadata);
        self.changed.add(u64::from(now != before));
        now
    }
}

fn stamp(metadata: &Metadata) -> Stamp {
    Stamp { file: file_of(metadata), size: metadata.len(), time: metadata.modified().ok() }
}

#[cfg(unix)]
fn file_of(metadata: &Metadata) -> (u64, u64) {
    use std::os::unix::fs::MetadataExt;
    (metadata.dev(), metadata.ino())
}

#[cfg(not(unix))]
fn file_of(_: &Metadata) -> (u64, u64) {
    (0, 0)
}

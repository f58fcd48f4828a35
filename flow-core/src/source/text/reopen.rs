//! Files that a checkpoint knows: whether they are the ones that were read, and which are there.

use super::inputs::{Input, Inputs};
use super::position::{Begin, LOOK_BYTES, Look, Origin, Position, WHOLE, head_of};
use crate::error::{Error, ErrorKind, Result};
use crate::stage::OpenCx;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::PathBuf;

/// Files that an error names; of more it says how many.
const NAMED_MAX: usize = 5;

/// A file that is read on, at its position.
pub struct Reopened {
    pub(super) file: File,
    pub(super) begin: Begin,
    pub(super) origin: Origin,
}

impl Position {
    /// Opens the file where the reader stood.
    ///
    /// # Errors
    /// When it is gone or another one.
    pub(super) fn reopen(&self) -> Result<Reopened> {
        let opened =
            File::open(&self.path).and_then(|mut file| self.looked(&mut file).map(|seen| (file, seen)));
        let (file, seen) = opened.map_err(|error| self.differs(&format!("cannot be read: {error}")))?;
        let (head, before) = match seen {
            Seen::Same { head, before } => (head, before),
            Seen::Short(len) => return Err(self.differs(&format!("has {len} bytes now"))),
            Seen::Head => {
                return Err(
                    self.differs(&format!("is another one: its first {} bytes differ", self.head.len))
                );
            }
            Seen::Tail => {
                let len = self.tail.len;
                return Err(
                    self.differs(&format!("is another one: the {len} bytes before that place differ"))
                );
            }
        };
        Ok(Reopened {
            file,
            begin: Begin { offset: self.offset, until: self.part.end, records: self.records, before },
            origin: Origin::new(self.path.clone(), self.part.clone(), head),
        })
    }

    /// Whether the file is the same. It stands at the offset then.
    fn looked(&self, file: &mut File) -> io::Result<Seen> {
        let len = file.metadata()?.len();
        if len < self.offset {
            return Ok(Seen::Short(len));
        }
        let head = head_of(file)?;
        if head.get(..self.head.len).map(Look::of) != Some(self.head) {
            return Ok(Seen::Head);
        }
        file.seek(SeekFrom::Start(self.offset - self.tail.len as u64))?;
        let mut before = vec![0; self.tail.len.min(LOOK_BYTES)];
        file.read_exact(&mut before)?;
        let same = Look::of(&before) == self.tail;
        Ok(if same { Seen::Same { head, before } } else { Seen::Tail })
    }

    /// Looks at the file that has been read to its end, if it is still there: whether it has grown since.
    ///
    /// # Errors
    /// When it is another one.
    pub(super) fn has_grown(&self) -> Result<bool> {
        if self.part.is_empty()
            || self.path.symlink_metadata().is_err_and(|error| error.kind() == io::ErrorKind::NotFound)
        {
            return Ok(false);
        }
        let len = self.reopen()?.file.metadata().map_or(0, |metadata| metadata.len());
        Ok(self.part.end == WHOLE.end && len > self.offset)
    }

    #[cold]
    fn differs(&self, what: &str) -> Error {
        let path = self.path.display();
        let what = format!("{path}: had been read up to byte {} at the checkpoint, and {what}", self.offset);
        let error = Error::new(ErrorKind::State, what);
        if self.ended {
            return error
                .note("what is read to its end may be taken away, and not replaced: nobody would read it");
        }
        error.note("put the file back that was read: a source goes on behind the last record it has given")
    }
}

/// What was found of a file.
enum Seen {
    Same { head: Vec<u8>, before: Vec<u8> },
    Short(u64),
    Head,
    Tail,
}

/// The files that gave these positions, in their order, if they are those that `inputs` stands for now. One that has been read to its end may be
/// gone.
///
/// # Errors
/// When one that has not is gone, and when there is a new one.
pub(super) fn again(inputs: &Inputs, positions: &[Vec<u8>]) -> Result<Vec<PathBuf>> {
    let positions = positions.iter().map(|bytes| Position::decode(bytes)).collect::<Result<Vec<_>>>()?;
    let found = inputs.find_what_is_there()?;
    let there = in_order(found.iter());
    let known = in_order(positions.iter().map(|position| &position.path));
    let unread = positions.iter().filter(|position| !position.ended).map(|position| &position.path);
    let missing = in_order(unread.filter(|path| there.binary_search(path).is_err()));
    let new = in_order(there.iter().filter(|path| known.binary_search(path).is_err()));
    if missing.is_empty() && new.is_empty() {
        return Ok(positions.into_iter().map(|position| position.path).collect());
    }
    let said = [("not among them any more, and not read to its end: ", missing), ("new: ", new)];
    let said = said.iter().filter(|(_, files)| !files.is_empty());
    let said: Vec<String> = said.map(|(what, files)| format!("{what}{}", names(files))).collect();
    let error = Error::new(
        ErrorKind::State,
        format!("the input files are not those of the checkpoint: {}", said.join("; ")),
    );
    Err(error.note(
        "put back what is missing and take away what is new; files that come later are for a watched folder: `.watch(1s)`",
    ))
}

/// The position at which `input` is read on.
///
/// # Errors
/// When it is that of another file, or what was read to its end has been replaced.
pub(super) fn of_part(input: &Input, position: &[u8], cx: &OpenCx) -> Result<Position> {
    let position = Position::decode(position)?;
    if *input != Input::File(position.path.clone()) {
        let (path, input) = (position.path.display(), input.name());
        let what = format!("the position of {path} is not one in {input}");
        return Err(
            Error::new(ErrorKind::State, what).note("give the source the files it had, in their order")
        );
    }
    if position.ended && position.has_grown()? {
        cx.metrics().counter("changed").add(1);
    }
    Ok(position)
}

fn in_order<'a>(paths: impl Iterator<Item = &'a PathBuf>) -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> = paths.cloned().collect();
    paths.sort();
    paths.dedup();
    paths
}

fn names(files: &[PathBuf]) -> String {
    let mut names: Vec<String> =
        files.iter().take(NAMED_MAX).map(|file| file.display().to_string()).collect();
    if files.len() > NAMED_MAX {
        names.push(format!("{} more", files.len() - NAMED_MAX));
    }
    names.join(", ")
}

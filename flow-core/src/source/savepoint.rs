//! The state of an operator, in a savepoint or another checkpoint, as records.
//!
//! A position is the number of the checkpoint in 8 bytes, the key group in 2, and how many of its pairs have been given in 8, little-endian.

use super::unpack::{Unpack, foreign};
use super::{Poll, Reader, Source};
use crate::checkpoint::{Keyed, Snapshot, read};
use crate::error::{Error, ErrorKind, Result};
use crate::exchange::KEY_GROUPS;
use crate::op::kind::{Bounded, Replayable};
use crate::stage::OpenCx;
use serde_core::de::DeserializeOwned;
use std::marker::PhantomData;
use std::ops::Range;
use std::path::PathBuf;

/// The newest checkpoint in a folder, whose state is read with [`Savepoint::state`]. The job whose folder it is may run meanwhile; then it had better be a savepoint, which
/// does not go while it is read.
///
/// ```
/// use flow_core::prelude::*;
/// # let folder = tempfile::tempdir().unwrap();
/// # let counts = Job::build("counts", |job| {
/// #     let words = source(from_vec(vec!["a", "b", "a"])).exported().map(str::to_owned);
/// #     job.add(words.key_by(|w| w.clone()).count().named("counts").for_each(|_| ()));
/// # });
/// # counts.savepoint_to(folder.path()).run().unwrap();
/// let out = Collected::new();
/// let job = Job::build("sorted", |job| {
///     let counts = source(savepoint(folder.path()).state::<String, u64>("counts/count").splits(4)).batch();
///     job.add(counts.sort_by_key(|(_, count)| *count).collect(&out));
/// });
/// job.run().unwrap();
/// assert_eq!(out.take(), [("b".to_owned(), 1), ("a".to_owned(), 2)]);
/// ```
pub fn savepoint(folder: impl Into<PathBuf>) -> Savepoint {
    Savepoint { folder: folder.into(), id: None }
}

/// See [`savepoint`].
#[derive(Debug, Clone)]
pub struct Savepoint {
    folder: PathBuf,
    id: Option<u64>,
}

impl Savepoint {
    /// The one of this number, instead of the newest.
    #[must_use]
    pub fn at(self, checkpoint: u64) -> Self {
        Savepoint { id: Some(checkpoint), ..self }
    }

    /// The keys and values of an operator by its id, `"counts/count"`, as pairs: each key once, or, where it has several values, as in windows, once with each. Of an
    /// operator with several states it is said which, `"balances/process/last"`, `"joined/join/left"`; lists and maps of a process are of the types that they have there, [`ListState`](crate::process::ListState) and
    /// [`MapState`](crate::process::MapState). Types are compared with those in the checkpoint before
    /// anything is read.
    pub fn state<K, V>(self, operator: impl Into<String>) -> SavedState<K, V> {
        SavedState { savepoint: self, operator: operator.into(), splits: 1, types: PhantomData }
    }
}

/// A source of what an operator has kept: see [`savepoint`].
pub struct SavedState<K, V> {
    savepoint: Savepoint,
    operator: String,
    splits: usize,
    types: PhantomData<fn() -> (K, V)>,
}

impl<K, V> Clone for SavedState<K, V> {
    fn clone(&self) -> Self {
        let (savepoint, operator) = (self.savepoint.clone(), self.operator.clone());
        SavedState { savepoint, operator, splits: self.splits, types: PhantomData }
    }
}

impl<K, V> SavedState<K, V> {
    /// In `n` partitions, 256 at most, each of which has its part of the key groups. Of a partition one key group is in memory at a time.
    #[must_use]
    pub fn splits(self, n: usize) -> Self {
        SavedState { splits: n.clamp(1, KEY_GROUPS), ..self }
    }

    #[cold]
    fn named(&self, error: Error) -> Error {
        error.note(format!(
            "it was read as the state of `{}` in {}",
            self.operator,
            self.savepoint.folder.display()
        ))
    }
}

/// Some key groups of a checkpoint.
#[derive(Clone)]
pub struct SavedPart {
    snapshot: Snapshot,
    groups: Range<usize>,
}

#[diagnostic::do_not_recommend]
impl<K, V> Source for SavedState<K, V>
where
    K: DeserializeOwned + Send + 'static,
    V: DeserializeOwned + Send + 'static,
{
    type Item = (K, V);
    type Split = SavedPart;
    type Reader = SavedReader<K, V>;
    type Bounds = Bounded;
    type Replay = Replayable;
    fn name(&self) -> &'static str {
        "savepoint"
    }
    fn splits(&self) -> Result<Vec<SavedPart>> {
        let reader = read(&self.savepoint.folder)?;
        let snapshot = match self.savepoint.id {
            Some(id) => reader.at(id),
            None => reader.newest(),
        }?;
        // All partitions read the same one; and what cannot be read is told before anything is.
        snapshot.keyed_in::<K, V>(&self.operator, 0..0).map_err(|error| self.named(error))?;
        let first = |part: usize| (part * KEY_GROUPS).div_ceil(self.splits);
        let part = |n| SavedPart { snapshot: snapshot.clone(), groups: first(n)..first(n + 1) };
        Ok((0..self.splits).map(part).collect())
    }
    fn open(&self, part: SavedPart, _: &mut OpenCx) -> Result<SavedReader<K, V>> {
        let checkpoint = part.snapshot.manifest().id;
        let pairs = part.snapshot.keyed_in(&self.operator, part.groups);
        Ok(SavedReader { checkpoint, pairs: pairs.map_err(|error| self.named(error))?, of: self.clone() })
    }
    fn resume(&self, mut part: SavedPart, position: &[u8], cx: &mut OpenCx) -> Result<SavedReader<K, V>> {
        let place = Unpack::all(position, |bytes| Some((bytes.u64()?, bytes.u16()?, bytes.u64()?)));
        let wrong = || foreign("a position that no savepoint has written");
        let (checkpoint, group, given) = place.ok_or_else(wrong)?;
        let now = part.snapshot.manifest().id;
        if checkpoint != now {
            let what = format!(
                "it read checkpoint {checkpoint}, and the newest in {} is {now}",
                self.savepoint.folder.display()
            );
            return Err(Error::new(ErrorKind::State, what)
                .note("say which one it is to read: `savepoint(folder).at(id)`"));
        }
        part.groups.start = part.groups.start.max(usize::from(group));
        let mut reader = self.open(part, cx)?;
        for _ in 0..given {
            reader.pairs.next().ok_or_else(wrong)??;
        }
        Ok(reader)
    }
}

/// Reads some key groups.
pub struct SavedReader<K, V> {
    checkpoint: u64,
    pairs: Keyed<K, V>,
    of: SavedState<K, V>,
}

impl<K, V> Reader<(K, V)> for SavedReader<K, V>
where
    K: DeserializeOwned + Send + 'static,
    V: DeserializeOwned + Send + 'static,
{
    fn poll<O: FnMut((K, V))>(&mut self, out: &mut O, budget: usize) -> Result<Poll> {
        for _ in 0..budget {
            let Some(pair) = self.pairs.next() else { return Ok(Poll::End) };
            out(pair.map_err(|error| self.of.named(error))?);
        }
        Ok(Poll::More)
    }
    fn position(&self) -> Option<Vec<u8>> {
        let (group, given) = self.pairs.place();
        let mut position = self.checkpoint.to_le_bytes().to_vec();
        position.extend(group.to_le_bytes());
        position.extend(given.to_le_bytes());
        Some(position)
    }
}

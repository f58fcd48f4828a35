//! What a crash leaves.

use super::{Disk, Done, FileId, SimFs};
use std::collections::{BTreeMap, BTreeSet};

/// Sectors are written whole or not at all.
const SECTOR_BYTES: usize = 512;
/// Of more changes of names than this not every subset is tried, but every beginning, with one change less and with one more.
const SUBSETS_OF_MAX: usize = 14;

/// A state in which a crash leaves the disk.
pub struct Crash {
    /// Operations before it.
    pub operations: usize,
    /// Which of the states that are possible then.
    pub number: usize,
    /// What is left, all of it on the disk.
    pub disk: SimFs,
}

/// A crash after some operations: the states in which it may leave the disk, by number.
pub struct CrashPoint {
    operations: usize,
    /// The names on the disk.
    names: BTreeMap<String, FileId>,
    changes: Vec<Change>,
    files: BTreeMap<FileId, Left>,
}

/// A change of names that is not on the disk for certain.
#[derive(Clone)]
enum Change {
    Link(String, FileId),
    Unlink(String),
}

/// A file at the moment of the crash.
#[derive(Default)]
struct Left {
    bytes: Vec<u8>,
    /// How much is on the disk.
    synced: usize,
    /// A sync failed: what was not on the disk then never will be.
    lost: bool,
    /// Where writes ended that are not on the disk for certain.
    ends: BTreeSet<usize>,
    /// What may be left of it: its bytes up to here, and then zeros up to there.
    ways: Vec<(usize, usize)>,
}

impl CrashPoint {
    #[inline]
    pub(super) fn after(disk: &Disk, operations: usize) -> CrashPoint {
        let mut point =
            CrashPoint { operations, names: disk.began.clone(), changes: Vec::new(), files: BTreeMap::new() };
        for file in disk.began.values() {
            let len = disk.began_len[*file];
            let bytes = disk.files[*file][..len].to_vec();
            point.files.insert(*file, Left { bytes, synced: len, ..Left::default() });
        }
        // What a process sees: a rename takes the file that has the name there.
        let mut seen = disk.began.clone();
        for done in &disk.done[..operations.min(disk.done.len())] {
            point.follow(done, disk, &mut seen);
        }
        // Nobody can get at a file any more that has no name and cannot have one.
        let named = point.names.values().copied().chain(point.changes.iter().filter_map(Change::file));
        let named: BTreeSet<FileId> = named.collect();
        point.files.retain(|file, _| named.contains(file));
        point.files.values_mut().for_each(Left::find_ways);
        point
    }

    #[inline]
    fn follow(&mut self, done: &Done, disk: &Disk, seen: &mut BTreeMap<String, FileId>) {
        match done {
            Done::Create(name, file) => {
                seen.insert(name.clone(), *file);
                self.files.insert(*file, Left::default());
                self.changes.push(Change::Link(name.clone(), *file));
            }
            Done::Write(file, bytes) => {
                let left = self.files.entry(*file).or_default();
                let from = left.bytes.len();
                left.bytes.extend_from_slice(&disk.files[*file][from..from + bytes]);
                left.ends.insert(left.bytes.len());
            }
            Done::Sync(file) => self.files.entry(*file).or_default().sync(),
            Done::Lost(file) => self.files.entry(*file).or_default().lost = true,
            Done::Rename(from, to) => {
                let file = seen.remove(from).expect("a rename that was done had a file");
                seen.insert(to.clone(), file);
                self.changes.extend([Change::Link(to.clone(), file), Change::Unlink(from.clone())]);
            }
            Done::Remove(name) => {
                seen.remove(name);
                self.changes.push(Change::Unlink(name.clone()));
            }
            Done::SyncFolder => {
                std::mem::take(&mut self.changes).iter().for_each(|change| change.apply(&mut self.names));
            }
        }
    }

    /// How many states are possible.
    #[inline]
    pub fn count(&self) -> usize {
        let ways = self.files.values().map(|left| left.ways.len());
        ways.fold(subsets(self.changes.len()), usize::saturating_mul)
    }

    /// State `number`, which is below [`count`](Self::count).
    #[inline]
    pub fn crash(&self, number: usize) -> Crash {
        let n = self.changes.len();
        let (mut rest, subset) = (number / subsets(n), number % subsets(n));
        let mut names = self.names.clone();
        let kept = self.changes.iter().enumerate().filter(|(i, _)| is_kept(n, subset, *i));
        kept.for_each(|(_, change)| change.apply(&mut names));
        let mut bytes = BTreeMap::new();
        for (file, left) in &self.files {
            let (until, len) = left.ways[rest % left.ways.len()];
            rest /= left.ways.len();
            let mut part = left.bytes[..until].to_vec();
            part.resize(len, 0);
            bytes.insert(*file, part);
        }
        let named =
            names.into_iter().map(|(name, file)| (name, bytes.get(&file).cloned().unwrap_or_default()));
        Crash { operations: self.operations, number, disk: SimFs::with(named.collect()) }
    }
}

impl Change {
    #[inline]
    fn file(&self) -> Option<FileId> {
        match self {
            Self::Link(_, file) => Some(*file),
            Self::Unlink(_) => None,
        }
    }

    #[inline]
    fn apply(&self, names: &mut BTreeMap<String, FileId>) {
        match self {
            Self::Link(name, file) => drop(names.insert(name.clone(), *file)),
            Self::Unlink(name) => drop(names.remove(name)),
        }
    }
}

impl Left {
    #[inline]
    fn sync(&mut self) {
        if !self.lost {
            self.synced = self.bytes.len();
            self.ends.clear();
        }
    }

    /// Every place to cut at, with the rest missing or zero.
    #[inline]
    fn find_ways(&mut self) {
        let len = self.bytes.len();
        let sectors = (self.synced / SECTOR_BYTES + 1)..=(len / SECTOR_BYTES);
        let mut cuts: BTreeSet<usize> = sectors.map(|sector| sector * SECTOR_BYTES).collect();
        cuts.extend(&self.ends);
        cuts.extend([self.synced, len]);
        self.ways = cuts.iter().map(|cut| (*cut, *cut)).collect();
        self.ways.extend(cuts.iter().filter(|cut| **cut < len).map(|cut| (*cut, len)));
    }
}

/// In how many ways `n` changes come to the disk or not.
#[inline]
fn subsets(n: usize) -> usize {
    if n <= SUBSETS_OF_MAX { 1 << n } else { (n + 1) * (n + 1) }
}

/// Whether change `i` of `n` comes to the disk in subset `subset`: a bit of it, or with many changes those of a beginning, one turned over.
#[inline]
fn is_kept(n: usize, subset: usize, i: usize) -> bool {
    if n <= SUBSETS_OF_MAX {
        return subset >> i & 1 == 1;
    }
    let (beginning, turned) = (subset / (n + 1), subset % (n + 1));
    (i < beginning) != (i == turned)
}

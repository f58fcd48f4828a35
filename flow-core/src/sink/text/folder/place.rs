//! The folder of a sink: who has it, and what stands in it when a job starts.

use super::names::{Found, recognize};
use crate::error::{Error, Result};
use crate::sink::sink_error;
use crate::sorted::Sorted;
use std::fs::{self, File, TryLockError};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::SystemTime;

/// The file that is locked. It stays: to remove it would take the lock from whoever has just opened it.
const LOCK: &str = ".lock";

/// The folder of a sink and its clones.
#[derive(Debug)]
pub(super) struct Place {
    folder: PathBuf,
    claim: Mutex<Weak<Claim>>,
}

/// The folder is a job's, as long as one of these lives.
#[derive(Debug)]
pub(super) struct Claim {
    folder: PathBuf,
    /// A committer has it: what is written belongs to checkpoints.
    checkpointed: bool,
    /// Stands in the names of what is staged: no other claim has had it.
    opening: u64,
    /// The instances that write.
    writing: Mutex<Sorted<u32>>,
    _lock: File,
}

/// An instance that writes into the folder.
#[derive(Debug)]
pub(super) struct Writing {
    claim: Arc<Claim>,
    instance: u32,
}

impl Place {
    pub fn new(folder: PathBuf) -> Self {
        Place { folder, claim: Mutex::new(Weak::new()) }
    }

    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// For a committer: what was staged for checkpoints after `checkpoint` is removed. The first of the sink's parts to come locks the folder.
    ///
    /// # Errors
    /// When another has it, or when it has results from after `checkpoint`; nothing is removed then.
    pub fn recover(&self, checkpoint: u64) -> Result<Arc<Claim>> {
        let mut known = lock(&self.claim);
        let claim = match known.upgrade() {
            Some(claim) if lock(&claim.writing).is_empty() && claim.checkpointed => claim,
            Some(_) => return Err(another_sink(&self.folder)),
            None => Arc::new(Claim::new(&self.folder, true)?),
        };
        let mut dead = Vec::new();
        for (path, found) in self.files()? {
            match found {
                Found::Final(part) if checkpoint == 0 || part.checkpoint > checkpoint => {
                    return Err(later_results(&path, part.checkpoint, checkpoint));
                }
                Found::Staged(part) if part.checkpoint == 0 || part.checkpoint > checkpoint => {
                    dead.push(path)
                }
                Found::Final(_) | Found::Staged(_) => {}
            }
        }
        self.remove(&dead)?;
        *known = Arc::downgrade(&claim);
        Ok(claim)
    }

    /// For an instance that writes. Where no committer has the folder, it must not have any results.
    ///
    /// # Errors
    /// When another has it, or when it has results.
    pub fn open(&self, instance: u32) -> Result<Writing> {
        let mut known = lock(&self.claim);
        let claim = if let Some(claim) = known.upgrade() {
            claim
        } else {
            let claim = Arc::new(Claim::new(&self.folder, false)?);
            self.begin()?;
            *known = Arc::downgrade(&claim);
            claim
        };
        if lock(&claim.writing).insert(instance, ()).is_some() {
            return Err(another_sink(&self.folder));
        }
        Ok(Writing { claim, instance })
    }

    /// A job without checkpoints begins: only what another such has left half-written may be there.
    fn begin(&self) -> Result<()> {
        let mut dead = Vec::new();
        for (path, found) in self.files()? {
            match found {
                Found::Staged(part) if part.checkpoint == 0 => dead.push(path),
                Found::Staged(part) => {
                    let what = format!(
                        "{}: staged output of checkpoint {} is there already",
                        path.display(),
                        part.checkpoint
                    );
                    return Err(sink_error(what).note(
                        "start the job that has staged it once more, or give this sink another folder",
                    ));
                }
                Found::Final(_) => {
                    let what = format!("{}: results are there already", path.display());
                    return Err(sink_error(what).note("remove them, or give the sink another folder"));
                }
            }
        }
        self.remove(&dead)
    }

    /// The files of this and other sinks in the folder and its sub-folders.
    fn files(&self) -> Result<Vec<(PathBuf, Found)>> {
        let mut found = Vec::new();
        let read = look_into(&self.folder, &mut found).and_then(|folders| {
            folders.iter().try_for_each(|folder| look_into(folder, &mut found).map(drop))
        });
        read.map_err(|error| failed(&self.folder, "cannot be read", &error))?;
        // So that an error names the same file each time, and the first.
        found.sort();
        let what = |path: &Path| path.file_name()?.to_str().and_then(recognize);
        Ok(found.into_iter().filter_map(|path| what(&path).map(|what| (path, what))).collect())
    }

    fn remove(&self, dead: &[PathBuf]) -> Result<()> {
        for path in dead {
            fs::remove_file(path).map_err(|error| failed(path, "cannot be removed", &error))?;
            remove_if_empty(&self.folder, path);
        }
        Ok(())
    }
}

/// Adds a folder's files; returns its sub-folders.
fn look_into(folder: &Path, found: &mut Vec<PathBuf>) -> io::Result<Vec<PathBuf>> {
    let mut folders = Vec::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let kind = entry.file_type()?;
        if kind.is_dir() {
            folders.push(entry.path());
        } else if kind.is_file() {
            found.push(entry.path());
        }
    }
    Ok(folders)
}

/// Removes the sub-folder of a file that is gone, where it is empty now.
pub(super) fn remove_if_empty(folder: &Path, path: &Path) {
    if let Some(partition) = path.parent().filter(|parent| *parent != folder) {
        // One that is not empty stays: that is the point.
        let _ = fs::remove_dir(partition);
    }
}

impl Claim {
    fn new(folder: &Path, checkpointed: bool) -> Result<Self> {
        make(folder).map_err(|error| failed(folder, "the folder cannot be made", &error))?;
        let path = folder.join(LOCK);
        let cannot = |error: &io::Error| failed(&path, "cannot be locked", error);
        let opened = File::options().create(true).truncate(false).read(true).write(true).open(&path);
        let mut file = opened.map_err(|error| cannot(&error))?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(taken(folder, &path)),
            Err(TryLockError::Error(error)) => return Err(cannot(&error)),
        }
        let said = file.set_len(0).and_then(|()| writeln!(file, "process {}", std::process::id()));
        said.map_err(|error| cannot(&error))?;
        let writing = Mutex::new(Sorted::default());
        Ok(Claim { folder: folder.into(), checkpointed, opening: opening(), writing, _lock: file })
    }

    pub fn folder(&self) -> &Path {
        &self.folder
    }

    pub fn opening(&self) -> u64 {
        self.opening
    }

    pub fn is_checkpointed(&self) -> bool {
        self.checkpointed
    }
}

/// The time, and the process: two of them at one time are not the same.
fn opening() -> u64 {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    let nanos = u64::try_from(now.as_nanos()).unwrap_or(u64::MAX);
    nanos.rotate_left(24) ^ u64::from(std::process::id())
}

impl Writing {
    pub fn claim(&self) -> &Arc<Claim> {
        &self.claim
    }

    pub fn instance(&self) -> u32 {
        self.instance
    }
}

impl Drop for Writing {
    fn drop(&mut self) {
        lock(&self.claim.writing).remove(&self.instance);
    }
}

fn lock<T>(it: &Mutex<T>) -> MutexGuard<'_, T> {
    it.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Makes the folder, so that it survives.
fn make(folder: &Path) -> io::Result<()> {
    if folder.is_dir() {
        return Ok(());
    }
    fs::create_dir_all(folder)?;
    folder.canonicalize()?.parent().map_or(Ok(()), sync_names)
}

/// Brings to the disk which names stand in a folder.
#[cfg(unix)]
pub(super) fn sync_names(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}

/// Other systems bring names to the disk with the files, and do not open folders.
#[cfg(not(unix))]
pub(super) fn sync_names(_: &Path) -> io::Result<()> {
    Ok(())
}

#[cold]
pub(super) fn failed(path: &Path, what: &str, error: &io::Error) -> Error {
    sink_error(format!("{}: {what}: {error}", path.display()))
}

#[cold]
fn taken(folder: &Path, path: &Path) -> Error {
    let said = fs::read_to_string(path).unwrap_or_default();
    let process = said.trim().strip_prefix("process ").unwrap_or("unknown");
    if process == std::process::id().to_string() {
        return another_sink(folder);
    }
    let what = format!("{}: process {process} is writing into this folder", folder.display());
    sink_error(what).note("wait for its end, or give the sink another folder")
}

#[cold]
fn another_sink(folder: &Path) -> Error {
    let what = format!("{}: another sink is writing into this folder", folder.display());
    sink_error(what).note("give each sink a folder of its own")
}

#[cold]
fn later_results(path: &Path, of: u64, checkpoint: u64) -> Error {
    let (path, start) = (
        path.display(),
        match checkpoint {
            0 => "the job starts from the beginning".to_owned(),
            n => format!("the job starts from checkpoint {n}"),
        },
    );
    sink_error(format!("{path}: a result of checkpoint {of} is there, and {start}: it would be written twice")).note(
        "where its checkpoints were deleted, or it goes back on purpose, remove the files of later checkpoints first; a new job needs a folder of its own",
    )
}

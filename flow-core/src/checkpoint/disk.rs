//! A real folder.

use super::storage::{LOCK, Storage, StorageFile, lock_text, locked};
use std::fs::{self, File, TryLockError};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::SystemTime;

/// A folder of the file system. It should be on a local disk: locks and syncs of network file systems promise less.
///
/// ```
/// use flow_core::checkpoint::{Folder, Storage};
/// let parent = tempfile::tempdir()?;
/// let folder = Folder::open(&parent.path().join("checkpoints"))?;
/// let mut file = folder.create("x")?;
/// file.write(b"hello")?;
/// file.sync()?;
/// folder.sync_folder()?;
/// assert_eq!((folder.list()?, folder.len("x")?), (vec!["x".into()], 5));
/// assert_eq!(folder.read_at("x", 1, 3)?, b"ell");
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Folder {
    path: PathBuf,
}

impl Folder {
    /// Opens the folder, and makes it if there is none.
    ///
    /// # Errors
    /// When it cannot be made, or is no folder.
    pub fn open(path: &Path) -> io::Result<Folder> {
        // A path like `a` has an empty parent, which is no folder.
        let path = std::path::absolute(path)?;
        let new = path.ancestors().take_while(|folder| !folder.is_dir()).count();
        fs::create_dir_all(&path)?;
        // The name of a folder is in its parent.
        path.ancestors().skip(1).take(new).try_for_each(sync_names)?;
        if let (0, Some(parent)) = (new, path.parent()) {
            // Who made it may have died before it could do this. One whose parent is not ours to read was not made by us.
            let _ = sync_names(parent);
        }
        Ok(Folder { path })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Storage for Folder {
    fn create(&self, name: &str) -> io::Result<Box<dyn StorageFile>> {
        Ok(Box::new(Written(File::create_new(self.path.join(name))?)))
    }

    fn len(&self, name: &str) -> io::Result<u64> {
        Ok(fs::metadata(self.path.join(name))?.len())
    }

    fn read_at(&self, name: &str, at: u64, bytes: usize) -> io::Result<Vec<u8>> {
        let mut file = File::open(self.path.join(name))?;
        file.seek(SeekFrom::Start(at))?;
        let mut read = vec![0; bytes];
        file.read_exact(&mut read)?;
        Ok(read)
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        fs::rename(self.path.join(from), self.path.join(to))
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        fs::remove_file(self.path.join(name))
    }

    fn list(&self) -> io::Result<Vec<String>> {
        // A name that is not UTF-8 is none of ours.
        let names = fs::read_dir(&self.path)?.map(|entry| Ok(entry?.file_name().into_string().ok()));
        names.filter_map(Result::transpose).collect()
    }

    fn sync_folder(&self) -> io::Result<()> {
        sync_names(&self.path)
    }

    fn lock(&self) -> io::Result<Box<dyn Send + Sync>> {
        let path = self.path.join(LOCK);
        let mut file = File::options().create(true).truncate(false).read(true).write(true).open(&path)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                return Err(locked(&fs::read_to_string(&path).unwrap_or_default()));
            }
            Err(TryLockError::Error(error)) => return Err(error),
        }
        file.set_len(0)?;
        file.write_all(lock_text(turn()).as_bytes())?;
        Ok(Box::new(file))
    }

    fn describe(&self, name: &str) -> String {
        self.path.join(name).display().to_string()
    }
}

/// A number that no locking has had: the time, and a count for those at the same time. The process's number stands beside it.
fn turn() -> u128 {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_nanos();
    now << 32 | u128::from(COUNT.fetch_add(1, Ordering::Relaxed))
}

#[cfg(unix)]
fn sync_names(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}

/// Other systems bring names to the disk with the files, and do not open folders.
#[cfg(not(unix))]
fn sync_names(_: &Path) -> io::Result<()> {
    Ok(())
}

struct Written(File);

impl StorageFile for Written {
    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.0.write_all(bytes)
    }

    fn sync(&mut self) -> io::Result<()> {
        self.0.sync_all()
    }
}

//! What stands in a checkpoint of staged files, and what makes them final.
//!
//! Numbers are little-endian; a text is its length in bytes (4) and UTF-8.
//!
//! | bytes | what |
//! |---|---|
//! | 1 | the version of this format: 1 |
//! | text | where the folder was, for messages: it may have been moved since |
//! | 4 | how many files follow |
//! | 8, text, text | of each: its length in bytes, its staged name, its final name; both below the folder, with `/` before the file |

use super::names::{Found, recognize};
use super::place::{failed, remove_if_empty, sync_names};
use crate::error::{Error, Result};
use crate::sink::sink_error;
use crate::unpack::Unpack;
use std::fs;
use std::path::{Path, PathBuf};

const VERSION: u8 = 1;

/// A file that is whole and on the disk, under its staged name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct StagedPart {
    pub bytes: u64,
    pub staged: String,
    pub last: String,
}

/// The bytes for the checkpoint.
pub(super) fn encode(folder: &Path, parts: &[StagedPart]) -> Vec<u8> {
    let mut bytes = vec![VERSION];
    let text = |bytes: &mut Vec<u8>, text: &str| {
        bytes.extend(u32::try_from(text.len()).unwrap_or(u32::MAX).to_le_bytes());
        bytes.extend(text.as_bytes());
    };
    let absolute = std::path::absolute(folder).unwrap_or_else(|_| folder.into());
    text(&mut bytes, &absolute.to_string_lossy());
    bytes.extend(u32::try_from(parts.len()).unwrap_or(u32::MAX).to_le_bytes());
    for part in parts {
        bytes.extend(part.bytes.to_le_bytes());
        text(&mut bytes, &part.staged);
        text(&mut bytes, &part.last);
    }
    bytes
}

/// Where the folder was, and its files.
///
/// # Errors
/// What is wrong with the bytes.
pub(super) fn decode(bytes: &[u8]) -> Result<(String, Vec<StagedPart>), String> {
    let mut rest = Unpack::new(bytes);
    let version = rest.u8().ok_or(SHORT)?;
    if version != VERSION {
        return Err(format!("version {version} is not known, only {VERSION}"));
    }
    let folder = text(&mut rest)?;
    let count = rest.u32().ok_or(SHORT)?;
    let mut parts = Vec::new();
    for _ in 0..count {
        let bytes = rest.u64().ok_or(SHORT)?;
        let (staged, last) = (text(&mut rest)?, text(&mut rest)?);
        let (Some(Found::Staged(_)), Some(Found::Final(_))) = (in_folder(&staged), in_folder(&last)) else {
            return Err(format!("`{staged}` and `{last}` are no names of staged and final files"));
        };
        parts.push(StagedPart { bytes, staged, last });
    }
    if rest.is_over() { Ok((folder, parts)) } else { Err(format!("{} bytes too many", rest.left())) }
}

/// What a name below the folder stands for, if it is one: a file, or one in a sub-folder.
fn in_folder(path: &str) -> Option<Found> {
    let (partition, name) = path.rsplit_once('/').unwrap_or(("x", path));
    let inside =
        !partition.is_empty() && !partition.contains(['/', '\\']) && !matches!(partition, "." | "..");
    if inside { recognize(name).filter(|_| !name.contains('\\')) } else { None }
}

const SHORT: &str = "they end too early";

fn text(rest: &mut Unpack<'_>) -> Result<String, String> {
    let text = rest.bytes().ok_or(SHORT)?;
    String::from_utf8(text.to_vec()).map_err(|_| "a name is no UTF-8".to_owned())
}

/// Gives all of `parts` their final names; those that have them already are passed over. `was` is where the folder was when they were staged.
///
/// # Errors
/// When one is lost, or something else has its name. The others are as they were; it can be done again.
pub(super) fn commit(folder: &Path, was: &str, checkpoint: u64, parts: &[StagedPart]) -> Result<()> {
    for part in parts {
        let (staged, last) = (folder.join(&part.staged), folder.join(&part.last));
        match (length(&staged)?, length(&last)?) {
            (Some(bytes), None) if bytes == part.bytes => {
                fs::rename(&staged, &last).map_err(|error| failed(&staged, "cannot be renamed", &error))?;
            }
            (Some(bytes), None) => return Err(damaged(&staged, checkpoint, part.bytes, bytes)),
            (None, Some(_)) => {}
            (Some(_), Some(_)) => return Err(in_the_way(&staged, &last, checkpoint)),
            (None, None) => return Err(lost(&staged, &last, checkpoint, was)),
        }
    }
    Ok(())
}

/// Brings the names to the disk.
///
/// # Errors
/// When that fails. To try again is no use: what is lost may not be seen a second time.
pub(super) fn sync(folder: &Path, parts: &[StagedPart]) -> Result<()> {
    let mut folders: Vec<PathBuf> =
        parts.iter().filter_map(|part| folder.join(&part.last).parent().map(Path::to_path_buf)).collect();
    folders.sort();
    folders.dedup();
    folders.iter().try_for_each(|folder| {
        sync_names(folder)
            .map_err(|error| failed(folder, "what was renamed cannot be brought to the disk", &error))
    })
}

/// Removes what is still staged.
pub(super) fn abort(folder: &Path, parts: &[StagedPart]) {
    for part in parts {
        let staged = folder.join(&part.staged);
        // Nothing can be done about a file that will not go; its name says that it is no result, and the next start removes it.
        let _ = fs::remove_file(&staged);
        remove_if_empty(folder, &staged);
    }
}

fn length(path: &Path) -> Result<Option<u64>> {
    match fs::symlink_metadata(path) {
        Ok(found) => Ok(Some(found.len())),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(failed(path, "cannot be looked at", &error)),
    }
}

#[cold]
fn damaged(staged: &Path, checkpoint: u64, expected: u64, found: u64) -> Error {
    sink_error(format!(
        "{}: the file has {found} bytes, and {expected} were staged for checkpoint {checkpoint}",
        staged.display()
    ))
    .note("something has changed it; its rows cannot be trusted, and were not made final")
}

#[cold]
fn in_the_way(staged: &Path, last: &Path, checkpoint: u64) -> Error {
    sink_error(format!("{}: a file with this name is there, and it is not this sink's", last.display())).note(format!(
        "it was not overwritten; the rows of checkpoint {checkpoint} are in {}: move the other away, and start again",
        staged.display()
    ))
}

#[cold]
fn lost(staged: &Path, last: &Path, checkpoint: u64, was: &str) -> Error {
    sink_error(format!(
        "{}: rows of checkpoint {checkpoint} are lost: neither this file is there nor {}, as which it was staged",
        last.display(),
        staged.display()
    ))
    .note(format!("they were staged in {was}: give the sink that folder, or what has become of it"))
    .note("where another program has taken the finished file away, an empty one with its name says so")
}

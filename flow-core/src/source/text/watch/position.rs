//! Where the reader of watched folders stands, as a checkpoint keeps it. Numbers are little-endian:
//!
//! | bytes | what |
//! |---|---|
//! | 1 | 1, the version of this layout |
//! | 4, paths | the inputs, as they were given |
//! | 4, files | those that are known and were still there at the last look |
//! | 4, paths | those of them that have not been opened, in the order in which they will be |
//! | 4, n | where the reader stands in the file that it reads ([`Position`]); no bytes when it reads none |
//!
//! A path is its length in 4 bytes and its bytes as the system has them. A known file is a path, a byte, and where that is 1 and not 0
//! what the file was when its end was reached: device and inode (8, 8), size (8), time of change in nanoseconds since 1970 (16; `i128::MIN` where there is none).

use super::super::position::Position;
use super::{Stamp, Watch};
use crate::error::{Error, ErrorKind, Result};
use crate::source::unpack::{Unpack, foreign, pack_bytes, path_of};
use std::collections::{HashMap, VecDeque};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

const VERSION: u8 = 1;
const NO_TIME: i128 = i128::MIN;

/// See the module.
pub(super) struct WatchPosition {
    inputs: Vec<PathBuf>,
    pub known: HashMap<PathBuf, Option<Stamp>>,
    pub new: VecDeque<PathBuf>,
    pub current: Option<Position>,
}

/// As bytes: `current` is where the file that is being read stands.
pub(super) fn encode(watch: &Watch, current: Option<&Position>) -> Vec<u8> {
    let mut out = vec![VERSION];
    pack_paths(watch.inputs.paths().iter(), &mut out);
    pack_count(watch.known.len(), &mut out);
    let mut known: Vec<PathBuf> = watch.known.keys().cloned().collect();
    known.sort();
    for path in known {
        let stamp = &watch.known[&path];
        pack_path(&path, &mut out);
        out.push(u8::from(stamp.is_some()));
        if let Some(stamp) = stamp {
            pack_stamp(stamp, &mut out);
        }
    }
    pack_paths(watch.new.iter(), &mut out);
    pack_bytes(&current.map(Position::encode).unwrap_or_default(), &mut out);
    out
}

fn pack_count(count: usize, out: &mut Vec<u8>) {
    out.extend(u32::try_from(count).unwrap_or(u32::MAX).to_le_bytes());
}

fn pack_path(path: &Path, out: &mut Vec<u8>) {
    pack_bytes(path.as_os_str().as_encoded_bytes(), out);
}

fn pack_paths<'a>(paths: impl ExactSizeIterator<Item = &'a PathBuf>, out: &mut Vec<u8>) {
    pack_count(paths.len(), out);
    paths.for_each(|path| pack_path(path, out));
}

fn pack_stamp(stamp: &Stamp, out: &mut Vec<u8>) {
    for number in [stamp.file.0, stamp.file.1, stamp.size] {
        out.extend(number.to_le_bytes());
    }
    let nanos = stamp.time.map_or(NO_TIME, |time| match time.duration_since(UNIX_EPOCH) {
        Ok(since) => i128::try_from(since.as_nanos()).unwrap_or(i128::MAX),
        Err(before) => -i128::try_from(before.duration().as_nanos()).unwrap_or(i128::MAX),
    });
    out.extend(nanos.to_le_bytes());
}

impl WatchPosition {
    /// From bytes.
    ///
    /// # Errors
    /// When they are no position, or one in other folders than `inputs`.
    pub fn decode(bytes: &[u8], inputs: &[PathBuf]) -> Result<Self> {
        let position = unpack(bytes)
            .ok_or_else(|| foreign("a position that no watched folder of this version has written"))?;
        if position.inputs == inputs {
            return Ok(position);
        }
        let what = format!(
            "what is watched was {} at the checkpoint, and is {} now",
            listed(&position.inputs),
            listed(inputs)
        );
        let error = Error::new(ErrorKind::State, what);
        Err(error.note("files are known by their paths: under other ones all would be read again"))
    }
}

fn listed(paths: &[PathBuf]) -> String {
    paths.iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join(", ")
}

fn unpack(bytes: &[u8]) -> Option<WatchPosition> {
    let mut bytes = Unpack::new(bytes);
    if bytes.u8()? != VERSION {
        return None;
    }
    let inputs = unpack_paths(&mut bytes)?;
    let mut known = HashMap::new();
    for _ in 0..bytes.u32()? {
        let path = path_of(bytes.bytes()?)?;
        let stamp = match bytes.u8()? {
            0 => None,
            1 => Some(unpack_stamp(&mut bytes)?),
            _ => return None,
        };
        known.insert(path, stamp);
    }
    let new = unpack_paths(&mut bytes)?.into();
    let current = match bytes.bytes()? {
        [] => None,
        current => Some(Position::decode(current).ok()?),
    };
    bytes.is_over().then_some(WatchPosition { inputs, known, new, current })
}

fn unpack_paths(bytes: &mut Unpack<'_>) -> Option<Vec<PathBuf>> {
    let count = bytes.u32()?;
    (0..count).map(|_| path_of(bytes.bytes()?)).collect()
}

fn unpack_stamp(bytes: &mut Unpack<'_>) -> Option<Stamp> {
    let file = (bytes.u64()?, bytes.u64()?);
    let size = bytes.u64()?;
    let time = match bytes.i128()? {
        NO_TIME => None,
        nanos => Some(time_of(nanos)?),
    };
    Some(Stamp { file, size, time })
}

fn time_of(nanos: i128) -> Option<SystemTime> {
    let (whole, rest) = (nanos.unsigned_abs() / 1_000_000_000, nanos.unsigned_abs() % 1_000_000_000);
    let since = Duration::new(u64::try_from(whole).ok()?, u32::try_from(rest).ok()?);
    if nanos < 0 { UNIX_EPOCH.checked_sub(since) } else { UNIX_EPOCH.checked_add(since) }
}

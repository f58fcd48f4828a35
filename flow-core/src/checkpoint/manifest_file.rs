//! The format of manifests, version 1. Numbers are little endian.
//!
//! ```text
//! magic "FLOWMANI", format u32, length of what follows the checksum u64, crc u32 of all but itself
//! key groups u32, version of the hash u32, job, id u64, epoch u64, taken i64 (ms since 1970), flags u8 (1 savepoint, 2 finished, 4 history)
//! operators: n u32, (id, what, instances u32, finished u8, version u16, fingerprint u64, schema, files: n u32, u32*)*
//! staged:    n u32, (sink, instance u32, checkpoint u64, bytes)*
//! files:     n u32, (name, len u64, hash u64)*
//! ```
//!
//! Texts and bytes have their length, u32, in front. The first line stays what it is in later versions: what is damaged is told from what is newer.

use super::bytes::{Broken, Reader, crc, put_blob, put_len};
use super::manifest::{Manifest, OperatorState, StagedOutput, StateFile};
use super::names::{At, Kind, Name};
use super::state_file::FORMAT;
use crate::exchange::KEY_GROUPS;
use crate::exchange::hash::HASH_VERSION;
use crate::time::Timestamp;

/// Bytes of a manifest, at most.
pub(super) const MANIFEST_BYTES_MAX: u64 = 1 << 30;

const MAGIC: &[u8; 8] = b"FLOWMANI";
/// Magic, format, length.
const COVERED_BYTES: usize = 20;
const HEADER_BYTES: usize = COVERED_BYTES + 4;

/// The bytes of a manifest.
pub(super) fn write(manifest: &Manifest) -> Result<Vec<u8>, Broken> {
    check(manifest)?;
    let body = body(manifest)?;
    let mut out = MAGIC.to_vec();
    out.extend_from_slice(&FORMAT.to_le_bytes());
    out.extend_from_slice(&(body.len() as u64).to_le_bytes());
    let crc = crc(&[&out, &body]);
    out.extend_from_slice(&crc.to_le_bytes());
    out.extend_from_slice(&body);
    if out.len() as u64 > MANIFEST_BYTES_MAX {
        return Err("it has more than 1 GiB: the sinks have staged too much");
    }
    Ok(out)
}

fn body(manifest: &Manifest) -> Result<Vec<u8>, Broken> {
    let mut out = Vec::new();
    out.extend_from_slice(&(KEY_GROUPS as u32).to_le_bytes());
    out.extend_from_slice(&HASH_VERSION.to_le_bytes());
    put_blob(&mut out, manifest.job.as_bytes())?;
    out.extend_from_slice(&manifest.id.to_le_bytes());
    out.extend_from_slice(&manifest.epoch.to_le_bytes());
    out.extend_from_slice(&manifest.taken.0.to_le_bytes());
    let flags = [(manifest.savepoint, 1), (manifest.finished, 2), (manifest.history, 4)];
    out.push(flags.iter().filter(|flag| flag.0).map(|flag| flag.1).sum());
    put_len(&mut out, manifest.operators.len())?;
    for operator in &manifest.operators {
        put_operator(&mut out, operator)?;
    }
    put_len(&mut out, manifest.staged.len())?;
    for staged in &manifest.staged {
        put_blob(&mut out, staged.sink.as_bytes())?;
        out.extend_from_slice(&staged.instance.to_le_bytes());
        out.extend_from_slice(&staged.checkpoint.to_le_bytes());
        put_blob(&mut out, &staged.bytes)?;
    }
    put_len(&mut out, manifest.files.len())?;
    for file in &manifest.files {
        put_blob(&mut out, file.name.as_bytes())?;
        out.extend_from_slice(&file.len.to_le_bytes());
        out.extend_from_slice(&file.hash.to_le_bytes());
    }
    Ok(out)
}

fn put_operator(out: &mut Vec<u8>, operator: &OperatorState) -> Result<(), Broken> {
    put_blob(out, operator.id.as_bytes())?;
    put_blob(out, operator.what.as_bytes())?;
    out.extend_from_slice(&operator.instances.to_le_bytes());
    out.push(operator.finished.into());
    out.extend_from_slice(&operator.version.to_le_bytes());
    out.extend_from_slice(&operator.fingerprint.to_le_bytes());
    put_blob(out, operator.schema.as_bytes())?;
    put_len(out, operator.files.len())?;
    operator.files.iter().for_each(|file| out.extend_from_slice(&file.to_le_bytes()));
    Ok(())
}

/// The manifest in `bytes`, which are those of the file of checkpoint `at`; or what is wrong with it.
pub(super) fn read(bytes: &[u8], at: At) -> Result<Manifest, String> {
    let body = body_of(bytes)?;
    let mut reader = Reader::new(body);
    fits(&mut reader)?;
    let manifest = manifest_of(&mut reader).and_then(|manifest| {
        reader.end()?;
        check(&manifest)?;
        Ok(manifest)
    })?;
    if (manifest.id, manifest.epoch) != (at.id, at.epoch) {
        let (id, epoch) = (manifest.id, manifest.epoch);
        return Err(format!("it says that it is the manifest of checkpoint {id}, epoch {epoch}"));
    }
    Ok(manifest)
}

/// What follows the header, if that is whole, and of this format.
fn body_of(bytes: &[u8]) -> Result<&[u8], String> {
    let Some((header, body)) = bytes.split_at_checked(HEADER_BYTES) else {
        return Err(format!("it has {} bytes, and should have {HEADER_BYTES} at least", bytes.len()));
    };
    let (covered, written) = header.split_at(COVERED_BYTES);
    let mut reader = Reader::new(covered);
    if reader.bytes(MAGIC.len())? != MAGIC {
        return Err("it does not begin as a manifest does".into());
    }
    let (format, len) = (reader.u32()?, reader.u64()?);
    if body.len() as u64 != len {
        let expected = len.saturating_add(HEADER_BYTES as u64);
        return Err(format!("it has {} bytes, and should have {expected}", bytes.len()));
    }
    let (found, expected) = (crc(&[covered, body]), Reader::new(written).u32()?);
    if found != expected {
        return Err(format!("it is damaged: the checksum is {found:08x} and should be {expected:08x}"));
    }
    if format != FORMAT {
        return Err(format!("it has format {format}, this program reads {FORMAT}: use the newer program"));
    }
    Ok(body)
}

/// Whether this program finds keys where the one that wrote the manifest left them.
fn fits(reader: &mut Reader<'_>) -> Result<(), String> {
    let (groups, hash) = (reader.u32()?, reader.u32()?);
    if groups as usize != KEY_GROUPS {
        return Err(format!(
            "it was written with a maximal parallelism of {groups}, and that of this program is {KEY_GROUPS}: state cannot be moved between them"
        ));
    }
    if hash != HASH_VERSION {
        return Err(format!(
            "its keys were hashed by version {hash}, and this program has version {HASH_VERSION}"
        ));
    }
    Ok(())
}

fn manifest_of(reader: &mut Reader<'_>) -> Result<Manifest, Broken> {
    let job = reader.text()?;
    let (id, epoch) = (reader.u64()?, reader.u64()?);
    let (taken, flags) = (Timestamp(reader.u64()?.cast_signed()), reader.u8()?);
    if flags > 7 {
        return Err("it has flags that are not known");
    }
    let operators = reader.list(|reader| {
        Ok(OperatorState {
            id: reader.text()?,
            what: reader.text()?,
            instances: reader.u32()?,
            finished: reader.u8()? != 0,
            version: reader.u16()?,
            fingerprint: reader.u64()?,
            schema: reader.text()?,
            files: reader.list(Reader::u32)?,
        })
    })?;
    let staged = reader.list(|reader| {
        Ok(StagedOutput {
            sink: reader.text()?,
            instance: reader.u32()?,
            checkpoint: reader.u64()?,
            bytes: reader.blob()?.to_vec(),
        })
    })?;
    let files = reader
        .list(|reader| Ok(StateFile { name: reader.text()?, len: reader.u64()?, hash: reader.u64()? }))?;
    let (savepoint, finished, history) = (flags & 1 != 0, flags & 2 != 0, flags & 4 != 0);
    Ok(Manifest { job, id, epoch, taken, savepoint, finished, history, operators, staged, files })
}

/// What holds for every manifest: it is looked at before one is written and after one was read.
fn check(manifest: &Manifest) -> Result<(), Broken> {
    if !manifest.operators.windows(2).all(|pair| pair[0].id < pair[1].id) {
        return Err("its operators are not sorted by their ids");
    }
    let mut listed = manifest.operators.iter().flat_map(|operator| &operator.files);
    if !listed.all(|file| (*file as usize) < manifest.files.len()) {
        return Err("an operator's state is in a file that it does not list");
    }
    let is_state = |file: &StateFile| {
        Name::parse(&file.name).is_some_and(|name| name.kind == Kind::State && name.at.id <= manifest.id)
    };
    if !manifest.files.iter().all(is_state) {
        return Err("it lists a file that is no state file of this or an older checkpoint");
    }
    Ok(())
}

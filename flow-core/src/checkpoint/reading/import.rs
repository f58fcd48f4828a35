//! A checkpoint from lines of JSON.

use super::entries::Operator;
use super::export::FORMAT;
use crate::checkpoint::current::WHOLE;
use crate::checkpoint::schemas::fingerprint;
use crate::checkpoint::{Folder, Manifest, OperatorState, Slot, StagedOutput, Storage, Store};
use crate::error::{Error, ErrorKind, Result};
use crate::exchange::KEY_GROUPS;
use crate::exchange::hash::HASH_VERSION;
use crate::sorted::Sorted;
use crate::state::shape::Fault;
use crate::state::shape::json::{Json, parse};
use std::io::BufRead;
use std::path::Path;
use std::sync::Arc;

/// Makes a savepoint of the lines that [`Snapshot::export`](super::Snapshot::export) writes, in a folder without checkpoints; its number.
/// A job of that name that is given the folder goes on from it. All lines are in memory at once.
///
/// Lines may be changed, left out and added, but the first and the last: a value has to be of its type, and an entry in the key group that it had. A new key needs the group that
/// [`group_of`](crate::checkpoint::group_of) says: a job does not start with a key in another one.
///
/// ```
/// use flow_core::checkpoint::{import, read};
/// use flow_core::prelude::*;
/// let (from, to) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
/// let job = Job::build("counts", |job| {
///     let numbers = source(generate(u64::MAX, |n| n)).durable().rate_limit(10_000);
///     job.add(numbers.key_by(|n| n % 3).count().named("counts").collect(&Collected::new()));
/// });
/// let handle = job.checkpoints(Checkpoints::to(from.path())).start().unwrap();
/// handle.stop_with_savepoint().unwrap();
/// handle.join().unwrap();
///
/// let mut lines = Vec::new();
/// let first = read(from.path()).unwrap().newest().unwrap();
/// first.export(&mut lines).unwrap();
/// import(to.path(), &lines[..]).unwrap();
/// let second = read(to.path()).unwrap().newest().unwrap();
/// let all = |of: &flow_core::checkpoint::Snapshot| {
///     of.keyed::<u64, u64>("counts/count").unwrap().collect::<Result<Vec<_>>>().unwrap()
/// };
/// assert_eq!(all(&second), all(&first));
/// ```
///
/// # Errors
/// When a line is none of those, with its number; when the folder has checkpoints; when the disk fails. Nothing is written then.
pub fn import(folder: impl AsRef<Path>, lines: impl BufRead) -> Result<u64> {
    let folder = folder.as_ref();
    let opened = Folder::open(folder).map_err(|error| {
        let what = format!("the folder of checkpoints {}: {error}", folder.display());
        Error::new(ErrorKind::State, what)
    })?;
    import_into(Arc::new(opened), lines)
}

/// The same in a storage of your own.
///
/// # Errors
/// As [`import`].
pub fn import_into(storage: Arc<dyn Storage>, mut lines: impl BufRead) -> Result<u64> {
    let mut read = Read::default();
    let (mut number, mut bytes) = (0, Vec::new());
    loop {
        number += 1;
        bytes.clear();
        let at = |what: &str| Error::new(ErrorKind::State, format!("line {number}: {what}"));
        if lines.read_until(b'\n', &mut bytes).map_err(|error| at(&error.to_string()))? == 0 {
            break;
        }
        let line = std::str::from_utf8(&bytes).map_err(|_| at("it is not UTF-8"))?.trim();
        if !line.is_empty() {
            parse(line).and_then(|line| read.line(&line)).map_err(|fault| at(&fault))?;
        }
    }
    let what = "line 1: the line of the checkpoint is missing";
    let head = read.head.take().ok_or_else(|| Error::new(ErrorKind::State, what))?;
    if !read.ended {
        let what = format!(
            "line {number}: the last line, {{\"end\":{}}}, is missing: what has been given breaks off",
            head.id
        );
        return Err(Error::new(ErrorKind::State, what)
            .note("see whether what wrote the lines has failed; nothing was imported"));
    }
    read.write(storage, head)
}

/// What the lines have said.
#[derive(Default)]
struct Read {
    head: Option<Manifest>,
    staged: Vec<StagedOutput>,
    operators: Sorted<String, (OperatorState, Operator)>,
    /// The last line has come.
    ended: bool,
}

impl Read {
    fn line(&mut self, line: &Json) -> Result<(), Fault> {
        let Some(head) = &self.head else {
            self.head = Some(self::head(line)?);
            return Ok(());
        };
        if self.ended {
            return Err("it stands behind the last line".into());
        }
        if line.get("end").is_some() {
            only(line, &["end"])?;
            let of: u64 = number(line, "end")?;
            self.ended = true;
            return if of == head.id {
                Ok(())
            } else {
                Err(format!("the end of checkpoint {of}, and this is {}", head.id))
            };
        }
        if let Some(sink) = line.get("sink") {
            only(line, &["sink", "instance", "checkpoint", "bytes"])?;
            let instance = number(line, "instance")?;
            let (checkpoint, bytes) = (number(line, "checkpoint")?, hex(line, "bytes")?);
            self.staged.push(StagedOutput { sink: as_text(sink, "sink")?, instance, checkpoint, bytes });
            return Ok(());
        }
        let id = text(line, "operator")?;
        if line.get("schema").is_some() {
            return self.operator(line, id);
        }
        let Some((state, operator)) = self.operators.get_mut(&id) else {
            return Err(format!("the line of the operator `{id}`, with its schema, has to come before"));
        };
        if line.get("instance").is_some() {
            only(line, &["operator", "instance", "bytes"])?;
            let instance: u32 = number(line, "instance")?;
            if instance >= state.instances {
                return Err(format!(
                    "`{id}` has {} instances, and this is number {instance}",
                    state.instances
                ));
            }
            return operator.instance(instance, hex(line, "bytes")?);
        }
        let group: u16 = number(line, "group")?;
        if usize::from(group) >= KEY_GROUPS {
            return Err(format!("there are {KEY_GROUPS} key groups, and this is number {group}"));
        }
        operator.entry(group, line)
    }

    fn operator(&mut self, line: &Json, id: String) -> Result<(), Fault> {
        only(line, &["operator", "schema", "instances", "finished"])?;
        let schema = text(line, "schema")?;
        let state = OperatorState {
            id: id.clone(),
            instances: number(line, "instances")?,
            finished: flag(line, "finished")?,
            fingerprint: fingerprint(&schema),
            files: vec![0],
            schema,
            ..OperatorState::default()
        };
        let operator = Operator::new(&state.schema);
        match self.operators.insert(id, (state, operator)) {
            None => Ok(()),
            Some((state, _)) => Err(format!("there are two operators `{}`", state.id)),
        }
    }

    fn write(self, storage: Arc<dyn Storage>, head: Manifest) -> Result<u64> {
        let (mut store, newest) = Store::open(storage, &head.job, 1)?;
        if let Some(newest) = newest {
            let what = format!("the folder has checkpoint {} already", newest.id);
            let note = "give the checkpoint that is made a folder of its own";
            return Err(Error::new(ErrorKind::State, what).note(note));
        }
        let mut writing = store.begin(head.id)?;
        let mut operators = Vec::new();
        for (id, (state, operator)) in self.operators {
            for (slot, bytes) in operator.slots() {
                writing.part(&id, slot, &[&[WHOLE], &bytes[..]].concat())?;
            }
            operators.push(state);
        }
        let files = vec![writing.file()];
        let id = head.id;
        let manifest = Manifest { operators, files, staged: self.staged, savepoint: true, ..head };
        store.commit(writing, manifest).map_err(|error| Error::new(ErrorKind::State, error.to_string()))?;
        Ok(id)
    }
}

/// The first line.
fn head(line: &Json) -> Result<Manifest, Fault> {
    if line.get("checkpoint").is_none() || line.get("job").is_none() {
        return Err("the first line has to be that of the checkpoint, {\"checkpoint\":…,\"job\":…}".into());
    }
    only(line, &["checkpoint", "job", "savepoint", "finished", "history", "format", "key_groups", "hash"])?;
    for (what, is) in [("format", FORMAT), ("key_groups", KEY_GROUPS as u64), ("hash", HASH_VERSION.into())] {
        let found: u64 = number(line, what)?;
        if found != is {
            let older = if what == "format" && found < is { ": export the checkpoint again" } else { "" };
            return Err(format!("its `{what}` is {found}, this program has {is}{older}"));
        }
    }
    let id = number(line, "checkpoint")?;
    if id == 0 {
        return Err("checkpoints are numbered from 1".into());
    }
    let history = line.get("history").is_some() && flag(line, "history")?;
    let (job, finished) = (text(line, "job")?, flag(line, "finished")?);
    Ok(Manifest { id, job, finished, history, ..Manifest::default() })
}

/// There are no other fields, and none twice.
pub(super) fn only(line: &Json, names: &[&str]) -> Result<(), Fault> {
    let Json::Object(fields) = line else { return Err("an object is expected".into()) };
    for (n, (name, _)) in fields.iter().enumerate() {
        if !names.contains(&name.as_str()) {
            return Err(format!("there is no field `{name}`: there are {}", names.join(", ")));
        }
        if fields[..n].iter().any(|other| other.0 == *name) {
            return Err(format!("the field `{name}` is given twice"));
        }
    }
    Ok(())
}

pub(super) fn field<'j>(line: &'j Json, name: &str) -> Result<&'j Json, Fault> {
    line.get(name).ok_or_else(|| format!("the field `{name}` is missing"))
}

fn as_text(json: &Json, name: &str) -> Result<String, Fault> {
    match json {
        Json::Text(text) => Ok(text.clone()),
        other => Err(format!("at `{name}`: a text is expected, and there is {}", other.what())),
    }
}

pub(super) fn text(line: &Json, name: &str) -> Result<String, Fault> {
    as_text(field(line, name)?, name)
}

fn flag(line: &Json, name: &str) -> Result<bool, Fault> {
    match field(line, name)? {
        Json::Bool(flag) => Ok(*flag),
        other => Err(format!("at `{name}`: true or false is expected, and there is {}", other.what())),
    }
}

fn number<N: std::str::FromStr>(line: &Json, name: &str) -> Result<N, Fault> {
    let json = field(line, name)?;
    let number = if let Json::Number(number) = json { number.parse().ok() } else { None };
    number.ok_or_else(|| format!("at `{name}`: a number is expected, and there is {}", json.what()))
}

/// Bytes as hexadecimal digits.
pub(super) fn hex(line: &Json, name: &str) -> Result<Vec<u8>, Fault> {
    let digits = text(line, name)?;
    let digits: Option<Vec<u8>> = digits.chars().map(|c| c.to_digit(16).map(|digit| digit as u8)).collect();
    let digits = digits.filter(|digits| digits.len().is_multiple_of(2));
    let digits = digits.ok_or_else(|| format!("at `{name}`: pairs of hexadecimal digits are expected"))?;
    Ok(digits.chunks_exact(2).map(|pair| pair[0] << 4 | pair[1]).collect())
}

/// What an operator has, slot by slot.
pub(super) type Slots = Sorted<Slot, Vec<u8>>;

//! One partition of a text source: found, cut and opened, whatever the format.

use super::broken::ReadError;
use super::format::Format;
use super::inputs::{Input, Inputs};
use super::position::{Origin, Position, WHOLE};
use super::pump::{Bytes, ForStage, Pumped};
use super::reading::{Next, Reading, Reads, Records};
use super::reopen::Reopened;
use crate::error::Result;
use std::fs::File;
use std::io::{self, Read};
use std::ops::Range;
use std::path::{Path, PathBuf};

/// One partition of a [`TextFiles`](super::TextFiles).
#[derive(Debug, Clone)]
pub enum Part<C> {
    /// A whole file.
    File(PathBuf),
    /// A part of a file.
    Range(PathBuf, C),
    /// Standard input, a pipe, a device: what may keep its reader waiting.
    Waiting(Input),
    /// What a checkpoint has a position of, in this file. The position says the rest.
    Again(PathBuf),
}

impl<C> Part<C> {
    /// What it is of.
    pub(super) fn input(&self) -> Input {
        match self {
            Part::File(path) | Part::Range(path, _) | Part::Again(path) => Input::File(path.clone()),
            Part::Waiting(input) => input.clone(),
        }
    }

    /// Whether it can be read again from a position.
    pub(super) fn is_replayable(&self) -> bool {
        !matches!(self, Part::Waiting(_))
    }
}

/// An opened partition.
pub enum Opened<T, X> {
    /// Read on the stage's thread.
    Here(Reading<T, X>),
    /// Read on a thread of its own.
    Pumped(Pumped<T>),
}

impl<T: Send + 'static, X: Records<T> + Send + 'static> Reads<T> for Opened<T, X> {
    #[inline]
    fn next(&mut self) -> Result<Next<T>> {
        match self {
            Opened::Here(reading) => reading.next(),
            Opened::Pumped(pumped) => pumped.next(),
        }
    }

    fn position(&self) -> Option<Vec<u8>> {
        match self {
            Opened::Here(reading) => reading.position().map(|position| position.encode()),
            Opened::Pumped(pumped) => pumped.position(),
        }
    }
}

/// Finds and cuts the inputs, and makes sure that each can be opened.
pub(super) fn parts<T, F: Format<T>>(
    format: &F,
    inputs: &Inputs,
    splits: usize,
) -> Result<Vec<Part<F::Cut>>, ReadError> {
    let mut parts = Vec::new();
    for input in inputs.find()? {
        match input {
            Input::File(path) if path.is_file() && splits > 1 => {
                let cuts = format.cut(&path, splits)?;
                parts.extend(cuts.into_iter().map(|cut| Part::Range(path.clone(), cut)));
            }
            Input::File(path) if path.is_file() => {
                Input::open(&path)?;
                parts.push(Part::File(path));
            }
            waiting => parts.push(Part::Waiting(waiting)),
        }
    }
    Ok(parts)
}

/// Opens one of the parts.
pub(super) fn open<T, F: Format<T>>(
    format: &F,
    part: Part<F::Cut>,
    stage: ForStage,
) -> Result<Opened<T, F::Records>, ReadError> {
    let invalid = stage.invalid.clone();
    Ok(match part {
        Part::File(path) => {
            let (file, origin) = opened(&path, WHOLE, stage.keeps)?;
            let records = format.whole(Input::File(path).name(), file);
            Opened::Here(Reading::new(records, None, invalid).from(origin))
        }
        Part::Range(path, cut) => {
            let name = Input::File(path.clone()).name();
            let (file, origin) = opened(&path, format.bytes(&cut), stage.keeps)?;
            let records = format
                .part(name.clone(), file, cut)
                .map_err(|source| ReadError::Io { file: name, source: source.into() })?;
            Opened::Here(Reading::new(records, format.recount(&path), invalid).from(origin))
        }
        Part::Again(path) => {
            let source = io::Error::other("a part of a checkpoint is opened at its position only");
            return Err(ReadError::Io { file: path.display().to_string().into(), source: source.into() });
        }
        Part::Waiting(input) => {
            let bytes = match &input {
                Input::Stdin => standard_input(),
                Input::File(path) => opened_late(path.clone()),
            };
            let pumped = format.pumped(input.name(), bytes, stage);
            Opened::Pumped(
                pumped.map_err(|source| ReadError::Io { file: input.name(), source: source.into() })?,
            )
        }
    })
}

/// Opens one of the parts where its reader stood.
pub(super) fn reopen<T, F: Format<T>>(
    format: &F,
    position: &Position,
    stage: ForStage,
) -> Result<Opened<T, F::Records>> {
    if position.ended {
        return Ok(Opened::Pumped(Pumped::over(position.encode())));
    }
    let Reopened { file, begin, origin } = position.reopen()?;
    let recount = if position.is_of_part() { format.recount(&position.path) } else { None };
    let records = format.resume(Input::File(position.path.clone()).name(), file, &begin)?;
    Ok(Opened::Here(Reading::new(records, recount, stage.invalid).from(Some(origin))))
}

/// A file, and in a job that takes checkpoints what it takes to say where its reader stands.
pub(super) fn opened(
    path: &Path,
    part: Range<u64>,
    keeps: bool,
) -> Result<(File, Option<Origin>), ReadError> {
    let (mut file, _) = Input::open(path)?;
    let origin = keeps.then(|| Origin::of(path, part, &mut file)).transpose();
    let name = || path.display().to_string().into();
    let origin = origin.map_err(|source| ReadError::Io { file: name(), source: source.into() })?;
    Ok((file, origin))
}

fn standard_input() -> Bytes {
    Box::new(|bytes| std::io::stdin().read(bytes))
}

/// A file opened by the first read: a pipe without a writer keeps `open` waiting too.
fn opened_late(path: PathBuf) -> Bytes {
    let mut opened = None;
    Box::new(move |bytes| {
        let file = match &mut opened {
            Some(file) => file,
            none => none.insert(File::open(&path)?),
        };
        file.read(bytes)
    })
}

//! One partition of a text source: found, cut and opened, whatever the format.

use super::broken::ReadError;
use super::format::Format;
use super::inputs::{Input, Inputs};
use super::pump::{Bytes, ForStage, Pumped};
use super::reading::{Next, Reading, Reads, Records};
use crate::error::Result;
use std::fs::File;
use std::io::Read;
use std::path::PathBuf;

/// One partition of a [`TextFiles`](super::TextFiles).
#[derive(Debug, Clone)]
pub enum Part<C> {
    /// A whole file.
    File(PathBuf),
    /// A part of a file.
    Range(PathBuf, C),
    /// Standard input, a pipe, a device: what may keep its reader waiting.
    Waiting(Input),
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
            let records = format.whole(Input::File(path.clone()).name(), Input::open(&path)?.0);
            Opened::Here(Reading::new(records, None, invalid))
        }
        Part::Range(path, cut) => {
            let name = Input::File(path.clone()).name();
            let records = format
                .part(name.clone(), Input::open(&path)?.0, cut)
                .map_err(|source| ReadError::Io { file: name, source: source.into() })?;
            Opened::Here(Reading::new(records, format.recount(&path), invalid))
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

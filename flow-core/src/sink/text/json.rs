//! The sink `json_file`.

use super::writers::LineWriter;
use crate::error::{Error, Result};
use crate::sink::{Sink, Writer};
use crate::stage::{Commit, OpenCx};
use crate::time::Timestamp;
use serde_core::Serialize;
use std::io::Write;
use std::path::PathBuf;

/// A sink that writes records as JSON lines; made by [`json_file`].
#[derive(Debug, Clone)]
pub struct JsonFile {
    path: PathBuf,
}

/// Writes each record as a line of JSON; the file appears as for [`text_file`](super::text_file). Needs the feature `json`.
///
/// JSON has no numbers for NaN and the infinities: they are written as `null`. A record that JSON cannot say, such as a map
/// whose keys are no strings, ends the job.
///
/// ```
/// # use flow_core::prelude::*;
/// # let folder = tempfile::tempdir().unwrap();
/// # let path = folder.path().join("counts.jsonl");
/// #[derive(serde::Serialize)]
/// struct Count { word: &'static str, n: u64 }
///
/// let job = Job::build("counts", |job| {
///     let words = source(from_vec(vec!["one", "\"two\""]));
///     job.add(words.map(|word| Count { word, n: word.len() as u64 }).sink(json_file(&path)));
/// });
/// job.run().unwrap();
/// let written = std::fs::read_to_string(&path).unwrap();
/// assert_eq!(written, "{\"word\":\"one\",\"n\":3}\n{\"word\":\"\\\"two\\\"\",\"n\":5}\n");
/// ```
pub fn json_file(path: impl Into<PathBuf>) -> JsonFile {
    JsonFile { path: path.into() }
}

#[diagnostic::do_not_recommend]
impl<T: Serialize + 'static> Sink<T> for JsonFile {
    type Writer = JsonWriter;
    const SINGLE: bool = true;
    const AT_THE_END: bool = true;

    fn name(&self) -> &'static str {
        "json_file"
    }

    fn open(&self, cx: &mut OpenCx) -> Result<JsonWriter> {
        Ok(JsonWriter(LineWriter::create(&self.path, None, cx.metrics().counter("bytes"))?))
    }
}

/// Writes JSON lines.
pub struct JsonWriter(LineWriter);

impl JsonWriter {
    /// A value, or the end of a line, could not be written.
    #[cold]
    fn failed(&mut self, error: serde_json::Error) -> Error {
        let file = self.0.output().get_ref();
        if error.is_io() { file.error(&error.into()) } else { file.refused(&error.to_string()) }
    }
}

impl<T: Serialize + 'static> Writer<T> for JsonWriter {
    #[inline]
    fn write(&mut self, record: T, _: Timestamp) -> Result<()> {
        let written = serde_json::to_writer(self.0.output(), &record);
        let ended = written.and_then(|()| self.0.output().write_all(b"\n").map_err(serde_json::Error::io));
        ended.map_err(|error| self.failed(error))
    }

    /// As for lines.
    fn flush(&mut self) -> Result<()> {
        Writer::<String>::flush(&mut self.0)
    }

    fn finish(self) -> Result<Option<Box<dyn Commit>>> {
        Ok(Some(Box::new(self.0.staged()?)))
    }
}

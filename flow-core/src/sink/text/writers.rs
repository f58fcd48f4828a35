//! What a text sink does with records: they become bytes of a staged file, and that a commit.

use super::rows::{Header, Rows};
use super::staged::StagedFile;
use crate::error::{Error, Result};
use crate::metrics::Counter;
use crate::sink::{Writer, sink_error};
use crate::stage::Commit;
use crate::time::Timestamp;
use serde_core::Serialize;
use std::fmt::Display;
use std::io::{BufWriter, Write};
use std::path::Path;

/// Bytes gathered before they are written.
const BUFFER_BYTES: usize = 64 * 1024;

/// Writes one `Display` a line.
pub struct LineWriter {
    bytes: Counter,
    output: BufWriter<StagedFile>,
}

impl LineWriter {
    /// Begins the file, with a first line if there is one.
    pub(super) fn create(path: &Path, first: Option<&str>, bytes: Counter) -> Result<Self> {
        let output = BufWriter::with_capacity(BUFFER_BYTES, StagedFile::create(path)?);
        let mut writer = LineWriter { bytes, output };
        if let Some(first) = first {
            writer.line(&first)?;
        }
        Ok(writer)
    }

    /// Writes a line.
    #[inline]
    fn line<T: Display + ?Sized>(&mut self, record: &T) -> Result<()> {
        writeln!(self.output, "{record}").map_err(|error| self.output.get_ref().error(&error))
    }

    /// What bytes go to, and the error that names it.
    #[cfg(feature = "json")]
    pub(super) fn output(&mut self) -> &mut BufWriter<StagedFile> {
        &mut self.output
    }

    /// Gives the rest to the disk.
    pub(super) fn staged(mut self) -> Result<StagedFile> {
        self.output.flush().map_err(|error| self.output.get_ref().error(&error))?;
        finished(self.output.into_parts().0, &self.bytes)
    }
}

/// Writes CSV rows.
pub struct RowWriter {
    bytes: Counter,
    rows: Rows<StagedFile>,
}

impl RowWriter {
    /// Begins the file.
    pub(super) fn create(path: &Path, header: Header, bytes: Counter) -> Result<Self> {
        let file = StagedFile::create(path)?;
        let rows =
            Rows::new(file, header).map_err(|error| sink_error(format!("{}: {error}", path.display())))?;
        Ok(RowWriter { bytes, rows })
    }

    /// Writes a row.
    #[inline]
    fn row<T: Serialize>(&mut self, record: &T) -> Result<()> {
        self.rows.write(record).map_err(|error| row_error(self.rows.output(), &error))
    }

    /// Gives the rest to the disk.
    fn staged(mut self) -> Result<StagedFile> {
        self.rows.flush().map_err(|error| self.rows.output().error(&error))?;
        let file = self.rows.into_output();
        finished(file.map_err(|error| sink_error(error.to_string()))?, &self.bytes)
    }
}

fn finished(file: StagedFile, bytes: &Counter) -> Result<StagedFile> {
    file.finish()?;
    bytes.add(file.bytes());
    Ok(file)
}

impl<T: Display + 'static> Writer<T> for LineWriter {
    #[inline]
    fn write(&mut self, record: T, _: Timestamp) -> Result<()> {
        self.line(&record)
    }

    /// A pipe or standard output shows what there is; a staged file does not mind.
    fn flush(&mut self) -> Result<()> {
        self.output.flush().map_err(|error| self.output.get_ref().error(&error))
    }

    fn finish(self) -> Result<Option<Box<dyn Commit>>> {
        Ok(Some(Box::new(self.staged()?)))
    }
}

impl<T: Serialize + 'static> Writer<T> for RowWriter {
    #[inline]
    fn write(&mut self, record: T, _: Timestamp) -> Result<()> {
        self.row(&record)
    }

    /// As for lines.
    fn flush(&mut self) -> Result<()> {
        self.rows.flush().map_err(|error| self.rows.output().error(&error))
    }

    fn finish(self) -> Result<Option<Box<dyn Commit>>> {
        Ok(Some(Box::new(self.staged()?)))
    }
}

#[cold]
fn row_error(file: &StagedFile, error: &csv::Error) -> Error {
    match error.kind() {
        csv::ErrorKind::Io(error) => file.error(error),
        _ => file.refused(&unfit(error)),
    }
}

/// What is wrong with a record that is no row.
#[cold]
pub(super) fn unfit(error: &csv::Error) -> String {
    match error.kind() {
        csv::ErrorKind::UnequalLengths { expected_len, len, .. } => format!(
            "a record has {len} fields where the first line has {expected_len}; \
             rows of one length are needed, and `.header(..)` has to name every column"
        ),
        csv::ErrorKind::Serialize(message) => {
            // What the library says behind a comma is for those who work on it.
            let why = message.split(", ").next().unwrap_or(message);
            format!(
                "a record is no row of CSV ({why}): give each column a value, `.map(|x| (x.id, …))` before the sink"
            )
        }
        _ => error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn csv(header: Header, records: &[impl Serialize]) -> Result<String> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out.csv");
        let mut writer = RowWriter::create(&path, header, Counter::default())?;
        for record in records {
            writer.row(record)?;
        }
        Box::new(writer.staged()?).commit()?;
        Ok(std::fs::read_to_string(path).unwrap())
    }

    #[derive(serde::Serialize)]
    struct Stats {
        count: u64,
        mean: f64,
    }

    #[derive(serde::Serialize)]
    struct Hourly {
        origin: &'static str,
        stats: Stats,
        last: Option<i64>,
    }

    #[test]
    fn rows_are_flat_and_end_in_lf() {
        let hourly = |origin, last| Hourly { origin, stats: Stats { count: 2, mean: 0.5 }, last };
        let records = [hourly("J,F\"K", None), hourly("LGA", Some(-1))];
        let expected = "origin,count,mean,last\n\"J,F\"\"K\",2,0.5,\nLGA,2,0.5,-1\n";
        assert_eq!(csv(Header::Fields, &records).unwrap(), expected);
        assert_eq!(csv(Header::Fields, &[("a", (1, 2.5)), ("b", (2, 3.0))]).unwrap(), "a,1,2.5\nb,2,3.0\n");
    }

    #[test]
    fn a_given_header_stands_even_alone() {
        let names = || Header::Given(vec!["word".into(), "count".into()]);
        assert_eq!(csv(names(), &[] as &[(&str, u64)]).unwrap(), "word,count\n");
        assert_eq!(csv(names(), &[("a", 1)]).unwrap(), "word,count\na,1\n");
        assert_eq!(csv(Header::None, &[Stats { count: 1, mean: 1.0 }]).unwrap(), "1,1.0\n");
        let error = csv(names(), &[("a", 1, 2)]).unwrap_err().to_string();
        assert!(error.contains("out.csv: a record has 3 fields where the first line has 2"), "{error}");
    }

    #[test]
    fn what_is_no_row_is_told_with_what_to_write() {
        #[derive(serde::Serialize)]
        struct Counts {
            words: std::collections::BTreeMap<&'static str, u64>,
        }
        let error = csv(Header::Fields, &[Counts { words: [("a", 1)].into() }]).unwrap_err().to_string();
        let told = "out.csv: a record is no row of CSV (serializing maps is not supported): give each column a value";
        assert!(error.contains(told) && !error.contains("github"), "{error}");
    }

    #[test]
    fn a_full_disk_is_an_error_that_names_the_file() {
        let full = Path::new("/dev/full");
        if !full.exists() {
            eprintln!("skipped: there is no /dev/full");
            return;
        }
        let check = |result: Result<StagedFile>| {
            let error = result.unwrap_err().to_string();
            assert!(error.contains("/dev/full: cannot be written: No space left"), "{error}");
        };
        let mut lines = LineWriter::create(full, None, Counter::default()).unwrap();
        check(lines.line("short").and_then(|()| lines.staged()));
        let mut lines = LineWriter::create(full, None, Counter::default()).unwrap();
        check(lines.line(&"x".repeat(1 << 20)).and_then(|()| lines.staged()));
        let mut rows = RowWriter::create(full, Header::None, Counter::default()).unwrap();
        check(rows.row(&("short", 1)).and_then(|()| rows.staged()));
        let mut rows = RowWriter::create(full, Header::None, Counter::default()).unwrap();
        check((0..100_000).try_for_each(|n| rows.row(&(n, "long"))).and_then(|()| rows.staged()));
    }
}

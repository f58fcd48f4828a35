//! What a text sink does with records: they become bytes of a staged file, and that a commit.

use super::rows::{Header, Rows};
use super::staged::StagedFile;
use crate::error::{Error, ErrorKind, Result};
use serde::Serialize;
use std::fmt::Display;
use std::io::{BufWriter, Write};
use std::path::Path;

/// Bytes gathered before they are written.
const BUFFER_BYTES: usize = 64 * 1024;

/// Writes one `Display` a line.
pub(super) struct LineWriter {
    output: BufWriter<StagedFile>,
}

impl LineWriter {
    /// Begins the file, with a first line if there is one.
    pub fn create(path: &Path, first: Option<&str>) -> Result<Self> {
        let output = BufWriter::with_capacity(BUFFER_BYTES, StagedFile::create(path)?);
        let mut writer = LineWriter { output };
        if let Some(first) = first {
            writer.write(&first)?;
        }
        Ok(writer)
    }

    /// Writes a line.
    #[inline]
    pub fn write<T: Display + ?Sized>(&mut self, record: &T) -> Result<()> {
        writeln!(self.output, "{record}").map_err(|error| self.output.get_ref().error(&error))
    }

    /// Gives the rest to the disk.
    pub fn finish(mut self) -> Result<StagedFile> {
        self.output.flush().map_err(|error| self.output.get_ref().error(&error))?;
        finished(self.output.into_parts().0)
    }
}

/// Writes CSV rows.
pub(super) struct RowWriter {
    rows: Rows<StagedFile>,
}

impl RowWriter {
    /// Begins the file.
    pub fn create(path: &Path, header: Header) -> Result<Self> {
        let file = StagedFile::create(path)?;
        let rows = Rows::new(file, header)
            .map_err(|error| Error::new(ErrorKind::Sink, format!("{}: {error}", path.display())))?;
        Ok(RowWriter { rows })
    }

    /// Writes a row.
    #[inline]
    pub fn write<T: Serialize>(&mut self, record: &T) -> Result<()> {
        self.rows.write(record).map_err(|error| row_error(self.rows.output(), &error))
    }

    /// Gives the rest to the disk.
    pub fn finish(mut self) -> Result<StagedFile> {
        self.rows.flush().map_err(|error| self.rows.output().error(&error))?;
        let file = self.rows.into_output();
        finished(file.map_err(|error| Error::new(ErrorKind::Sink, error.to_string()))?)
    }
}

fn finished(file: StagedFile) -> Result<StagedFile> {
    file.finish()?;
    Ok(file)
}

#[cold]
fn row_error(file: &StagedFile, error: &csv::Error) -> Error {
    match error.kind() {
        csv::ErrorKind::Io(error) => file.error(error),
        csv::ErrorKind::UnequalLengths { expected_len, len, .. } => file.refused(&format!(
            "a record has {len} fields where the first line has {expected_len}; \
             rows of one length are needed, and `.header(..)` has to name every column"
        )),
        csv::ErrorKind::Serialize(message) => file.refused(message),
        _ => file.refused(&error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stage::Commit;

    fn csv(header: Header, records: &[impl Serialize]) -> Result<String> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out.csv");
        let mut writer = RowWriter::create(&path, header)?;
        for record in records {
            writer.write(record)?;
        }
        Box::new(writer.finish()?).commit()?;
        Ok(std::fs::read_to_string(path).unwrap())
    }

    #[derive(Serialize)]
    struct Stats {
        count: u64,
        mean: f64,
    }

    #[derive(Serialize)]
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
        let mut lines = LineWriter::create(full, None).unwrap();
        check(lines.write("short").and_then(|()| lines.finish()));
        let mut lines = LineWriter::create(full, None).unwrap();
        check(lines.write(&"x".repeat(1 << 20)).and_then(|()| lines.finish()));
        let mut rows = RowWriter::create(full, Header::None).unwrap();
        check(rows.write(&("short", 1)).and_then(|()| rows.finish()));
        let mut rows = RowWriter::create(full, Header::None).unwrap();
        check((0..100_000).try_for_each(|n| rows.write(&(n, "long"))).and_then(|()| rows.finish()));
    }
}

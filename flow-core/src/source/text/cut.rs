//! Cuts a file into byte ranges that several partitions read side by side.

use super::broken::ReadError;
use super::csv::{CsvOptions, CsvRange, CsvReader};
use super::frame::{FrameError, Frames};
use super::record_ends::RecordEnds;
use std::io::{self, Read, Seek, SeekFrom};
use std::ops::Range;
use std::sync::Arc;

/// Cuts `len` bytes into `n` ranges of about the same size. Lines may be cut anywhere: each belongs to
/// the range in which it starts. The last range is open, so that what a file grows by is read.
pub fn line_ranges(len: u64, n: usize) -> Vec<Range<u64>> {
    let bounds = bounds(len, n);
    bounds.windows(2).map(|pair| pair[0]..pair[1]).collect()
}

fn bounds(len: u64, n: usize) -> Vec<u64> {
    let n = n.max(1) as u64;
    let at = |i: u64| (u128::from(len) * u128::from(i) / u128::from(n)) as u64;
    (0..n).map(at).chain([u64::MAX]).collect()
}

/// Cuts a CSV file of `len` bytes into `n` ranges of about the same size, at record starts only.
///
/// Whether a `\n` ends a record is known only from all the quotes before it, so the file is read once
/// from its start, without parsing its fields. Some ranges may be empty.
///
/// # Errors
/// When the header is broken, and when the input cannot be read.
pub fn csv_ranges<R: Read + Seek>(
    file: &Arc<str>,
    mut input: R,
    options: &CsvOptions,
    len: u64,
    n: usize,
) -> Result<Vec<CsvRange>, ReadError> {
    let io_error = |source: io::Error| ReadError::Io { file: file.clone(), source: source.into() };
    let mut head: CsvReader<_, ()> = CsvReader::new(file.clone(), &mut input, options);
    let header = head.read_header()?.cloned();
    // Without a header nothing was read, and a byte order mark is still to be dropped: start at 0.
    let data_start = if header.is_some() { head.next_offset_bytes() } else { 0 };
    let columns = head.columns()?;
    input.seek(SeekFrom::Start(0)).map_err(io_error)?;
    let starts = record_starts(input, options, data_start, &bounds(len, n)).map_err(io_error)?;
    let end = (u64::MAX, 0);
    let ranges = starts.iter().zip(starts.iter().skip(1).chain([&end]));
    Ok(ranges
        .map(|(&(from, records_before), &(until, _))| CsvRange {
            bytes: from..until,
            records_before,
            header: header.clone(),
            columns,
        })
        .collect())
}

/// For each bound but the last, the first record start at or behind it, and the number of records
/// before that one.
fn record_starts<R: Read + Seek>(
    input: R,
    options: &CsvOptions,
    data_start: u64,
    bounds: &[u64],
) -> io::Result<Vec<(u64, u64)>> {
    let ends = RecordEnds::new(options.delimiter);
    let mut frames = Frames::range(input, ends, options.limit_bytes, data_start, u64::MAX)?;
    let mut starts = vec![(data_start, 0)];
    let mut records = 0;
    loop {
        let next = frames.next_offset();
        while starts.len() + 1 < bounds.len() && bounds[starts.len()] <= next {
            starts.push((next, records));
        }
        if starts.len() + 1 >= bounds.len() {
            return Ok(starts);
        }
        match frames.next() {
            Ok(Some(frame)) => records += u64::from(!frame.bytes.is_empty()),
            Err(FrameError::TooLong { .. }) => records += 1,
            Err(FrameError::Io(error)) => return Err(error),
            Ok(None) => {
                starts.resize(bounds.len() - 1, (u64::MAX, records));
                return Ok(starts);
            }
        }
    }
}

/// How many lines end before `offset`: broken lines of a later range are numbered with it.
///
/// # Errors
/// When the input cannot be read.
pub fn lines_before(input: impl Read, offset: u64) -> io::Result<u64> {
    let mut input = input.take(offset);
    let mut buffer = vec![0; 64 * 1024];
    let mut lines = 0;
    loop {
        match input.read(&mut buffer) {
            Ok(0) => return Ok(lines),
            Ok(read) => lines += memchr::memchr_iter(b'\n', &buffer[..read]).count() as u64,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

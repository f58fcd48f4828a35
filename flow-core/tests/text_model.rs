//! Random text, cut into random ranges, against splitting it naively and against the `csv` crate.

#![allow(clippy::unwrap_used, reason = "a test that unwraps fails where it should")]

use flow_core::source::text::{
    CsvOptions, CsvReader, LineOptions, LineReader, csv_ranges, line_ranges, lines_before,
};
use proptest::prelude::*;
use std::io::{Cursor, Read, Seek};
use std::sync::Arc;

/// Gives what it holds in pieces of at most `piece` bytes, so that every buffer border is met.
#[derive(Debug, Clone)]
struct Drip {
    bytes: Cursor<Vec<u8>>,
    piece: usize,
}

impl Drip {
    fn new(bytes: &[u8], piece: usize) -> Self {
        Drip { bytes: Cursor::new(bytes.to_vec()), piece }
    }
}

impl Read for Drip {
    fn read(&mut self, out: &mut [u8]) -> std::io::Result<usize> {
        let most = out.len().min(self.piece);
        self.bytes.read(&mut out[..most])
    }
}

impl Seek for Drip {
    fn seek(&mut self, to: std::io::SeekFrom) -> std::io::Result<u64> {
        self.bytes.seek(to)
    }
}

/// Lines with their offsets, as one would write it with the whole file in memory.
fn naive_lines(bytes: &[u8]) -> Vec<(u64, Vec<u8>)> {
    let skip = if bytes.starts_with(b"\xEF\xBB\xBF") { 3 } else { 0 };
    let mut at = skip;
    let mut out = Vec::new();
    for piece in bytes[skip..].split_inclusive(|&byte| byte == b'\n') {
        let line = match piece {
            [line @ .., b'\r', b'\n'] | [line @ .., b'\n'] | line => line,
        };
        out.push((at as u64, line.to_vec()));
        at += piece.len();
    }
    out
}

fn read_lines(mut reader: LineReader<Drip>) -> Vec<(u64, Vec<u8>)> {
    let mut out = Vec::new();
    while let Some(line) = reader.next_line().unwrap() {
        let line = line.into_owned().into_bytes();
        out.push((reader.offset_bytes(), line));
    }
    out
}

fn text() -> impl Strategy<Value = Vec<u8>> {
    let byte = prop_oneof![3 => Just(b'\n'), 2 => Just(b'\r'), 5 => b'a'..=b'z'];
    let long = (0usize..200_000).prop_map(|len| vec![b'x'; len]);
    let piece = prop_oneof![20 => prop::collection::vec(byte, 0..40), 1 => long];
    (any::<bool>(), prop::collection::vec(piece, 0..8)).prop_map(|(mark, pieces)| {
        let mut bytes = if mark { b"\xEF\xBB\xBF".to_vec() } else { Vec::new() };
        bytes.extend(pieces.concat());
        bytes
    })
}

/// Fields in which every kind of CSV oddity comes up often.
fn field() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(&["a", "é", "\"", ",", "\n", "\r\n", "\r", ""][..]);
    prop::collection::vec(piece, 0..5).prop_map(|pieces| pieces.concat())
}

fn table() -> impl Strategy<Value = Vec<Vec<String>>> {
    (1usize..4).prop_flat_map(|columns| prop::collection::vec(prop::collection::vec(field(), columns), 0..12))
}

/// Number, offset and fields of a record, or its error.
type Record = (u64, u64, Result<Vec<String>, String>);

fn records(mut reader: CsvReader<Drip, Vec<String>>) -> Vec<Record> {
    let mut out = Vec::new();
    loop {
        let row = match reader.next_record() {
            Ok(None) => return out,
            Ok(Some(row)) => Ok(row),
            Err(error) => Err(error.to_string()),
        };
        out.push((reader.records_read(), reader.offset_bytes(), row));
    }
}

fn whole(bytes: &[u8], options: &CsvOptions, piece: usize) -> Vec<Record> {
    records(CsvReader::new("f", Drip::new(bytes, piece), options))
}

fn in_ranges(bytes: &[u8], options: &CsvOptions, n: usize, piece: usize) -> Vec<Record> {
    let file: Arc<str> = "f".into();
    let ranges = match csv_ranges(&file, Drip::new(bytes, piece), options, bytes.len() as u64, n) {
        Ok(ranges) => ranges,
        Err(error) => return vec![(0, 0, Err(error.to_string()))],
    };
    assert_eq!(ranges.len(), n);
    let read = |range| records(CsvReader::range("f", Drip::new(bytes, piece), options, range).unwrap());
    ranges.into_iter().flat_map(read).collect()
}

/// What the `csv` crate reads; `None` for a record whose number of fields is not that of the first.
fn theirs(text: &str) -> Vec<(u64, u64, Option<Vec<String>>)> {
    let mut reader = csv::ReaderBuilder::new().has_headers(false).flexible(true).from_reader(text.as_bytes());
    let mut out: Vec<(u64, u64, Option<Vec<String>>)> = Vec::new();
    let mut columns = None;
    for record in reader.records() {
        let record = record.unwrap();
        // Its offset is that of the blank lines before the record.
        let at = record.position().unwrap().byte() as usize;
        let blank = text[at..].bytes().take_while(|byte| b"\r\n".contains(byte)).count();
        let fields: Vec<_> = record.iter().map(ToString::to_string).collect();
        let fits = *columns.get_or_insert(fields.len()) == fields.len();
        out.push((out.len() as u64 + 1, (at + blank) as u64, fits.then_some(fields)));
    }
    out
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn lines_are_those_of_the_naive_split(bytes in text(), piece in 1usize..50_000) {
        let reader = LineReader::new("f", Drip::new(&bytes, piece), &LineOptions::default());
        prop_assert_eq!(read_lines(reader), naive_lines(&bytes));
    }

    #[test]
    fn each_line_comes_once_wherever_the_file_is_cut(
        bytes in text(),
        cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..6),
    ) {
        let mut bounds: Vec<u64> = cuts.iter().map(|cut| cut.index(bytes.len() + 1) as u64).collect();
        bounds.extend([0, u64::MAX]);
        bounds.sort_unstable();
        let mut found = Vec::new();
        for pair in bounds.windows(2) {
            let input = Drip::new(&bytes, 4096);
            let reader = LineReader::range("f", input, &LineOptions::default(), pair[0]..pair[1]).unwrap();
            found.extend(read_lines(reader));
        }
        let expected = naive_lines(&bytes);
        for (number, (offset, _)) in expected.iter().enumerate() {
            prop_assert_eq!(lines_before(&bytes[..], *offset).unwrap(), number as u64);
        }
        prop_assert_eq!(found, expected);
    }

    #[test]
    fn line_ranges_cover_the_file(len in 0u64..1000, n in 1usize..20) {
        let ranges = line_ranges(len, n);
        prop_assert_eq!(ranges.len(), n);
        prop_assert_eq!(ranges[0].start, 0);
        prop_assert_eq!(ranges[n - 1].end, u64::MAX);
        for pair in ranges.windows(2) {
            prop_assert_eq!(pair[0].end, pair[1].start);
            prop_assert!(pair[0].end - pair[0].start <= len / n as u64 + 1);
        }
    }

    #[test]
    fn csv_in_ranges_is_what_was_written(
        rows in table(), n in 1usize..8, piece in 1usize..64, crlf: bool, mark: bool, header: bool,
    ) {
        let mut bytes = if mark { b"\xEF\xBB\xBF".to_vec() } else { Vec::new() };
        let mut offsets = Vec::new();
        let end = if crlf { csv::Terminator::CRLF } else { csv::Terminator::Any(b'\n') };
        for row in &rows {
            offsets.push(bytes.len() as u64);
            let mut writer = csv::WriterBuilder::new().terminator(end).from_writer(&mut bytes);
            writer.write_record(row).unwrap();
            drop(writer);
        }
        let data = rows.iter().zip(&offsets).skip(usize::from(header));
        let expected: Vec<Record> =
            data.zip(1..).map(|((row, offset), number)| (number, *offset, Ok(row.clone()))).collect();
        let options = CsvOptions { header, ..CsvOptions::default() };
        prop_assert_eq!(in_ranges(&bytes, &options, n, piece), expected);
    }

    /// Any text at all (but a lone `\r`, which ends a record there and is data here).
    #[test]
    fn any_csv_reads_as_the_csv_crate_reads_it(
        pieces in prop::collection::vec(prop::sample::select(&["a", "é", "\"", ",", "\n", "\r\n"][..]), 0..40),
        n in 1usize..6, piece in 1usize..16,
    ) {
        let text = pieces.concat();
        let options = CsvOptions { header: false, ..CsvOptions::default() };
        let mut found = whole(text.as_bytes(), &options, piece);
        let mut expected = theirs(&text);
        prop_assert_eq!(&in_ranges(text.as_bytes(), &options, n, piece), &found);
        // A quote left open at the end is an error here and none there.
        if found.last().is_some_and(|(.., row)| row.as_ref().is_err_and(|error| error.contains("still open"))) {
            found.pop();
            expected.pop();
        }
        let found: Vec<_> = found.into_iter().map(|(number, at, row)| (number, at, row.ok())).collect();
        prop_assert_eq!(found, expected);
    }
}

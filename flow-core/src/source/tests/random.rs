//! Random files, read by a run that dies now and then beside one that does not: the same records, errors and numbers.

use super::super::{csv, lines};
use super::{Run, config};
use crate::source::text::Broken;
use crate::source::{Poll, Source};
use proptest::prelude::*;
use proptest::sample::{Index, select};
use std::collections::BTreeMap;
use std::fmt::Debug;
use std::io::Write;
use std::path::Path;

/// What happens.
#[derive(Debug, Clone)]
enum Op {
    Poll(Index, usize),
    Crash,
    /// A file grows, by something that begins a line.
    Grow(Index),
}

fn ops() -> impl Strategy<Value = Vec<Op>> {
    let budget = prop_oneof![8 => 1usize..6, 1 => 1usize..200];
    let op = prop_oneof![
        6 => (any::<Index>(), budget).prop_map(|(partition, budget)| Op::Poll(partition, budget)),
        3 => Just(Op::Crash),
        1 => any::<Index>().prop_map(Op::Grow),
    ];
    proptest::collection::vec(op, 0..40)
}

/// A file of such pieces, now and then with a long one, so that borders of the buffer are met.
fn file(pieces: &'static [&'static [u8]]) -> impl Strategy<Value = Vec<u8>> {
    let long = (0usize..150_000).prop_map(|len| vec![b'7'; len]);
    let piece = prop_oneof![150 => select(pieces).prop_map(<[u8]>::to_vec), 1 => long];
    let many = prop_oneof![7 => Just(60usize), 1 => Just(600)];
    (any::<bool>(), many.prop_flat_map(move |n| proptest::collection::vec(piece.clone(), 0..n))).prop_map(
        |(mark, pieces)| {
            let mut bytes = if mark { b"\xEF\xBB\xBF".to_vec() } else { Vec::new() };
            bytes.extend(pieces.concat());
            bytes
        },
    )
}

fn files(pieces: &'static [&'static [u8]]) -> impl Strategy<Value = Vec<Vec<u8>>> {
    proptest::collection::vec(file(pieces), 1..4)
}

/// Writes the files into a folder.
fn write(files: &[Vec<u8>]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (n, bytes) in files.iter().enumerate() {
        std::fs::write(folder.path().join(n.to_string()), bytes).unwrap();
    }
    folder
}

/// Does the same to both runs; only one of them dies.
fn check<S>(folder: &Path, files: usize, source: &S, ops: &[Op], more: &[u8]) -> Result<(), TestCaseError>
where
    S: Source<Item: Debug + PartialEq>,
{
    // A file whose head is broken cannot be cut: nothing starts.
    let Ok(mut whole) = Run::start(source.clone()) else { return Ok(()) };
    let mut dying = Run::start(source.clone()).unwrap();
    let mut grown = false;
    for op in ops {
        match op {
            Op::Poll(partition, budget) => {
                let partition = partition.index(whole.readers.len());
                prop_assert_eq!(
                    whole.poll(partition, *budget).unwrap(),
                    dying.poll(partition, *budget).unwrap()
                );
            }
            Op::Crash => {
                let before = dying.positions();
                dying = dying.crash().unwrap();
                // Of a file that has grown more is looked at.
                prop_assert!(grown || dying.positions() == before, "it stands where it stood");
            }
            Op::Grow(file) => {
                let path = folder.join(file.index(files).to_string());
                let ends = std::fs::read(&path).unwrap().ends_with(b"\n");
                if ends && !more.is_empty() {
                    grown = true;
                    std::fs::OpenOptions::new().append(true).open(path).unwrap().write_all(more).unwrap();
                }
            }
        }
        prop_assert_eq!(shown(&whole.given), shown(&dying.given));
    }
    prop_assert_eq!(shown(&whole.drain().unwrap()), shown(&dying.crash().unwrap().drain().unwrap()));
    Ok(())
}

/// What was read, as text. Whether a record that is too long stands in quotes is judged by as much of it as there was when it was read: of a
/// file that grows that may be more for one than for the other.
fn shown(read: &impl Debug) -> String {
    format!("{read:?}").replace("in_quotes: true", "in_quotes: false")
}

const LINES: &[&[u8]] = &[b"a", "é".as_bytes(), b"\n", b"\n", b"\r\n", b"\r", b"\xff", b"a line\n"];
const TABLE: &[&[u8]] = &[
    b"1",
    b"2",
    b",",
    b",",
    b"\"",
    b"\"\"",
    b"\n",
    b"\r\n",
    b"\n\n",
    b"\xff",
    b"1,2\n",
    b"\"1\n\",2\n",
    b"x,2\r\n",
];
const HEADERS: &[&[u8]] = &[b"a,b\n", b"\"a\nb\",b\r\n", b"\n\na\n", b"\xff,b\n", b"\"a\n", b""];
#[cfg(feature = "json")]
const VALUES: &[&[u8]] = &[b"1", b"[1]", b"[1, 2]\n", b"\n", b"  \r\n", b"\xff\n", b"\n", b"[]\n"];

proptest! {
    #![proptest_config(config(60))]

    #[test]
    fn lines_go_on(files in files(LINES), ops in ops(), splits in 1usize..5, lossy: bool, short: bool) {
        let folder = write(&files);
        let mut source = lines(folder.path()).splits(splits).results();
        if lossy {
            source = source.lossy();
        }
        if short {
            source = source.line_limit(6);
        }
        check(folder.path(), files.len(), &source, &ops, b"more\r\nand\nmore")?;
    }

    #[test]
    fn records_of_tables_go_on(
        header in select(HEADERS),
        mut files in files(TABLE), ops in ops(), splits in 1usize..5, short: bool, lossy: bool,
    ) {
        for file in &mut files {
            let from = if file.starts_with(b"\xEF\xBB\xBF") { 3 } else { 0 };
            file.splice(from..from, header.iter().copied());
        }
        let folder = write(&files);
        let mut source = csv::<BTreeMap<String, u64>>(folder.path()).splits(splits).results();
        if lossy {
            source = source.lossy();
        }
        if short {
            source = source.line_limit(6);
        }
        check(folder.path(), files.len(), &source, &ops, b"3,4\n\"5\n")?;
    }

    #[test]
    fn records_of_tables_without_a_header_go_on(
        files in files(TABLE), ops in ops(), splits in 1usize..5, null: bool,
    ) {
        let folder = write(&files);
        let mut source = csv::<Vec<Option<u64>>>(folder.path()).no_header().splits(splits).results();
        if null {
            source = source.null("1");
        }
        check(folder.path(), files.len(), &source, &ops, b"\n3,4\n\"5\n")?;
    }

    #[test]
    fn fields_by_name_go_on(files in files(TABLE), ops in ops(), splits in 1usize..3, strict: bool) {
        #[derive(Debug, PartialEq, serde::Deserialize)]
        struct Lax { b: String }
        #[derive(Debug, PartialEq, serde::Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Strict { b: String }

        let files: Vec<_> = files.into_iter().map(|file| [b"a,b\n".to_vec(), file].concat()).collect();
        let folder = write(&files);
        if strict {
            let source = csv::<Strict>(folder.path()).splits(splits).results();
            check(folder.path(), files.len(), &source, &ops, b"1,2\n")?;
        } else {
            let source = csv::<Lax>(folder.path()).splits(splits).results();
            check(folder.path(), files.len(), &source, &ops, b"1,2\n\"3\n\n")?;
        }
    }

    /// The error that ends the job says the same number and byte.
    #[test]
    fn the_error_is_the_same(file in file(LINES), budget in 1usize..5, splits in 1usize..3) {
        let folder = write(&[file]);
        let source = lines(folder.path()).splits(splits);
        let partitions = Run::start(source.clone()).unwrap().readers.len();
        for partition in 0..partitions {
            let mut whole = Run::start(source.clone()).unwrap();
            let mut dying = Run::start(source.clone()).unwrap();
            loop {
                let polls = (whole.poll(partition, budget), dying.poll(partition, budget));
                prop_assert_eq!(format!("{:?}", polls.0), format!("{:?}", polls.1));
                if !matches!(polls.0, Ok(Poll::More)) {
                    break;
                }
                dying = dying.crash().unwrap();
            }
            prop_assert_eq!(whole.given, dying.given);
        }
    }
}

#[cfg(feature = "json")]
proptest! {
    #![proptest_config(config(60))]

    #[test]
    fn json_values_go_on(files in files(VALUES), ops in ops(), splits in 1usize..5, lossy: bool) {
        let folder = write(&files);
        let mut source = super::super::json_lines::<Vec<u64>>(folder.path()).splits(splits).results();
        if lossy {
            source = source.lossy();
        }
        check(folder.path(), files.len(), &source, &ops, b"[3]\n\nx\n[4]")?;
    }
}

#[test]
fn broken_records_keep_their_numbers_over_splits() {
    let text: String =
        (1..=3000).map(|n| if n % 50 == 7 { "x\n".to_owned() } else { format!("{n}\n") }).collect();
    let folder = write(&[[b"n\n".to_vec(), text.into_bytes()].concat()]);
    let mut run = Run::start(csv::<u64>(folder.path()).splits(3).results()).unwrap();
    for _ in 0..900 {
        for partition in 0..3 {
            run.poll(partition, 1).unwrap();
        }
        run = run.crash().unwrap();
    }
    let found = run.drain().unwrap().concat();
    let number = |broken: Broken| broken.record;
    let found: Vec<_> = found.into_iter().map(|record| record.map_err(number)).collect();
    let expected: Vec<_> = (1..=3000).map(|n| if n % 50 == 7 { Err(n) } else { Ok(n) }).collect();
    assert_eq!(found, expected);
}

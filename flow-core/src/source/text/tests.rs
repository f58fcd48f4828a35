//! The sources without a job around them: parts, numbers in the file, threads.

use super::files::TextFiles;
use super::format::Format;
use super::part::{Opened, Part};
use super::pump::ForStage;
use super::reading::{OnBroken, TextReader};
use super::{Broken, ReadError, csv, lines, tcp_lines};
use crate::channel::{Signal, Waiter};
use crate::error::Result;
use crate::metrics::Counter;
use crate::source::{Poll, Reader};
use std::fs;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::path::Path;
use std::time::Duration;

fn stage() -> (ForStage, Waiter) {
    let (signal, waiter) = Signal::new();
    (ForStage { name: "test".into(), signal, invalid: Counter::default(), keeps: false }, waiter)
}

/// Reads to the end or the error, sleeping whenever the reader says that it waits.
fn drain<T>(reader: &mut impl Reader<T>, waiter: &mut Waiter) -> (Vec<T>, Result<()>) {
    let mut out = Vec::new();
    loop {
        match reader.poll(&mut |record| out.push(record), 3) {
            Ok(Poll::End) => return (out, Ok(())),
            Ok(Poll::Wait) => {
                waiter.wait(Some(Duration::from_millis(20)), || false);
            }
            Ok(_) => {}
            Err(error) => return (out, Err(error)),
        }
    }
}

fn parts<T, F: Format<T>, B>(source: &TextFiles<T, F, B>) -> Result<Vec<Part<F::Cut>>, ReadError> {
    source.format.parts(&source.inputs, source.splits)
}

fn open<T, F: Format<T>, B>(
    source: &TextFiles<T, F, B>,
    part: Part<F::Cut>,
    stage: ForStage,
) -> TextReader<T, B, F::Opened> {
    TextReader::new(source.format.open(part, stage).unwrap())
}

fn read<T, F, B>(source: &TextFiles<T, F, B>) -> Vec<(Vec<B::Item>, Result<()>)>
where
    T: Send + 'static,
    F: Format<T>,
    B: OnBroken<T>,
{
    let parts = parts(source).unwrap();
    let read = |part| {
        let (stage, mut waiter) = stage();
        drain(&mut open(source, part, stage), &mut waiter)
    };
    parts.into_iter().map(read).collect()
}

fn folder(files: &[(&str, &[u8])]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, bytes) in files {
        fs::write(folder.path().join(name), bytes).unwrap();
    }
    folder
}

#[test]
fn a_partition_is_a_file_and_files_are_sorted() {
    let folder = folder(&[("b.txt", b"3\n"), ("a.txt", b"1\n2\n"), ("c.csv", b"x\n")]);
    fs::create_dir(folder.path().join("d.txt")).unwrap();
    let texts = |source| read(&source).into_iter().map(|(lines, _)| lines.join(" ")).collect::<Vec<_>>();
    assert_eq!(texts(lines(folder.path())), ["1 2", "3", "x"]);
    assert_eq!(texts(lines(folder.path().join("*.txt"))), ["1 2", "3"]);
    assert_eq!(texts(lines(folder.path().join("?.c[rs]v"))), ["x"]);
    assert_eq!(texts(lines([folder.path().join("c.csv"), folder.path().join("a.txt")])), ["x", "1 2"]);
    assert_eq!(texts(lines(folder.path().join("a.txt")).splits(3)).concat(), "12");
}

#[test]
fn what_is_missing_is_said_before_anything_is_read() {
    let folder = folder(&[]);
    for (path, why) in [
        (folder.path().join("none.txt"), "cannot be read: No such file"),
        (folder.path().join("*.txt"), "cannot be read: matches no file"),
        (folder.path().to_path_buf(), "cannot be read: is a directory without regular files"),
    ] {
        let error = parts(&lines(&path)).unwrap_err().to_string();
        assert!(error.starts_with(&format!("{}: {why}", path.display())), "{error}");
    }
    let none: [&Path; 0] = [];
    assert!(parts(&lines(none)).is_err());
}

#[test]
fn broken_records_are_numbered_in_the_file_whatever_the_range() {
    let bad = |n: u64| n % 7 == 3;
    let text: Vec<Vec<u8>> =
        (1..=100).map(|n| if bad(n) { b"\xff\n".to_vec() } else { format!("{n}\n").into_bytes() }).collect();
    let table: Vec<u8> = [b"n\n".to_vec(), text.concat()].concat();
    let folder = folder(&[("a.txt", &text.concat()), ("a.csv", &table)]);
    let expected: Vec<_> = (1..=100).map(|n| if bad(n) { Err(n) } else { Ok(n) }).collect();
    let number = |broken: Broken| broken.record;
    for splits in [1, 2, 5, 40] {
        let source = lines(folder.path().join("a.txt")).splits(splits).results();
        let found = read(&source).into_iter().flat_map(|(records, _)| records);
        let found: Vec<_> =
            found.map(|line| line.map(|line| line.parse().unwrap()).map_err(number)).collect();
        assert_eq!(found, expected, "lines in {splits}");
        let source = csv::<u64>(folder.path().join("a.csv")).splits(splits).results();
        let found = read(&source).into_iter().flat_map(|(records, _)| records);
        assert_eq!(
            found.map(|record| record.map_err(number)).collect::<Vec<_>>(),
            expected,
            "csv in {splits}"
        );
    }
}

#[test]
fn a_broken_record_is_an_error_or_a_value_and_counted() {
    let folder = folder(&[("a.txt", b"ok\n\xff\nafter\n")]);
    let path = folder.path().join("a.txt");
    let (found, end) = read(&lines(&path)).remove(0);
    assert_eq!(found, ["ok"]);
    let error = end.unwrap_err().to_string();
    let expected = format!("source failed: {}: record 2 at byte 3: not valid UTF-8", path.display());
    assert!(error.starts_with(&expected), "{error}");

    let source = lines(&path).lossy();
    let (stage, mut waiter) = stage();
    let invalid = stage.invalid.clone();
    let part = parts(&source).unwrap().remove(0);
    let (found, _) = drain(&mut open(&source, part, stage), &mut waiter);
    assert_eq!((found.len(), invalid.get()), (3, 1));
}

#[test]
fn a_pipe_is_read_on_a_thread() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("pipe");
    let made = std::process::Command::new("mkfifo").arg(&path).status();
    if !made.is_ok_and(|status| status.success()) {
        eprintln!("skipped: there is no mkfifo");
        return;
    }
    let writer = std::thread::spawn({
        let path = path.clone();
        move || fs::write(path, "n\n1\n2\n3\n4\n")
    });
    let source = csv::<u32>(&path).splits(3);
    let (records, end) = read(&source).remove(0);
    writer.join().unwrap().unwrap();
    assert_eq!((records, end.is_ok()), (vec![1, 2, 3, 4], true));
}

#[test]
fn tcp_lines_come_before_the_sender_is_silent_and_end_when_it_closes() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let (stage, mut waiter) = stage();
    let source = tcp_lines(listener.local_addr().unwrap().to_string());
    let mut reader = source.connect(stage).unwrap();
    let (mut peer, _) = listener.accept().unwrap();
    peer.write_all(b"one\ntwo\nthr").unwrap();
    let mut out = Vec::new();
    while out.len() < 2 {
        assert_ne!(reader.poll(&mut |line| out.push(line), 8).unwrap(), Poll::End);
        waiter.wait(Some(Duration::from_millis(20)), || false);
    }
    peer.write_all(b"ee").unwrap();
    drop(peer);
    let (rest, end) = drain(&mut reader, &mut waiter);
    assert!(end.is_ok());
    assert_eq!([out, rest].concat(), ["one", "two", "three"]);
}

#[test]
fn a_dropped_tcp_reader_hangs_up() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let (stage, _waiter) = stage();
    let reader = tcp_lines(listener.local_addr().unwrap().to_string()).connect(stage).unwrap();
    let (mut peer, _) = listener.accept().unwrap();
    drop(reader);
    peer.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
    let mut byte = [0];
    assert_eq!(peer.read(&mut byte).unwrap(), 0, "the connection was closed");
}

#[test]
fn nobody_listening_is_an_error() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    drop(listener);
    let error = tcp_lines(&address).connect(stage().0).err().unwrap().to_string();
    assert!(error.starts_with(&format!("{address}: cannot be read: Connection refused")), "{error}");
}

#[test]
fn a_reading_thread_that_panics_is_an_error() {
    #[derive(Debug)]
    struct Panics;
    impl<'de> serde::Deserialize<'de> for Panics {
        fn deserialize<D: serde::Deserializer<'de>>(_: D) -> std::result::Result<Self, D::Error> {
            panic!("on purpose")
        }
    }
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let (stage, mut waiter) = stage();
    let mut stream = std::net::TcpStream::connect(address).unwrap();
    let (mut peer, _) = listener.accept().unwrap();
    peer.write_all(b"n\n1\n").unwrap();
    let options = super::CsvOptions::default();
    let records = move |bytes| super::CsvReader::new("peer", bytes, &options);
    let pumped =
        super::pump::pump::<Panics, _>(Box::new(move |bytes| stream.read(bytes)), records, None, stage)
            .unwrap();
    let opened: Opened<Panics, super::CsvReader<fs::File, Panics>> = Opened::Pumped(pumped);
    let mut reader = TextReader::<Panics, super::Fail, _>::new(opened);
    let (_, end) = drain(&mut reader, &mut waiter);
    assert!(end.unwrap_err().to_string().contains("panicked"));
}

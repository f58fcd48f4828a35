//! What has happened to the files meanwhile.

use super::super::text::{Lines, Results};
use super::super::{Poll, csv, lines, stdin_lines, tcp_lines};
use super::{Run, cx};
use crate::error::ErrorKind;
use crate::source::Source;
use crate::time::VirtualClock;
use proptest::prelude::*;
use std::fs;
use std::path::Path;
use std::sync::Arc;

fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        fs::write(folder.path().join(name), text).unwrap();
    }
    folder
}

/// `n` lines of ten bytes.
fn long(n: usize) -> String {
    (0..n).map(|i| format!("{i:09}\n")).collect()
}

/// Why the run cannot go on, with its notes.
fn refused<S: Source>(run: Run<S>) -> String {
    let error = run.crash().err().expect("it goes on");
    assert_eq!(error.kind(), ErrorKind::State);
    error.to_string()
}

fn two_lines(path: &Path) -> Run<Lines> {
    let mut run = Run::start(lines(path)).unwrap();
    run.poll(0, 2).unwrap();
    run
}

#[test]
fn a_file_that_is_gone_shorter_or_another_one_is_refused() {
    let folder = folder(&[("a", "one\ntwo\nthree\n")]);
    let path = folder.path().join("a");
    let read =
        |what: &str| format!("{}: had been read up to byte 8 at the checkpoint, and {what}", path.display());
    let with = |text: &str| {
        let run = two_lines(&path);
        fs::write(&path, text).unwrap();
        let error = refused(run);
        fs::write(&path, "one\ntwo\nthree\n").unwrap();
        error
    };
    for (text, what) in [
        ("one\n", "has 4 bytes now"),
        ("", "has 0 bytes now"),
        ("one\nTwo\nthree\n", "is another one: its first 8 bytes differ"),
    ] {
        let error = with(text);
        assert!(error.contains(&read(what)), "{error}");
        assert!(error.contains("put the file back that was read"), "{error}");
    }
    let run = two_lines(&path);
    fs::remove_file(&path).unwrap();
    let error = refused(run);
    assert!(error.contains("not among them any more, and not read to its end: "), "{error}");
    assert!(error.contains(&path.display().to_string()), "{error}");
}

#[test]
fn what_lies_just_before_the_position_is_looked_at_too() {
    let folder = folder(&[("a", &long(3000))]);
    let path = folder.path().join("a");
    let mut run = Run::start(lines(&path)).unwrap();
    run.poll(0, 2000).unwrap();
    let mut text = fs::read(&path).unwrap();
    text[19_990] = b'x';
    fs::write(&path, &text).unwrap();
    let error = refused(run);
    assert!(error.contains("byte 20000 at the checkpoint"), "{error}");
    assert!(error.contains("is another one: the 4096 bytes before that place differ"), "{error}");
}

#[test]
fn a_record_behind_the_position_may_be_mended_and_the_file_may_grow() {
    let folder = folder(&[("a", "n\n1\n2\nx\n4\n")]);
    let path = folder.path().join("a");
    let mut run = Run::start(csv::<u64>(&path)).unwrap();
    run.poll(0, 2).unwrap();
    let positions = run.positions();
    let error = run.poll(0, 2).unwrap_err().to_string();
    assert!(error.contains("record 3 at byte 6"), "{error}");
    fs::write(&path, "n\n1\n2\n33\n4\n5\n").unwrap();
    let run = Run::go_on(run.source, &positions, vec![Vec::new()], run.clock).unwrap();
    assert_eq!(run.drain().unwrap(), [[33, 4, 5]]);
}

#[test]
fn a_file_that_was_copied_back_is_the_same() {
    let folder = folder(&[("a", &long(50))]);
    let path = folder.path().join("a");
    let run = two_lines(&path);
    let text = fs::read(&path).unwrap();
    fs::remove_file(&path).unwrap();
    fs::write(&path, text).unwrap();
    assert_eq!(run.crash().unwrap().drain().unwrap()[0].len(), 50);
}

#[test]
fn what_is_read_to_its_end_may_go_or_grow_and_not_be_replaced() {
    let files = [("a", "1\n2\n"), ("b", "3\n4\n")];
    let start = |folder: &Path| {
        let mut run = Run::start(lines(folder)).unwrap();
        assert_eq!(run.poll(0, 9).unwrap(), Poll::End);
        run.poll(1, 1).unwrap();
        run
    };
    let gone = folder(&files);
    let run = start(gone.path());
    fs::remove_file(gone.path().join("a")).unwrap();
    let run = run.crash().unwrap();
    assert_eq!(run.counter("changed"), 0);
    // Once more: what is gone stays where it stood.
    assert_eq!(run.crash().unwrap().drain().unwrap(), [["1", "2"], ["3", "4"]]);

    let grown = folder(&files);
    let run = start(grown.path());
    fs::write(grown.path().join("a"), "1\n2\n3\n").unwrap();
    let run = run.crash().unwrap();
    assert_eq!(run.counter("changed"), 1);
    assert_eq!(run.drain().unwrap(), [["1", "2"], ["3", "4"]]);

    let replaced = folder(&files);
    let run = start(replaced.path());
    fs::write(replaced.path().join("a"), "7\n8\n").unwrap();
    let error = refused(run);
    assert!(error.contains("its first 4 bytes differ"), "{error}");
    assert!(error.contains("may be taken away, and not replaced"), "{error}");
}

#[test]
fn when_all_has_been_read_all_may_go() {
    let folder = folder(&[("a", "1\n"), ("b", "2\n")]);
    for inputs in [folder.path().to_path_buf(), folder.path().join("[ab]")] {
        fs::write(folder.path().join("a"), "1\n").unwrap();
        fs::write(folder.path().join("b"), "2\n").unwrap();
        let mut run = Run::start(lines(inputs)).unwrap();
        run.poll(0, 9).unwrap();
        run.poll(1, 9).unwrap();
        fs::remove_file(folder.path().join("a")).unwrap();
        fs::remove_file(folder.path().join("b")).unwrap();
        assert_eq!(run.crash().unwrap().drain().unwrap(), [["1"], ["2"]]);
    }
}

#[test]
fn new_and_missing_files_are_named() {
    let folder = folder(&[("a", "1\n2\n3\n"), ("b", "2\n")]);
    let run = two_lines(folder.path());
    fs::rename(folder.path().join("b"), folder.path().join("c")).unwrap();
    let error = refused(run);
    let (a, b, c) = (folder.path().join("a"), folder.path().join("b"), folder.path().join("c"));
    let expected = format!(
        "the input files are not those of the checkpoint: not among them any more, and not read to its end: {}; new: {}",
        b.display(),
        c.display()
    );
    assert!(error.contains(&expected), "{error}");
    assert!(error.contains("`.watch(1s)`"), "{error}");

    // The order in which they are named is no matter: each goes on where it stood.
    let mut run = Run::start(lines([&a, &c])).unwrap();
    run.poll(0, 2).unwrap();
    let positions = run.positions();
    let other = Run::go_on(lines([&c, &a]), &positions, run.given, run.clock).unwrap();
    assert_eq!(other.drain().unwrap().concat(), ["1", "2", "3", "2"]);
    // But not one less.
    let mut run = Run::start(lines([&a, &c])).unwrap();
    run.poll(0, 2).unwrap();
    let error = Run::go_on(lines(&a), &run.positions(), run.given, run.clock).err().unwrap().to_string();
    assert!(error.contains(&format!("not read to its end: {}", c.display())), "{error}");
    let many: Vec<_> = (0..8).map(|n| folder.path().join(format!("n{n}"))).collect();
    many.iter().for_each(|path| fs::write(path, "").unwrap());
    let error = refused(two_lines(&a).with(lines(folder.path())));
    assert!(error.contains("n3, 4 more"), "{error}");
}

impl Run<Lines> {
    /// The same with another source.
    fn with(self, source: Lines) -> Self {
        Run { source, ..self }
    }
}

#[test]
fn files_stay_cut_as_they_were() {
    let folder = folder(&[("a", &long(1000))]);
    let path = folder.path().join("a");
    let mut run = Run::start(lines(&path).splits(3)).unwrap();
    for partition in 0..3 {
        run.poll(partition, 100).unwrap();
    }
    let positions = run.positions();
    // It grows, and the pipeline says another number: the parts are those of the checkpoint.
    fs::write(&path, long(2000)).unwrap();
    let run = Run::go_on(lines(&path).splits(7), &positions, run.given, run.clock).unwrap();
    let found = run.drain().unwrap();
    assert_eq!(found.len(), 3);
    assert_eq!(found.concat(), long(2000).lines().collect::<Vec<_>>());
}

#[test]
fn empty_parts_stay_empty() {
    for text in ["", "n\n", "n\n1\n", "1"] {
        let folder = folder(&[("a", text)]);
        let run = Run::start(lines(folder.path()).splits(5)).unwrap();
        let found = run.crash().unwrap().crash().unwrap().drain().unwrap();
        assert_eq!(found.concat(), text.lines().collect::<Vec<_>>());
        let run = Run::start(csv::<String>(folder.path()).splits(5)).unwrap();
        let found = run.crash().unwrap().crash().unwrap().drain().unwrap();
        assert_eq!(found.concat(), text.lines().skip(1).collect::<Vec<_>>());
    }
}

#[test]
fn what_cannot_be_read_again_is_told_when_the_job_opens_it() {
    let clock = Arc::new(VirtualClock::new());
    let stdin = stdin_lines();
    let part = Source::splits(&stdin).unwrap().remove(0);
    let error = stdin.open(part, &mut cx(&clock)).err().unwrap().to_string();
    assert!(error.contains("standard input cannot be read again, and the job takes checkpoints"), "{error}");
    assert!(error.contains("write the records to files first"), "{error}");
    let error = tcp_lines("127.0.0.1:1").open((), &mut cx(&clock)).err().unwrap().to_string();
    assert!(error.contains("what comes from 127.0.0.1:1 cannot be read again"), "{error}");
    let (_sender, receiver) = crate::source::channel::<u32>(1);
    let error = receiver.open((), &mut cx(&clock)).err().unwrap().to_string();
    assert!(error.contains("a channel cannot be read again"), "{error}");
}

#[test]
fn the_layout_is_the_one_that_is_documented() {
    let folder = folder(&[("a", "one\ntwo\nthree\n")]);
    let path = folder.path().join("a");
    let found = two_lines(&path).positions().remove(0);
    // FNV-1a of `one\ntwo\n`.
    let sum = 0x7b9c_7bc7_2169_cef7_u64;
    let text = path.display().to_string();
    let mut expected = vec![1, 0];
    expected.extend((text.len() as u32).to_le_bytes());
    expected.extend(text.bytes());
    for number in [0, u64::MAX, 8, 2] {
        expected.extend(number.to_le_bytes());
    }
    for _ in 0..2 {
        expected.extend(8u32.to_le_bytes());
        expected.extend(sum.to_le_bytes());
    }
    assert_eq!(found, expected);
}

proptest! {
    #![proptest_config(super::config(400))]

    /// Neither bytes of anybody nor damaged ones of ours do harm.
    #[test]
    fn foreign_bytes_are_refused(bytes: Vec<u8>, flip in any::<prop::sample::Index>(), bit in 0u8..8, cut in any::<prop::sample::Index>()) {
        let folder = folder(&[("a", "one\ntwo\nthree\n")]);
        let path = folder.path().join("a");
        let clock = Arc::new(VirtualClock::new());
        let source = lines(&path).results();
        let resume = |source: &Lines<Results>, bytes: &[u8]| {
            let part = Source::splits(source).unwrap().remove(0);
            source.resume(part, bytes, &mut cx(&clock)).map(drop)
        };
        prop_assert!(resume(&source, &bytes).is_err());
        prop_assert!(source.splits_at(&[bytes]).is_err());
        let good = two_lines(&path).positions().remove(0);
        prop_assert!(resume(&source, &good[..cut.index(good.len())]).is_err());
        let mut damaged = good;
        let at = flip.index(damaged.len());
        damaged[at] ^= 1 << bit;
        // What it says may be something else; it may not panic.
        let _ = resume(&source, &damaged);
        let _ = source.splits_at(&[damaged]);
        let error = resume(&source, b"?").unwrap_err().to_string();
        prop_assert!(error.contains("no text source of this version has written"), "{}", error);
    }
}

#[test]
fn what_a_record_without_its_end_grows_by_is_no_record() {
    let folder = folder(&[("a", "one\ntwo")]);
    let path = folder.path().join("a");
    for crash in [false, true] {
        fs::write(&path, "one\ntwo").unwrap();
        let mut run = two_lines(&path);
        fs::write(&path, "one\ntwofold\nthree\n").unwrap();
        if crash {
            run = run.crash().unwrap();
            assert_eq!(run.counter("changed"), 1);
        }
        assert_eq!(run.drain().unwrap(), [["one", "two"]]);
    }
}

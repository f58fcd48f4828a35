//! Watched folders that are left and taken up again.

use super::super::text::{LineOptions, Results, Watched};
use super::super::{Poll, csv, lines};
use super::{Run, config};
use crate::time::{Clock, Millis};
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::Arc;

type Inbox = Watched<String, LineOptions>;

fn watch(folder: &Path) -> Run<Inbox> {
    Run::start(lines(folder).watch(Millis(10))).unwrap()
}

/// Writes a file beside and gives it its name.
fn appears(folder: &Path, name: &str, text: &str) {
    fs::write(folder.join(".new"), text).unwrap();
    fs::rename(folder.join(".new"), folder.join(name)).unwrap();
}

impl<B> Run<Watched<String, LineOptions, B>>
where
    Watched<String, LineOptions, B>: super::Source,
{
    /// Reads until nothing is left that is known by the next look.
    fn settle(&mut self) {
        self.clock.advance_to(self.clock.ticks() + 10);
        while !matches!(self.poll(0, 5).unwrap(), Poll::WaitUntil(_)) {}
    }
}

fn refused(run: Run<Inbox>) -> String {
    run.crash().err().expect("it goes on").to_string()
}

#[derive(Debug, Clone)]
enum Op {
    Poll(usize),
    Crash,
    Appears(usize),
    Tick,
}

fn op() -> impl Strategy<Value = Op> {
    prop_oneof![
        4 => (1usize..6).prop_map(Op::Poll),
        2 => Just(Op::Crash),
        2 => (0usize..8).prop_map(Op::Appears),
        2 => Just(Op::Tick),
    ]
}

proptest! {
    #![proptest_config(config(200))]

    /// Each file comes once, whole and in order, whenever the reader is left; those of one look come by name.
    #[test]
    fn each_file_comes_once(ops in proptest::collection::vec(op(), 0..60), glob: bool) {
        let folder = tempfile::tempdir().unwrap();
        let inputs = if glob { folder.path().join("f*") } else { folder.path().to_path_buf() };
        let mut run = Run::start(lines(inputs).results().watch(Millis(10))).unwrap();
        let mut files = Vec::new();
        for op in ops {
            match op {
                Op::Poll(budget) => drop(run.poll(0, budget).unwrap()),
                Op::Crash => run = run.crash().unwrap(),
                Op::Appears(lines) => {
                    // Not in the order in which they appear, and one line in five is broken.
                    let name = format!("f{}", (files.len() * 7) % 100);
                    let text: Vec<u8> = (0..lines).flat_map(|line| {
                        if line % 5 == 3 { b"\xff\n".to_vec() } else { format!("{name} {line}\n").into_bytes() }
                    }).collect();
                    fs::write(folder.path().join(".new"), text).unwrap();
                    fs::rename(folder.path().join(".new"), folder.path().join(&name)).unwrap();
                    files.push((name, lines));
                }
                Op::Tick => run.clock.advance_to(run.clock.ticks() + 10),
            }
        }
        run = run.crash().unwrap();
        run.settle();
        run.settle();
        let mut found: BTreeMap<String, Vec<u64>> = BTreeMap::new();
        let mut order = Vec::new();
        for record in run.given.remove(0) {
            let (name, line) = match record {
                Ok(line) => {
                    let (name, line) = line.split_once(' ').unwrap();
                    (name.to_owned(), line.parse().unwrap())
                }
                Err(broken) => {
                    (Path::new(&*broken.file).file_name().unwrap().to_str().unwrap().to_owned(), broken.record - 1)
                }
            };
            if order.last() != Some(&name) {
                order.push(name.clone());
            }
            found.entry(name).or_default().push(line);
        }
        files.retain(|file| file.1 > 0);
        prop_assert_eq!(order.len(), files.len(), "one after the other");
        let expected: BTreeMap<_, _> =
            files.into_iter().map(|(name, lines)| (name, (0..lines as u64).collect::<Vec<_>>())).collect();
        prop_assert_eq!(found, expected);
    }

    #[test]
    fn foreign_bytes_are_refused(bytes: Vec<u8>, flip in any::<prop::sample::Index>(), bit in 0u8..8, cut in any::<prop::sample::Index>()) {
        let folder = tempfile::tempdir().unwrap();
        appears(folder.path(), "a", "1\n");
        appears(folder.path(), "b", "2\n3\n");
        appears(folder.path(), "c", "4\n");
        let mut run = watch(folder.path());
        // The end of the first is a turn of its own.
        while run.given[0].len() < 2 {
            run.poll(0, 1).unwrap();
        }
        let good = run.positions().remove(0);
        let go_on = |bytes: &[u8]| {
            let source = lines(folder.path()).watch(Millis(10));
            Run::go_on(source, &[bytes.to_vec()], vec![Vec::new()], Arc::clone(&run.clock)).map(drop)
        };
        prop_assert!(go_on(&good).is_ok());
        prop_assert!(go_on(&bytes).is_err());
        prop_assert!(go_on(&good[..cut.index(good.len())]).is_err());
        let mut damaged = good;
        let at = flip.index(damaged.len());
        damaged[at] ^= 1 << bit;
        let _ = go_on(&damaged);
        let error = go_on(b"?").unwrap_err().to_string();
        prop_assert!(error.contains("no watched folder of this version has written"), "{}", error);
    }
}

#[test]
fn the_file_that_is_read_has_to_be_there_and_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a");
    let half_way = || {
        appears(folder.path(), "a", "1\n2\n3\n");
        let mut run = watch(folder.path());
        while run.given[0].len() < 2 {
            run.poll(0, 1).unwrap();
        }
        run
    };
    let run = half_way();
    fs::remove_file(&path).unwrap();
    let error = refused(run);
    let read = format!("{}: had been read up to byte 4 at the checkpoint, and ", path.display());
    assert!(error.contains(&format!("{read}cannot be read: No such file")), "{error}");

    let run = half_way();
    appears(folder.path(), "a", "1\nx\n3\n");
    let error = refused(run);
    assert!(error.contains(&format!("{read}is another one: its first 4 bytes differ")), "{error}");

    let run = half_way();
    appears(folder.path(), "a", "1\n");
    let error = refused(run);
    assert!(error.contains(&format!("{read}has 2 bytes now")), "{error}");

    // It may grow, as it may while it is read.
    let run = half_way();
    appears(folder.path(), "a", "1\n2\n3\n4\n");
    let mut run = run.crash().unwrap();
    run.settle();
    assert_eq!(run.given, [["1", "2", "3", "4"]]);
}

#[test]
fn changes_while_nobody_was_there_are_seen() {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in [("a", "1\n"), ("b", "2\n"), ("c", "3\n")] {
        appears(folder.path(), name, text);
    }
    let mut run = watch(folder.path());
    run.settle();
    assert_eq!(run.given, [["1", "2", "3"]]);
    fs::write(folder.path().join("a"), "1\nmore\n").unwrap();
    fs::remove_file(folder.path().join("b")).unwrap();
    appears(folder.path(), "d", "4\n");
    let mut run = run.crash().unwrap();
    run.settle();
    assert_eq!((run.counter("changed"), run.counter("vanished")), (1, 0));
    // What was deleted is new when it comes again, also over another checkpoint.
    let mut run = run.crash().unwrap();
    appears(folder.path(), "b", "5\n");
    run.settle();
    assert_eq!(run.given, [["1", "2", "3", "4", "5"]]);
    assert_eq!(run.counter("changed"), 0, "once a change");
}

#[test]
fn what_was_found_and_not_opened_is_read_in_its_order() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["b", "c", "d"] {
        appears(folder.path(), name, &format!("{name}\n"));
    }
    let mut run = watch(folder.path());
    run.poll(0, 2).unwrap();
    assert_eq!(run.given, [["b"]]);
    appears(folder.path(), "a", "a\n");
    fs::remove_file(folder.path().join("d")).unwrap();
    let mut run = run.crash().unwrap();
    run.settle();
    assert_eq!(run.given, [["b", "c", "a"]]);
    assert_eq!(run.counter("vanished"), 1);
}

#[test]
fn every_format_goes_on_in_the_middle_of_a_file() {
    let folder = tempfile::tempdir().unwrap();
    appears(folder.path(), "1.csv", "a,b\n1,2\n3,4\nx\n");
    appears(folder.path(), "2.csv", "b,a\n5,6\n7,8\n");
    let mut run =
        Run::start(csv::<BTreeMap<String, u64>>(folder.path()).results().watch(Millis(10))).unwrap();
    for _ in 0..20 {
        run.poll(0, 1).unwrap();
        run = run.crash().unwrap();
    }
    let row = |a: u64, b: u64| Ok(BTreeMap::from([("a".to_owned(), a), ("b".to_owned(), b)]));
    let found: Vec<_> =
        run.given.remove(0).into_iter().map(|row| row.map_err(|broken| broken.record)).collect();
    assert_eq!(found, [row(1, 2), row(3, 4), Err(3), row(6, 5), row(8, 7)]);
}

#[test]
fn other_folders_are_refused() {
    let (one, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let run = watch(one.path());
    let elsewhere = lines(other.path()).watch(Millis(10));
    let error = Run::go_on(elsewhere, &run.positions(), run.given, run.clock).err().unwrap().to_string();
    let expected = format!(
        "what is watched was {} at the checkpoint, and is {} now",
        one.path().display(),
        other.path().display()
    );
    assert!(error.contains(&expected), "{error}");
}

#[test]
fn the_layout_is_the_one_that_is_documented() {
    use std::os::unix::fs::MetadataExt;
    let folder = tempfile::tempdir().unwrap();
    for name in ["a", "b", "c"] {
        appears(folder.path(), name, &format!("{name}\n"));
    }
    let mut run =
        Run::<Watched<String, LineOptions, Results>>::start(lines(folder.path()).results().watch(Millis(10)))
            .unwrap();
    while run.given[0].len() < 2 {
        run.poll(0, 1).unwrap();
    }
    let current = {
        let mut alone = Run::start(lines(folder.path().join("b"))).unwrap();
        alone.poll(0, 1).unwrap();
        alone.positions().remove(0)
    };
    let mut expected = vec![1];
    let path = |path: &Path, out: &mut Vec<u8>| {
        let text = path.to_str().unwrap();
        out.extend((text.len() as u32).to_le_bytes());
        out.extend(text.bytes());
    };
    expected.extend(1u32.to_le_bytes());
    path(folder.path(), &mut expected);
    expected.extend(3u32.to_le_bytes());
    path(&folder.path().join("a"), &mut expected);
    expected.push(1);
    let a = fs::metadata(folder.path().join("a")).unwrap();
    for number in [a.dev(), a.ino(), 2] {
        expected.extend(number.to_le_bytes());
    }
    expected.extend((i128::from(a.mtime()) * 1_000_000_000 + i128::from(a.mtime_nsec())).to_le_bytes());
    for name in ["b", "c"] {
        path(&folder.path().join(name), &mut expected);
        expected.push(0);
    }
    expected.extend(1u32.to_le_bytes());
    path(&folder.path().join("c"), &mut expected);
    expected.extend((current.len() as u32).to_le_bytes());
    expected.extend(current);
    assert_eq!(run.positions(), [expected]);
}

//! Watched folders on the virtual clock: what happens to the files, and what a reader of a few lines makes of it.

#![allow(clippy::unwrap_used, reason = "a test that unwraps fails where it should")]

use flow_core::prelude::*;
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

/// What happens to a file.
#[derive(Debug, Clone)]
enum Action {
    Appears(u8, usize),
    Grows(u8),
    Goes(u8),
    Hidden(u8),
    Staged(u8),
    Nothing,
}

fn action() -> impl Strategy<Value = Action> {
    prop_oneof![
        4 => (0u8..4, 0usize..4).prop_map(|(name, lines)| Action::Appears(name, lines)),
        2 => (0u8..4).prop_map(Action::Grows),
        2 => (0u8..4).prop_map(Action::Goes),
        1 => (0u8..4).prop_map(Action::Hidden),
        1 => (0u8..4).prop_map(Action::Staged),
        1 => Just(Action::Nothing),
    ]
}

/// The files of the folder as `(version, lines)`.
type Files = BTreeMap<u8, (usize, Vec<String>)>;

/// What the folder is after an action, the n-th.
fn after(files: &mut Files, n: usize, action: &Action) {
    match action {
        Action::Appears(name, lines) if !files.contains_key(name) => {
            files.insert(*name, (n, (0..*lines).map(|i| format!("{name} {n} {i}")).collect()));
        }
        Action::Grows(name) => {
            if let Some((version, lines)) = files.get_mut(name) {
                *version = n;
                lines.push(format!("{name} {n} more"));
            }
        }
        Action::Goes(name) => {
            files.remove(name);
        }
        _ => {}
    }
}

fn path(folder: &Path, name: u8) -> PathBuf {
    folder.join(format!("{name}.txt"))
}

/// The same in a real folder.
fn perform(folder: &Path, n: usize, action: &Action) {
    match action {
        Action::Appears(name, lines) if !path(folder, *name).exists() => {
            let text: String = (0..*lines).map(|i| format!("{name} {n} {i}\n")).collect();
            let beside = folder.join(format!(".{name}.new"));
            fs::write(&beside, text).unwrap();
            fs::rename(beside, path(folder, *name)).unwrap();
        }
        Action::Grows(name) if path(folder, *name).exists() => {
            let mut file = fs::OpenOptions::new().append(true).open(path(folder, *name)).unwrap();
            writeln!(file, "{name} {n} more").unwrap();
        }
        Action::Goes(name) => {
            let _ = fs::remove_file(path(folder, *name));
        }
        Action::Hidden(name) => fs::write(folder.join(format!(".{name}.hidden")), "no\n").unwrap(),
        Action::Staged(name) => fs::write(folder.join(format!("{name}.txt.part-7")), "no\n").unwrap(),
        _ => {}
    }
}

/// The rows in their order, and how many changes of files that have been read are seen: a look behind each `so many` actions.
fn naive(actions: &[Action], each: usize) -> (Vec<String>, usize) {
    let (mut files, mut known) = (Files::new(), BTreeMap::<u8, usize>::new());
    let (mut rows, mut changed) = (Vec::new(), 0);
    for (n, action) in actions.iter().enumerate() {
        after(&mut files, n, action);
        if !(n + 1).is_multiple_of(each) {
            continue;
        }
        known.retain(|name, _| files.contains_key(name));
        for (name, (version, lines)) in &files {
            match known.insert(*name, *version) {
                None => rows.extend(lines.iter().cloned()),
                Some(before) => changed += usize::from(before != *version),
            }
        }
    }
    (rows, changed)
}

fn config() -> ProptestConfig {
    let cases = std::env::var("FLOW_RANDOM_CASES").map_or(60, |text| text.parse().expect("a number"));
    ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(config())]

    /// Looks are at 0, 10, 20 … ticks; actions in between.
    #[test]
    fn each_file_is_read_once(
        actions in proptest::collection::vec(action(), 1..30), each in 1usize..4, batch in 1usize..5, glob in any::<bool>(), seed in any::<u64>(),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let mut actions = actions;
        actions.resize(actions.len().div_ceil(each) * each, Action::Nothing);
        let (rows, changed) = naive(&actions, each);
        let out = Collected::new();
        let (inbox, steps) = (folder.path().to_path_buf(), actions.clone());
        let pattern = if glob { inbox.join("[0-9z].txt*") } else { inbox.clone() };
        let job = Job::build("watch", |job| {
            let seen = source(lines(pattern).watch(Millis(10))).take(rows.len() as u64 + 1);
            job.add(seen.collect(&out));
            let last = steps.len().div_ceil(each) * 10 + 5;
            let ticks = source(generate(last as u64 + 1, |i| i as usize).rate(1_000));
            job.add(ticks.for_each(move |tick| {
                // Several actions between two looks, then none before the look.
                for k in (tick % 10 == 5).then_some(each).into_iter().flat_map(|each| 0..each) {
                    let n = tick / 10 * each + k;
                    if let Some(action) = steps.get(n) {
                        perform(&inbox, n, action);
                    }
                }
                if tick == last {
                    fs::write(inbox.join("z.txt"), "the end").unwrap();
                }
            }));
        });
        let report = job.batch_size(batch).simulate(seed).unwrap();
        let expected: Vec<String> = rows.into_iter().chain(["the end".to_owned()]).collect();
        prop_assert_eq!(out.take(), expected);
        prop_assert_eq!(report.counter("changed"), changed as i64);
        prop_assert_eq!(report.counter("vanished"), 0);
    }
}

#[test]
fn a_file_that_goes_before_it_is_opened_is_counted() {
    let folder = tempfile::tempdir().unwrap();
    let inbox = folder.path().to_path_buf();
    for name in ["a", "b", "c"] {
        fs::write(inbox.join(name), format!("{name}\n")).unwrap();
    }
    let out = Collected::new();
    let job = Job::build("watch", |job| {
        // The first record takes the second file away.
        let gone = inbox.join("b");
        let seen = source(lines(&inbox).watch(Millis(10))).inspect(move |_| drop(fs::remove_file(&gone)));
        job.add(seen.take(2).collect(&out));
    });
    let report = job.batch_size(1).simulate(1).unwrap();
    assert_eq!(out.take(), ["a", "c"]);
    assert_eq!(report.counter("vanished"), 1);
}

#[test]
fn records_of_every_format() {
    let folder = tempfile::tempdir().unwrap();
    let inbox = folder.path().to_path_buf();
    fs::write(inbox.join("1.csv"), "a,b\n1,2\n").unwrap();
    fs::write(inbox.join("2.csv"), "b,a\n3,4\nx\n").unwrap();
    let out = Collected::new();
    let job = Job::build("csv", |job| {
        let rows = source(csv::<BTreeMap<String, i64>>(&inbox).results().watch(Millis(10))).take(3);
        job.add(
            rows.map(|r: Result<_, Broken>| r.map_err(|broken| (broken.record, broken.offset_bytes)))
                .collect(&out),
        );
    });
    let report = job.simulate(1).unwrap();
    let row = |a, b| BTreeMap::from([("a".to_owned(), a), ("b".to_owned(), b)]);
    assert_eq!(out.take(), [Ok(row(1, 2)), Ok(row(4, 3)), Err((2, 8))]);
    assert_eq!(report.counter("invalid"), 1);
}

#[test]
fn a_broken_record_ends_the_job_with_its_place() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("a.txt"), b"fine\n\xff\n").unwrap();
    let job =
        Job::build("broken", |job| job.add(source(lines(folder.path()).watch(Millis(10))).for_each(|_| ())));
    let error = job.simulate(1).unwrap_err().to_string();
    assert!(error.contains("a.txt: record 2 at byte 5: not valid UTF-8"), "{error}");
}

#[test]
fn what_cannot_be_watched_is_told_before_any_record_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let refused =
        |watched: flow_core::source::text::Watched<String, flow_core::source::text::LineOptions>| {
            let job = Job::build("refused", |job| job.add(source(watched).for_each(|_| ())));
            job.run().unwrap_err().to_string()
        };
    let missing = refused(lines(folder.path().join("missing")).watch(Millis(10)));
    assert!(missing.contains("missing: cannot be read"), "{missing}");
    let stdin = refused(lines("-").watch(Millis(10)));
    assert!(stdin.contains("standard input: cannot be read: cannot be watched: files can"), "{stdin}");
    let never = refused(lines(folder.path()).watch(Millis(0)));
    assert!(never.contains("a folder is watched every 0ms: it has to be longer than zero"), "{never}");
    let cut = refused(lines(folder.path()).splits(2).watch(Millis(10)));
    assert!(cut.contains("`.splits(2)` of a watched folder: it is one partition"), "{cut}");
}

#[test]
fn a_stopped_job_ends() {
    let folder = tempfile::tempdir().unwrap();
    let job = Job::build("stop", |job| {
        job.add(source(lines(folder.path()).watch(Millis(60_000))).for_each(|_| ()))
    });
    let running = job.start().unwrap();
    running.stop();
    assert!(running.join().is_ok());
}

#[test]
fn a_file_that_two_paths_stand_for_is_read_once() {
    let folder = tempfile::tempdir().unwrap();
    let inbox = folder.path().to_path_buf();
    fs::write(inbox.join("a.txt"), "one\n").unwrap();
    let out = Collected::new();
    let job = Job::build("twice", |job| {
        let inputs = vec![inbox.clone(), inbox.join("a*"), inbox.join("a.txt")];
        job.add(source(lines(inputs).watch(Millis(10))).take(2).collect(&out));
        // Several looks later.
        let ticks = source(generate(2, |i| i).rate(10));
        job.add(ticks.for_each(move |tick| {
            if tick == 1 {
                fs::write(inbox.join("z.txt"), "the end\n").unwrap();
            }
        }));
    });
    let report = job.simulate(1).unwrap();
    assert_eq!(out.take(), ["one", "the end"]);
    assert_eq!(report.counter("changed"), 0);
}

#[test]
fn a_hidden_file_is_read_where_it_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let hidden = folder.path().join(".log");
    fs::write(&hidden, "one\n").unwrap();
    let out = Collected::new();
    let job = Job::build("hidden", |job| {
        let inputs = vec![hidden.clone(), folder.path().to_path_buf()];
        job.add(source(lines(inputs).watch(Millis(10))).take(2).collect(&out));
        let end = folder.path().join("z");
        job.add(
            source(generate(2, |i| i).rate(10))
                .filter(|i| *i == 1)
                .for_each(move |_| fs::write(&end, "the end").unwrap()),
        );
    });
    job.simulate(1).unwrap();
    assert_eq!(out.take(), ["one", "the end"]);
}

/// What happens to a file while it is read: what it has grown by is read, one that takes its place is counted.
#[test]
fn a_file_that_is_replaced_while_it_is_read_is_counted() {
    let run = |replaced: bool| {
        let folder = tempfile::tempdir().unwrap();
        let inbox = folder.path().to_path_buf();
        let old: String = (0..50_000).map(|n| format!("old {n}\n")).collect();
        fs::write(inbox.join("a"), old).unwrap();
        let out = Collected::new();
        let job = Job::build("replaced", |job| {
            let (a, n) = (inbox.join("a"), inbox.join(".n"));
            let seen = source(lines(&inbox).watch(Millis(10))).inspect(move |line| {
                let now = line == "old 10";
                if now && replaced {
                    fs::write(&n, "new\n").unwrap();
                    fs::rename(&n, &a).unwrap();
                } else if now {
                    let mut file = fs::OpenOptions::new().append(true).open(&a).unwrap();
                    writeln!(file, "new").unwrap();
                }
            });
            job.add(
                seen.filter(|line| !line.starts_with("old")).take(if replaced { 1 } else { 2 }).collect(&out),
            );
            // Several looks later.
            let end = inbox.join("z");
            job.add(
                source(generate(2, |i| i).rate(10))
                    .filter(|i| *i == 1)
                    .for_each(move |_| fs::write(&end, "the end").unwrap()),
            );
        });
        let report = job.simulate(1).unwrap();
        (out.take(), report.counter("changed"))
    };
    assert_eq!(run(true), (vec!["the end".to_owned()], 1));
    assert_eq!(run(false), (vec!["new".to_owned(), "the end".to_owned()], 0));
}

//! Text through whole jobs: what stands in the files afterwards, at every parallelism and on every host.

#![allow(clippy::unwrap_used, reason = "a test that unwraps fails where it should")]

use flow_core::prelude::*;
use std::fs;
use std::io::Write;
use std::path::Path;

fn folder() -> tempfile::TempDir {
    tempfile::tempdir().unwrap()
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn words_are_counted_whatever_the_ranges() {
    let folder = folder();
    let (input, output) = (folder.path().join("in.txt"), folder.path().join("out.csv"));
    let text: String = (0..1000).map(|n| format!("a b{} c\r\n", n % 7)).collect();
    fs::write(&input, text).unwrap();
    for (splits, parallelism) in [(1, 1), (3, 2), (4, 4)] {
        let job = Job::build("words", |job| {
            let words = source(lines(&input).splits(splits))
                .flat_map(|line| line.split(' ').map(str::to_owned).collect::<Vec<_>>());
            let counts = words.key_by(|word| word.clone()).window(global()).aggregate(|a| a.count());
            job.add(counts.map(|w| (w.key, w.value)).sink(csv_file(&output).header(&["word", "count"])));
        });
        job.parallelism(parallelism).run().unwrap();
        let found = fs::read_to_string(&output).unwrap();
        let mut found: Vec<_> = found.lines().collect();
        assert_eq!(found.remove(0), "word,count");
        found.sort_unstable();
        let sevenths = (0..7).map(|n| format!("b{n},{}", if n < 6 { 143 } else { 142 }));
        let expected: Vec<_> =
            ["a,1000".to_string()].into_iter().chain(sevenths).chain(["c,1000".to_string()]).collect();
        assert_eq!(found, expected, "{splits} ranges, parallelism {parallelism}");
        assert_eq!(names(folder.path()), ["in.txt", "out.csv"]);
    }
}

#[test]
fn a_job_that_fails_leaves_the_old_result() {
    let folder = folder();
    let (input, output) = (folder.path().join("in.csv"), folder.path().join("out.txt"));
    let mut csv_text = b"n\n".to_vec();
    (0..5000).for_each(|n| writeln!(csv_text, "{n}").unwrap());
    csv_text.extend(b"oops\n");
    fs::write(&input, csv_text).unwrap();
    fs::write(&output, "old").unwrap();
    let job = Job::build("numbers", |job| job.add(source(csv::<u32>(&input)).sink(text_file(&output))));
    let error = job.run().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Source);
    let text = error.to_string();
    let place =
        format!("{}: record 5001 at byte {}", input.display(), 2 + 10 * 2 + 90 * 3 + 900 * 4 + 4000 * 5);
    assert!(text.contains(&place) && text.contains("`oops`") && text.contains("csv"), "{text}");
    assert_eq!(fs::read_to_string(&output).unwrap(), "old");
    assert_eq!(names(folder.path()), ["in.csv", "out.txt"]);
}

#[test]
fn broken_records_as_values() {
    let folder = folder();
    let input = folder.path().join("in.csv");
    fs::write(&input, "n\n1\nx\n3\n").unwrap();
    let out = Collected::new();
    let job = Job::build("numbers", |job| {
        job.add(source(csv::<u32>(&input).results()).map(|n| n.map_err(|b: Broken| b.record)).collect(&out));
    });
    let report = job.run().unwrap();
    assert_eq!(out.take(), [Ok(1), Err(2), Ok(3)]);
    assert_eq!(report.counter("invalid"), 1);
}

#[test]
fn what_is_missing_is_said_before_the_start() {
    let job = Job::build("none", |job| job.add(source(lines("/no/such/file")).for_each(|_| ())));
    let error = job.run().unwrap_err().to_string();
    assert!(error.contains("/no/such/file: cannot be read: No such file"), "{error}");
}

#[test]
fn a_full_disk_ends_the_job() {
    let out = Path::new("/dev/full");
    if !out.exists() {
        eprintln!("skipped: there is no /dev/full");
        return;
    }
    let job = Job::build("full", |job| job.add(source(from_iter(0..100_000)).sink(text_file(out))));
    let error = job.run().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Sink);
    assert!(error.to_string().contains("/dev/full: cannot be written: No space left"), "{error}");
}

#[test]
fn tcp_lines_flow_while_the_connection_is_open() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    for parallelism in [1, 2] {
        let (sender, received) = std::sync::mpsc::sync_channel(16);
        let job = Job::build("tcp", |job| job.add(source(tcp_lines(&address)).sink(to_channel(sender))));
        let handle = job.parallelism(parallelism).start().unwrap();
        let (mut peer, _) = listener.accept().unwrap();
        for n in 0..20 {
            writeln!(peer, "line {n}").unwrap();
            let line = received.recv_timeout(std::time::Duration::from_secs(10)).unwrap();
            assert_eq!(line, format!("line {n}"));
        }
        drop(peer);
        let report = handle.join().unwrap();
        assert_eq!(report.counter("invalid"), 0);
    }
}

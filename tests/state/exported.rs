//! Checkpoints as lines of JSON, and lines of JSON as checkpoints.

use crate::pipelines::{CASES, Case, Event};
use crate::running::{begin, check, complete, go_on, half_way};
use flow_core::checkpoint::{group_of, import, read};
use flow_core::prelude::*;
use std::collections::BTreeMap;
use std::path::Path;

/// The lines of the newest checkpoint.
pub fn lines_of(folder: &Path) -> String {
    let mut lines = Vec::new();
    let snapshot = read(folder).expect("a folder").newest().expect("a checkpoint");
    let count = snapshot.export(&mut lines).unwrap_or_else(|error| panic!("{error}"));
    let lines = String::from_utf8(lines).expect("a text");
    assert_eq!(lines.lines().count() as u64, count);
    lines
}

/// A folder with the checkpoint that the lines are.
pub fn imported(lines: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    import(folder.path(), lines.as_bytes()).unwrap_or_else(|error| panic!("{error}"));
    folder
}

fn of(name: &str) -> &'static Case {
    CASES.iter().find(|case| case.name == name).expect("a pipeline of this name")
}

fn sorted(lines: &str) -> Vec<&str> {
    let mut lines: Vec<&str> = lines.lines().collect();
    lines.sort_unstable();
    lines
}

#[test]
fn a_job_goes_on_from_its_lines() {
    for case in CASES {
        let folder = tempfile::tempdir().expect("a folder");
        let before = begin(case, folder.path(), 2);
        let lines = lines_of(folder.path());
        for line in lines.lines() {
            serde_json::from_str::<serde_json::Value>(line).unwrap_or_else(|error| panic!("{line}: {error}"));
        }
        let has_keys = lines.lines().any(|line| line.contains("\"group\":"));
        assert!(has_keys || case.name == "beside_keys", "{}: it keeps nothing", case.name);
        assert!(
            !lines.lines().any(|line| line.contains("\"group\":") && line.contains("\"bytes\":")),
            "{}",
            case.name
        );
        let other = imported(&lines);
        assert_eq!(sorted(&lines_of(other.path())), sorted(&lines), "{}", case.name);
        let rest = go_on(case, Checkpoints::to(other.path()), 3)
            .unwrap_or_else(|error| panic!("{}: {error}", case.name));
        check(case.name, [before, rest].concat(), &complete(case));
    }
}

#[test]
fn values_are_read_with_their_types() {
    let folder = tempfile::tempdir().expect("a folder");
    let rows = begin(of("sums"), folder.path(), 2);
    let snapshot = read(folder.path()).expect("a folder").newest().expect("a checkpoint");
    assert!(snapshot.bytes("sums/sum").expect("its size") > 0);
    let sums =
        snapshot.keyed::<String, u64>("sums/sum").expect("sums").map(|pair| pair.expect("of these types"));
    let sums: BTreeMap<String, u64> = sums.collect();
    for (key, sum) in &sums {
        assert!(rows.contains(&format!("{:?}", (key, sum))), "{key}: {sum}");
    }
    assert_eq!(sums.len(), 6);
    let error = |found: Result<usize>| found.expect_err("it is refused").to_string();
    let count = |name: &str| snapshot.keyed::<String, u64>(name).map(Iterator::count);
    assert!(error(count("totals/sum")).contains("no state of `totals/sum`: there are"));
    assert!(error(count("events/rate_limit")).contains("it keeps no keyed state"));
    let other = snapshot.keyed::<String, i64>("sums/sum").map(Iterator::count);
    assert!(error(other).contains("its value is `u64`, and is read as `i64`"));

    let folder = tempfile::tempdir().expect("a folder");
    begin(of("processes"), folder.path(), 2);
    let snapshot = read(folder.path()).expect("a folder").newest().expect("a checkpoint");
    let plain = snapshot.keyed::<String, Option<Event>>("rows/process/plain").expect("a state");
    let plain: Vec<(String, Option<Event>)> = plain.map(|pair| pair.expect("of these types")).collect();
    assert!(
        plain.len() == 6 && plain.iter().all(|(key, event)| event.as_ref().is_some_and(|e| e.key == *key))
    );
    let which = snapshot.keyed::<String, u64>("rows/process").map(Iterator::count);
    assert!(
        error(which)
            .contains("as in `rows/process/plain`; there are plain, timed, list, map, reduced, folded")
    );

    let folder = tempfile::tempdir().expect("a folder");
    begin(of("temporal_joins"), folder.path(), 2);
    let snapshot = read(folder.path()).expect("a folder").newest().expect("a checkpoint");
    let left = snapshot.keyed::<u64, Event>("known/as_of/left").expect("a side");
    left.for_each(|pair| assert!(pair.is_ok_and(|(key, event)| event.n % 20 == key)));
}

#[test]
fn what_is_changed_in_a_line_is_changed_in_the_state() {
    let folder = tempfile::tempdir().expect("a folder");
    let case = of("sums");
    begin(case, folder.path(), 2);
    let mut lines = String::new();
    for line in lines_of(folder.path()).lines() {
        // One key begins anew, one has more.
        if !line.contains("\"key\":\"k0\"") {
            let line = if line.contains("\"key\":\"k1\"") {
                line.split(",\"value\"").next().expect("a value").to_owned() + ",\"value\":1000000}"
            } else {
                line.to_owned()
            };
            lines.push_str(&line);
            lines.push('\n');
        }
    }
    let new =
        format!("{{\"operator\":\"sums/sum\",\"group\":{},\"key\":\"new\",\"value\":7}}\n", group_of("new"));
    // Before the last line.
    lines.insert_str(lines.find("{\"end\"").expect("the last line"), &new);
    let other = imported(&lines);
    let snapshot = read(other.path()).expect("a folder").newest().expect("a checkpoint");
    let sums =
        snapshot.keyed::<String, u64>("sums/sum").expect("sums").map(|pair| pair.expect("of these types"));
    let sums: BTreeMap<String, u64> = sums.collect();
    assert_eq!((sums.get("k0"), sums.get("k1"), sums.get("new")), (None, Some(&1_000_000), Some(&7)));
    let rest = go_on(case, Checkpoints::to(other.path()), 1).expect("it goes on");
    assert!(rest.iter().any(|row| row.starts_with("(\"k1\", 1000")), "{rest:?}");
}

#[test]
fn lines_that_are_none_are_refused_with_their_number() {
    let folder = tempfile::tempdir().expect("a folder");
    begin(of("sums"), folder.path(), 2);
    let lines = lines_of(folder.path());
    let good: Vec<&str> = lines.lines().collect();
    let at = good.iter().position(|line| line.contains("\"key\":")).expect("an entry");
    for (line, what) in [
        ("{\"operator\":\"sums/sum\"", "it is no JSON: `,` or `}` is missing at character 23"),
        ("[]", "the field `operator` is missing"),
        (
            "{\"operator\":\"sums/min\",\"group\":0,\"key\":\"a\",\"value\":1}",
            "the line of the operator `sums/min`",
        ),
        ("{\"operator\":\"sums/sum\",\"group\":256,\"key\":\"a\",\"value\":1}", "there are 256 key groups"),
        ("{\"operator\":\"sums/sum\",\"key\":\"a\",\"value\":1}", "the field `group` is missing"),
        ("{\"operator\":\"sums/sum\",\"group\":0,\"key\":\"a\"}", "the field `value` is missing"),
        (
            "{\"operator\":\"sums/sum\",\"group\":0,\"key\":1,\"value\":1}",
            "at `key`: a text is expected, and there is 1",
        ),
        (
            "{\"operator\":\"sums/sum\",\"group\":0,\"key\":\"a\",\"value\":-1}",
            "at `value`: -1 is no number of u64",
        ),
        (
            "{\"operator\":\"sums/sum\",\"group\":0,\"key\":\"a\",\"value\":1,\"x\":1}",
            "there is no field `x`",
        ),
        (
            "{\"operator\":\"sums/sum\",\"group\":0,\"key\":\"a\",\"value\":1,\"value\":2}",
            "`value` is given twice",
        ),
        (
            "{\"operator\":\"sums/sum\",\"group\":0,\"part\":\"timers\",\"key\":\"a\",\"value\":1}",
            "no part `timers`",
        ),
        (
            "{\"operator\":\"sums/sum\",\"schema\":\"u8 -> u8\",\"instances\":1,\"finished\":false}",
            "two operators `sums/sum`",
        ),
        ("{\"operator\":\"sums/sum\",\"instance\":7,\"bytes\":\"\"}", "`sums/sum` has 2 instances"),
        (
            "{\"sink\":\"out\",\"instance\":0,\"checkpoint\":1,\"bytes\":\"abc\"}",
            "pairs of hexadecimal digits",
        ),
    ] {
        let mut lines = good.clone();
        lines[at] = line;
        let other = tempfile::tempdir().expect("a folder");
        let error = import(other.path(), lines.join("\n").as_bytes()).expect_err(line).to_string();
        assert!(error.contains(&format!("line {}: ", at + 1)) && error.contains(what), "{line}: {error}");
        assert!(read(other.path()).expect("a folder").newest().is_err(), "nothing was written");
    }
}

#[test]
fn what_is_no_checkpoint_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    begin(of("sums"), folder.path(), 2);
    let lines = lines_of(folder.path());
    let good: Vec<&str> = lines.lines().collect();
    let refused = |text: &[u8]| {
        let other = tempfile::tempdir().expect("a folder");
        import(other.path(), text).expect_err("it is refused").to_string()
    };
    assert!(refused(b"").contains("line 1"));
    assert!(refused(good[1].as_bytes()).contains("the first line has to be that of the checkpoint"));
    assert!(refused(&good[0].replace("\"hash\":1", "\"hash\":2").into_bytes()).contains("its `hash` is 2"));
    assert!(refused(b"\xff").contains("line 1: it is not UTF-8"));
    let error = import(folder.path(), lines.as_bytes()).expect_err("there are checkpoints").to_string();
    assert!(error.contains("already"), "{error}");
    assert!(
        read(folder.path().join("nowhere"))
            .err()
            .expect("no folder")
            .to_string()
            .contains("there is no folder")
    );
}

#[test]
fn what_breaks_off_or_comes_twice_is_no_checkpoint() {
    let folder = tempfile::tempdir().expect("a folder");
    begin(of("sums"), folder.path(), 2);
    let lines = lines_of(folder.path());
    let good: Vec<&str> = lines.lines().collect();
    let refused = |lines: &[&str]| {
        let other = tempfile::tempdir().expect("a folder");
        let error = import(other.path(), lines.join("\n").as_bytes()).expect_err("it is refused").to_string();
        assert!(read(other.path()).expect("a folder").newest().is_err(), "nothing was written");
        error
    };
    for end in 1..good.len() {
        let error = refused(&good[..end]);
        assert!(error.contains("is missing: what has been given breaks off"), "{end}: {error}");
    }
    let error = refused(&[&good[..], &good[1..2]].concat());
    assert!(error.contains("it stands behind the last line"), "{error}");
    let at = good.iter().position(|line| line.contains("\"key\":")).expect("an entry");
    let error = refused(&[&good[..=at], &good[at..]].concat());
    assert!(error.contains(&format!("line {}: the key has a line already", at + 2)), "{error}");
    // All of a group, and one of its keys, in whichever order.
    let group = good[at].split(",\"key\"").next().expect("its group").to_owned() + ",\"bytes\":\"\"}";
    for lines in [[&group, good[at]], [good[at], &group]] {
        let error = refused(&[&good[..at], &lines[..], &good[at + 1..]].concat());
        assert!(error.contains("the key group has a line already"), "{error}");
    }
}

#[test]
fn a_checkpoint_that_goes_while_it_is_read_says_so() {
    let folder = tempfile::tempdir().expect("a folder");
    begin(of("sums"), folder.path(), 2);
    let snapshot = read(folder.path()).expect("a folder").newest().expect("a checkpoint");
    for file in std::fs::read_dir(folder.path()).expect("files") {
        std::fs::remove_file(file.expect("a file").path()).expect("it goes");
    }
    let error = snapshot.export(&mut Vec::new()).expect_err("it is gone").to_string();
    assert!(error.contains("has gone while it was read") && error.contains("handle.savepoint()"), "{error}");
}

/// So long that most of it lies in pages.
#[test]
fn a_long_list_is_read_with_its_type() {
    let folder = tempfile::tempdir().expect("a folder");
    let job = dataflow! {
        #![checkpointed(at_least_once)]
        let numbers = source(generate(u64::MAX, |n| n)).rate_limit(20_000);
        let lists = numbers.key_by(|n| n % 3).process({
            let mut list: ListState<u64> = ListState::new();
            on_event(|n, ctx| {
                list.push(n);
                ctx.emit(n);
            });
        });
        lists.for_each(|_| ());
    };
    half_way(job, Checkpoints::to(folder.path()), 3_000);
    let snapshot = read(folder.path()).expect("a folder").newest().expect("a checkpoint");
    let lists = snapshot.keyed::<u64, ListState<u64>>("lists/process/list").expect("a state");
    let mut keys = 0;
    for pair in lists {
        let (key, mut list) = pair.expect("a list");
        assert!(list.len() > 900);
        assert!(list.iter().zip(0..).all(|(n, at)| *n == at * 3 + key));
        keys += 1;
    }
    assert_eq!(keys, 3);
}

//! Checkpoints that version 0.1 wrote are read. They lie in `tests/state/golden`, one for each pipeline, with what had come out before.
//!
//! Made again, where the format has changed on purpose and no release has written the old one:
//!
//! ```text
//! FLOW_GOLDEN=write cargo test -p flow-tests --test state golden
//! ```

use crate::exported::{imported, lines_of};
use crate::pipelines::{CASES, Case, of_files};
use crate::running::{begin, begin_with_changes, check, complete, copied, go_on, half_way, sorted};
use flow_core::checkpoint::read;
use flow_core::prelude::*;
use std::fs;
use std::path::{Path, PathBuf};

const BEFORE: &str = "before.txt";
/// One of all pipelines whose newest checkpoint says only what has changed.
const CHANGES: &str = "changes";
/// The one with files at both ends. A position knows the path of its file, so that is the same wherever the repository lies.
const FILES: &str = "files";
const INPUT: &str = "state/golden/files/input.csv";

fn folder(name: &str) -> PathBuf {
    Path::new("state/golden").join(name)
}

fn is_writing() -> bool {
    std::env::var_os("FLOW_GOLDEN").is_some_and(|what| what == "write")
}

/// Copies the newest checkpoint from one folder to another, which is made anew.
fn keep(from: &Path, to: &Path) {
    let _ = fs::remove_dir_all(to);
    fs::create_dir_all(to).expect("the folder can be made");
    let snapshot = read(from).expect("a folder").newest().expect("a checkpoint");
    let manifest = snapshot.manifest();
    let mut names: Vec<String> = manifest.files.iter().map(|file| file.name.clone()).collect();
    names.push(format!("chk-{}-{}.manifest", manifest.id, manifest.epoch));
    for name in names {
        fs::copy(from.join(&name), to.join(&name)).expect("it can be copied");
    }
}

fn write(case: &Case, name: &str, begin: impl Fn(&Path) -> Vec<String>) {
    if is_writing() {
        let scratch = tempfile::tempdir().expect("a folder");
        let before = begin(scratch.path());
        keep(scratch.path(), &folder(name));
        let lines = sorted(before).join("\n") + "\n";
        fs::write(folder(name).join(BEFORE), lines).unwrap_or_else(|error| panic!("{}: {error}", case.name));
    }
}

fn restores(case: &Case, name: &str) {
    let before =
        fs::read_to_string(folder(name).join(BEFORE)).unwrap_or_else(|error| panic!("{name}: {error}"));
    let before: Vec<String> = before.lines().filter(|line| !line.is_empty()).map(str::to_owned).collect();
    let expected = complete(case);
    // Some wait for the end of the input.
    assert!(!before.is_empty() || ["last_records", "lookup_joins", "totals"].contains(&name), "{name}");
    for parallelism in [2, 3] {
        let copy = copied(&folder(name));
        let rest = go_on(case, Checkpoints::to(copy.path()), parallelism);
        let rest = rest.unwrap_or_else(|error| panic!("{name}: {error}"));
        assert!(!rest.is_empty(), "{name}");
        check(name, [before.clone(), rest].concat(), &expected);
    }
    // Its lines are those of the checkpoint that is made of them, which is a savepoint.
    let lines = |folder: &Path| {
        let lines = lines_of(folder).replace("\"savepoint\":false", "\"savepoint\":true");
        sorted(lines.lines().map(str::to_owned).collect())
    };
    let first = lines(&folder(name));
    assert_eq!(lines(imported(&lines_of(&folder(name))).path()), first, "{name}");
}

#[test]
fn checkpoints_of_version_0_1_are_read() {
    for case in CASES {
        write(case, case.name, |scratch| begin(case, scratch, 2));
        restores(case, case.name);
    }
}

#[test]
fn a_checkpoint_of_changes_of_version_0_1_is_read() {
    let case = CASES.iter().find(|case| case.name == "processes").expect("it is there");
    write(case, CHANGES, |scratch| begin_with_changes(case, scratch));
    let files =
        read(folder(CHANGES)).expect("a folder").newest().expect("a checkpoint").manifest().files.len();
    assert!(files > 1, "it says all there is");
    restores(case, CHANGES);
}

/// What stands in the files of a folder.
fn lines_below(folder: &Path) -> Vec<String> {
    let files = fs::read_dir(folder).expect("a folder").map(|file| file.expect("a file").path());
    let shown = files.filter(|path| path.extension().is_some_and(|end| end == "csv"));
    sorted(
        shown
            .flat_map(|path| {
                fs::read_to_string(path).expect("a text").lines().map(str::to_owned).collect::<Vec<_>>()
            })
            .collect(),
    )
}

#[test]
fn files_at_both_ends_of_version_0_1_go_on() {
    let (state, out) = (folder(FILES).join("state"), folder(FILES).join("out"));
    if is_writing() {
        let _ = fs::remove_dir_all(folder(FILES));
        fs::create_dir_all(folder(FILES)).expect("the folder can be made");
        let input: String = (0..600).map(|n| format!("{n},k{}\n", n * n % 11)).collect();
        fs::write(INPUT, input).expect("it can be written");
        let scratch = tempfile::tempdir().expect("a folder");
        half_way(of_files(Path::new(INPUT), 2_000, &out), Checkpoints::to(scratch.path()), 300);
        keep(scratch.path(), &state);
        let _ = fs::remove_file(out.join(".lock"));
    }
    let whole = tempfile::tempdir().expect("a folder");
    of_files(Path::new(INPUT), 1_000_000, &whole.path().join("out")).run().expect("a run");
    let (state, out) = (copied(&state), copied(&out));
    let before = lines_below(out.path()).len();
    let job = of_files(Path::new(INPUT), 1_000_000, out.path());
    job.checkpoints(Checkpoints::to(state.path()))
        .parallelism(3)
        .run()
        .unwrap_or_else(|error| panic!("{error}"));
    assert!(before > 0 && before < 600, "{before}");
    assert_eq!(lines_below(out.path()), lines_below(&whole.path().join("out")));
}

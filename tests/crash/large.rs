//! State that is larger than the memory: it lies on the disk, and the process stays within its limit.

use super::runner::{checkpoints, names};
use flow_tests::crashing::{large_text, sum_of};
use std::fs;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// Bytes of memory for the state, and how many times as much state there is.
const LIMIT: u64 = 64 << 20;
const TIMES: u64 = 5;

/// Bytes more where checkpoints are taken, at most.
const CHECKPOINTS: u64 = 64 << 20;

/// Bytes of a key's state, and so many keys.
const BYTES: u64 = 4000;
const KEYS: u64 = TIMES * LIMIT / BYTES / 2 * 2;

/// It takes a fraction of that.
const HUNG: Duration = Duration::from_secs(300);

fn start(folder: &Path, keys: u64, limit: u64, every: u64) -> Child {
    let mut command = Command::new(env!("CARGO_BIN_EXE_large"));
    command.arg(folder).args([keys, BYTES, limit, every].map(|n| n.to_string()));
    spawn(command)
}

fn start_windows(folder: &Path, limit: u64, every: u64) -> Child {
    let mut command = Command::new(env!("CARGO_BIN_EXE_large"));
    command.arg(folder).args([KEYS, BYTES, limit, every].map(|n| n.to_string())).arg("windows");
    spawn(command)
}

fn spawn(mut command: Command) -> Child {
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

/// What it says when it has ended.
fn ended(mut child: Child) -> Output {
    let begun = Instant::now();
    while child.try_wait().unwrap().is_none() {
        if begun.elapsed() > HUNG {
            child.kill().unwrap();
            panic!("it hangs");
        }
        sleep(Duration::from_millis(10));
    }
    child.wait_with_output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// How many bytes of memory it has taken at most, when it has ended.
fn end(child: Child) -> u64 {
    let output = ended(child);
    assert!(output.status.success(), "{}", text(&output.stderr));
    text(&output.stdout).trim().parse().unwrap()
}

/// Each key's line stands there once.
fn check(folder: &Path, keys: u64) {
    let rows = folder.join("rows");
    let files = names(&rows).into_iter().filter(|name| !name.starts_with('.'));
    let texts: Vec<String> = files.map(|name| fs::read_to_string(rows.join(name)).unwrap()).collect();
    let mut lines: Vec<&str> = texts.iter().flat_map(|text| text.lines()).collect();
    lines.sort_unstable();
    let mut expected: Vec<String> =
        (0..keys).map(|key| format!("{key},{}", sum_of(&large_text(key, BYTES)))).collect();
    expected.sort_unstable();
    assert_eq!(lines.len(), expected.len());
    assert!(lines == expected);
    assert_eq!(names(&folder.join("spilled")), [""; 0], "nothing is left of what was on the disk");
}

fn folder() -> tempfile::TempDir {
    tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap()
}

/// Five times as much state as its limit, within that limit, which the same program without it does not keep.
#[test]
fn state_five_times_as_large_as_the_memory() {
    let (with, without) = (folder(), folder());
    let begun = Instant::now();
    let most = end(start(with.path(), KEYS, LIMIT, 0));
    println!("{} MB of state in {} MB of memory, {:?}", (TIMES * LIMIT) >> 20, most >> 20, begun.elapsed());
    assert!(most <= LIMIT, "{} MB", most >> 20);
    check(with.path(), KEYS);
    let most = end(start(without.path(), KEYS, 0, 0));
    assert!(most >= TIMES * LIMIT, "{} MB without a limit", most >> 20);
    let rows = |folder: &Path| names(&folder.join("rows")).len();
    assert_eq!(rows(with.path()), rows(without.path()));
}

/// The same with checkpoints, killed when there is one with all of it: it goes on, and its memory is that of before, with what checkpoints need.
#[test]
fn state_five_times_as_large_as_the_memory_survives() {
    let folder = folder();
    let begun = Instant::now();
    let mut child = start(folder.path(), KEYS, LIMIT, 500);
    while checkpoints(&folder.path().join("state")).last().is_none_or(|newest| *newest < 3) {
        assert!(child.try_wait().unwrap().is_none(), "it ended before: {:?}", child.wait_with_output());
        assert!(begun.elapsed() < HUNG, "it hangs");
        sleep(Duration::from_millis(5));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let killed = begun.elapsed();
    let most = end(start(folder.path(), KEYS, LIMIT, 500));
    println!("killed after {killed:?}, then {} MB of memory, {:?} in all", most >> 20, begun.elapsed());
    assert!(most <= LIMIT + CHECKPOINTS, "{} MB", most >> 20);
    check(folder.path(), KEYS);
}

/// One window of that size; and killed when there is a checkpoint of much of it.
#[test]
fn a_window_five_times_as_large_as_the_memory() {
    let (with, killed) = (folder(), folder());
    let begun = Instant::now();
    let most = end(start_windows(with.path(), LIMIT, 0));
    println!("{} MB of state in {} MB of memory, {:?}", (TIMES * LIMIT) >> 20, most >> 20, begun.elapsed());
    assert!(most <= LIMIT, "{} MB", most >> 20);
    check(with.path(), KEYS);
    let mut child = start_windows(killed.path(), LIMIT, 500);
    while checkpoints(&killed.path().join("state")).last().is_none_or(|newest| *newest < 3) {
        assert!(child.try_wait().unwrap().is_none(), "it ended before: {:?}", child.wait_with_output());
        assert!(begun.elapsed() < HUNG, "it hangs");
        sleep(Duration::from_millis(5));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let most = end(start_windows(killed.path(), LIMIT, 500));
    println!("after a kill {} MB of memory, {:?} in all", most >> 20, begun.elapsed());
    assert!(most <= LIMIT + CHECKPOINTS, "{} MB", most >> 20);
    check(killed.path(), KEYS);
}

/// Four times as much data as the whole process may have memory, of which operators are given one half: the other is for what is under way between them, and for
/// what the allocator holds of one thread that another could use.
#[test]
fn batches_four_times_as_large_as_the_memory() {
    const OF_BATCH: u64 = LIMIT / 2;
    for what in ["sort", "hash", "sort_merge", "group"] {
        let folder = folder();
        let begun = Instant::now();
        let mut command = Command::new(env!("CARGO_BIN_EXE_large"));
        let records = 4 * LIMIT / BYTES;
        command.arg(folder.path()).args([records, BYTES, OF_BATCH, 0].map(|n| n.to_string())).arg(what);
        let output = ended(spawn(command));
        assert!(output.status.success(), "{what}: {}", text(&output.stderr));
        let most: u64 = text(&output.stdout).trim().parse().unwrap();
        let spilled = text(&output.stderr);
        println!(
            "{what}: {} MB in {} MB of memory, {}, {:?}",
            (4 * LIMIT) >> 20,
            most >> 20,
            spilled.trim(),
            begun.elapsed()
        );
        assert!(most <= LIMIT, "{what}: {} MB", most >> 20);
        assert_eq!(names(folder.path()), [""; 0], "nothing is left of what was on the disk");
    }
}

/// It ends with an error that says where and why, and the next start is right.
fn ends_and_starts_again(folder: &Path, keys: u64, shell: Command, words: &[&str]) {
    let output = ended(spawn(shell));
    let error = text(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{error}");
    assert!(words.iter().all(|word| error.contains(word)) && error.contains("disk is full"), "{error}");
    end(start(folder, keys, 16 << 20, 0));
    check(folder, keys);
}

/// No file may become longer than a few MB: the database does not even begin.
#[test]
fn f_d2_the_disk_takes_no_database() {
    let (folder, keys) = (folder(), 2_000);
    let mut shell = Command::new("sh");
    let limited = "trap '' XFSZ; ulimit -f 8192; exec \"$@\"";
    shell.args(["-c", limited, "sh", env!("CARGO_BIN_EXE_large")]).arg(folder.path());
    shell.args([keys, BYTES, 16 << 20, 0].map(|n| n.to_string()));
    ends_and_starts_again(folder.path(), keys, shell, &["cannot be opened", "spilled"]);
}

/// The disk is full on the way, where this machine lets a test mount a small one.
#[test]
fn f_d2_the_disk_takes_no_more_state() {
    let (folder, keys) = (folder(), 40_000);
    let spilled = folder.path().join("spilled");
    fs::create_dir(&spilled).unwrap();
    let mounted = |script: &str| {
        let mut shell = Command::new("unshare");
        let script = format!("mount -t tmpfs -o size=90m tmpfs \"$1\" && shift && {script}");
        shell.args(["-rm", "sh", "-c", &script, "sh"]).arg(&spilled);
        shell
    };
    if !mounted("true").stderr(Stdio::null()).status().is_ok_and(|status| status.success()) {
        return println!("no disk can be mounted here: not tested");
    }
    let mut shell = mounted("exec \"$@\"");
    shell.arg(env!("CARGO_BIN_EXE_large")).arg(folder.path());
    shell.args([keys, BYTES, 16 << 20, 0].map(|n| n.to_string()));
    ends_and_starts_again(
        folder.path(),
        keys,
        shell,
        &["`scan`", "large_child.rs", "cannot be written", "spilled"],
    );
}

//! Two processes on one folder, processes that stand still, and starts at another parallelism.

use super::runner::{Case, End, all, signal};
use flow_tests::crashing::Pipeline;
use std::fs;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// A child that has completed `checkpoints`.
fn started(case: &Case, checkpoints: u64) -> Child {
    let mut child = case.start(2, None);
    while case.newest() < checkpoints {
        assert!(child.try_wait().unwrap().is_none(), "it ended before");
        sleep(Duration::from_millis(2));
    }
    child
}

/// The folder is another's: refused within a second, and another for a machine that is busy with other tests.
fn refused(case: &Case, by: Option<u32>) {
    let begun = Instant::now();
    let End::Failed(why) = case.run(2, None) else { panic!("a second process was let in") };
    assert!(begun.elapsed() < Duration::from_secs(2), "{:?}", begun.elapsed());
    let words = by.map_or("locked by process".to_owned(), |by| format!("locked by process {by}"));
    assert!(why.contains(&words), "{why}");
}

#[test]
fn f_k27_second_process_is_refused() {
    let case = Case::short(Pipeline::Join);
    let first = started(&case, 2);
    refused(&case, Some(first.id()));
    assert!(!case.end(first).is_killed());
    case.check("a second process was refused");
}

/// Below a shell that dies: the child goes on alone.
#[test]
fn f_k27_parent_is_killed() {
    let case = Case::short(Pipeline::Windows);
    let program = env!("CARGO_BIN_EXE_child");
    let mut shell = Command::new("sh");
    shell
        .args(["-c", "\"$@\" & wait", "sh", program, "windows"])
        .arg(case.path(""))
        .args(["2", "6000", "10000", "30"]);
    let mut parent = shell.stdout(Stdio::null()).spawn().unwrap();
    while case.newest() < 2 {
        sleep(Duration::from_millis(2));
    }
    parent.kill().unwrap();
    parent.wait().unwrap();
    refused(&case, None);
    let begun = Instant::now();
    while let End::Failed(why) = case.run(2, None) {
        assert!(why.contains("locked by process") && begun.elapsed() < Duration::from_secs(300), "{why}");
    }
    case.check("its parent was killed");
}

#[test]
fn f_k28_stopped_and_continued() {
    let case = Case::short(Pipeline::Windows);
    let child = started(&case, 2);
    signal("STOP", child.id());
    sleep(Duration::from_secs(if all() { 30 } else { 1 }));
    signal("CONT", child.id());
    assert!(!case.end(child).is_killed());
    case.check("stopped and continued");
}

/// A process stands still, and its locks are taken from it: it commits nothing any more when it goes on, and takes nothing from its successor,
/// whether that is still running or has ended.
fn zombie(pipeline: Pipeline, while_running: bool) {
    let case = Case::short(pipeline);
    let old = started(&case, 3);
    signal("STOP", old.id());
    fs::remove_file(case.path("state/lock")).unwrap();
    for output in pipeline.outputs() {
        fs::remove_file(case.path(output).join(".lock")).unwrap();
    }
    let before = case.newest();
    let mut new = case.start(2, None);
    while case.newest() < before + 2 && new.try_wait().unwrap().is_none() {
        sleep(Duration::from_millis(2));
    }
    if !while_running {
        new.wait().unwrap();
    }
    signal("CONT", old.id());
    let End::Failed(why) = case.end(old) else { panic!("the old process goes on") };
    assert!(why.contains("has taken over"), "{why}");
    assert!(!case.end(new).is_killed());
    // What the old one has staged lies there yet: nobody knows any more what it is.
    case.check_lines("after a zombie");
}

#[test]
fn f_s7_zombie_after_its_successor() {
    zombie(Pipeline::Windows, false);
}

#[test]
fn f_s7_zombie_beside_its_successor() {
    for pipeline in [Pipeline::Linear, Pipeline::Windows] {
        zombie(pipeline, true);
    }
}

#[test]
fn f_v1_another_parallelism() {
    for (pipeline, parallelism) in
        [Pipeline::Windows, Pipeline::Join].into_iter().flat_map(|p| [1, 3, 4, 7].map(|n| (p, n)))
    {
        let case = Case::short(pipeline);
        assert!(case.run(2, Some("P8c:4")).is_killed());
        assert!(!case.run(parallelism, None).is_killed());
        case.check(&format!("{pipeline:?} from 2 to {parallelism}"));
    }
}

//! Processes whose system gives them too little, or whose closures end them: the error says what was missing, and the next start is exact.

use super::runner::{Case, End, names, signal};
use flow_tests::crashing::Pipeline;
use std::fs;
use std::process::Command;
use std::thread::sleep;
use std::time::Duration;

/// What a shell does before it becomes the child.
fn under(limits: &str) -> String {
    format!("{limits}; exec \"$0\" \"$@\"")
}

/// A child that may end in any way but well in silence: killed, or with an error that says one of `why`.
fn fails_well(case: &Case, limits: &str, why: &[&str]) -> bool {
    match case.end(case.start_by(&under(limits), 2, &[])) {
        End::Done(_) => false,
        End::Killed => true,
        End::Failed(text) => {
            assert!(why.iter().any(|why| text.contains(why)), "{limits}: {text}");
            assert!(!text.contains("panicked"), "{limits}: {text}");
            true
        }
    }
}

#[test]
fn f_n1_few_files() {
    let mut failed = 0;
    for pipeline in [Pipeline::Linear, Pipeline::Windows, Pipeline::Join] {
        let case = Case::short(pipeline);
        for files in [6, 8, 10, 12, 16, 64] {
            failed += u32::from(fails_well(&case, &format!("ulimit -n {files}"), &["Too many open files"]));
            case.check_so_far(&format!("{files} files"));
        }
        assert!(!case.run(2, None).is_killed());
        case.check(&format!("{pipeline:?} with few files"));
    }
    println!("{failed} starts of 18 had too few files");
    assert!(failed >= 3);
}

#[test]
fn f_n1_little_memory() {
    let mut failed = 0;
    let case = Case::short(Pipeline::Windows);
    for kib in [8_000, 10_000, 12_000, 14_000, 16_000, 18_000] {
        let why = ["memory", "cannot be started", "shared librar"];
        failed += u32::from(fails_well(&case, &format!("ulimit -v {kib}"), &why));
        case.check_so_far(&format!("{kib} KiB"));
    }
    assert!(!case.run(2, None).is_killed());
    case.check("with little memory");
    println!("{failed} starts of 6 had too little memory");
    assert!(failed >= 1);
}

/// Where permissions say nothing, as for root, a file in place of a folder refuses as well.
#[test]
fn f_n1_no_folder() {
    let case = Case::short(Pipeline::Windows);
    for folder in ["state", "rows"] {
        fs::write(case.path(folder), "not a folder").unwrap();
        let End::Failed(why) = case.run(2, None) else { panic!("it runs without {folder}") };
        assert!(why.contains(case.path(folder).to_str().unwrap()), "{why}");
        fs::remove_file(case.path(folder)).unwrap();
    }
    assert!(!case.run(2, None).is_killed());
    case.check("with its folders");
}

/// The folder of checkpoints goes while the job runs: it ends, says where the folder was, and commits nothing that no checkpoint knows.
fn loses_its_folder(pipeline: Pipeline) -> Case {
    let case = Case::short(pipeline);
    let child = case.start(2, None);
    while case.newest() < 3 {
        sleep(Duration::from_millis(2));
    }
    fs::rename(case.path("state"), case.path("away")).unwrap();
    let End::Failed(why) = case.end(child) else { panic!("it goes on without its folder") };
    assert!(why.contains("/state"), "{why}");
    case.check_so_far("without its folder");
    case
}

#[test]
fn f_n1_folder_comes_back() {
    for pipeline in [Pipeline::Linear, Pipeline::Join] {
        let case = loses_its_folder(pipeline);
        // Whoever had it open may have made another one.
        let _ = fs::remove_dir_all(case.path("state"));
        fs::rename(case.path("away"), case.path("state")).unwrap();
        assert!(!case.run(2, None).is_killed());
        case.check("its folder came back");
    }
}

/// Without it the results are of nobody: they are refused, and never doubled.
#[test]
fn f_n1_folder_is_gone() {
    let case = loses_its_folder(Pipeline::Windows);
    let _ = fs::remove_dir_all(case.path("state"));
    let End::Failed(why) = case.run(2, None) else { panic!("results of nobody were let in") };
    assert!(why.contains(case.path("rows").to_str().unwrap()), "{why}");
    fs::remove_dir_all(case.path("rows")).unwrap();
    assert!(!case.run(2, None).is_killed());
    case.check("begun anew");
}

/// What kills the process from inside a closure is a kill like any other.
fn kills_itself(kind: &str) {
    for pipeline in [Pipeline::Linear, Pipeline::Windows] {
        let case = Case::short(pipeline);
        let child = case.start_by(&under("ulimit -v 4000000"), 2, &[("FLOW_MISDEED", kind)]);
        assert!(case.end(child).is_killed(), "{kind}");
        assert!(case.path("misdeed").exists());
        case.check_so_far(kind);
        assert!(!case.run(2, None).is_killed());
        case.check(kind);
    }
}

#[test]
fn f_u3_abort() {
    kills_itself("abort");
}

#[test]
fn f_u3_stack_overflow() {
    kills_itself("stack");
}

#[test]
fn f_u3_memory_without_bound() {
    kills_itself("memory");
}

/// A limit to the size of files stands for a disk that is full: the sink cannot write, and says which file.
#[test]
fn f_d2_files_of_a_sink_cannot_grow() {
    // Two partitions write some KiB each between two checkpoints, whose state is smaller.
    let case = Case::new(Pipeline::Linear, 60_000, 100_000);
    let child = case.start_by(&under("trap '' XFSZ; ulimit -f 8"), 2, &[]);
    let End::Failed(why) = case.end(child) else { panic!("the files grow") };
    assert!(why.contains("/rows/") && why.contains("File too large"), "{why}");
    case.check_so_far("files cannot grow");
    assert!(!case.run(2, None).is_killed());
    case.check("files may grow");
}

/// A small file system, for as long as it lives.
struct Small(std::path::PathBuf);

impl Small {
    /// `None` where nobody may mount one.
    fn mount(at: std::path::PathBuf, size: &str) -> Option<Small> {
        fs::create_dir_all(&at).unwrap();
        let options = format!("size={size}");
        let mount = Command::new("mount").args(["-t", "tmpfs", "-o", &options, "tmpfs"]).arg(&at).output();
        mount.is_ok_and(|done| done.status.success()).then_some(Small(at))
    }

    fn grow(&self, size: &str) {
        let options = format!("remount,size={size}");
        assert!(Command::new("mount").args(["-o", &options]).arg(&self.0).status().unwrap().success());
    }
}

impl Drop for Small {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(&self.0).status();
    }
}

#[test]
fn f_d2_disk_of_a_sink_is_full() {
    for folder in ["rows", "state"] {
        let case = Case::new(Pipeline::Windows, 20_000, 20_000);
        let size = if folder == "rows" { "48k" } else { "24k" };
        let Some(disk) = Small::mount(case.path(folder), size) else {
            println!("no file system may be mounted here: not tested");
            return;
        };
        let ended = case.run(2, None);
        let End::Failed(why) = ended else { panic!("{folder}: {ended:?}, {:?}", names(&case.path(folder))) };
        let place = format!("/{folder}/");
        assert!(why.contains(&place) && why.to_lowercase().contains("no space left on device"), "{why}");
        case.check_so_far("full");
        disk.grow("16m");
        assert!(!case.run(2, None).is_killed());
        case.check("after space was made");
    }
}

/// A sink that stands still: nobody reads ahead, nobody spins, and then everything comes.
#[test]
fn f_b1_sink_stands_still() {
    let case = Case::new(Pipeline::Windows, 400_000, 1_000_000_000);
    fs::write(case.path("stand"), "").unwrap();
    let child = case.start_by(&under(":"), 2, &[("FLOW_MISDEED", "stand"), ("FLOW_TIMEOUT_MS", "200")]);
    while !case.path("misdeed").exists() {
        sleep(Duration::from_millis(5));
    }
    // Until the rings are full.
    sleep(Duration::from_millis(1_000));
    let before = Usage::of(child.id());
    let seconds = if super::runner::all() { 60 } else { 3 };
    sleep(Duration::from_secs(seconds));
    let after = Usage::of(child.id());
    fs::remove_file(case.path("stand")).unwrap();
    assert!(!case.end(child).is_killed());
    case.check("stood still");
    let load = (after.cpu - before.cpu).as_secs_f64() / seconds as f64;
    println!("{load:.3} of a core, {} KiB more", after.kib.saturating_sub(before.kib));
    // The checkpoints that time out meanwhile are part of it.
    assert!(load < 0.05, "{load} of a core while nothing happens");
    assert!(after.kib < before.kib + 4 * 1024, "{} KiB, and {} later", before.kib, after.kib);
}

/// What a process has used, of the kernel's books.
struct Usage {
    cpu: Duration,
    kib: u64,
}

impl Usage {
    fn of(process: u32) -> Usage {
        let tasks = fs::read_dir(format!("/proc/{process}/task")).unwrap().flatten();
        let of_task = |task: fs::DirEntry| fs::read_to_string(task.path().join("schedstat")).ok();
        let nanos = |stat: String| stat.split(' ').next().and_then(|ns| ns.parse::<u64>().ok()).unwrap_or(0);
        let cpu = Duration::from_nanos(tasks.filter_map(of_task).map(nanos).sum());
        let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap();
        let rss = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap_or_default();
        let kib = rss.split_whitespace().next().and_then(|kib| kib.parse().ok()).unwrap_or(0);
        Usage { cpu, kib }
    }
}

/// Eighteen threads on one core: no livelock, and what they cost is what the work costs.
#[test]
fn f_b2_many_threads_on_one_core() {
    let taskset = Command::new("taskset").arg("-V").output().is_ok_and(|done| done.status.success());
    if !taskset {
        println!("there is no taskset here: not tested");
        return;
    }
    let on_one = "exec taskset -c 0 \"$0\" \"$@\"";
    let mut costs = Vec::new();
    for (parallelism, host) in [(1, "workers"), (8, "threads")] {
        let case = Case::new(Pipeline::Join, 300_000, 1_000_000_000);
        let begun = std::time::Instant::now();
        let child = case.start_by(on_one, parallelism, &[("FLOW_HOST", host)]);
        let output = child.wait_with_output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
        case.check(&format!("{parallelism} of each on one core"));
        let cpu: f64 = text.lines().find_map(|line| line.strip_prefix("cpu ")).unwrap().parse().unwrap();
        println!("parallelism {parallelism} on {host}: {:?}, {cpu} s of processor time", begun.elapsed());
        costs.push(cpu);
    }
    assert!(costs[1] < 3.0 * costs[0] + 0.5, "{costs:?} s of processor time");
}

/// A stop and a limit at once: what is stopped under a limit goes on under it.
#[test]
fn f_n1_stopped_with_few_files() {
    let case = Case::short(Pipeline::Windows);
    let child = case.start_by(&under("ulimit -n 64"), 2, &[]);
    while case.newest() < 2 {
        sleep(Duration::from_millis(2));
    }
    signal("STOP", child.id());
    sleep(Duration::from_millis(200));
    signal("CONT", child.id());
    assert!(!case.end(child).is_killed());
    case.check("64 files");
}

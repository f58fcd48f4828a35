//! Starts the program `child`, lets it die, looks at what it has left.

use flow_core::checkpoint::{Folder, Store};
pub use flow_tests::crashing::all_faults as all;
use flow_tests::crashing::{Pipeline, by_key, other_csv};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// A child that takes longer hangs.
const HUNG: Duration = Duration::from_secs(300);

/// One input, its state and its results.
pub struct Case {
    pub pipeline: Pipeline,
    pub count: u64,
    pub rate: u64,
    spills: bool,
    folder: TempDir,
}

/// How a child has ended.
#[derive(Debug)]
pub enum End {
    Killed,
    Done(Told),
    Failed(String),
}

/// What a child says that has come to the end of its input.
#[derive(Debug)]
pub struct Told {
    /// How many records it has read.
    pub read: u64,
    /// How many supersteps of a loop it has run.
    pub supersteps: u64,
}

impl Case {
    pub fn new(pipeline: Pipeline, count: u64, rate: u64) -> Self {
        let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        fs::write(folder.path().join("other.csv"), other_csv(count)).unwrap();
        Case { pipeline, count, rate, spills: pipeline == Pipeline::Sums, folder }
    }

    /// About 20 checkpoints in 0.6 s.
    pub fn short(pipeline: Pipeline) -> Self {
        Self::new(pipeline, 6_000, 10_000)
    }

    /// Whether its state goes to the disk as soon as it can.
    pub fn on_the_disk(mut self, spills: bool) -> Self {
        self.spills = spills;
        self
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub fn start(&self, parallelism: usize, fail: Option<&str>) -> Child {
        let mut command = Command::new(env!("CARGO_BIN_EXE_child"));
        if let Some(fail) = fail {
            command.env("FLOW_FAIL", fail);
        }
        self.spawn(command, parallelism)
    }

    /// By a shell script that becomes the child with `exec "$0" "$@"`.
    pub fn start_by(&self, script: &str, parallelism: usize, environment: &[(&str, &str)]) -> Child {
        let mut command = Command::new("sh");
        command.args(["-c", script, env!("CARGO_BIN_EXE_child")]).envs(environment.iter().copied());
        self.spawn(command, parallelism)
    }

    fn spawn(&self, mut command: Command, parallelism: usize) -> Child {
        if self.spills {
            command.env("FLOW_SPILLS", "1");
        }
        command.arg(self.pipeline.name()).arg(self.folder.path());
        command.args([parallelism as u64, self.count, self.rate, 30].map(|n| n.to_string()));
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    }

    pub fn run(&self, parallelism: usize, fail: Option<&str>) -> End {
        self.end(self.start(parallelism, fail))
    }

    /// Waits for a child.
    pub fn end(&self, mut child: Child) -> End {
        let begun = Instant::now();
        while child.try_wait().unwrap().is_none() {
            if begun.elapsed() > HUNG {
                child.kill().unwrap();
                panic!("a child hangs: {:?}", self.pipeline);
            }
            sleep(Duration::from_millis(2));
        }
        let output = child.wait_with_output().unwrap();
        let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
        match output.status.code() {
            None => End::Killed,
            Some(0) => {
                let said = text(&output.stdout);
                let number = |of: &str| {
                    let mut lines = said.lines();
                    lines.find_map(|line| line.strip_prefix(of)).unwrap().trim().parse().unwrap()
                };
                End::Done(Told { read: number("read"), supersteps: number("supersteps") })
            }
            Some(_) => End::Failed(text(&output.stderr)),
        }
    }

    /// The numbers of the complete checkpoints, each of which can be read.
    pub fn checkpoints(&self) -> Vec<u64> {
        let folder = Folder::open(&self.path("state")).unwrap();
        let ids = checkpoints(&self.path("state"));
        for id in &ids {
            assert_eq!(Store::read(&folder, *id).unwrap().id, *id);
        }
        ids
    }

    /// The number of the newest complete checkpoint; 0 where there is none.
    pub fn newest(&self) -> u64 {
        checkpoints(&self.path("state")).last().copied().unwrap_or(0)
    }

    /// The lines of an output that everybody may read, in order of checkpoints and instances, then sorted by key.
    pub fn lines(&self, output: &str) -> Vec<String> {
        let last = names(&self.path(output)).into_iter().filter(|name| !name.starts_with('.'));
        let texts = last.map(|name| fs::read_to_string(self.path(output).join(name)).unwrap());
        by_key(texts.flat_map(|text| text.lines().map(str::to_owned).collect::<Vec<_>>()))
    }

    /// After a death: whatever anybody may read stands there once, and is right.
    pub fn check_so_far(&self, what: &str) {
        for (output, expected) in self.pipeline.outputs().iter().zip(self.pipeline.expected(self.count)) {
            let expected: BTreeSet<String> = expected.into_iter().collect();
            let mut seen = BTreeSet::new();
            for line in self.lines(output) {
                assert!(expected.contains(&line), "{what}: {output} has `{line}`");
                assert!(seen.insert(line.clone()), "{what}: {output} has `{line}` twice");
            }
        }
        if self.pipeline == Pipeline::Queue {
            self.check_broker(what);
        }
    }

    /// What is acknowledged has been committed; how much that is, of both partitions.
    fn check_broker(&self, what: &str) -> u64 {
        let lines = self.lines("rows");
        let rows = lines.iter().filter_map(|line| line.split(',').nth(1)?.parse::<u64>().ok());
        let mut committed = [0, 0];
        rows.for_each(|row| committed[(row % 2) as usize] += 1);
        let safe = |n: u64| {
            let text = fs::read_to_string(self.path(&format!("broker/safe-{n}"))).unwrap_or_default();
            let rows = text.parse::<u64>().unwrap_or(0);
            assert!(
                rows <= committed[n as usize],
                "{what}: {rows} rows of {n} are acknowledged, not committed"
            );
            rows
        };
        safe(0) + safe(1)
    }

    /// At the end: the outputs are those of a run that nobody has killed, each key's lines in their order, and nothing else is left.
    pub fn check(&self, what: &str) {
        self.check_lines(what);
        if self.pipeline == Pipeline::Queue {
            assert_eq!(self.check_broker(what), self.count, "{what}: all is acknowledged");
        }
        for output in self.pipeline.outputs() {
            let staged = names(&self.path(output)).into_iter().find(|name| name.ends_with(".staged"));
            assert_eq!(staged, None, "{what}: left in {output}");
        }
        self.check_folder(what);
        assert_eq!(self.path("has_spilled").exists(), self.spills, "{what}: state has been on the disk");
        assert_eq!(names(&self.path("spilled")), [""; 0], "{what}: left on the disk");
    }

    /// The lines alone.
    pub fn check_lines(&self, what: &str) {
        for (output, expected) in self.pipeline.outputs().iter().zip(self.pipeline.expected(self.count)) {
            let lines = self.lines(output);
            let differs = lines.iter().zip(&expected).position(|(line, expected)| line != expected);
            if let Some(at) = differs {
                panic!("{what}: line {at} of {output} is `{}`, not `{}`", lines[at], expected[at]);
            }
            assert_eq!(lines.len(), expected.len(), "{what}: lines of {output}");
        }
    }

    /// The folder of checkpoints has those that are retained, what they need, and nothing else.
    fn check_folder(&self, what: &str) {
        let folder = Folder::open(&self.path("state")).unwrap();
        let ids = self.checkpoints();
        assert!((1..=2).contains(&ids.len()), "{what}: {ids:?}");
        let mut needed: BTreeSet<String> = ["lock".to_owned()].into();
        for id in ids {
            let manifest = Store::read(&folder, id).unwrap();
            needed.insert(format!("chk-{id}-{}.manifest", manifest.epoch));
            needed.extend(manifest.files.into_iter().map(|file| file.name));
        }
        let found: BTreeSet<String> = names(&self.path("state")).into_iter().collect();
        assert_eq!(found, needed, "{what}");
    }
}

impl End {
    pub fn is_killed(&self) -> bool {
        if let End::Failed(why) = self {
            panic!("a child fails: {why}");
        }
        matches!(self, End::Killed)
    }
}

/// The numbers of the checkpoints that have a manifest.
pub fn checkpoints(state: &Path) -> Vec<u64> {
    let manifests = names(state).into_iter().filter(|name| name.ends_with(".manifest"));
    let id = |name: String| name.strip_prefix("chk-")?.split('-').next()?.parse().ok();
    manifests.filter_map(id).collect::<BTreeSet<u64>>().into_iter().collect()
}

/// The names in a folder, sorted; none where it is not there yet.
pub fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// Sends a signal, by its name.
pub fn signal(name: &str, process: u32) {
    let sent = Command::new("sh").args(["-c", &format!("kill -{name} {process}")]).status().unwrap();
    assert!(sent.success());
}

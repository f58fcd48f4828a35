//! `ledger` against its oracle: the sample, killed again and again, stopped by a signal and started at another parallelism.

use super::run::{self, Scratch, example, oracle, succeed};
use super::{Random, sample};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

/// An input with its folders.
struct Case {
    input: PathBuf,
    scratch: Scratch,
    /// The oracle's lines, by key.
    expected: Vec<String>,
}

impl Case {
    fn of(input: PathBuf, scratch: Scratch) -> Option<Self> {
        let script = oracle("ledger.py")?;
        let expected = by_key(&succeed(script().arg(&input)).stdout);
        Some(Case { input, scratch, expected })
    }

    /// So many made-up entries.
    fn random(name: &str, seed: u64, count: u64) -> Option<Self> {
        let (script, scratch) = (oracle("ledger.py")?, Scratch::new(name));
        let input = scratch.path("entries.csv");
        let made = succeed(script().arg("--random").args([seed, count].map(|n| n.to_string())));
        std::fs::write(&input, made.stdout).expect("the scratch folder is writable");
        Self::of(input, scratch)
    }

    fn program(&self, parallelism: usize, rate: u64) -> Command {
        let mut program = example("ledger");
        program.arg(&self.input).arg("--state").arg(self.scratch.path("state"));
        program.arg("--out").arg(self.scratch.path("out")).args(["--every", "20ms"]);
        program.arg(format!("--rate={rate}/s")).args(["-p", &parallelism.to_string()]);
        program
    }

    fn start(&self, parallelism: usize, rate: u64) -> Child {
        let mut program = self.program(parallelism, rate);
        program.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        program.spawn().expect("it starts")
    }

    /// What everybody may read, file by file.
    fn lines(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.scratch.path("out")).into_iter().flatten();
        let mut files: Vec<PathBuf> = entries.map(|entry| entry.expect("it can be read").path()).collect();
        files.retain(|path| path.extension().is_some_and(|extension| extension == "csv"));
        files.sort();
        by_key(&files.iter().map(|path| run::read(path)).collect::<String>())
    }

    /// All lines stand there once, those of a key in their order.
    fn check(&self, case: &str) {
        let lines = self.lines();
        let differs = lines.iter().zip(&self.expected).position(|(line, expected)| line != expected);
        if let Some(at) = differs {
            panic!("{case}: line {at} is `{}`, not `{}`", lines[at], self.expected[at]);
        }
        assert_eq!(lines.len(), self.expected.len(), "{case}");
    }

    /// What there is so far is a beginning of each key's lines.
    fn check_so_far(&self, case: &str) {
        let (lines, mut expected) = (self.lines(), self.expected.iter());
        for line in lines {
            assert!(expected.any(|expected| *expected == line), "{case}: `{line}` twice, or wrong");
        }
    }
}

/// Lines sorted by key; those of a key stay in their order.
fn by_key(text: &str) -> Vec<String> {
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    lines.sort_by(|a, b| a.split(',').next().cmp(&b.split(',').next()));
    lines
}

fn signal(name: &str, child: &Child) {
    succeed(Command::new("sh").args(["-c", &format!("kill -{name} {}", child.id())]));
}

#[test]
fn ledger_of_the_sample() {
    for parallelism in [1, 2, 4] {
        let Some(case) = Case::of(sample("entries.csv"), Scratch::new("ledger")) else { return };
        let outcome = succeed(&mut case.program(parallelism, 1_000_000));
        case.check(&format!("the sample at -p {parallelism}"));
        assert!(outcome.stdout.contains("3000 entries in this run"), "{}", outcome.stdout);
        // Once more, with the same folders: there is nothing to do.
        let outcome = succeed(&mut case.program(parallelism, 1_000_000));
        case.check(&format!("the sample once more at -p {parallelism}"));
        assert!(outcome.stdout.contains("\n0 entries in this run"), "{}", outcome.stdout);
    }
}

/// Killed at random times, at each parallelism, and going on at another one.
#[test]
fn ledger_that_is_killed() {
    let mut random = Random(26);
    for parallelism in [1, 2, 4] {
        let Some(case) = Case::random("killed", parallelism as u64, 20_000) else { return };
        let mut killed = 0;
        for _ in 0..8 {
            let mut child = case.start(parallelism, 20_000);
            sleep(Duration::from_millis(random.below(150)));
            if child.try_wait().expect("it is ours").is_some() {
                break;
            }
            child.kill().expect("it is ours");
            child.wait().expect("it is ours");
            killed += 1;
            case.check_so_far(&format!("killed {killed} times at -p {parallelism}"));
        }
        assert!(killed > 2, "it ends too early");
        succeed(&mut case.program([1, 4, 2][parallelism / 2], 1_000_000));
        case.check(&format!("killed {killed} times at -p {parallelism}"));
    }
}

/// A signal takes a last checkpoint and ends it well; what follows begins there.
#[test]
fn f_k28_sigterm() {
    let Some(case) = Case::random("stopped", 7, 10_000) else { return };
    for (name, parallelism) in [("TERM", 2), ("INT", 1)] {
        let mut program = case.program(parallelism, 10_000);
        program.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let child = program.spawn().expect("it starts");
        sleep(Duration::from_millis(200));
        signal(name, &child);
        let output = child.wait_with_output().expect("it is ours");
        let told = String::from_utf8_lossy(&output.stdout).into_owned();
        assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
        assert!(told.contains("stopped at savepoint"), "{told}");
        case.check_so_far(name);
        let done = case.lines().len();
        assert!(done > 0 && done < 10_000, "{done}");
    }
    let done = case.lines().len();
    let outcome = succeed(&mut case.program(4, 1_000_000));
    // A savepoint commits all that has been read before it, but for what the rate holds back, which it has as state.
    let read = outcome.stdout.lines().find_map(|line| line.split_once(" entries in this run"));
    let read: usize = read.and_then(|line| line.0.parse().ok()).expect("it says how many");
    assert!(read + done <= 10_000, "{read} were read again, {done} had been done");
    case.check("stopped twice");
}

/// The second signal ends it at once; nothing is lost.
#[test]
fn f_k28_sigterm_twice() {
    let Some(case) = Case::random("twice", 8, 20_000) else { return };
    let mut at_once = false;
    for _ in 0..8 {
        let mut child = case.start(2, 10_000);
        sleep(Duration::from_millis(100));
        let twice = format!("kill -TERM {0}; sleep 0.001; kill -TERM {0}", child.id());
        // It may have ended before the second.
        let _ = Command::new("sh").args(["-c", &twice]).stderr(Stdio::null()).status();
        let code = child.wait().expect("it is ours").code();
        assert!(code == Some(0) || code == Some(128 + 15), "{code:?}");
        at_once |= code != Some(0);
        case.check_so_far("ended at once");
    }
    assert!(at_once, "the second signal comes too late each time");
    succeed(&mut case.program(1, 1_000_000));
    case.check("two signals");
}

/// Input that cannot be read again, or is none.
#[test]
fn ledger_of_bad_input() {
    let scratch = Scratch::new("bad_entries");
    let input = scratch.path("entries.csv");
    std::fs::write(&input, "key,amount\na,1\nb,x\n").expect("the scratch folder is writable");
    for (input, words) in [(input.as_path(), "amount"), (Path::new("-"), "cannot be read again")] {
        let mut program = example("ledger");
        program.arg(input).arg("--state").arg(scratch.path("state")).arg("--out").arg(scratch.path("out"));
        let outcome = run::finish(&mut program);
        assert_eq!(outcome.code, Some(1), "{}", outcome.stderr);
        assert!(outcome.stderr.contains(words), "{}", outcome.stderr);
    }
    for wrong in ["0", "-1", "x", "5/min"] {
        let outcome = run::finish(example("ledger").arg(format!("--rate={wrong}")));
        assert_eq!(outcome.code, Some(2), "{wrong}: {}", outcome.stderr);
    }
}

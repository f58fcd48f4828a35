//! Runs examples, oracles and unpacking, and compares what they print.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A folder of its own for one check (tests run side by side), below cargo's; made anew, and left for a look after a failure.
pub struct Scratch(PathBuf);

impl Scratch {
    pub fn new(name: &str) -> Self {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("examples-{name}-{number}"));
        if folder.exists() {
            std::fs::remove_dir_all(&folder).expect("an old scratch folder can go");
        }
        std::fs::create_dir_all(&folder).expect("cargo's folder for tests is writable");
        Self(folder)
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

/// What a program printed and how it ended.
pub struct Outcome {
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

/// The example `name`, built as users build it.
pub fn example(name: &str) -> Command {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    let program = FOLDER.get_or_init(build_examples).join(name);
    assert!(program.exists(), "no example {}", program.display());
    Command::new(program)
}

/// Builds them and returns their folder.
fn build_examples() -> PathBuf {
    // target/PROFILE/deps/examples-HASH
    let this = std::env::current_exe().expect("a test knows its own path");
    let target = this.ancestors().nth(3).expect("a test lies in target/PROFILE/deps");
    let mut cargo = Command::new(env!("CARGO"));
    cargo
        .args(["build", "--quiet", "--release", "-p", "flow-examples", "--examples", "--target-dir"])
        .arg(target);
    succeed(cargo.current_dir(env!("CARGO_MANIFEST_DIR")));
    target.join("release/examples")
}

/// Starts a script of `oracles`; nothing where Python is missing, which only CI takes amiss.
pub fn oracle(script: &'static str) -> Option<impl Fn() -> Command> {
    let has_python = Command::new("python3").arg("--version").stdout(Stdio::null()).status().is_ok();
    if !has_python {
        assert!(std::env::var_os("CI").is_none(), "python3 is missing: the oracles need it");
        println!("skipped: python3 is missing");
        return None;
    }
    Some(move || {
        let mut command = Command::new("python3");
        command.arg("-B").arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("oracles").join(script));
        command
    })
}

pub fn finish(command: &mut Command) -> Outcome {
    let done = command.stdin(Stdio::null()).output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("programs print UTF-8");
    Outcome { code: done.status.code(), stdout: text(done.stdout), stderr: text(done.stderr) }
}

pub fn succeed(command: &mut Command) -> Outcome {
    let outcome = finish(command);
    assert_eq!(outcome.code, Some(0), "{command:?} failed:\n{}", outcome.stderr);
    outcome
}

/// Whether `zstd` could unpack it.
pub fn unpack(packed: &Path, plain: &Path) -> bool {
    let status = Command::new("zstd").args(["-qdf"]).arg(packed).arg("-o").arg(plain).status();
    let unpacked = status.as_ref().is_ok_and(|status| status.success());
    if !unpacked {
        println!("skipped: zstd cannot unpack {}: {status:?}", packed.display());
    }
    unpacked
}

pub fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

#[derive(Clone, Copy)]
pub enum Order {
    Exact,
    /// The first line first; the others as a multiset.
    HeaderThenAny,
}

/// Compares two texts by lines and shows the first that differs, not a megabyte.
pub fn same_lines(case: &str, got: &str, expected: &str, order: Order) {
    assert!(got.is_empty() || got.ends_with('\n'), "{case}: the last line has no end");
    let (mut got, mut expected): (Vec<&str>, Vec<&str>) =
        (got.split('\n').collect(), expected.split('\n').collect());
    if let Order::HeaderThenAny = order {
        got[1..].sort_unstable();
        expected[1..].sort_unstable();
    }
    let line = got.iter().zip(&expected).position(|(got, expected)| got != expected);
    if let Some(line) = line {
        panic!("{case}: line {}: got `{}`, expected `{}`", line + 1, got[line], expected[line]);
    }
    assert_eq!(got.len(), expected.len(), "{case}: number of lines");
}

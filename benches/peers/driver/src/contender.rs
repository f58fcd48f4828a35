//! Who runs, and how each is called.

/// A program that the driver runs: flow itself, or a peer's.
#[derive(Debug, PartialEq)]
pub struct Program {
    /// The package, and the binary in it; where each workload has a binary of its own, the binaries' names begin so.
    pub package: &'static str,
    /// The workloads that have a binary of their own.
    one_each: &'static [&'static str],
    /// Where it is in Python: its file in the folder `python`, and the workloads it has.
    script: Option<(&'static str, &'static [&'static str])>,
    /// Whether it uses more threads than one.
    pub parallel: bool,
}

/// What of a program has a workload.
#[derive(Debug, PartialEq)]
pub enum Code {
    /// A binary of its package.
    Binary(String),
    /// A file in the folder `python`.
    Script(&'static str),
}

/// Whom flow is compared with.
#[derive(Debug, PartialEq)]
pub struct Peer {
    /// As on the command line.
    pub name: &'static str,
    /// What is run.
    pub program: &'static Program,
    /// Whether it is run on one thread whatever the parallelism.
    pub one_thread: bool,
    /// The workloads in which its answer is known to differ.
    differs_in: &'static [&'static str],
    /// Why it differs.
    pub why: &'static str,
}

/// Flow.
pub static FLOW: Program =
    Program::new("peer-flow").one_each(&["w1", "w1b", "w2", "w3", "w4", "w5", "w8", "w9", "w10"]);

static HAND: Program = Program::new("peer-hand").one_each(&["w1", "w2", "w3", "w4", "w5", "w8", "w9", "w10"]);
static TIMELY: Program = Program::new("peer-timely");
static RENOIR: Program = Program::new("peer-renoir");
static DFIR: Program = Program { parallel: false, ..Program::new("peer-dfir") };
static POLARS: Program = Program::python("polars", "peer_polars.py");
static DUCKDB: Program = Program::python("duckdb", "peer_duckdb.py");

impl Program {
    const fn new(package: &'static str) -> Program {
        Program { package, one_each: &[], script: None, parallel: true }
    }

    const fn python(package: &'static str, file: &'static str) -> Program {
        Program { script: Some((file, &["w1b", "w10"])), ..Program::new(package) }
    }

    const fn one_each(self, one_each: &'static [&'static str]) -> Program {
        Program { one_each, ..self }
    }

    /// What has `workload`; `None` where nothing has. A binary that has all of them says so itself.
    pub fn code(&self, workload: &str) -> Option<Code> {
        if let Some((file, workloads)) = self.script {
            return workloads.contains(&workload).then_some(Code::Script(file));
        }
        if self.one_each.is_empty() {
            return Some(Code::Binary(self.package.to_owned()));
        }
        // A `b` says that it is a batch; who makes no difference has one binary for both.
        let names = [Some(workload), workload.strip_suffix('b')];
        let name = names.into_iter().flatten().find(|name| self.one_each.contains(name))?;
        Some(Code::Binary(format!("{}-{name}", self.package)))
    }
}

/// All peers.
pub static PEERS: [Peer; 7] = [
    Peer::new("hand1", &HAND).on_one_thread(),
    Peer::new("hand", &HAND),
    Peer::new("timely", &TIMELY),
    Peer::new("renoir", &RENOIR).differs(
        &["w4", "w5"],
        "its event-time windows begin at the first element of each key, not at the epoch",
    ),
    Peer::new("dfir", &DFIR),
    Peer::new("polars", &POLARS),
    Peer::new("duckdb", &DUCKDB),
];

impl Peer {
    const fn new(name: &'static str, program: &'static Program) -> Peer {
        Peer { name, program, one_thread: false, differs_in: &[], why: "" }
    }

    const fn on_one_thread(self) -> Peer {
        Peer { one_thread: true, ..self }
    }

    const fn differs(self, differs_in: &'static [&'static str], why: &'static str) -> Peer {
        Peer { differs_in, why, ..self }
    }

    /// Whether its answer is known to differ in `workload`.
    pub fn differs_in(&self, workload: &str) -> bool {
        self.differs_in.contains(&workload)
    }

    /// How many threads it is given where flow has `parallelism`.
    pub fn threads(&self, parallelism: usize) -> usize {
        if self.one_thread || !self.program.parallel { 1 } else { parallelism }
    }
}

/// How many elements a workload has where the user does not say; `None` if there is no such workload.
pub fn default_n(workload: &str) -> Option<u64> {
    match workload {
        "w1" | "w1b" | "w6" | "w7" => Some(0),
        "w2" => Some(100_000_000),
        "w3" | "w10" => Some(50_000_000),
        "w4" | "w5" => Some(20_000_000),
        "w8" | "w9" => Some(8_000_000),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_program_is_found_by_workload() {
        let binary = |name: &str| Some(Code::Binary(name.to_owned()));
        assert_eq!(FLOW.code("w1b"), binary("peer-flow-w1b"));
        assert_eq!(HAND.code("w1b"), binary("peer-hand-w1"));
        assert_eq!(TIMELY.code("w1b"), binary("peer-timely"));
        assert_eq!(POLARS.code("w10"), Some(Code::Script("peer_polars.py")));
        assert_eq!((HAND.code("w7"), DUCKDB.code("w3")), (None, None));
    }
}

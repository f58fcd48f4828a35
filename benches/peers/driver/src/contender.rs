//! Who runs, and how each is called.

/// A program that the driver runs: flow itself, or a peer's.
#[derive(Debug, PartialEq)]
pub struct Program {
    /// The package, and the binary in it; where each workload has a binary of its own, the binaries' names begin so.
    pub package: &'static str,
    /// The workloads that have a binary of their own.
    one_each: &'static [&'static str],
    /// Whether it uses more threads than one.
    pub parallel: bool,
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
pub static FLOW: Program = Program::new("peer-flow").one_each(&["w1", "w2", "w3", "w4", "w5", "w8"]);

static HAND: Program = Program::new("peer-hand").one_each(&["w1", "w2", "w3", "w4", "w5", "w8"]);
static TIMELY: Program = Program::new("peer-timely");
static RENOIR: Program = Program::new("peer-renoir");
static DFIR: Program = Program { parallel: false, ..Program::new("peer-dfir") };

impl Program {
    const fn new(package: &'static str) -> Program {
        Program { package, one_each: &[], parallel: true }
    }

    const fn one_each(self, one_each: &'static [&'static str]) -> Program {
        Program { one_each, ..self }
    }

    /// The binary that has `workload`; `None` where none is there. One that has all of them says so itself.
    pub fn binary(&self, workload: &str) -> Option<String> {
        if self.one_each.is_empty() {
            return Some(self.package.to_owned());
        }
        self.one_each.contains(&workload).then(|| format!("{}-{workload}", self.package))
    }
}

/// All peers.
pub static PEERS: [Peer; 5] = [
    Peer::new("hand1", &HAND).on_one_thread(),
    Peer::new("hand", &HAND),
    Peer::new("timely", &TIMELY),
    Peer::new("renoir", &RENOIR).differs(
        &["w4", "w5"],
        "its event-time windows begin at the first element of each key, not at the epoch",
    ),
    Peer::new("dfir", &DFIR),
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
        "w1" | "w6" | "w7" => Some(0),
        "w2" => Some(100_000_000),
        "w3" => Some(50_000_000),
        "w4" | "w5" => Some(20_000_000),
        "w8" => Some(8_000_000),
        _ => None,
    }
}

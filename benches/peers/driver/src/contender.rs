//! Who runs, and how each is called.

/// A program that the driver runs: flow itself, or a peer's.
#[derive(Debug, PartialEq)]
pub struct Program {
    /// The package, and the binary in it.
    pub package: &'static str,
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
pub static FLOW: Program = Program { package: "peer-flow", parallel: true };

static HAND: Program = Program { package: "peer-hand", parallel: true };
static TIMELY: Program = Program { package: "peer-timely", parallel: true };
static RENOIR: Program = Program { package: "peer-renoir", parallel: true };
static DFIR: Program = Program { package: "peer-dfir", parallel: false };

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

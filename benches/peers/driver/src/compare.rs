//! The pairs: flow and a peer one after the other, the order turned each time.
//!
//! All peers take their turn in each round, so that a slow drift of the machine meets all of them; every pair has a run
//! of flow of its own, so that a pair's two runs are neighbours in time.

use std::path::Path;

use crate::args::Args;
use crate::build::{Called, Programs};
use crate::contender::{FLOW, Peer};
use crate::process::{self, Failure, Measured, Task};
use crate::stats::Quartiles;

/// What came of one peer.
#[derive(Debug)]
pub struct Comparison {
    /// The peer.
    pub peer: &'static Peer,
    /// What the pairs say; `None` if it does not have the workload.
    pub result: Option<Outcome>,
}

/// What the pairs say.
#[derive(Debug)]
pub struct Outcome {
    /// Flow's time, in seconds.
    pub ours: Quartiles,
    /// The peer's time, in seconds.
    pub theirs: Quartiles,
    /// Flow's speed over the peer's, pair by pair.
    pub flow_over_peer: Quartiles,
    /// Whether the answers of all pairs agree.
    pub agree: bool,
}

/// One peer's runs so far.
struct Pairs {
    peer: &'static Peer,
    absent: bool,
    runs: Vec<(Measured, Measured)>,
}

/// Runs flow once. It is not counted: it warms the page cache, and tells whether flow has the workload.
pub fn warm_up(args: &Args, flow: &Called, text: &Path) -> Result<(), Failure> {
    run(args, flow, args.parallelism, text).map(drop)
}

/// Runs all pairs against all peers.
pub fn all(args: &Args, programs: &Programs, text: &Path) -> Result<Vec<Comparison>, Failure> {
    let runner = Runner { args, programs, text };
    let mut all: Vec<Pairs> =
        args.against.iter().map(|peer| Pairs { peer, absent: false, runs: Vec::new() }).collect();
    for round in 0..args.pairs {
        for pairs in all.iter_mut().filter(|pairs| !pairs.absent) {
            match runner.pair(pairs.peer, round % 2 == 0) {
                Ok(pair) => pairs.runs.push(pair),
                Err(Failure::NoSuchWorkload(_)) => pairs.absent = true,
                Err(failure) => return Err(failure),
            }
        }
        eprint!("\r{} of {} rounds", round + 1, args.pairs);
    }
    eprintln!();
    Ok(all.into_iter().map(Pairs::conclude).collect())
}

/// An error if answers differ where they should not.
pub fn unexplained(args: &Args, comparisons: &[Comparison]) -> Result<(), Failure> {
    let names: Vec<_> = comparisons
        .iter()
        .filter(|c| c.result.as_ref().is_some_and(|outcome| !outcome.agree))
        .filter(|c| !c.peer.differs_in(&args.workload))
        .map(|c| c.peer.name)
        .collect();
    if names.is_empty() {
        return Ok(());
    }
    Err(Failure::Other(format!(
        "flow's answer to {} differs from that of {}",
        args.workload,
        names.join(", ")
    )))
}

struct Runner<'a> {
    args: &'a Args,
    programs: &'a Programs,
    text: &'a Path,
}

impl Runner<'_> {
    fn pair(&self, peer: &Peer, ours_first: bool) -> Result<(Measured, Measured), Failure> {
        if ours_first {
            let ours = self.ours()?;
            Ok((ours, self.theirs(peer)?))
        } else {
            let theirs = self.theirs(peer)?;
            Ok((self.ours()?, theirs))
        }
    }

    fn ours(&self) -> Result<Measured, Failure> {
        self.run(FLOW.package, self.args.parallelism)
    }

    fn theirs(&self, peer: &Peer) -> Result<Measured, Failure> {
        self.run(peer.program.package, peer.threads(self.args.parallelism))
    }

    fn run(&self, package: &str, threads: usize) -> Result<Measured, Failure> {
        match self.programs.get(package) {
            Some(program) => run(self.args, program, threads, self.text),
            None => Err(Failure::NoSuchWorkload(format!("{package} has no {}", self.args.workload))),
        }
    }
}

fn run(args: &Args, program: &Called, threads: usize, text: &Path) -> Result<Measured, Failure> {
    process::run(program, Task { workload: &args.workload, threads, n: args.n, text })
}

impl Pairs {
    fn conclude(self) -> Comparison {
        let secs = |of: fn(&(Measured, Measured)) -> f64| Quartiles::of(self.runs.iter().map(of).collect());
        let result = (!self.absent).then(|| Outcome {
            ours: secs(|(ours, _)| ours.secs),
            theirs: secs(|(_, theirs)| theirs.secs),
            flow_over_peer: secs(|(ours, theirs)| theirs.secs / ours.secs),
            agree: self.runs.iter().all(|(ours, theirs)| ours.agrees_with(theirs)),
        });
        Comparison { peer: self.peer, result }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contender::PEERS;

    fn measured(secs: f64, checksum: &str) -> Measured {
        Measured { secs, count: 1, checksum: checksum.into() }
    }

    #[test]
    fn a_pair_is_our_speed_over_theirs_and_one_difference_is_enough() {
        let mut runs = vec![(measured(1.0, "a"), measured(2.0, "a")); 3];
        let agreeing = Pairs { peer: &PEERS[0], absent: false, runs: runs.clone() }.conclude();
        let outcome = agreeing.result.expect("it ran");
        assert_eq!((outcome.flow_over_peer.median, outcome.agree), (2.0, true));
        runs[2].1.checksum = "b".into();
        let differing = Pairs { peer: &PEERS[0], absent: false, runs }.conclude();
        assert!(!differing.result.expect("it ran").agree);
    }
}

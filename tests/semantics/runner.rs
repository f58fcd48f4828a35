//! Runs a case in every way it can be run and compares what comes out, byte for byte.

use crate::case::Case;
use crate::outcome::{Outcome, of};
use crate::pipeline::{Probe, build};
use flow_core::prelude::*;
use std::path::Path;

const SEEDS: u64 = 20;

/// Who runs a job.
#[derive(Debug, Clone, Copy)]
enum Way {
    On(HostKind),
    Seed(u64),
}

/// How a job is run.
#[derive(Debug, Clone, Copy)]
struct Config {
    way: Way,
    parallelism: usize,
    batch: usize,
    /// Batches a ring holds: 1 blocks outputs wherever they can be blocked.
    ring: usize,
}

/// All ways to run a job at one parallelism.
fn configs(parallelism: usize) -> impl Iterator<Item = Config> {
    let hosts = [HostKind::Threads, HostKind::Workers(2)].map(Way::On);
    let ways: Vec<_> = hosts.into_iter().chain((0..SEEDS).map(Way::Seed)).collect();
    [1usize, 7, 1024].into_iter().flat_map(move |batch| {
        let ring = move |i| if (i + batch) % 2 == 0 { 8 } else { 1 };
        let config = move |(i, way)| Config { way, parallelism, batch, ring: ring(i) };
        ways.clone().into_iter().enumerate().map(config)
    })
}

/// Runs the case in every way; what is wrong, if anything is.
pub fn check(case: &Case) -> Result<(), String> {
    assert!(case.says.is_empty(), "{}: that is for a pipeline that takes checkpoints", case.id);
    // What is read has to be there until the last run is over.
    let file = case.bytes.as_ref().map(|bytes| crate::text_files::write(bytes));
    let path = file.as_ref().map(|file| file.path());
    for parallelism in [1, 2, 4] {
        // Where a receiver has a single sender, even what each instance emits is a function of the input.
        let mut first = None;
        for config in configs(parallelism) {
            let in_case = |what: String| format!("{}\n  {config:?}: {what}", case.id);
            let Some(outcome) = run(case, path, config).map_err(in_case)? else { continue };
            outcome.check(case, parallelism == 1).map_err(in_case)?;
            let first = first.get_or_insert_with(|| outcome.clone());
            if case.has_single_senders() && *first != outcome {
                return Err(in_case(format!("{outcome:#?}\n  differs from another run: {first:#?}")));
            }
        }
    }
    Ok(())
}

/// One run; nothing when it failed as it should.
fn run(case: &Case, file: Option<&Path>, config: Config) -> Result<Option<Outcome>, String> {
    let probe = Probe::new(case.has("stamps"));
    let job = Job::build("case", |job| match file {
        Some(path) => crate::text_files::build(job, case, path, &probe),
        None => build(job, case, &probe),
    });
    let job = job.parallelism(config.parallelism).batch_size(config.batch).ring_batches(config.ring);
    let report = match config.way {
        Way::On(host) => job.host(host).run(),
        Way::Seed(seed) => job.simulate(seed),
    };
    of(case, &probe, report)
}

//! Runs a case in every way it can be run and compares what comes out, byte for byte.

use crate::case::Case;
use crate::pipeline::{Probe, build};
use flow_core::prelude::*;
use std::path::Path;
use std::sync::atomic::Ordering;

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

/// What came of a run.
#[derive(Debug, Clone, PartialEq, Default)]
struct Outcome {
    rows: Vec<String>,
    late: Vec<String>,
    /// Late elements as the report counts them.
    counted: i64,
    /// Elements that windows did not keep, as the report counts them; where the case says how many.
    evicted: Option<i64>,
    /// What has expired of states, likewise.
    expired: Option<i64>,
}

impl Outcome {
    /// With the rows of a window that stand together sorted: the order of keys in a firing of a sliding window is not defined.
    fn by_window(mut self) -> Outcome {
        let same = |a: &String, b: &String| a.split(' ').next() == b.split(' ').next();
        self.rows.chunk_by_mut(same).for_each(<[String]>::sort);
        self
    }

    fn sorted(mut self) -> Outcome {
        self.rows.sort();
        self.late.sort();
        self
    }
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
    // What is read has to be there until the last run is over.
    let file = case.bytes.as_ref().map(|bytes| crate::text_files::write(bytes));
    let path = file.as_ref().map(|file| file.path());
    let counted = case.dropped + i64::try_from(case.late.len()).expect("few late elements");
    let (rows, late) = (case.rows.clone(), case.late.clone());
    let expected = Outcome { rows, late, counted, evicted: case.evicted, expired: case.expired };
    for parallelism in [1, 2, 4] {
        // Where a receiver has a single sender, even what each instance emits is a function of the input.
        let mut first = None;
        for config in configs(parallelism) {
            let in_case = |what: String| format!("{}\n  {config:?}: {what}", case.id);
            let Some(outcome) = run(case, path, config).map_err(in_case)? else { continue };
            let exact = parallelism == 1 && !case.fan_in();
            let (want, got) = if exact && case.has("sliding") {
                (expected.clone().by_window(), outcome.clone().by_window())
            } else if exact {
                (expected.clone(), outcome.clone())
            } else {
                (expected.clone().sorted(), outcome.clone().sorted())
            };
            if want != got {
                return Err(in_case(format!("expected {want:#?}, got {got:#?}")));
            }
            let first = first.get_or_insert_with(|| outcome.clone());
            if case.has_single_senders() && *first != outcome {
                return Err(in_case(format!("{outcome:#?}\n  differs from another run: {first:#?}")));
            }
        }
    }
    Ok(())
}

/// What the counters say whose names end so.
fn counted(report: &Report, name: &str) -> i64 {
    let counters = report.stages.iter().flat_map(|stage| &stage.counters);
    counters.filter(|counter| counter.0.ends_with(name)).map(|counter| counter.1).sum()
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
    if probe.surplus.load(Ordering::SeqCst) {
        return Err("rows had left that should have been waiting".into());
    }
    match report {
        Ok(_) if !case.fails.is_empty() => Err(format!("it should have failed: {:?}", case.fails)),
        Ok(report) => {
            let (rows, late) = (probe.rows.take(), probe.late.take());
            if report.rescues > 0 {
                return Err(format!("{} rescued wake-ups", report.rescues));
            }
            let ahead = report.counter("event_time.ahead");
            if usize::try_from(ahead) != Ok(case.ahead) {
                return Err(format!("{ahead} timestamps too far ahead, not {}", case.ahead));
            }
            // What stands as late and was not.
            let aside = ["split", "sides", "beside", "dead"].iter().any(|step| case.has(step));
            let split = i64::try_from(if aside { late.len() } else { 0 }).expect("few rows");
            let evicted = case.evicted.map(|_| counted(&report, ".evicted"));
            let expired = case.expired.map(|_| counted(&report, ".expired"));
            Ok(Some(Outcome { rows, late, counted: report.late() + split, evicted, expired }))
        }
        Err(error) => {
            let text = error.to_string();
            match case.fails.iter().find(|part| !text.contains(*part)) {
                Some(part) => Err(format!("`{part}` is not in the error: {text}")),
                None if case.fails.is_empty() => Err(format!("it failed: {text}")),
                None => Ok(None),
            }
        }
    }
}

//! Each case everywhere.

use super::model::{Graph, Random};
use flow_core::host::HostKind;
use flow_core::prelude::*;
use flow_core::testing::SimFs;
use std::collections::BTreeMap;
use std::sync::Arc;

/// What a loop gives.
pub type Rows = Vec<(u64, u64)>;

/// How many graphs.
fn cases() -> u64 {
    std::env::var("FLOW_RANDOM_CASES").map_or(24, |n| n.parse().unwrap())
}

/// Runs the loop over the records and edges of random graphs, everywhere: it gives what the model says. And once more in pipelines with checkpoints, which die.
macro_rules! check_loop {
    (|$graph:ident, $edges:ident, $start:ident| $first:expr => $looped:expr, $model:expr $(,)?) => {
        check_loop!(|$graph, $edges, $start| $first, $graph.edges.clone() => $looped, $model)
    };
    (|$graph:ident, $edges:ident, $start:ident| $first:expr, $all:expr => $looped:expr, $model:expr $(,)?) => {{
        let model = $crate::loops_random::runner::model($model);
        check_loop!(check volatile |$graph, $edges, $start| $first, $all => $looped, &model);
        check_loop!(check_killed durable |$graph, $edges, $start| $first, $all => $looped, &model);
    }};
    ($check:ident $mode:ident |$graph:ident, $edges:ident, $start:ident| $first:expr, $all:expr => $looped:expr, $model:expr) => {
        $crate::loops_random::runner::$check(
            |$graph, job, out| {
                let edges: Vec<(u64, u64, u64)> = $all;
                let $edges = $crate::loops_random::runner::$mode!(from_vec(edges)).key_by(|e| e.0);
                let first: $crate::loops_random::runner::Rows = $first.into_iter().collect();
                let $start = $crate::loops_random::runner::$mode!(from_vec(first));
                job.add({ $looped }.collect(out));
            },
            $model,
        )
    };
}

macro_rules! volatile {
    ($source:expr) => {
        source($source)
    };
}

macro_rules! durable {
    ($source:expr) => {
        source($source).durable()
    };
}

pub(crate) use {check_loop, durable, volatile};

/// Says what the type of a model is.
pub fn model<F: Fn(&Graph) -> Rows>(model: F) -> F {
    model
}

/// Runs the job that `build` makes of a graph, everywhere: it collects what `expected` says.
pub fn check(build: impl Fn(&Graph, &mut Job, &Collected<(u64, u64)>), expected: impl Fn(&Graph) -> Rows) {
    let (mut runs, mut rows) = (0, 0);
    for case in 0..cases() {
        let graph = Graph::random(case);
        let mut expected = expected(&graph);
        expected.sort_unstable();
        rows += expected.len();
        for p in [1, 2, 4] {
            let hosts = [Some(HostKind::Threads), Some(HostKind::Workers(2)), None, None, None];
            for (seed, host) in (case * 100 + p as u64..).zip(hosts) {
                let out = Collected::new();
                let job = Job::build("random", |job| build(&graph, job, &out)).parallelism(p);
                let job = job.batch_size([1, 7, 1024][(seed % 3) as usize]);
                let ran = match host {
                    None => job.simulate(seed),
                    Some(host) => job.host(host).run(),
                };
                let what = || format!("case {case} at {p} on {host:?}, seed {seed}: {graph:?}");
                let report = ran.unwrap_or_else(|error| panic!("{}: {error}", what()));
                assert_eq!(report.rescues, 0, "{}", what());
                let mut found = out.take();
                found.sort_unstable();
                assert_eq!(found, expected, "{}", what());
                runs += 1;
            }
        }
    }
    println!("{runs} runs, {rows} rows");
    assert!(runs == 15 * cases() && rows as u64 >= cases());
}

/// The same in a job that dies three times, at any step, and goes on from its last checkpoint at any parallelism; and on threads, where it is only asked for checkpoints.
pub fn check_killed(
    build: impl Fn(&Graph, &mut Job, &Collected<(u64, u64)>),
    expected: impl Fn(&Graph) -> Rows,
) {
    let (mut deaths, mut later) = (0, BTreeMap::new());
    for case in 0..2 * cases() {
        let graph = Graph::random(case);
        let mut expected = expected(&graph);
        expected.sort_unstable();
        let mut random = Random(case * 13 + 1);
        // What has been committed stays there.
        let (storage, out) = (Arc::new(SimFs::new()), Collected::new());
        let lives = if case % 4 == 0 { 0 } else { 3 };
        for life in 0..=lives {
            let p = 1 + random.below(4) as usize;
            let job = Job::build("random", |job| build(&graph, job, &out)).parallelism(p);
            let job = job.batch_size([1, 7, 1024][random.below(3) as usize]);
            let checkpoints = Checkpoints::in_storage(Arc::clone(&storage) as _).every(Millis(1));
            let job = job.checkpoints(checkpoints.deltas(random.below(3) as u32));
            let ran = match case % 8 {
                0 => job.run(),
                4 => job.host(HostKind::Workers(2)).run(),
                _ if life < lives => job.crash_at(20 + random.below(1_500)).simulate(random.below(1 << 40)),
                _ => job.simulate(random.below(1 << 40)),
            };
            match ran {
                Ok(report) => {
                    let counters = report.stages.iter().flat_map(|stage| &stage.counters);
                    let resumed = counters.filter(|(name, step)| name.ends_with(".resumed") && *step > 1);
                    // Of the loop, and of one in it.
                    resumed.for_each(|(name, _)| *later.entry(name.clone()).or_insert(0) += 1);
                    let mut found = out.take();
                    found.sort_unstable();
                    assert_eq!(found, expected, "case {case} at {p}: {graph:?}");
                    break;
                }
                Err(error) => {
                    assert!(error.to_string().contains("has died"), "case {case}: {error}");
                    storage.break_lock();
                    deaths += 1;
                }
            }
        }
    }
    println!(
        "{deaths} deaths; of the runs that ended so many had begun in a later superstep than the first: {later:?}"
    );
    assert!(deaths > cases() / 2 && !later.is_empty(), "{deaths} {later:?}");
}

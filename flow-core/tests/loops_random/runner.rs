//! Each case everywhere.

use super::model::Graph;
use flow_core::host::HostKind;
use flow_core::prelude::*;

/// How many graphs.
fn cases() -> u64 {
    std::env::var("FLOW_RANDOM_CASES").map_or(24, |n| n.parse().unwrap())
}

/// Runs the job that `build` makes of a graph, everywhere: it collects what `expected` says.
pub fn check(
    build: impl Fn(&Graph, &mut Job, &Collected<(u64, u64)>),
    expected: impl Fn(&Graph) -> Vec<(u64, u64)>,
) {
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

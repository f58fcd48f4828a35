//! All pairs of two streams that end, as jobs: on every host, at parallelism 1, 2 and 4, those of two loops.

#![allow(clippy::unwrap_used, reason = "a test that unwraps fails where it should")]

use flow_core::prelude::*;
use proptest::prelude::*;

fn naive(lefts: &[u32], rights: &[String]) -> Vec<(u32, String)> {
    let pairs = |left: &u32| rights.iter().map(|right| (*left, right.clone())).collect::<Vec<_>>();
    let mut all: Vec<_> = lefts.iter().flat_map(pairs).collect();
    all.sort_unstable();
    all
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn pairs_are_those_of_two_loops(
        lefts in prop::collection::vec(0u32..9, 0..30),
        rights in prop::collection::vec("[ab]{0,2}", 0..30),
        batch in any::<bool>(),
        seed in any::<u64>(),
    ) {
        let expected = naive(&lefts, &rights);
        for p in [1, 2, 4] {
            for host in [None, Some(HostKind::Threads), Some(HostKind::Workers(2))] {
                let out = Collected::new();
                let job = Job::build("cross", |job| {
                    let (lefts, rights) = (source(from_vec(lefts.clone()).splits(2)), source(from_vec(rights.clone()).splits(3)));
                    if batch {
                        job.add(lefts.batch().cross(rights.batch()).collect(&out));
                    } else {
                        job.add(lefts.cross(rights).collect(&out));
                    }
                });
                let job = job.parallelism(p);
                match host {
                    None => job.batch_size(3).ring_batches(1).simulate(seed).unwrap(),
                    Some(host) => job.host(host).run().unwrap(),
                };
                let mut pairs = out.take();
                pairs.sort_unstable();
                prop_assert_eq!(&pairs, &expected, "at {} on {:?}", p, host);
            }
        }
    }
}

/// Neither side fits into the memory.
#[test]
fn beyond_the_memory() {
    const LEFTS: u64 = 3_000;
    const RIGHTS: u64 = 2_000;
    let (out, folder) = (Collected::new(), tempfile::tempdir().unwrap());
    let text = |side: &str, n: u64| format!("{side} {n:01000}");
    let job = Job::build("cross", |job| {
        let lefts = source(generate(LEFTS, move |n| (n, text("left", n)))).batch();
        let rights = source(generate(RIGHTS, move |n| (n, text("right", n)))).batch();
        let checked = lefts.cross(rights).map(move |((l, left), (r, right))| {
            assert!(left.len() == 1_005 && right.len() == 1_006);
            assert!(left.starts_with("left") && right.starts_with("right"));
            l * RIGHTS + r
        });
        job.add(checked.collect(&out));
    });
    let report = job.memory(1 << 20).spill_to(folder.path()).parallelism(2).run().unwrap();
    let mut pairs = out.take();
    pairs.sort_unstable();
    assert!(pairs.into_iter().eq(0..LEFTS * RIGHTS), "each once");
    assert!(report.counter("cross.spilled") > RIGHTS as i64, "{}", report.counter("cross.spilled"));
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "nothing is left there");
}

//! Loops in supersteps.

use flow_core::host::HostKind;
use flow_core::prelude::*;

/// Runs the job of `build` everywhere, and gives what it collects, sorted.
fn everywhere<T: Ord + Clone + std::fmt::Debug + Send + 'static>(
    build: impl Fn(&mut Job, &Collected<T>),
) -> Vec<T> {
    let mut first = None;
    for p in [1, 2, 4] {
        for host in [None, Some(HostKind::Threads), Some(HostKind::Workers(2))] {
            let out = Collected::new();
            for seed in 0..if host.is_some() { 1 } else { 10 } {
                let job = Job::build("loop", |job| build(job, &out)).parallelism(p);
                match host {
                    None => job.simulate(seed).expect("the job runs"),
                    Some(host) => job.host(host).run().expect("the job runs"),
                };
                let mut rows = out.take();
                rows.sort();
                assert_eq!(first.get_or_insert_with(|| rows.clone()), &rows, "{p} {host:?} {seed}");
            }
        }
    }
    first.expect("there are runs")
}

#[test]
fn the_result_is_what_the_last_superstep_gave() {
    let doubled = everywhere(|job, out| {
        job.add(source(from_iter(0..100u64)).iterate(5, |n| n.map(|n| n * 2)).collect(out));
    });
    assert_eq!(doubled, (0..100).map(|n| n * 32).collect::<Vec<_>>());
}

#[test]
fn a_superstep_is_a_batch() {
    // Halves the distance to the sum of all of a key: each superstep sees one row of each key.
    let sums = everywhere(|job, out| {
        let numbers = source(from_iter(0..1000u64)).map(|n| (n % 7, n));
        let summed = numbers.iterate(3, |n| n.key_by(|n| n.0).fold(0, |sum, n| *sum += n.1 + 1));
        job.add(summed.collect(out));
    });
    let expected: Vec<(u64, u64)> =
        (0..7).map(|key| (key, (0..1000).filter(|n| n % 7 == key).map(|n| n + 1).sum::<u64>() + 2)).collect();
    assert_eq!(sums, expected);
}

#[test]
fn a_loop_over_nothing_is_over() {
    let out = Collected::new();
    let job = Job::build("nothing", |job| {
        job.add(source(from_iter(0..0u64)).iterate(5, |n| n.map(|n| n * 2)).collect(&out));
    });
    let report = job.parallelism(2).run().unwrap();
    assert_eq!((out.take(), report.counter("iterate.supersteps")), (vec![], 0));
}

/// Labels spread over edges: the right side of a lookup is read once.
#[test]
fn labels_spread() {
    let edges = [(1u64, 2u64), (2, 3), (5, 6), (6, 5), (7, 7)];
    let labels = everywhere(|job, out| {
        let both: Vec<(u64, u64)> = edges.iter().flat_map(|(a, b)| [(*a, *b), (*b, *a)]).collect();
        let edges = source(from_vec(both)).key_by(|e| e.0);
        let vertices = source(from_iter(1..8u64)).map(|v| (v, v));
        let spread = vertices.iterate(8, |labels| {
            let reached = labels.key_by(|l| l.0).left_join(edges).lookup();
            reached
                .flat_map(|(v, ((_, label), edge))| {
                    [(v, label)].into_iter().chain(edge.map(|e| (e.1, label)))
                })
                .key_by(|l| l.0)
                .min(|l| l.1)
        });
        job.add(spread.collect(out));
    });
    assert_eq!(labels, [(1, 1), (2, 1), (3, 1), (4, 4), (5, 5), (6, 5), (7, 7)]);
}

/// Worksets are many batches, so that there is no room now and then.
#[test]
fn large_worksets() {
    let sums = everywhere(|job, out| {
        let numbers = source(from_iter(0..40_000u64)).map(|n| (n, 1u64));
        let known = source(from_iter(0..40_000u64)).batch().key_by(|n| *n);
        let summed = numbers.iterate(4, |n| {
            n.key_by(|n| n.0)
                .left_join(known)
                .lookup()
                .flat_map(|(n, ((_, sum), _))| [(n, sum), ((n + 1) % 40_000, sum)])
                .key_by(|n| n.0)
                .sum(|n| n.1)
        });
        job.add(summed.filter(|n| n.0 % 1000 == 0).collect(out));
    });
    assert_eq!(sums, (0..40).map(|n| (n * 1000, 16)).collect::<Vec<_>>());
}

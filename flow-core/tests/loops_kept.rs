//! Loops with checkpoints: whatever dies and whenever, the answer is the same, and what was over before the last checkpoint is not run again.

#![allow(clippy::unwrap_used, reason = "a test that unwraps fails where it should")]

use flow_core::prelude::*;
use flow_core::testing::SimFs;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

/// The first superstep that a run has come to.
#[derive(Clone)]
struct Seen(Arc<AtomicU64>);

impl Default for Seen {
    fn default() -> Self {
        Seen(Arc::new(AtomicU64::new(u64::MAX)))
    }
}

impl Seen {
    fn note(&self, step: u64) {
        self.0.fetch_min(step, Relaxed);
    }
    /// It, if there is one.
    fn take(&self) -> Option<u64> {
        Some(self.0.swap(u64::MAX, Relaxed)).filter(|step| *step < u64::MAX)
    }
}

fn step(seed: &mut u64) -> u64 {
    *seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    *seed >> 33
}

/// Sums along the edges of a graph, each superstep: what comes to a vertex is what its neighbours had.
fn sums(rounds: u64, vertices: u64) -> BTreeMap<u64, u64> {
    let mut all: BTreeMap<u64, u64> = (0..vertices).map(|v| (v, v + 1)).collect();
    for _ in 0..rounds {
        let mut next = BTreeMap::new();
        for (v, sum) in &all {
            for to in [(v * 3 + 1) % vertices, (v + 1) % vertices] {
                let there: &mut u64 = next.entry(to).or_default();
                *there = there.wrapping_add(*sum);
            }
        }
        all = next;
    }
    all
}

fn sums_job(
    storage: &Arc<SimFs>,
    rounds: u64,
    vertices: u64,
    seen: &Seen,
    out: &Collected<(u64, u64)>,
) -> Job {
    let job = Job::build("sums", |job| {
        let numbers = source(generate(vertices, |v| (v, v + 1))).durable();
        let edges = source(generate(2 * vertices, move |n| {
            let v = n / 2;
            (v, if n % 2 == 0 { (v * 3 + 1) % vertices } else { (v + 1) % vertices })
        }));
        let edges = edges.durable().key_by(|e| e.0);
        let seen = seen.clone();
        let summed = numbers.iterate(rounds, |n| {
            let there = n.key_by(|n| n.0).join(edges).lookup();
            let numbered = there.map(|(_, ((_, sum), edge))| (edge.1, sum)).superstep();
            let noted = numbered.map(move |(step, n)| {
                seen.note(step);
                n
            });
            noted.key_by(|n| n.0).wrapping_sum(|n| n.1)
        });
        job.add(summed.collect(out));
    });
    job.checkpoints(Checkpoints::in_storage(Arc::clone(storage) as _).every(Millis(1)))
}

/// Row I5, everywhere: it dies at any step, and goes on at any parallelism.
#[test]
fn what_dies_in_a_superstep_goes_on_there() {
    let cases = std::env::var("FLOW_RANDOM_CASES").map_or(150, |n| n.parse().unwrap());
    let (mut later, mut deaths) = (0, 0);
    for case in 0..cases {
        let mut seed = case * 77 + 5;
        let (rounds, vertices) = (1 + step(&mut seed) % 9, 1 + step(&mut seed) % 40);
        let (storage, seen, out) = (Arc::new(SimFs::new()), Seen::default(), Collected::new());
        let mut runs = 0;
        loop {
            let p = [1, 2, 3, 4][step(&mut seed) as usize % 4];
            let job = sums_job(&storage, rounds, vertices, &seen, &out).parallelism(p);
            let job = if runs < 3 { job.crash_at(20 + step(&mut seed) % 900) } else { job };
            runs += 1;
            match job.simulate(step(&mut seed)) {
                Ok(report) => {
                    let first = seen.take();
                    let steps = u64::try_from(report.counter("iterate.supersteps")).unwrap();
                    assert!(steps <= rounds, "case {case}");
                    if let Some(first) = first {
                        assert!(
                            steps <= rounds + 1 - first + 1,
                            "case {case}: {steps} of {rounds}, from {first}"
                        );
                        later += u64::from(report.restored.is_some() && first > 1);
                    }
                    break;
                }
                Err(error) => {
                    assert!(error.to_string().contains("has died"), "case {case}: {error}");
                    storage.break_lock();
                    seen.take();
                    deaths += 1;
                }
            }
        }
        let mut rows = out.take();
        rows.sort_unstable();
        assert_eq!(rows, sums(rounds, vertices).into_iter().collect::<Vec<_>>(), "case {case}");
    }
    println!("{deaths} deaths, {later} runs that ended had begun in a later superstep than the first");
    assert!(deaths > cases / 2 && later > cases / 10, "{deaths} {later}");
}

/// The same of a delta loop, whose solution is in the checkpoint too: distances from vertex 0.
#[test]
fn what_dies_in_a_delta_loop_goes_on_there() {
    let cases = std::env::var("FLOW_RANDOM_CASES").map_or(150, |n| n.parse().unwrap());
    let (mut later, mut deaths) = (0, 0);
    for case in 0..cases {
        let mut seed = case * 31 + 9;
        let vertices = 2 + step(&mut seed) % 30;
        let edges: Vec<(u64, u64, u64)> = (0..vertices * 2)
            .map(|_| (step(&mut seed) % vertices, step(&mut seed) % vertices, 1 + step(&mut seed) % 9))
            .collect();
        let mut expected: BTreeMap<u64, u64> = BTreeMap::from([(0, 0)]);
        for _ in 0..vertices {
            for (a, b, length) in &edges {
                if let Some(d) = expected.get(a).copied() {
                    let there = expected.entry(*b).or_insert(u64::MAX);
                    *there = (*there).min(d + length);
                }
            }
        }
        let (storage, seen, out) = (Arc::new(SimFs::new()), Seen::default(), Collected::new());
        let mut runs = 0;
        loop {
            let p = [1, 2, 3, 4][step(&mut seed) as usize % 4];
            let (edges, seen_by) = (edges.clone(), seen.clone());
            let job = Job::build("distances", |job| {
                let edges = source(from_vec(edges)).durable().key_by(|e| e.0);
                let start = source(from_vec(vec![(0u64, 0u64)])).durable();
                let shorter = |d: &mut u64, came: u64| {
                    let less = came < *d;
                    *d = came.min(*d);
                    less
                };
                let distances = start.iterate_delta(shorter, |changed| {
                    let noted = changed.superstep().map(move |(step, c)| {
                        seen_by.note(step);
                        c
                    });
                    let there = noted.key_by(|c| c.0).join(edges).lookup();
                    there.map(|(_, ((_, d), (_, to, length)))| (to, d + length))
                });
                job.add(distances.collect(&out));
            });
            let checkpoints = Checkpoints::in_storage(Arc::clone(&storage) as _)
                .every(Millis(1))
                .deltas(step(&mut seed) as u32 % 3);
            let job = job.checkpoints(checkpoints).parallelism(p);
            let job = if runs < 3 { job.crash_at(20 + step(&mut seed) % 900) } else { job };
            runs += 1;
            match job.simulate(step(&mut seed)) {
                Ok(report) => {
                    later +=
                        u64::from(report.restored.is_some() && seen.take().is_some_and(|first| first > 1));
                    break;
                }
                Err(error) => {
                    assert!(error.to_string().contains("has died"), "case {case}: {error}");
                    storage.break_lock();
                    seen.take();
                    deaths += 1;
                }
            }
        }
        let mut rows = out.take();
        rows.sort_unstable();
        assert_eq!(rows, expected.into_iter().collect::<Vec<_>>(), "case {case}");
    }
    println!("{deaths} deaths, {later} runs that ended had begun in a later superstep than the first");
    assert!(deaths > cases / 2 && later > cases / 10, "{deaths} {later}");
}

/// On threads: from the savepoint that was taken in superstep 5 or later, nothing before that is run again.
#[test]
fn no_superstep_before_the_last_checkpoint_is_run_again() {
    for p in [1, 2, 4] {
        let (storage, out) = (Arc::new(SimFs::new()), Collected::new());
        let (at, dies, seen) =
            (Arc::new(AtomicU64::new(0)), Arc::new(AtomicBool::new(false)), Seen::default());
        let job = |rounds: u64| {
            let (at, dies, seen) = (Arc::clone(&at), Arc::clone(&dies), seen.clone());
            let job = Job::build("long", |job| {
                let numbers = source(generate(100, |n| n)).durable();
                let grown = numbers.iterate(rounds, |n| {
                    n.superstep().map(move |(step, n)| {
                        seen.note(step);
                        at.fetch_max(step, Relaxed);
                        assert!(!dies.load(Relaxed), "dies here");
                        n + 1
                    })
                });
                job.add(grown.collect(&out));
            });
            job.checkpoints(Checkpoints::in_storage(Arc::clone(&storage) as _)).parallelism(p)
        };
        let rounds = 3_000;
        let handle = job(rounds).start().unwrap();
        while at.load(Relaxed) < 5 {
            std::thread::yield_now();
        }
        let before = at.load(Relaxed);
        let saved = handle.savepoint().unwrap();
        dies.store(true, Relaxed);
        handle.join().unwrap_err();
        dies.store(false, Relaxed);
        seen.take();
        let report = job(rounds).run().unwrap();
        assert_eq!(report.restored, Some(saved));
        let first = seen.take().unwrap();
        assert!(first >= before, "{first} before {before}");
        let steps = u64::try_from(report.counter("iterate.supersteps")).unwrap();
        assert!(steps == rounds + 1 - first || steps == rounds + 2 - first, "{steps} from {first}");
        let mut rows = out.take();
        rows.sort_unstable();
        assert_eq!(rows, (rounds..rounds + 100).collect::<Vec<_>>());
    }
}

//! Loops with checkpoints: whatever dies and whenever, the answer is the same, and what was over before the last checkpoint is not run again.

#![allow(clippy::unwrap_used, reason = "a test that unwraps fails where it should")]

use flow_core::checkpoint::Storage;
use flow_core::prelude::*;
use flow_core::testing::SimFs;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex};

/// The supersteps that a run has come to, and the newest complete checkpoint at the beginning of each.
#[derive(Clone)]
struct Seen {
    storage: Arc<SimFs>,
    steps: Arc<Mutex<Vec<(u64, u64)>>>,
}

impl Seen {
    fn new(storage: &Arc<SimFs>) -> Self {
        Seen { storage: Arc::clone(storage), steps: Arc::default() }
    }

    fn note(&self, step: u64) {
        let mut steps = self.steps.lock().unwrap();
        if steps.last().is_none_or(|last| last.0 < step) {
            steps.push((step, self.newest()));
        }
    }

    /// The newest complete checkpoint, 0 where there is none.
    fn newest(&self) -> u64 {
        let names = self.storage.list().unwrap();
        let manifests = names.iter().filter_map(|name| name.strip_suffix(".manifest")?.strip_prefix("chk-"));
        manifests.map(|name| name.split('-').next().unwrap().parse().unwrap()).max().unwrap_or(0)
    }

    fn take(&self) -> Vec<(u64, u64)> {
        std::mem::take(&mut self.steps.lock().unwrap())
    }
}

/// A loop that dies, and is begun again, until it comes to its end.
struct Lives {
    seen: Seen,
    /// How many supersteps there are if nobody dies.
    rounds: u64,
    /// The newest checkpoint when this life began, and in which supersteps it may stand.
    newest: u64,
    stands: (u64, u64),
}

impl Lives {
    fn new(seen: &Seen, rounds: u64) -> Self {
        Lives { seen: seen.clone(), rounds, newest: 0, stands: (0, 0) }
    }

    /// One has died. A checkpoint was asked for when the one before was complete, and was complete before it was seen to be so: its barrier passed in between, or in the next
    /// superstep before its first record.
    fn died(&mut self) {
        let (steps, newest) = (self.seen.take(), self.seen.newest());
        self.begins(&steps);
        if newest > self.newest {
            let one_before =
                steps.iter().map(|at| at.1).filter(|at| (self.newest + 1..newest).contains(at)).max();
            let least = steps.iter().rev().find(|at| one_before.is_some_and(|one| at.1 < one));
            let most = steps.iter().rev().find(|at| at.1 < newest);
            self.stands = (least.map_or(self.stands.0, |at| at.0), most.map_or(self.stands.1, |at| at.0) + 1);
            self.newest = newest;
        }
    }

    /// It runs nothing that was over, and each superstep once.
    fn begins(&self, steps: &[(u64, u64)]) {
        let Some((first, _)) = steps.first() else { return };
        assert!(
            (self.stands.0.max(1)..=self.stands.1 + 1).contains(first),
            "{steps:?} from {:?}",
            self.stands
        );
        assert!(steps.iter().map(|at| at.0).eq(*first..first + steps.len() as u64), "one by one: {steps:?}");
    }

    /// It has come to its end; whether it had begun in a later superstep than the first.
    fn ended(&self, report: &Report, entry: &str) -> bool {
        let steps = self.seen.take();
        self.begins(&steps);
        let counter = |of: &str| u64::try_from(report.counter(&format!("{entry}.{of}"))).unwrap();
        let (counted, resumed) = (counter("supersteps"), counter("resumed"));
        assert_eq!(report.restored.unwrap_or(0), self.newest);
        if counted == 0 {
            assert!(steps.is_empty() && self.stands.1 >= self.rounds, "the loop was over: {:?}", self.stands);
            return false;
        }
        // Exactly those that were not over at the checkpoint.
        assert_eq!(counted, self.rounds + 1 - resumed.max(1), "resumed in {resumed}: {steps:?}");
        assert!((self.stands.0..=self.stands.1).contains(&resumed), "{resumed}, not in {:?}", self.stands);
        if let Some((first, _)) = steps.first() {
            // Whatever this superstep had to do before the body's end may have been done.
            assert!((resumed.max(1)..=resumed + 1).contains(first), "{resumed}, and it begins with {first}");
        }
        resumed > 1
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
        let (storage, out) = (Arc::new(SimFs::new()), Collected::new());
        let seen = Seen::new(&storage);
        let (mut runs, mut lives) = (0, Lives::new(&seen, rounds));
        loop {
            let p = [1, 2, 3, 4][step(&mut seed) as usize % 4];
            let job = sums_job(&storage, rounds, vertices, &seen, &out).parallelism(p);
            let job = if runs < 3 { job.crash_at(20 + step(&mut seed) % 900) } else { job };
            runs += 1;
            match job.simulate(step(&mut seed)) {
                Ok(report) => {
                    later += u64::from(lives.ended(&report, "iterate"));
                    break;
                }
                Err(error) => {
                    assert!(error.to_string().contains("has died"), "case {case}: {error}");
                    storage.break_lock();
                    lives.died();
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

/// Distances from vertex 0.
fn distances_job(edges: &[(u64, u64, u64)], seen: &Seen, out: &Collected<(u64, u64)>) -> Job {
    let (edges, seen) = (edges.to_vec(), seen.clone());
    Job::build("distances", |job| {
        let edges = source(from_vec(edges)).durable().key_by(|e| e.0);
        let start = source(from_vec(vec![(0u64, 0u64)])).durable();
        let shorter = |d: &mut u64, came: u64| {
            let less = came < *d;
            *d = came.min(*d);
            less
        };
        let distances = start.iterate_delta(shorter, |changed| {
            let noted = changed.superstep().map(move |(step, c)| {
                seen.note(step);
                c
            });
            let there = noted.key_by(|c| c.0).join(edges).lookup();
            there.map(|(_, ((_, d), (_, to, length)))| (to, d + length))
        });
        job.add(distances.collect(out));
    })
}

/// The same of a delta loop, whose solution is in the checkpoint too.
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
        let (storage, out) = (Arc::new(SimFs::new()), Collected::new());
        let seen = Seen::new(&storage);
        let whole = distances_job(&edges, &Seen::new(&storage), &out).simulate(0).unwrap();
        out.take();
        let rounds = u64::try_from(whole.counter("iterate_delta.supersteps")).unwrap();
        let (mut runs, mut lives) = (0, Lives::new(&seen, rounds));
        loop {
            let p = [1, 2, 3, 4][step(&mut seed) as usize % 4];
            let checkpoints = Checkpoints::in_storage(Arc::clone(&storage) as _)
                .every(Millis(1))
                .deltas(step(&mut seed) as u32 % 3);
            let job = distances_job(&edges, &seen, &out).checkpoints(checkpoints).parallelism(p);
            let job = if runs < 3 { job.crash_at(20 + step(&mut seed) % 900) } else { job };
            runs += 1;
            match job.simulate(step(&mut seed)) {
                Ok(report) => {
                    later += u64::from(lives.ended(&report, "iterate_delta"));
                    break;
                }
                Err(error) => {
                    assert!(error.to_string().contains("has died"), "case {case}: {error}");
                    storage.break_lock();
                    lives.died();
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
            (Arc::new(AtomicU64::new(0)), Arc::new(AtomicBool::new(false)), Seen::new(&storage));
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
        let steps = seen.take();
        let counter = |of: &str| u64::try_from(report.counter(&format!("iterate.{of}"))).unwrap();
        let (first, resumed) = (steps[0].0, counter("resumed"));
        assert!(
            resumed >= before && (resumed..=resumed + 1).contains(&first),
            "{first} from {resumed}, {before}"
        );
        assert_eq!(counter("supersteps"), rounds + 1 - resumed);
        let mut rows = out.take();
        rows.sort_unstable();
        assert_eq!(rows, (rounds..rounds + 100).collect::<Vec<_>>());
    }
}

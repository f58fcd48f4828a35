//! What a superstep costs that has nothing to do: `cargo bench -p flow-benches --bench superstep`.
//!
//! A loop hands one element round and round (`--rounds N`, ten thousand), so that all but one of the instances have an empty
//! workset, and what a superstep takes is what the instances need to agree that it is over:
//!
//! * `stays`: the body is in one stage with the loop's end, and the element remains where it is;
//! * `moves`: an exchange in the body brings it to another instance each time;
//! * `delta`: a delta loop, in which it is each time of another key, as on a chain of vertices.
//!
//! Each on threads and on workers, at parallelism 1 and 2. The time of a superstep is from when the element is seen to when
//! it is seen again: median, quartiles, 99 % and mean of all supersteps of some jobs (`--jobs N`, five), which take turns.
//! `--test` runs all with little and measures nothing.

use std::sync::{Arc, Mutex};
use std::time::Instant;

use flow_core::host::HostKind;
use flow_core::prelude::*;

/// When the element was seen.
type Seen = Arc<Mutex<Vec<Instant>>>;
/// Makes the job of a loop of so many rounds.
type Make = fn(u64, Seen, &Collected<u64>) -> Job;

const LOOPS: [(&str, Make); 3] = [("stays", stays), ("moves", moves), ("delta", delta)];

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let test = arguments.iter().any(|argument| argument == "--test");
    let number = |name: &str, default: u64| {
        let after = arguments.iter().skip_while(|argument| *argument != name).nth(1);
        after.and_then(|n| n.parse().ok()).unwrap_or(default)
    };
    let rounds = number("--rounds", if test { 20 } else { 10_000 }).max(2);
    let jobs = number("--jobs", if test { 1 } else { 5 }).max(1);

    let mut cases = Vec::new();
    for (name, make) in LOOPS {
        for parallelism in [1, 2] {
            for host in [HostKind::Threads, HostKind::Workers(parallelism)] {
                cases.push((name, make, parallelism, host, Vec::new()));
            }
        }
    }
    for _ in 0..jobs {
        for (_, make, parallelism, host, micros) in &mut cases {
            micros.extend(run(*make, rounds, *parallelism, *host));
        }
    }
    for (name, _, parallelism, host, mut micros) in cases {
        micros.sort_by(f64::total_cmp);
        let mean = micros.iter().sum::<f64>() / micros.len() as f64;
        let [q1, median, q3, most] = [25, 50, 75, 99].map(|percent| micros[micros.len() * percent / 100]);
        println!(
            "{name}, parallelism {parallelism}, {host:?}: {median:.2} µs a superstep (median), {q1:.2} to {q3:.2} (quartiles), \
             {most:.2} (99 %), {mean:.2} (mean), of {}",
            micros.len()
        );
    }
}

/// Runs a job, sees that its answer is right, and gives the microseconds of each superstep.
fn run(make: Make, rounds: u64, parallelism: usize, host: HostKind) -> Vec<f64> {
    let (seen, out) = (Seen::default(), Collected::new());
    let job = make(rounds, Arc::clone(&seen), &out);
    let report = job.parallelism(parallelism).host(host).run().expect("the job ends well");
    let seen = seen.lock().expect("nobody has panicked");
    assert_eq!(out.take().into_iter().max(), Some(rounds), "the element has gone round so often");
    assert_eq!(seen.len() as u64, rounds, "once a superstep");
    let supersteps = report.counter("iterate.supersteps") + report.counter("iterate_delta.supersteps");
    // A delta loop sees in one more that nothing has changed.
    assert!([0, 1].contains(&(supersteps - rounds.cast_signed())), "{supersteps} supersteps");
    seen.windows(2).map(|two| (two[1] - two[0]).as_secs_f64() * 1e6).collect()
}

fn see(seen: &Seen, n: u64) -> u64 {
    seen.lock().expect("nobody has panicked").push(Instant::now());
    n + 1
}

fn stays(rounds: u64, seen: Seen, out: &Collected<u64>) -> Job {
    Job::build("stays", |job| {
        let numbers = source(from_iter([0u64]));
        job.add(numbers.iterate(rounds, |n| n.map(move |n| see(&seen, n))).collect(out));
    })
}

fn moves(rounds: u64, seen: Seen, out: &Collected<u64>) -> Job {
    Job::build("moves", |job| {
        let numbers = source(from_iter([0u64]));
        let in_turn = |n: &u64, receivers: usize| *n as usize % receivers;
        let handed = numbers.iterate(rounds, |n| n.partition_by(in_turn).map(move |n| see(&seen, n)));
        job.add(handed.collect(out));
    })
}

fn delta(rounds: u64, seen: Seen, out: &Collected<u64>) -> Job {
    Job::build("delta", |job| {
        let first = source(from_iter([(0u64, 0u64)]));
        let reached = first.iterate_delta(
            |_: &mut u64, _| false,
            |n| n.filter(move |n| n.0 < rounds).map(move |n| see(&seen, n.0)).map(|n| (n, n)),
        );
        job.add(reached.map(|n| n.0).collect(out));
    })
}

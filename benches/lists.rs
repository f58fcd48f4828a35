//! What a push to a list costs whose state lies on the disk, at ten elements and at ten million:
//! `cargo bench -p flow-benches --features fjall --bench lists` (`--elements N`; `--test` runs all with little).
//!
//! Between two pushes to a list of interest others come whose states take the memory, so that it has to leave and come back. What the same job takes with lists of
//! ten elements is what is compared with; and both without a backend.

use std::time::{Duration, Instant};

use flow_core::prelude::*;
use flow_core::process::ListState;
use flow_core::process::states::Plain;

/// Bytes of state in memory, the least that may be said: half of it for entries.
const LIMIT: usize = 16 << 20;
/// Keys between two pushes, and bytes of state of each: together more than that.
const OTHERS: u64 = 40;
const BYTES: usize = 1 << 18;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let test = arguments.iter().any(|argument| argument == "--test");
    let after = arguments.iter().skip_while(|argument| *argument != "--elements").nth(1);
    let many = after.and_then(|n| n.parse().ok()).unwrap_or(if test { 10_000 } else { 10_000_000 });
    let pushes = if test { 20 } else { 2_000 };
    for backend in [true, false] {
        let none = run(0, pushes, backend);
        for elements in [10, many] {
            let filled = run(elements, 0, backend);
            let all = run(elements, pushes, backend);
            let cost = all.saturating_sub(filled) / pushes as u32;
            println!(
                "backend {backend}, {elements} elements: filled in {filled:?}; a push and its {OTHERS} others {cost:?} (without the list {:?})",
                none / pushes as u32
            );
        }
    }
}

/// A list of so many elements, then pushes to it, each behind others.
fn run(elements: u64, pushes: u64, backend: bool) -> Duration {
    let folder = std::env::temp_dir().join(format!("flow-lists-{}", std::process::id()));
    let records = elements + pushes * (OTHERS + 1);
    let key = move |n: u64| match n.checked_sub(elements) {
        Some(n) if !n.is_multiple_of(OTHERS + 1) => n % (OTHERS + 1),
        _ => 0,
    };
    let job = Job::build("lists", |job| {
        let numbers = source(generate(records, |n| n)).at_least_once();
        let states = (Plain(ListState::<u64>::new), (Plain(Vec::<u8>::new), ()));
        let lists = numbers.key_by(move |n| key(*n)).declare(states).on_event::<(), _, _>(
            move |(list, (bytes, ())): (&mut ListState<u64>, (&mut Vec<u8>, ())), n: u64, _| {
                if key(n) == 0 {
                    list.push(n);
                } else {
                    bytes.resize(BYTES, n as u8);
                }
            },
        );
        job.add(lists.done().for_each(|()| ()));
    });
    let job = job.parallelism(1).batch_size(1);
    let job = if backend { job.state_backend(Fjall::at(&folder).memory_limit(LIMIT)) } else { job };
    let begun = Instant::now();
    job.run().expect("the job ends well");
    let took = begun.elapsed();
    let _ = std::fs::remove_dir_all(&folder);
    took
}

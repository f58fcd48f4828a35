//! What a push to a list costs whose state lies on the disk, at ten elements and at ten million:
//! `cargo bench -p flow-benches --features fjall --bench lists` (`--elements N`; `--test` runs all with little).
//!
//! Nothing stays in memory: before each push the list's key has left, and comes back. So what is timed is a look-up, a push and an eviction, one
//! record a batch; each has the overhead of a batch in it, which is the same at any length.

use std::sync::{Arc, Mutex};
use std::time::Instant;

use flow_core::prelude::*;
use flow_core::process::ListState;
use flow_core::process::states::Plain;
use flow_core::testing::NothingInMemory;

/// Pushes before those that are timed.
const BEFORE: u64 = 100;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let test = arguments.iter().any(|argument| argument == "--test");
    let after = arguments.iter().skip_while(|argument| *argument != "--elements").nth(1);
    let many = after.and_then(|n| n.parse().ok()).unwrap_or(if test { 10_000 } else { 10_000_000 });
    let pushes = if test { 200 } else { 50_000 };
    for elements in [10, 1_000, many] {
        println!("{elements} elements: {:.1} µs a push", micros(elements, pushes));
    }
}

/// The time of a push to a list of so many elements; as many are taken out as are pushed.
fn micros(elements: u64, pushes: u64) -> f64 {
    let folder = std::env::temp_dir().join(format!("flow-lists-{}", std::process::id()));
    let begun: Arc<Mutex<Vec<Instant>>> = Arc::default();
    let seen = Arc::clone(&begun);
    let job = Job::build("lists", |job| {
        let numbers = source(generate(1 + BEFORE + pushes, |n| n)).at_least_once();
        let lists = numbers
            .key_by(|_| 0u64)
            .declare((Plain(ListState::<u64>::new), ()))
            .on_event::<(), _, _>(move |(list, ()): (&mut ListState<u64>, ()), n: u64, _| {
                if n == 0 {
                    (0..elements).for_each(|n| list.push(n));
                }
                if n == BEFORE || n == BEFORE + pushes {
                    seen.lock().expect("nobody has panicked").push(Instant::now());
                }
                list.push(n);
                list.pop_front();
            });
        job.add(lists.done().for_each(|()| ()));
    });
    let backend = NothingInMemory::of(Fjall::at(&folder).memory_limit(64 << 20));
    job.parallelism(1).batch_size(1).state_backend(backend).run().expect("the job ends well");
    let _ = std::fs::remove_dir_all(&folder);
    let seen = begun.lock().expect("nobody has panicked");
    let [first, last] = seen[..] else { panic!("it has not come to its end") };
    (last - first).as_secs_f64() * 1e6 / pushes as f64
}

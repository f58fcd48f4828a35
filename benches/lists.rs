//! What a push to a list costs whose state lies on the disk, at ten elements and at ten million:
//! `cargo bench -p flow-benches --features fjall --bench lists` (`--elements N`; `--test` runs all with little).
//!
//! Nothing stays in memory: before each push the list's key has left, and comes back. So what is timed is a look-up, a push and an eviction, one
//! record a batch; each has the overhead of a batch in it, which is the same at any length. As many elements are taken out as are pushed.
//!
//! Each length has a job of its own, and a database. They have their turns, some thousand pushes each, so that what else the machine
//! does befalls all of them, and what is put off is in each of them; the medians are compared. Where
//! there is more to do than the machine has time for, the time for which the thread was at work says more.

use std::sync::{Arc, Barrier, Condvar, Mutex};
use std::time::Instant;

use flow_core::prelude::*;
use flow_core::process::ListState;
use flow_core::process::states::Plain;
use flow_core::testing::NothingInMemory;

/// As many as lengths.
const JOBS: usize = 3;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let test = arguments.iter().any(|argument| argument == "--test");
    let after = arguments.iter().skip_while(|argument| *argument != "--elements").nth(1);
    let many = after.and_then(|n| n.parse().ok()).unwrap_or(if test { 10_000 } else { 10_000_000 });
    let (rounds, pushes) = if test { (3, 50) } else { (40, 5_000) };
    let lengths: [u64; JOBS] = [10, 1_000, many];
    let turns = Turns { begun: Barrier::new(JOBS), whose: Mutex::new(0), changed: Condvar::new() };
    let turns = Arc::new(turns);
    let jobs: Vec<_> = lengths
        .into_iter()
        .enumerate()
        .map(|(own, elements)| {
            let turns = Arc::clone(&turns);
            std::thread::spawn(move || micros(elements, (rounds, pushes), (own, turns)))
        })
        .collect();
    let mut first = None;
    for (job, elements) in jobs.into_iter().zip(lengths) {
        let (rounds, at_work) = job.join().expect("the job ends well");
        let time = median(rounds);
        let than = *first.get_or_insert((time, at_work));
        let (ratio, of_work) = (time / than.0, at_work / than.1);
        println!(
            "{elements} elements: {time:.2} µs a push, x {ratio:.2}; its thread at work for {at_work:.2}, x {of_work:.2}"
        );
    }
}

fn median(mut all: Vec<f64>) -> f64 {
    all.sort_unstable_by(f64::total_cmp);
    all[all.len() / 2]
}

/// How many µs the thread has been at work, where the system says so.
fn at_work() -> f64 {
    let said = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    said.split(' ').next().and_then(|nanos| nanos.parse().ok()).map_or(f64::NAN, |nanos: f64| nanos / 1e3)
}

/// Whose turn it is, once all have begun.
struct Turns {
    begun: Barrier,
    whose: Mutex<usize>,
    changed: Condvar,
}

impl Turns {
    fn wait(&self, own: usize) {
        let whose = self.whose.lock().expect("nobody has panicked");
        drop(self.changed.wait_while(whose, |whose| *whose != own).expect("nobody has panicked"));
    }

    fn pass_on(&self, jobs: usize) {
        let mut whose = self.whose.lock().expect("nobody has panicked");
        *whose = (*whose + 1) % jobs;
        self.changed.notify_all();
    }
}

/// Pushes to a list of so many elements: the time of one, in each round; and how long the job's thread was at work for one.
fn micros(elements: u64, (rounds, pushes): (u64, u64), (own, turns): (usize, Arc<Turns>)) -> (Vec<f64>, f64) {
    let folder = std::env::temp_dir().join(format!("flow-lists-{}-{own}", std::process::id()));
    let times = Arc::new(Mutex::new((Instant::now(), Vec::new(), 0.0)));
    let seen = Arc::clone(&times);
    let job = Job::build("lists", |job| {
        let numbers = source(generate(1 + rounds * pushes, |n| n)).at_least_once();
        let lists = numbers
            .key_by(|_| 0u64)
            .declare((Plain(ListState::<u64>::new), ()))
            .on_event::<(), _, _>(move |(list, ()): (&mut ListState<u64>, ()), n: u64, _| {
                if n == 0 {
                    (0..elements).for_each(|n| list.push(n));
                    return;
                }
                list.push(n);
                list.pop_front();
                if n == 1 {
                    turns.begun.wait();
                }
                if n.is_multiple_of(pushes) {
                    let (begun, times, work) = &mut *seen.lock().expect("nobody has panicked");
                    times.push(begun.elapsed().as_secs_f64() * 1e6 / pushes as f64);
                    *work += if n == rounds * pushes { at_work() } else { 0.0 };
                    turns.pass_on(JOBS);
                }
                if n == 1 {
                    seen.lock().expect("nobody has panicked").2 -= at_work();
                }
                if n == 1 || n.is_multiple_of(pushes) && n < rounds * pushes {
                    turns.wait(own);
                    seen.lock().expect("nobody has panicked").0 = Instant::now();
                }
            });
        job.add(lists.done().for_each(|()| ()));
    });
    let backend = NothingInMemory::of(Fjall::at(&folder).memory_limit(64 << 20));
    job.parallelism(1).batch_size(1).state_backend(backend).run().expect("the job ends well");
    let _ = std::fs::remove_dir_all(&folder);
    let times = times.lock().expect("nobody has panicked");
    (times.1.clone(), times.2 / (rounds * pushes) as f64)
}

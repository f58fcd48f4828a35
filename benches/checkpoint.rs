//! What a checkpoint costs a stage: `cargo bench -p flow-benches --bench checkpoint`.
//!
//! * the pause at the barrier and the slices between two batches, at many keys (`--keys N`, ten million);
//! * the bytes of what has changed when one key in a hundred has, beside those of all;
//! * the rate of a running sum and of windows by a million keys, with a checkpoint each second beside the same pipeline that is
//!   not checkpointed, in interleaved pairs (`--pairs N`).
//!
//! On one thread, which writes the state into memory, and as whole jobs on threads, whose files are synced. `--test` runs all with little,
//! `--only pauses`, `rates` or `whole` a part.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use flow_benches::elements::keyed;
use flow_core::host::{Host, Instance, Launch, Progress, Task};
use flow_core::prelude::*;

/// As large as the slices of a job.
const SLICE: usize = 8 * 1024;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let test = arguments.iter().any(|argument| argument == "--test");
    let number = |name: &str, default: u64| {
        let after = arguments.iter().skip_while(|argument| *argument != name).nth(1);
        after.and_then(|n| n.parse().ok()).unwrap_or(default)
    };
    let only = arguments.iter().skip_while(|argument| *argument != "--only").nth(1);
    let wanted = |part: &str| only.is_none_or(|only| only == part);
    if wanted("pauses") {
        pauses(number("--keys", if test { 10_000 } else { 10_000_000 }));
    }
    let (n, pairs) = if test { (10_000, 1) } else { (150_000_000, number("--pairs", 5)) };
    if wanted("rates") {
        rates("sum (W3)", pairs, &|host, lasts| sums(n, lasts).host_with(host).run());
        rates("window (W4)", pairs, &|host, lasts| windows(n, lasts).host_with(host).run());
    }
    if wanted("whole") {
        whole("sum (W3)", pairs, &|lasts| sums(n * 4, lasts));
        whole("window (W4)", pairs, &|lasts| windows(n, lasts));
    }
}

/// Fills a table, writes it whole, changes one key in a hundred, and writes what has changed. Meanwhile there are elements of one key, so
/// that the stage has something else to do.
fn pauses(keys: u64) {
    let (touched, long, short) = (keys / 100, keys * 2, keys / 2 + 20_000);
    let key = move |i: u64| match i.checked_sub(keys + long) {
        // Every key once, then the one; then so many others, spread over all.
        None => {
            if i < keys {
                i
            } else {
                0
            }
        }
        Some(i) if i < touched => i * 100 + i % 97,
        Some(_) => 0,
    };
    let host = Saving { at: vec![keys + 10_000, keys + long + touched + 10_000], ..Saving::default() };
    let read = Arc::clone(&host.read);
    let make = move |i| {
        read.store(i, Ordering::Relaxed);
        (key(i), i)
    };
    let elements = source(generate(keys + long + touched + short, make)).at_least_once();
    let job =
        Job::build("pauses", |job| job.add(elements.key_by(|x| x.0).wrapping_sum(|x| x.1).for_each(|_| ())));
    job.parallelism(1).host_with(host.clone()).run().expect("the job ends well");
    let seen = host.seen.lock().expect("nobody has panicked");
    for (what, taken) in ["whole", "changes"].iter().zip(&seen.taken) {
        println!(
            "{keys} keys, {what}: pause {:?}, {} slices of {:?} (median), {:?} (99 %), {:?} (longest), {} bytes",
            taken.pause,
            taken.slices.len(),
            part(&taken.slices, 50),
            part(&taken.slices, 99),
            part(&taken.slices, 100),
            taken.bytes
        );
    }
    if let [whole, changes] = &seen.taken[..] {
        println!("bytes of the changes / of all: {:.4}", changes.bytes as f64 / whole.bytes as f64);
    }
}

fn part(sorted: &[Duration], percent: usize) -> Duration {
    sorted
        .get((sorted.len() * percent / 100).min(sorted.len().saturating_sub(1)))
        .copied()
        .unwrap_or_default()
}

/// The same pipeline, checkpointed or not.
macro_rules! both {
    ($lasts:ident, $source:expr, |$stream:ident| $rest:expr) => {
        Job::build("rates", |job| {
            if $lasts {
                let $stream = $source.at_least_once();
                job.add($rest)
            } else {
                let $stream = $source;
                job.add($rest)
            }
        })
        .parallelism(1)
    };
}

fn sums(n: u64, lasts: bool) -> Job {
    both!(lasts, source(generate(n, keyed)), |elements| elements
        .key_by(|x| x.0)
        .wrapping_sum(|x| x.1)
        .for_each(|_| ()))
}

fn windows(n: u64, lasts: bool) -> Job {
    // Two hundred elements a millisecond, so that a window has two of each key.
    let event = |i: u64| (keyed(i), Timestamp((i / 200).cast_signed()));
    both!(lasts, source(generate(n, event)), |events| events
        .event_time(|e| e.1)
        .disorder(Millis(100))
        .key_by(|e| e.0.0)
        .window(tumbling(Millis(10_000)))
        .aggregate(|a| (a.count(), a.wrapping_sum(|e| e.0.1)))
        .for_each(|_| ()))
}

fn rates(what: &str, pairs: u64, run: &dyn Fn(Saving, bool) -> Result<Report>) {
    let (mut ratios, mut taken) = (Vec::new(), 0);
    for _ in 0..pairs {
        let timed = |host: Saving, lasts: bool| {
            let begun = Instant::now();
            run(host, lasts).expect("the job ends well");
            begun.elapsed()
        };
        let without = timed(Saving::default(), false);
        let host = Saving { every: Some(Duration::from_secs(1)), ..Saving::default() };
        let with = timed(host.clone(), true);
        taken += host.seen.lock().expect("nobody has panicked").taken.len();
        ratios.push(without.as_secs_f64() / with.as_secs_f64());
    }
    ratios.sort_by(f64::total_cmp);
    let median = ratios[ratios.len() / 2];
    println!(
        "{what}: rate with {taken} checkpoints / without: {median:.3} (median of {pairs} pairs), {ratios:.3?}"
    );
}

/// The same as a job of its own, on its own threads, into files that are synced, beside one without checkpoints and one that is durable and takes none.
fn whole(what: &str, pairs: u64, make: &dyn Fn(bool) -> Job) {
    let folder = std::env::temp_dir().join(format!("flow-checkpoint-{}", std::process::id()));
    let (mut ratios, mut durable) = (Vec::new(), Vec::new());
    let mut taken = 0;
    for _ in 0..pairs {
        let timed = |job: Job| {
            let begun = Instant::now();
            let report = job.run().expect("the job ends well");
            (begun.elapsed(), report)
        };
        let without = timed(make(false)).0;
        let none = timed(make(true)).0;
        let _ = std::fs::remove_dir_all(&folder);
        let (with, report) = timed(make(true).checkpoints(Checkpoints::to(&folder).every(Millis(1_000))));
        taken += report.counter("checkpoints.completed");
        ratios.push(without.as_secs_f64() / with.as_secs_f64());
        durable.push(none.as_secs_f64() / with.as_secs_f64());
    }
    let _ = std::fs::remove_dir_all(&folder);
    for (beside, mut ratios) in [("not checkpointed", ratios), ("durable, without checkpoints", durable)] {
        ratios.sort_by(f64::total_cmp);
        let median = ratios[ratios.len() / 2];
        println!(
            "{what}, whole jobs: rate with {taken} checkpoints / {beside}: {median:.3} (median of {pairs}), {ratios:.3?}"
        );
    }
}

/// Steps a job on one thread, and has the state written.
#[derive(Clone, Default)]
struct Saving {
    every: Option<Duration>,
    /// When so many elements have been read.
    at: Vec<u64>,
    read: Arc<AtomicU64>,
    seen: Arc<Mutex<Seen>>,
}

#[derive(Default)]
struct Seen {
    taken: Vec<Taken>,
}

/// A checkpoint.
#[derive(Default)]
struct Taken {
    pause: Duration,
    /// Steps meanwhile, each with a slice.
    slices: Vec<Duration>,
    bytes: usize,
}

impl Host for Saving {
    fn place(&self, _: usize, _: usize, _: usize, _: usize) -> usize {
        0
    }

    fn run(&self, launch: Launch) -> Result<()> {
        let instances = launch.threads.into_iter().flat_map(|thread| thread.1);
        let mut tasks = instances.map(Instance::open).collect::<Result<Vec<Task>>>()?;
        let mut seen = self.seen.lock().expect("nobody has panicked");
        let mut last = Instant::now();
        while !tasks.iter().all(Task::is_done) {
            for task in tasks.iter_mut().filter(|task| !task.is_done()) {
                let begun = Instant::now();
                let saves = task.is_saving();
                while task.step(0, false)? == Progress::Made && saves == task.is_saving() && !saves {}
                if let Some(taken) = seen.taken.last_mut().filter(|_| saves) {
                    taken.slices.push(begun.elapsed());
                    if !task.is_saving() {
                        finish(task, taken)?;
                    }
                }
            }
            let due = self.every.is_some_and(|every| last.elapsed() >= every)
                || self.at.get(seen.taken.len()).is_some_and(|at| self.read.load(Ordering::Relaxed) >= *at);
            if due && !tasks.iter().any(Task::is_saving) {
                last = Instant::now();
                begin(&mut tasks, &mut seen)?;
            }
        }
        Ok(())
    }
}

fn begin(tasks: &mut [Task], seen: &mut Seen) -> Result<()> {
    let begun = Instant::now();
    // A new whole one after nine of changes.
    let whole = seen.taken.len().is_multiple_of(10);
    tasks.iter_mut().filter(|task| !task.is_source()).try_for_each(|task| task.begin_save(whole, SLICE))?;
    seen.taken.push(Taken { pause: begun.elapsed(), ..Taken::default() });
    Ok(())
}

fn finish(task: &mut Task, taken: &mut Taken) -> Result<()> {
    taken.bytes += task.saved()?.iter().map(|piece| piece.1.len()).sum::<usize>();
    taken.slices.sort_unstable();
    Ok(())
}

//! A wall clock that jumps or stands still. Ticks are the machine's; there is no run under `libfaketime`, which a machine need not have.

use super::runner::{checkpoints, names};
use flow_core::prelude::*;
use flow_core::time::Clock;
use flow_tests::crashing::{Pipeline, WINDOW_MS, by_key, key, time};
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::atomic::{AtomicI64, Ordering::SeqCst};
use std::sync::{Arc, Mutex};
use std::time::Instant;

const HOUR: i64 = 3_600_000;
/// Some day.
const BEGIN: i64 = 1_700_000_000_000;
/// When it jumps, after its beginning.
const AT: i64 = 300;

#[derive(Debug, Clone, Copy, PartialEq)]
enum How {
    Back,
    Forward,
    Frozen,
    /// A second ahead, and back, every 50 ms.
    Shaking,
    /// By hand.
    Set,
}

struct Odd {
    how: How,
    begun: Instant,
    by_hand: AtomicI64,
}

impl Odd {
    fn new(how: How) -> Arc<Odd> {
        Arc::new(Odd { how, begun: Instant::now(), by_hand: AtomicI64::new(0) })
    }
}

impl Clock for Odd {
    fn wall(&self) -> Timestamp {
        let now = self.ticks();
        let wall = match self.how {
            How::Back if now >= AT => now - HOUR,
            How::Forward if now >= AT => now + HOUR,
            How::Frozen => now.min(AT),
            How::Shaking => now + now / 50 % 2 * 1_000,
            _ => now + self.by_hand.load(SeqCst),
        };
        Timestamp(BEGIN + wall)
    }
    fn ticks(&self) -> i64 {
        i64::try_from(self.begun.elapsed().as_millis()).unwrap()
    }
}

const ALL: [How; 4] = [How::Back, How::Forward, How::Frozen, How::Shaking];

/// Windows in event time, a second and a half.
fn windows(count: u64, folder: &Path, clock: Arc<Odd>, every: i64) -> Job {
    let job = Job::build("windows", |job| {
        let numbers = source(generate(count, |i| i).splits(2).rate(4_000)).durable();
        let timed = numbers.event_time(|i| time(*i)).monotonic();
        let windows = timed.key_by(|i| key(*i)).window(tumbling(Millis(WINDOW_MS)));
        let rows = windows.aggregate(|a| (a.count(), a.sum(|i| *i)));
        let rows = rows.map(|w| (w.key, w.start.millis(), w.value.0, w.value.1));
        job.add(rows.sink(csv_files(folder.join("out")).no_header()));
    });
    let checkpoints = Checkpoints::to(folder.join("state")).every(Millis(every));
    job.checkpoints(checkpoints).parallelism(2).clock(clock)
}

/// Checkpoints go by the ticks, their numbers rise, rows are what they are, and nothing took less than no time.
#[test]
fn f_c1_event_time_and_checkpoints() {
    const COUNT: u64 = 6_000;
    let every = 50;
    for how in ALL {
        let folder = tempfile::tempdir().unwrap();
        let begun = Instant::now();
        let job = windows(COUNT, folder.path(), Odd::new(how), every);
        let handle = job.start().unwrap();
        let mut ids = vec![0];
        while !handle.is_finished() {
            let newest = checkpoints(&folder.path().join("state")).last().copied().unwrap_or(0);
            assert!(newest >= ids[ids.len() - 1], "{how:?}: {newest} after {ids:?}");
            ids.push(newest);
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
        let report = handle.join().unwrap();
        let took = i64::try_from(begun.elapsed().as_millis()).unwrap();
        let completed = report.counter("checkpoints.completed");
        println!("{how:?}: {completed} checkpoints in {took} ms");
        // One an interval at most, and the last one; a busy machine comes to fewer than each other interval.
        assert!(completed <= took / every + 2, "{how:?}: {completed} in {took} ms");
        assert!(completed >= took / (4 * every), "{how:?}: {completed} in {took} ms");
        for stage in &report.stages {
            let most = report.elapsed * u32::try_from(stage.instances).unwrap();
            assert!(stage.busy <= most && stage.idle <= most, "{how:?}: {report}");
            assert!(stage.counters.iter().all(|counter| counter.1 >= 0), "{how:?}: {report}");
        }
        let out = folder.path().join("out");
        let names = names(&out).into_iter().filter(|name| !name.starts_with('.'));
        let texts: String = names.map(|name| std::fs::read_to_string(out.join(name)).unwrap()).collect();
        let rows = by_key(texts.lines().map(str::to_owned));
        assert!(rows == Pipeline::Windows.expected(COUNT).remove(0), "{how:?}: {} rows", rows.len());
    }
}

const SIZE: i64 = 100;
const KEYS: u64 = 4;

/// What a window on the clock has given, and when it came there.
type Fired = Arc<Mutex<Vec<(u64, i64, u64, Instant)>>>;

/// Records for a second and a half.
fn clocked(count: u64, fired: &Fired, seen: impl Fn(u64) + Clone + Send + 'static) -> Job {
    Job::build("clocked", |job| {
        let fired = Arc::clone(fired);
        let numbers = source(generate(count, |i| i).rate(2_000)).at_least_once();
        let numbers = numbers.inspect(move |n| seen(*n));
        let windows = numbers.key_by(|n| n % KEYS).window(tumbling(Millis(SIZE)).time(processing)).count();
        let row = move |w: Windowed<u64, u64>| {
            fired.lock().unwrap().push((w.key, w.start.millis(), w.value, Instant::now()));
        };
        job.add(windows.for_each(row));
    })
}

/// No window twice, none that is not aligned, and between two firings at most a window and what a busy machine takes.
fn check(fired: &Fired, count: Option<u64>, what: &str) {
    let fired = fired.lock().unwrap();
    let panes: BTreeSet<(u64, i64)> = fired.iter().map(|row| (row.0, row.1)).collect();
    assert_eq!(panes.len(), fired.len(), "{what}: a window twice: {fired:?}");
    assert!(fired.iter().all(|row| row.1 % SIZE == 0), "{what}");
    if let Some(count) = count {
        assert_eq!(fired.iter().map(|row| row.2).sum::<u64>(), count, "{what}");
    }
    let mut times: Vec<Instant> = fired.iter().map(|row| row.3).collect();
    times.sort();
    let longest = times.windows(2).map(|two| two[1] - two[0]).max().unwrap();
    println!("{what}: {} windows, {longest:?} between two at most", fired.len());
    assert!(longest.as_millis() < 700, "{what}: nothing for {longest:?}");
}

#[test]
fn f_c1_windows_on_the_clock() {
    const COUNT: u64 = 3_000;
    for how in ALL {
        let fired = Fired::default();
        clocked(COUNT, &fired, |_| ()).parallelism(2).clock(Odd::new(how)).run().unwrap();
        check(&fired, Some(COUNT), &format!("{how:?}"));
    }
}

/// The clock is set between two runs: windows of the second begin where those of the first have ended, and go on.
#[test]
fn f_c1_set_back_between_two_runs() {
    const COUNT: u64 = 4_000;
    for by in [-HOUR, -1_000, HOUR] {
        let (fired, folder, clock) = (Fired::default(), tempfile::tempdir().unwrap(), Odd::new(How::Set));
        let (set, left) = (Arc::clone(&clock), Arc::new(AtomicI64::new(1)));
        let seen = move |n| {
            if n == COUNT / 2 && left.swap(0, SeqCst) == 1 {
                set.by_hand.store(by, SeqCst);
                panic!("the clock was set");
            }
        };
        let checkpoints = Checkpoints::to(folder.path()).every(Millis(20));
        let job = clocked(COUNT, &fired, seen).checkpoints(checkpoints).restart(1, Millis(1));
        let report = job.parallelism(2).clock(clock).run().unwrap();
        assert_eq!(report.restarts, 1);
        // At least once: what fired between the last checkpoint and the end may be told again, and is no other window.
        let mut all = fired.lock().unwrap();
        all.sort_by_key(|row| (row.0, row.1, row.3));
        all.dedup_by_key(|row| (row.0, row.1));
        drop(all);
        check(&fired, None, &format!("set by {by} ms"));
    }
}

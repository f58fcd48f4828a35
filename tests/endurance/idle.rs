//! A pipeline that has nothing to do does nothing.

use flow_core::prelude::*;
use flow_tests::process::{Cpu, alone};
use std::time::{Duration, Instant};

/// How long it is watched.
const WATCHED: Duration = Duration::from_secs(3);

/// The share of a core that is used while `f` runs.
fn load(f: impl FnOnce()) -> f64 {
    let (cpu, begun) = (Cpu::now(), Instant::now());
    f();
    cpu.elapsed().as_secs_f64() / begun.elapsed().as_secs_f64()
}

#[test]
fn a_busy_thread_is_seen() {
    let _alone = alone();
    let begun = Instant::now();
    let load = load(|| while begun.elapsed() < Duration::from_millis(200) {});
    assert!(load > 0.05, "{load}");
}

#[test]
fn an_idle_pipeline_uses_no_processor() {
    let _alone = alone();
    for host in [HostKind::Threads, HostKind::Workers(2)] {
        let ((one, first), (two, second)) = (channel::<u64>(8), channel::<u64>(8));
        let out = Collected::new();
        let job = Job::build("idle", |job| {
            job.add(source(first).union(source(second)).key_by(|n| n % 7).count().collect(&out));
        });
        let handle = job.parallelism(2).host(host).start().unwrap();
        one.send(1).unwrap();
        std::thread::sleep(Duration::from_millis(100));
        let load = load(|| std::thread::sleep(WATCHED));
        assert!(load < 0.01, "{host:?}: {:.2} % of a core", 100.0 * load);
        drop((one, two));
        assert_eq!(handle.join().unwrap().rescues, 0);
        assert_eq!(out.take(), [(1, 1)]);
    }
}

/// A source that says when it has more is asked then, and not before.
#[test]
fn a_source_that_waits_keeps_pace_and_idles() {
    let _alone = alone();
    for host in [HostKind::Threads, HostKind::Workers(2)] {
        let out = Collected::new();
        let job = Job::build("paced", |job| {
            let paced = source(generate(150, |i| i).splits(2).rate(100));
            job.add(paced.key_by(|n| n % 7).count().collect(&out));
        });
        let handle = job.parallelism(2).host(host).start().unwrap();
        let begun = Instant::now();
        let load = load(|| std::thread::sleep(Duration::from_millis(1200)));
        let report = handle.join().unwrap();
        let took = begun.elapsed();
        assert_eq!((out.take().len(), report.rescues), (150, 0));
        // The last number is due after 1.49 s.
        assert!(took > Duration::from_millis(1400) && took < Duration::from_secs(5), "{host:?}: {took:?}");
        assert!(load < 0.25, "{host:?}: {:.1} % of a core", 100.0 * load);
    }
}

/// A source that has no room is not silent: its watermark goes on holding back the other's.
#[test]
fn back_pressure_is_not_idleness() {
    let _alone = alone();
    let (far, silent) = channel(1);
    far.send(1_000_000i64).unwrap();
    let job = Job::build("pressed", |job| {
        let pressed = source(from_iter(0..12i64)).event_time(|t| *t).idle(Millis(20));
        let ahead = source(silent).event_time(|t| *t);
        let slow = pressed.union(ahead).inspect(|_| std::thread::sleep(Duration::from_millis(60)));
        job.add(slow.key_by(|t| t % 2).window(tumbling(Millis(1))).aggregate(|a| a.count()).for_each(|_| ()));
    });
    let handle = job.host(HostKind::Threads).batch_size(1).ring_batches(1).start().unwrap();
    std::thread::sleep(Duration::from_millis(1000));
    drop(far);
    assert_eq!(handle.join().unwrap().late(), 0);
}

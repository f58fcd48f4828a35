//! Panics of the user's code.

use super::harness::{At, Expected, Ledger, check};
use flow_core::op::kind::{Bounded, Replayable};
use flow_core::prelude::*;
use flow_core::source::{Poll, Reader, Source};
use flow_core::stage::OpenCx;

/// Panics at the caller's place when it comes to `at`.
#[track_caller]
fn boom(n: u64, at: u64) -> u64 {
    assert!(n != at, "boom");
    n
}

/// A panic in a closure is an error of `stage`, at the line of its `boom`.
fn panics(stage: &'static str, fault: fn(&mut Job, &Ledger)) {
    let expected = Expected { kind: ErrorKind::Panic, stage, cause: "boom", line: "boom(" };
    check("panics.rs", include_str!("panics.rs"), &expected, fault);
}

fn numbers() -> Stream<u64, flow_core::source::SourceKind<Numbers>, flow_core::source::Src<Numbers>> {
    source(generate(4000, number as fn(u64) -> u64).splits(2))
}

type Numbers = flow_core::source::Generate<fn(u64) -> u64>;

fn number(i: u64) -> u64 {
    i
}

#[test]
fn in_a_closure_at_the_first_record() {
    panics("generate[", |job, l| {
        job.add(numbers().map(|n| boom(n, 0)).key_by(|n| n % 5).count().sink(l.sink()))
    });
}

#[test]
fn in_a_closure_in_the_middle_of_a_batch() {
    panics("generate[", |job, l| {
        job.add(numbers().map(|n| boom(n, 777)).key_by(|n| n % 5).count().sink(l.sink()))
    });
}

#[test]
fn in_a_stage_behind_an_exchange() {
    panics("rebalance[", |job, l| {
        job.add(numbers().rebalance().filter(|n| boom(*n, 777) > 0).sink(l.sink()))
    });
}

#[test]
fn in_a_key_function() {
    panics("generate[", |job, l| job.add(numbers().key_by(|n| boom(*n, 777) % 5).count().sink(l.sink())));
}

#[test]
fn in_a_rolling_fold() {
    panics("fold[", |job, l| {
        job.add(numbers().key_by(|n| n % 5).fold(0, |s, n| *s += boom(n, 777)).sink(l.sink()))
    });
}

#[test]
fn in_an_event_time_closure() {
    panics("generate[", |job, l| {
        let timed = numbers().event_time(|n| boom(*n, 777) as i64);
        job.add(timed.key_by(|n| n % 5).window(tumbling(Millis(10))).aggregate(|a| a.count()).sink(l.sink()));
    });
}

#[test]
fn in_an_aggregate_that_is_merged_at_the_sender() {
    panics("generate[", |job, l| {
        let timed = numbers().event_time(|n| *n as i64);
        let windows = timed.key_by(|n| n % 5).window(tumbling(Millis(1000)));
        job.add(windows.aggregate(|a| a.sum(|n| boom(*n, 777))).sink(l.sink()));
    });
}

#[test]
fn in_an_aggregate_at_the_receiver() {
    panics("aggregate[", |job, l| {
        let timed = numbers().event_time(|n| *n as i64);
        let windows = timed.key_by(|n| n % 5).window(tumbling(Millis(1000)));
        job.add(windows.aggregate(|a| a.fold(0, |s, n| *s += boom(n, 777))).sink(l.sink()));
    });
}

#[test]
fn in_a_source_closure() {
    panics("generate[", |job, l| job.add(source(generate(4000, |n| boom(n, 777)).splits(2)).sink(l.sink())));
}

#[test]
fn in_the_init_of_map_init() {
    panics("generate[", |job, l| job.add(numbers().map_init(|_| boom(1, 1), |_, n| n).sink(l.sink())));
}

#[test]
fn in_a_terminal_closure() {
    panics("generate[", |job, _| job.add(numbers().for_each(|n| assert!(boom(n, 777) < 4000))));
}

/// A record whose destructor panics.
struct Fragile(u64);

impl Drop for Fragile {
    fn drop(&mut self) {
        boom(self.0, 777);
    }
}

#[test]
fn in_the_destructor_of_a_record() {
    panics("generate[", |job, l| {
        job.add(numbers().map(Fragile).filter(|f| f.0 % 2 == 0).map(|_| ()).sink(l.sink()))
    });
}

/// Odd records are in rings and batches when the job fails, and nobody is in charge of them any more.
#[test]
fn in_the_destructor_of_a_record_after_a_failure() {
    panics("rebalance[", |job, l| {
        let fragile = numbers().map(Fragile).rebalance();
        let kept = |f: Fragile| {
            boom(f.0, 500);
            std::mem::forget(f);
        };
        job.add(fragile.map(kept).sink(l.sink()));
    });
}

/// A source that panics where it is told to.
#[derive(Clone)]
struct Brittle(&'static str);
struct BrittleReader(bool);

impl Source for Brittle {
    type Item = u64;
    type Split = ();
    type Reader = BrittleReader;
    type Bounds = Bounded;
    type Replay = Replayable;
    fn name(&self) -> &'static str {
        "brittle"
    }
    fn splits(&self) -> Result<Vec<()>> {
        boom(u64::from(self.0 == "splits"), 1);
        Ok(vec![(), ()])
    }
    fn open(&self, (): (), _: &mut OpenCx) -> Result<BrittleReader> {
        boom(u64::from(self.0 == "open"), 1);
        Ok(BrittleReader(self.0 == "poll"))
    }
}

impl Reader<u64> for BrittleReader {
    fn poll<O: FnMut(u64)>(&mut self, out: &mut O, _: usize) -> Result<Poll> {
        out(0);
        boom(u64::from(self.0), 1);
        Ok(Poll::End)
    }
}

#[test]
fn when_a_source_is_divided() {
    panics("", |job, l| job.add(source(Brittle("splits")).sink(l.sink())));
}

#[test]
fn when_a_source_is_opened() {
    panics("brittle[", |job, l| job.add(source(Brittle("open")).sink(l.sink())));
}

#[test]
fn when_a_source_is_read() {
    panics("brittle[", |job, l| job.add(source(Brittle("poll")).sink(l.sink())));
}

fn sink_panics(fault: fn(&mut Job, &Ledger)) {
    let cause = "the sink panics";
    let expected = Expected { kind: ErrorKind::Panic, stage: "rebalance[", cause, line: "" };
    check("panics.rs", include_str!("panics.rs"), &expected, fault);
}

#[test]
fn when_a_sink_is_opened() {
    sink_panics(|job, l| job.add(numbers().rebalance().sink(l.sink().panics(At::Open))));
}

#[test]
fn when_a_sink_is_written() {
    sink_panics(|job, l| job.add(numbers().rebalance().sink(l.sink().panics(At::Write))));
}

#[test]
fn when_a_sink_is_finished() {
    sink_panics(|job, l| job.add(numbers().rebalance().sink(l.sink().panics(At::Finish))));
}

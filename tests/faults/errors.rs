//! Errors that closures, sources and sinks report.

use super::harness::{At, Expected, Ledger, check};
use flow_core::op::kind::{Bounded, Replayable};
use flow_core::prelude::*;
use flow_core::source::{Poll, Reader, Source};
use flow_core::stage::OpenCx;
use flow_core::window::aggregate::fail;

fn fails(
    kind: ErrorKind,
    stage: &'static str,
    cause: &'static str,
    line: &'static str,
    fault: fn(&mut Job, &Ledger),
) {
    check("errors.rs", include_str!("errors.rs"), &Expected { kind, stage, cause, line }, fault);
}

/// A closure's own error.
fn picky(n: u64) -> Result<u64, String> {
    if n == 777 { Err("777 is not wanted".to_owned()) } else { Ok(n) }
}

const PICKY: &str = "777 is not wanted";

macro_rules! numbers {
    () => {
        source(generate(4000, |i| i).splits(2))
    };
}

#[test]
fn of_try_map() {
    fails(ErrorKind::Operator, "try_map", PICKY, ".try_map(", |job, l| {
        job.add(numbers!().try_map(picky).key_by(|n| n % 5).count().sink(l.sink()));
    });
}

#[test]
fn of_try_filter_map() {
    fails(ErrorKind::Operator, "try_filter_map", PICKY, ".try_filter_map(", |job, l| {
        job.add(numbers!().rebalance().try_filter_map(|n| picky(n).map(Some)).sink(l.sink()));
    });
}

#[test]
fn of_try_flat_map() {
    fails(ErrorKind::Operator, "try_flat_map", PICKY, ".try_flat_map(", |job, l| {
        job.add(numbers!().rebalance().try_flat_map(|n| picky(n).map(|n| [n, n])).sink(l.sink()));
    });
}

#[test]
fn of_try_for_each() {
    fails(ErrorKind::Operator, "try_for_each", PICKY, ".try_for_each(", |job, _| {
        job.add(numbers!().rebalance().try_for_each(|n| picky(n).map(drop)));
    });
}

#[test]
fn of_an_operator_under_a_name() {
    fails(ErrorKind::Operator, "wanted/try_map", PICKY, ".try_map(", |job, l| {
        job.add(numbers!().try_map(picky).named("wanted").sink(l.sink()));
    });
}

#[test]
fn overflow_of_a_rolling_sum() {
    fails(ErrorKind::Overflow, "sum", "overflow", ".sum(", |job, l| {
        job.add(numbers!().key_by(|n| n % 5).sum(|n| *n as i16).sink(l.sink()));
    });
}

#[test]
fn overflow_of_a_merged_sum() {
    fails(ErrorKind::Overflow, "aggregate", "overflow", ".aggregate(", |job, l| {
        let windows = numbers!().event_time(|n| *n as i64).key_by(|n| n % 5).window(tumbling(Millis(5000)));
        job.add(windows.aggregate(|a| a.sum(|n| *n as i16)).sink(l.sink()));
    });
}

#[test]
fn a_late_element() {
    fails(ErrorKind::Late, "aggregate", "too late for its window", ".aggregate(", |job, l| {
        let timed = numbers!().event_time(|n| if *n == 3000 { 0 } else { *n as i64 });
        let windows = timed.key_by(|n| n % 5).window(tumbling(Millis(100))).late(fail);
        job.add(windows.aggregate(|a| a.count()).sink(l.sink()));
    });
}

#[test]
fn of_a_sink_that_opens() {
    fails(ErrorKind::Sink, "ledger", "the sink fails", ".sink(", |job, l| {
        job.add(numbers!().rebalance().sink(l.sink().fails(At::Open)));
    });
}

#[test]
fn of_a_sink_that_writes() {
    fails(ErrorKind::Sink, "ledger", "the sink fails", ".sink(", |job, l| {
        job.add(numbers!().rebalance().sink(l.sink().fails(At::Write)));
    });
}

#[test]
fn of_a_sink_that_finishes() {
    fails(ErrorKind::Sink, "ledger", "the sink fails", ".sink(", |job, l| {
        job.add(numbers!().rebalance().sink(l.sink().fails(At::Finish)));
    });
}

#[test]
fn of_a_disk_that_is_full() {
    fails(ErrorKind::Sink, "text_file", "No space left on device", ".sink(", |job, _| {
        job.add(numbers!().rebalance().map(|n| n.to_string()).sink(text_file("/dev/full")));
    });
}

/// A source that breaks off.
#[derive(Clone)]
struct Torn {
    opens: bool,
}
struct TornReader(u64);

fn torn() -> Error {
    Error::new(ErrorKind::Source, "the tape is torn")
}

impl Source for Torn {
    type Item = u64;
    type Split = ();
    type Reader = TornReader;
    type Bounds = Bounded;
    type Replay = Replayable;
    fn name(&self) -> &'static str {
        "torn"
    }
    fn splits(&self) -> Result<Vec<()>> {
        Ok(vec![(), ()])
    }
    fn open(&self, (): (), _: &mut OpenCx) -> Result<TornReader> {
        if self.opens { Ok(TornReader(0)) } else { Err(torn()) }
    }
}

impl Reader<u64> for TornReader {
    fn poll<O: FnMut(u64)>(&mut self, out: &mut O, budget: usize) -> Result<Poll> {
        for _ in 0..budget {
            self.0 += 1;
            if self.0 == 777 {
                return Err(torn());
            }
            out(self.0);
        }
        Ok(Poll::More)
    }
}

#[test]
fn of_a_source_that_opens() {
    fails(ErrorKind::Source, "torn", "the tape is torn", "source(", |job, l| {
        job.add(source(Torn { opens: false }).key_by(|n| n % 5).count().sink(l.sink()));
    });
}

#[test]
fn of_a_source_that_is_read() {
    fails(ErrorKind::Source, "torn", "the tape is torn", "source(", |job, l| {
        job.add(source(Torn { opens: true }).key_by(|n| n % 5).count().sink(l.sink()));
    });
}

//! When a task flushes its stage.

use super::task::{Progress, Task};
use crate::batch::Batch;
use crate::error::Result;
use crate::stage::{OpenCx, Stage, Step};
use crate::time::Millis;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// Answers as it is told, the last answer for ever, and counts how often it is flushed.
struct Told {
    steps: Vec<Step>,
    flushes: Arc<AtomicUsize>,
}

impl Stage for Told {
    fn open(&mut self, _: &mut OpenCx) -> Result<()> {
        Ok(())
    }
    fn wants(&self, _: usize) -> bool {
        false
    }
    fn offer(&mut self, _: usize, _: Batch) {}
    fn spent(&mut self) -> Option<(usize, Batch)> {
        None
    }
    fn step(&mut self) -> Result<Step> {
        Ok(if self.steps.len() > 1 { self.steps.remove(0) } else { self.steps[0] })
    }
    fn room(&mut self) -> bool {
        true
    }
    fn flush(&mut self) {
        self.flushes.fetch_add(1, Relaxed);
    }
    fn deadline(&self) -> Option<i64> {
        None
    }
    fn tick(&mut self, _: i64) {}
    fn stop(&mut self) {}
    fn barrier(&mut self, _: u64) {}
    fn snapshot(&mut self, _: usize, _: &mut Vec<u8>) -> Result<()> {
        Ok(())
    }
    fn restore(&mut self, _: usize, _: &[u8]) -> Result<()> {
        Ok(())
    }
}

/// What comes of steps at these ticks, with a maximum delay of 100; and the flushes after each.
fn steps(steps: &[Step], ticks: &[i64]) -> Vec<(Progress, usize)> {
    let flushes = Arc::<AtomicUsize>::default();
    let stage = Box::new(Told { steps: steps.to_vec(), flushes: Arc::clone(&flushes) });
    let cx = crate::stage::tests::open_cx(0);
    let mut task = Task::new("told".to_owned(), stage, Vec::new(), &cx, Millis(100));
    let step = |now: &i64| (task.step(*now, false).expect("a step"), flushes.load(Relaxed));
    ticks.iter().map(step).collect()
}

#[test]
fn a_stage_that_never_waits_is_flushed_when_its_output_is_old() {
    let flushes = steps(&[Step::Worked], &[0, 50, 99, 100, 150, 249, 250]);
    let flushes: Vec<usize> = flushes.into_iter().map(|f| f.1).collect();
    assert_eq!(flushes, [0, 0, 0, 1, 1, 1, 2]);
}

#[test]
fn a_stage_that_waits_is_flushed_at_once() {
    let flushes = steps(&[Step::Worked, Step::Wait(Some(7))], &[0, 1, 1]);
    assert_eq!(flushes, [(Progress::Made, 0), (Progress::Made, 1), (Progress::Idle(Some(7)), 1)]);
}

/// What it has for other receivers goes out although one of them is full.
#[test]
fn a_stage_that_is_blocked_is_flushed_in_time() {
    let flushes = steps(&[Step::Worked, Step::Full], &[0, 1, 100, 101]);
    let blocked = Progress::Blocked(Some(100));
    assert_eq!(flushes, [(Progress::Made, 0), (blocked, 0), (blocked, 1), (Progress::Blocked(None), 1)]);
}

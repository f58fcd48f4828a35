//! When a task flushes its stage, and when a thread may sleep.

use super::control::Control;
use super::task::{Progress, Task};
use super::threads::Worker;
use crate::batch::Batch;
use crate::channel::Signal;
use crate::error::Result;
use crate::stage::{OpenCx, Stage, Step};
use crate::time::{Millis, SystemClock};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::mpsc;
use std::time::Duration;

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
    fn begin_save(&mut self, _: bool, _: usize) -> Result<()> {
        Ok(())
    }
    fn saved(&mut self) -> Result<Vec<(usize, Vec<u8>)>> {
        Ok(Vec::new())
    }
    fn restore(&mut self, _: usize, _: &[Vec<u8>]) -> Result<()> {
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

/// A stage is blocked for some steps, then waits for a tick, then is done. In one of the runs it finds room in the very last look before
/// its thread sleeps: the tick that it waits for then must be waited for, and not for ever.
#[test]
fn a_tick_that_the_last_look_finds_is_waited_for() {
    for blocked in 0..24 {
        let mut steps = vec![Step::Full; blocked];
        steps.extend([Step::Wait(Some(1)), Step::Done]);
        let stage = Box::new(Told { steps, flushes: Arc::default() });
        let cx = crate::stage::tests::open_cx(0);
        let task = Task::new("told".to_owned(), stage, Vec::new(), &cx, Millis(100));
        let (done, is_done) = mpsc::sync_channel(1);
        std::thread::spawn(move || {
            let (_, waiter) = Signal::new();
            let worker =
                Worker::new(waiter, Control::default(), Arc::new(SystemClock::new()), 1, Arc::default());
            done.send(worker.run_tasks(vec![task]).is_ok())
        });
        assert_eq!(is_done.recv_timeout(Duration::from_secs(20)), Ok(true), "blocked for {blocked} steps");
    }
}

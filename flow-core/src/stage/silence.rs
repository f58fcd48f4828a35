//! Tests: what a [`HeadStage`] says of silent inputs, where a head emits by the clock while they are.

use super::tests::{Behind, Log, Seen, open_cx};
use super::{Fire, Head, HeadStage, Stage, Step, Tail};
use crate::batch::{Batch, Mark};
use crate::time::Timestamp;
use proptest::prelude::*;
use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// What comes next, on one of two inputs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Next {
    Item(usize),
    Watermark(usize),
    Idle(usize),
    End(usize),
    Barrier,
    /// The clock comes to something that is emitted.
    Clock,
}

/// Emits what it is given at once, one item when the clock says so, and one at the end; each in a second call of `fire`.
struct Clocked {
    behind: Behind,
    due: Arc<AtomicBool>,
    ends: bool,
    paused: bool,
}

impl Clocked {
    fn emit(&self, item: u32) {
        self.behind.log.lock().expect("a log").push(Seen::Item(0, item));
    }
}

impl Head<u32> for Clocked {
    type Part = Infallible;
    fn tail(&mut self) -> &mut dyn Tail {
        &mut self.behind
    }
    fn tail_ref(&self) -> &dyn Tail {
        &self.behind
    }
    fn items(&mut self, _: usize, items: &mut std::vec::IntoIter<u32>, n: usize) {
        items.by_ref().take(n).for_each(|item| self.emit(item));
    }
    fn end(&mut self) {
        self.ends = true;
    }
    fn overdue(&mut self) -> bool {
        self.due.load(Ordering::SeqCst)
    }
    fn fire(&mut self) -> Fire {
        self.paused = !self.paused;
        if self.paused {
            return Fire::Paused;
        }
        if self.due.swap(false, Ordering::SeqCst) {
            self.emit(1_000);
        }
        if std::mem::replace(&mut self.ends, false) {
            self.emit(2_000);
        }
        Fire::Done
    }
}

/// The marks and items of a legal sequence on each input; where all inputs that are open are silent, that has to be the last
/// thing told. What a stage with such inputs says.
fn told(sequence: &[Next]) -> Vec<Seen> {
    let (log, due) = (Log::default(), Arc::new(AtomicBool::new(false)));
    let behind = Behind { log: Arc::clone(&log), rooms: 7 };
    let head = Clocked { behind, due: Arc::clone(&due), ends: false, paused: false };
    let mut stage = HeadStage::new::<u32, _>(head);
    stage.open(&mut open_cx(2)).expect("it opens");
    let (mut idle, mut ended, mut barriers, mut w) = ([false; 2], [false; 2], 0, 0);
    let settle = |stage: &mut HeadStage| while !matches!(stage.step(), Ok(Step::Hungry | Step::Done)) {};
    for next in sequence.iter().copied().chain([Next::End(0), Next::End(1)]) {
        let mut offer = |input: usize, items: Vec<u32>, mark: Option<Mark>| {
            let wakes = idle[input]
                && mark != Some(Mark::Idle)
                && !matches!(mark, Some(Mark::Barrier(_) | Mark::End));
            let marks = wakes.then_some(Mark::Active).into_iter().chain(mark).map(|mark| (0, mark));
            if !ended[input] {
                idle[input] = mark == Some(Mark::Idle) || idle[input] && !wakes;
                ended[input] |= mark == Some(Mark::End);
                stage.offer(input, Batch::new(items, marks.collect()));
                settle(&mut stage);
            }
        };
        match next {
            Next::Item(input) => offer(input, vec![1], None),
            Next::Watermark(input) => {
                w += 1;
                offer(input, Vec::new(), Some(Mark::Watermark(Timestamp(w))));
            }
            Next::Idle(input) => offer(input, Vec::new(), Some(Mark::Idle)),
            Next::End(input) => offer(input, Vec::new(), Some(Mark::End)),
            Next::Barrier => {
                barriers += 1;
                (0..2).for_each(|input| offer(input, Vec::new(), Some(Mark::Barrier(barriers))));
            }
            Next::Clock => {
                due.store(true, Ordering::SeqCst);
                settle(&mut stage);
            }
        }
        let open: Vec<bool> = (0..2).filter(|input| !ended[*input]).map(|input| idle[input]).collect();
        let silence = |seen: &&Seen| matches!(seen, Seen::Mark(Mark::Idle | Mark::Active));
        let last = log.lock().expect("a log").iter().rev().find(silence).copied();
        let silent = !open.is_empty() && open.iter().all(|idle| *idle);
        assert_eq!(last == Some(Seen::Mark(Mark::Idle)), silent, "behind {next:?} of {sequence:?}");
    }
    let log = log.lock().expect("a log");
    log.clone()
}

/// Between `Idle` and `Active` there are barriers only.
fn is_legal(told: &[Seen]) -> bool {
    let mut silent = false;
    told.iter().all(|seen| match seen {
        Seen::Mark(Mark::Idle) => !std::mem::replace(&mut silent, true),
        Seen::Mark(Mark::Active) => std::mem::replace(&mut silent, false),
        Seen::Mark(Mark::Barrier(_)) => true,
        Seen::Mark(_) | Seen::Item(..) => !silent,
    })
}

#[test]
fn what_leaves_by_the_clock_is_no_part_of_the_silence() {
    let told = told(&[Next::Idle(0), Next::Idle(1), Next::Clock]);
    let mark = Seen::Mark;
    let by_clock = [mark(Mark::Idle), mark(Mark::Active), Seen::Item(0, 1_000), mark(Mark::Idle)];
    let end =
        [mark(Mark::Active), mark(Mark::Watermark(Timestamp::MAX)), Seen::Item(0, 2_000), mark(Mark::End)];
    assert_eq!(told, [&by_clock[..], &end[..]].concat());
}

fn next() -> impl Strategy<Value = Next> {
    prop_oneof![
        3 => (0..2usize).prop_map(Next::Item),
        2 => (0..2usize).prop_map(Next::Watermark),
        4 => (0..2usize).prop_map(Next::Idle),
        1 => (0..2usize).prop_map(Next::End),
        1 => Just(Next::Barrier),
        3 => Just(Next::Clock),
    ]
}

proptest! {
    #[test]
    fn nothing_leaves_while_silence_is_told(sequence in prop::collection::vec(next(), 0..30)) {
        let told = told(&sequence);
        prop_assert!(is_legal(&told), "{:?}", told);
    }
}

//! [`HeadStage`] with barriers from several inputs, whatever the batches, the order of arrival and the room downstream.

use super::{
    BatchSize, Commits, Context, Faults, Fire, Head, HeadStage, OpenCx, Stage, Step, Tail, split_mix,
};
use crate::batch::{Batch, Mark};
use crate::channel::Signal;
use crate::error::Result;
use crate::metrics::StageMetrics;
use crate::time::{Grid, Millis, Timestamp, VirtualClock};
use proptest::prelude::*;
use std::collections::VecDeque;
use std::convert::Infallible;
use std::sync::{Arc, Mutex};

/// What a stage did, in order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Seen {
    Item(usize, u32),
    Mark(Mark),
}

pub(super) type Log = Arc<Mutex<Vec<Seen>>>;

/// What is behind the head: it logs marks, and has room only sometimes.
pub(super) struct Behind {
    pub log: Log,
    pub rooms: u64,
}

impl Tail for Behind {
    fn open(&mut self, _: &mut OpenCx) -> Result<()> {
        Ok(())
    }
    fn mark(&mut self, mark: Mark) {
        self.log.lock().expect("a log").push(Seen::Mark(mark));
    }
    fn grid(&self) -> Grid {
        Grid::every()
    }
    fn room(&mut self) -> bool {
        !split_mix(&mut self.rooms).is_multiple_of(4)
    }
    fn flush(&mut self) {}
    fn enough(&self) -> bool {
        false
    }
}

/// Logs the items of each input; fires in two halves.
struct Logging {
    behind: Behind,
    paused: bool,
    /// How far behind the watermark it holds elements.
    holds: i64,
}

impl Head<u32> for Logging {
    type Part = Infallible;
    fn tail(&mut self) -> &mut dyn Tail {
        &mut self.behind
    }
    fn tail_ref(&self) -> &dyn Tail {
        &self.behind
    }
    fn items(&mut self, input: usize, items: &mut std::vec::IntoIter<u32>, n: usize) {
        let mut log = self.behind.log.lock().expect("a log");
        log.extend(items.by_ref().take(n).map(|item| Seen::Item(input, item)));
    }
    fn fire(&mut self) -> Fire {
        self.paused = !self.paused;
        if self.paused { Fire::Paused } else { Fire::Done }
    }
    fn passes(&self, w: Timestamp) -> Timestamp {
        w - Millis(self.holds)
    }
}

/// For a stage with so many inputs and no outputs.
pub(crate) fn open_cx(inputs: usize) -> OpenCx {
    open_cx_of(&[inputs])
}

/// What a stage with so many inputs of each edge is opened with.
pub(crate) fn open_cx_of(inputs: &[usize]) -> OpenCx {
    let (signal, _waiter) = Signal::new();
    OpenCx {
        stage: "tested".to_owned(),
        context: Context { instance: 0, instances: 1, metrics: StageMetrics::default(), signal },
        inputs: inputs.to_vec(),
        wires: Vec::new(),
        batch: BatchSize::fixed(16),
        faults: Faults::default(),
        clock: Arc::new(VirtualClock::new()),
        commits: Commits::default(),
        saves: Default::default(),
        orders: Default::default(),
        restored: None,
        stores: None,
        memory: Default::default(),
        over: Arc::default(),
        stopping: Arc::default(),
        alarm: super::alarm::Alarm::default(),
    }
}

/// What stands in the sequence of an input.
#[derive(Debug, Clone, Copy)]
enum Put {
    Item,
    Watermark,
    Barrier,
}

/// One input: its batches, and behind how many barriers each of its items stands.
struct Input {
    batches: VecDeque<Batch>,
    segments: Vec<usize>,
    barriers: usize,
}

/// Numbers the items, the watermarks and the barriers of `puts`, and cuts them into batches of at most `cut` entries.
fn input(puts: &[Put], cut: usize) -> Input {
    let mut input = Input { batches: VecDeque::new(), segments: Vec::new(), barriers: 0 };
    let parts: Vec<&[Put]> = puts.chunks(cut).collect();
    for part in &parts {
        let (mut items, mut marks) = (Vec::new(), Vec::new());
        for put in *part {
            match put {
                Put::Item => {
                    items.push(input.segments.len() as u32);
                    input.segments.push(input.barriers);
                }
                Put::Watermark => {
                    marks.push((items.len(), Mark::Watermark(Timestamp(input.segments.len() as i64))));
                }
                Put::Barrier => {
                    input.barriers += 1;
                    marks.push((items.len(), Mark::Barrier(input.barriers as u64)));
                }
            }
        }
        input.batches.push_back(Batch::new(items, marks));
    }
    input.batches.push_back(Batch::new(Vec::<u32>::new(), vec![(0, Mark::End)]));
    input
}

/// Steps the stage to its end, offering batches as the seed says.
fn drive(inputs: &mut [Input], mut seed: u64) -> Vec<Seen> {
    let log = Log::default();
    let behind = Behind { log: Arc::clone(&log), rooms: seed };
    let mut stage = HeadStage::new::<u32, _>(Logging { behind, paused: false, holds: 0 });
    stage.open(&mut open_cx(inputs.len())).expect("it opens");
    for _ in 0..100_000 {
        let pick = split_mix(&mut seed) as usize % (inputs.len() + 1);
        if let Some(from) = inputs.get_mut(pick) {
            if stage.wants(pick)
                && let Some(batch) = from.batches.pop_front()
            {
                stage.offer(pick, batch);
            }
        } else if stage.step().expect("a step") == Step::Done {
            return log.lock().expect("a log").clone();
        }
    }
    panic!("it never ends: {:?}", log.lock());
}

fn puts() -> impl Strategy<Value = Vec<Put>> {
    let put = prop_oneof![6 => Just(Put::Item), 1 => Just(Put::Watermark), 1 => Just(Put::Barrier)];
    prop::collection::vec(put, 0..60)
}

proptest! {
    /// Each item comes behind as many barriers as it had before it in its own input; inputs that end hold up nobody.
    #[test]
    fn barriers_stand_in_their_exact_place(
        sequences in prop::collection::vec((puts(), 1usize..20), 1..4),
        seed: u64,
    ) {
        let mut inputs: Vec<Input> = sequences.iter().map(|(puts, cut)| input(puts, *cut)).collect();
        let log = drive(&mut inputs, seed);
        let (mut barriers, mut next) = (0, vec![0; inputs.len()]);
        let mut watermark = Timestamp::MIN;
        for seen in &log {
            match *seen {
                Seen::Item(input, item) => {
                    prop_assert_eq!(item, next[input], "in order");
                    prop_assert_eq!(inputs[input].segments[item as usize], barriers, "{:?}", seen);
                    next[input] += 1;
                }
                Seen::Mark(Mark::Barrier(id)) => {
                    barriers += 1;
                    prop_assert_eq!(id, barriers as u64);
                }
                Seen::Mark(Mark::Watermark(w)) => {
                    prop_assert!(w > watermark);
                    watermark = w;
                }
                Seen::Mark(_) => {}
            }
        }
        prop_assert_eq!(barriers, inputs.iter().map(|i| i.barriers).max().unwrap_or(0));
        prop_assert!(inputs.iter().zip(&next).all(|(i, n)| i.segments.len() == *n as usize), "all items");
        prop_assert_eq!(log.last(), Some(&Seen::Mark(Mark::End)));
        prop_assert_eq!(watermark, Timestamp::MAX);
    }
}

/// An input that has shown the barrier wants nothing more, whatever else is done, until the other has shown it too.
#[test]
fn an_input_that_has_shown_the_barrier_is_held() {
    let log = Log::default();
    let behind = Behind { log: Arc::clone(&log), rooms: 1 };
    let mut stage = HeadStage::new::<u32, _>(Logging { behind, paused: false, holds: 0 });
    stage.open(&mut open_cx(2)).expect("it opens");
    let exhaust = |stage: &mut HeadStage| {
        while stage.step().expect("a step") != Step::Hungry {}
    };
    stage.offer(0, Batch::new(vec![1u32, 2], vec![(1, Mark::Barrier(1))]));
    exhaust(&mut stage);
    assert!(!stage.wants(0) && stage.wants(1));
    stage.offer(1, Batch::new(vec![3u32], Vec::new()));
    exhaust(&mut stage);
    assert!(!stage.wants(0) && stage.wants(1));
    stage.offer(1, Batch::new(Vec::<u32>::new(), vec![(0, Mark::Barrier(1))]));
    exhaust(&mut stage);
    assert!(stage.wants(0) && stage.wants(1));
    let items = [Seen::Item(0, 1), Seen::Item(1, 3), Seen::Mark(Mark::Barrier(1)), Seen::Item(0, 2)];
    assert_eq!(*log.lock().expect("a log"), items);
}

/// Case W16: what is held back leaves before the watermark does.
#[test]
fn a_watermark_is_held_back_for_what_is_kept() {
    let log = Log::default();
    let behind = Behind { log: Arc::clone(&log), rooms: 3 };
    let mut stage = HeadStage::new::<u32, _>(Logging { behind, paused: false, holds: 7 });
    stage.open(&mut open_cx(1)).expect("it opens");
    let w = |t| Mark::Watermark(Timestamp(t));
    let marks = [w(i64::MIN + 2), w(7), w(8), Mark::Idle, w(20), Mark::End];
    stage.offer(0, Batch::new(vec![1u32], marks.into_iter().map(|mark| (1, mark)).collect()));
    while stage.step().expect("a step") != Step::Done {}
    let passed = [w(0), w(1), Mark::Idle, Mark::Active, w(13), w(i64::MAX), Mark::End];
    let expected: Vec<Seen> = [Seen::Item(0, 1)].into_iter().chain(passed.map(Seen::Mark)).collect();
    assert_eq!(*log.lock().expect("a log"), expected);
}

//! For tests of heads of joins: arrivals of both inputs in one order, late ones among them, and what comes out, in order.

use super::side::Crossing;
use crate::batch::Mark;
use crate::error::Result;
use crate::exchange::hash_key;
use crate::op::Either;
use crate::stage::{Fire, Head, OpenCx, Push, Tail};
use crate::time::{Grid, Timestamp};
use crate::window::base::Item;
use crate::window::late::Late;
use proptest::prelude::*;
use std::sync::{Arc, Mutex};

/// What arrives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Arrival {
    Element {
        left: bool,
        key: Option<u8>,
        time: i64,
        name: u32,
    },
    Watermark(i64),
    /// A mark at which a head is asked to fire although time has not gone on: an input is idle, or a barrier has come.
    Other,
}

/// How a row is written.
pub trait Shown: 'static {
    fn shown(&self) -> String;
}
impl Shown for u32 {
    fn shown(&self) -> String {
        self.to_string()
    }
}
impl Shown for Option<u32> {
    fn shown(&self) -> String {
        self.map_or("-".into(), |name| name.to_string())
    }
}
impl<A: Shown, B: Shown> Shown for (A, B) {
    fn shown(&self) -> String {
        format!("{}+{}", self.0.shown(), self.1.shown())
    }
}

/// Writes down what it is given; full now and then.
pub struct Writer {
    shown: Arc<Mutex<Vec<String>>>,
    looks: u32,
}

impl Writer {
    /// One, and what it has written.
    pub fn new() -> (Self, Arc<Mutex<Vec<String>>>) {
        let shown = Arc::<Mutex<Vec<String>>>::default();
        (Writer { shown: Arc::clone(&shown), looks: 0 }, shown)
    }

    fn write(&self, text: String) {
        self.shown.lock().expect("no writer panics").push(text);
    }
}

type Emit<T> = Either<(Option<u8>, T), Late<Either<u32, u32>>>;

impl<T: Shown> Push<Emit<T>, Timestamp> for Writer {
    fn push(&mut self, item: Emit<T>, stamp: Timestamp) {
        match item {
            Either::A((key, row)) => self.write(format!("{key:?} {} at {stamp}", row.shown())),
            Either::B(late) => {
                let (Either::A(name) | Either::B(name)) = late.value;
                self.write(format!("late {name} at {stamp} by {}", late.late_by.0));
            }
        }
    }
}

impl<T: Shown> Push<(Option<u8>, T), Timestamp> for Writer {
    fn push(&mut self, (key, row): (Option<u8>, T), stamp: Timestamp) {
        self.write(format!("{key:?} {} at {stamp}", row.shown()));
    }
}

impl Tail for Writer {
    fn open(&mut self, _: &mut OpenCx) -> Result<()> {
        Ok(())
    }
    fn mark(&mut self, mark: Mark) {
        match mark {
            Mark::Watermark(w) => self.write(format!("W{w}")),
            mark => self.write(format!("{mark:?}")),
        }
    }
    fn grid(&self) -> Grid {
        Grid::none()
    }
    fn room(&mut self) -> bool {
        self.looks += 1;
        !self.looks.is_multiple_of(3)
    }
    fn flush(&mut self) {}
    fn enough(&self) -> bool {
        false
    }
}

/// What a head, made in front of a writer, emits of `arrivals` and the end behind them, its watermarks among it.
pub fn drive<H: Head<Crossing<Option<u8>, u32, u32>>>(
    arrivals: &[Arrival],
    make: impl FnOnce(Writer) -> H,
) -> Vec<String> {
    let (writer, shown) = Writer::new();
    let mut head = make(writer);
    let (mut watermark, mut passed) = (i64::MIN, i64::MIN);
    for arrival in arrivals.iter().copied().chain([Arrival::Watermark(i64::MAX)]) {
        match arrival {
            Arrival::Watermark(w) if w > watermark => {
                watermark = w;
                head.watermark(Timestamp(w));
                while head.fire() == Fire::Paused {}
                let passes = if w == i64::MAX { w } else { head.passes(Timestamp(w)).0 };
                if passes > passed {
                    passed = passes;
                    head.tail().mark(Mark::Watermark(Timestamp(passes)));
                }
            }
            Arrival::Watermark(_) => {}
            Arrival::Other => while head.fire() == Fire::Paused {},
            element => head.items(0, &mut item(element).into_iter().collect::<Vec<_>>().into_iter(), 1),
        }
    }
    drop(head);
    let mut shown = shown.lock().expect("no writer panics");
    std::mem::take(&mut *shown)
}

/// What crosses of an element.
pub fn item(arrival: Arrival) -> Option<Crossing<Option<u8>, u32, u32>> {
    let Arrival::Element { left, key, time, name } = arrival else { return None };
    let load = if left { Either::A(name) } else { Either::B(name) };
    Some(Item { hash: hash_key(&key), time: Timestamp(time), route: key, load })
}

/// What a random step is.
#[derive(Debug, Clone, Copy)]
enum Drawn {
    Rise(i64),
    Other,
    /// An element so far from where time has come to, or at a time.
    Near(i64),
    At(i64),
}

fn drawn() -> impl Strategy<Value = Drawn> {
    prop_oneof![
        10 => (0i64..9).prop_map(Drawn::Rise),
        3 => Just(Drawn::Other),
        26 => (-6i64..14).prop_map(Drawn::Near),
        1 => (0i64..12).prop_map(|t| Drawn::At(i64::MIN + t)),
        1 => (0i64..12).prop_map(|t| Drawn::At(i64::MAX - t)),
    ]
}

/// Elements of both inputs around a watermark that rises by small steps, now and then at the ends of time; some without a key.
pub fn arrivals() -> impl Strategy<Value = Vec<Arrival>> {
    let start = prop_oneof![4 => Just(-10), 1 => Just(i64::MIN), 1 => Just(i64::MAX - 40)];
    let steps = proptest::collection::vec((drawn(), any::<bool>(), 0u8..4), 0..40);
    (start, steps).prop_map(|(start, steps)| {
        let mut now = start;
        let arrival = |(name, (drawn, left, key)): (usize, (Drawn, bool, u8))| {
            let time = match drawn {
                Drawn::Rise(rise) => {
                    now = now.saturating_add(rise).min(i64::MAX - 1);
                    return Arrival::Watermark(now);
                }
                Drawn::Other => return Arrival::Other,
                Drawn::Near(distance) => now.saturating_add(distance),
                Drawn::At(time) => time,
            };
            let name = u32::try_from(name).expect("few elements");
            Arrival::Element { left, key: (key > 0).then_some(key), time, name }
        };
        steps.into_iter().enumerate().map(arrival).collect()
    })
}

/// Some hundred cases; `FLOW_RANDOM_CASES` says how many others.
pub fn cases() -> ProptestConfig {
    let cases = std::env::var("FLOW_RANDOM_CASES").map_or(200, |text| text.parse().expect("a number"));
    ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() }
}

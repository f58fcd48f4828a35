//! One producer and one consumer thread over each of the queues: the work that both benches of rings measure.

use std::hint::{black_box, spin_loop};
use std::thread;
use std::time::{Duration, Instant};

use flow_core::channel::{self, BlockingReceiver, BlockingSender, Consumer, Producer};

/// Items a queue of single items holds.
const CAPACITY_ITEMS: usize = 1024;
/// Batches a queue of batches holds.
const CAPACITY_BATCHES: usize = 64;
/// Items a batch.
pub const BATCH_ITEMS: u64 = 1024;
/// Items that a chunk API moves at once, at most.
const CHUNK_ITEMS: usize = 256;
/// Busy rounds of a raw ring's end before it begins to yield: with two cores, neither end is expected to wait long.
const SPINS: u32 = 1 << 14;

/// The writing end of a queue; waits while it is full.
pub trait Put<T>: Send + 'static {
    fn put(&mut self, item: T);
}

/// The reading end of a queue; waits while it is empty.
pub trait Get<T>: Send + 'static {
    fn get(&mut self) -> T;
}

/// The wait of the raw rings: the same for both, so that only the rings differ.
#[derive(Default)]
struct Busy(u32);

impl Busy {
    #[inline]
    fn wait(&mut self) {
        self.0 += 1;
        if self.0 < SPINS { spin_loop() } else { thread::yield_now() }
    }
}

impl<T: Send + 'static> Put<T> for Producer<T> {
    #[inline]
    fn put(&mut self, mut item: T) {
        let mut busy = Busy::default();
        while let Err(full) = self.push(item) {
            item = full.0;
            busy.wait();
        }
    }
}

impl<T: Send + 'static> Get<T> for Consumer<T> {
    #[inline]
    fn get(&mut self) -> T {
        let mut busy = Busy::default();
        loop {
            match self.pop() {
                Some(item) => return item,
                None => busy.wait(),
            }
        }
    }
}

impl<T: Send + 'static> Put<T> for rtrb::Producer<T> {
    #[inline]
    fn put(&mut self, mut item: T) {
        let mut busy = Busy::default();
        while let Err(rtrb::PushError::Full(full)) = self.push(item) {
            item = full;
            busy.wait();
        }
    }
}

impl<T: Send + 'static> Get<T> for rtrb::Consumer<T> {
    #[inline]
    fn get(&mut self) -> T {
        let mut busy = Busy::default();
        loop {
            match self.pop() {
                Ok(item) => return item,
                Err(_) => busy.wait(),
            }
        }
    }
}

impl<T: Send + 'static> Put<T> for BlockingSender<T> {
    #[inline]
    fn put(&mut self, item: T) {
        self.send(item).expect("the consumer takes every item");
    }
}

impl<T: Send + 'static> Get<T> for BlockingReceiver<T> {
    #[inline]
    fn get(&mut self) -> T {
        self.recv().expect("the producer sends every item")
    }
}

impl<T: Send + 'static> Put<T> for crossbeam_channel::Sender<T> {
    #[inline]
    fn put(&mut self, item: T) {
        self.send(item).expect("the consumer takes every item");
    }
}

impl<T: Send + 'static> Get<T> for crossbeam_channel::Receiver<T> {
    #[inline]
    fn get(&mut self) -> T {
        self.recv().expect("the producer sends every item")
    }
}

/// Runs `produce` in a thread beside `consume` and times both; what they return is the number and the sum of the items.
fn timed(produce: impl FnOnce() + Send + 'static, consume: impl FnOnce() -> u64) -> (Duration, u64) {
    let begin = Instant::now();
    let producer = thread::spawn(produce);
    let sum = consume();
    let time = begin.elapsed();
    producer.join().expect("the producer does not panic");
    (time, sum)
}

/// Checks the sum of `0..items`, so that no queue is fast by losing items.
fn checked(items: u64, (time, sum): (Duration, u64)) -> Duration {
    assert_eq!(sum, (0..items).sum::<u64>(), "a queue lost or changed an item");
    time
}

fn singles(items: u64, (mut tx, mut rx): (impl Put<u64>, impl Get<u64>)) -> Duration {
    let produce = move || (0..items).for_each(|item| tx.put(item));
    checked(items, timed(produce, || (0..items).map(|_| black_box(rx.get())).sum()))
}

fn batches(items: u64, (mut tx, mut rx): (impl Put<Vec<u64>>, impl Get<Vec<u64>>)) -> Duration {
    let count = items / BATCH_ITEMS;
    let produce = move || {
        (0..count).for_each(|batch| tx.put((batch * BATCH_ITEMS..(batch + 1) * BATCH_ITEMS).collect()));
    };
    checked(count * BATCH_ITEMS, timed(produce, || (0..count).map(|_| rx.get().iter().sum::<u64>()).sum()))
}

/// The time of `items` round trips.
fn ping(
    items: u64,
    (mut there, mut here): (impl Put<u64>, impl Get<u64>),
    (mut back, mut end): (impl Put<u64>, impl Get<u64>),
) -> Duration {
    let echo = move || (0..items).for_each(|_| back.put(here.get()));
    let trip = |item| {
        there.put(item);
        end.get()
    };
    checked(items, timed(echo, || (0..items).map(trip).sum()))
}

fn chunks_of_flow(items: u64) -> Duration {
    let (mut tx, mut rx) = channel::ring(4 * CAPACITY_ITEMS);
    let produce = move || {
        let (mut rest, mut busy) = (0..items, Busy::default());
        while !rest.is_empty() {
            let mut chunk = rest.start..rest.end.min(rest.start + CHUNK_ITEMS as u64);
            if tx.push_from(&mut chunk) == 0 {
                busy.wait();
            }
            rest.start = chunk.start;
        }
    };
    let consume = || {
        let (mut sum, mut got, mut busy) = (0, 0, Busy::default());
        while got < items {
            match rx.pop_each(usize::MAX, |item| sum += item) {
                0 => busy.wait(),
                count => got += count as u64,
            }
        }
        sum
    };
    checked(items, timed(produce, consume))
}

fn chunks_of_rtrb(items: u64) -> Duration {
    let (mut tx, mut rx) = rtrb::RingBuffer::new(4 * CAPACITY_ITEMS);
    let produce = move || {
        let (mut rest, mut busy) = (0..items, Busy::default());
        while !rest.is_empty() {
            match tx.slots().min((rest.end - rest.start) as usize).min(CHUNK_ITEMS) {
                0 => busy.wait(),
                count => {
                    let chunk = tx.write_chunk_uninit(count).expect("there is room");
                    chunk.fill_from_iter(&mut rest);
                }
            }
        }
    };
    let consume = || {
        let (mut sum, mut got, mut busy) = (0, 0, Busy::default());
        while got < items {
            match rx.slots() {
                0 => busy.wait(),
                count => {
                    let chunk = rx.read_chunk(count).expect("there are items");
                    let (first, second) = chunk.as_slices();
                    sum += first.iter().chain(second).sum::<u64>();
                    chunk.commit_all();
                    got += count as u64;
                }
            }
        }
        sum
    };
    checked(items, timed(produce, consume))
}

/// One comparison: the same work over ours and over theirs.
pub struct Pair {
    pub name: &'static str,
    pub theirs: &'static str,
    /// What one item of the work is: an item, or a round trip.
    pub items: u64,
    pub run_ours: fn(u64) -> Duration,
    pub run_theirs: fn(u64) -> Duration,
}

/// Every comparison, with the number of items that takes about a tenth of a second.
pub const PAIRS: [Pair; 6] = [
    Pair {
        name: "ring/items",
        theirs: "rtrb",
        items: 20_000_000,
        run_ours: |n| singles(n, channel::ring(CAPACITY_ITEMS)),
        run_theirs: |n| singles(n, rtrb::RingBuffer::new(CAPACITY_ITEMS)),
    },
    Pair {
        name: "ring/batches",
        theirs: "rtrb",
        items: 50_000 * BATCH_ITEMS,
        run_ours: |n| batches(n, channel::ring(CAPACITY_BATCHES)),
        run_theirs: |n| batches(n, rtrb::RingBuffer::new(CAPACITY_BATCHES)),
    },
    Pair {
        name: "ring/chunks",
        theirs: "rtrb",
        items: 80_000_000,
        run_ours: chunks_of_flow,
        run_theirs: chunks_of_rtrb,
    },
    Pair {
        name: "channel/items",
        theirs: "crossbeam-channel",
        items: 4_000_000,
        run_ours: |n| singles(n, channel::channel(CAPACITY_ITEMS)),
        run_theirs: |n| singles(n, crossbeam_channel::bounded(CAPACITY_ITEMS)),
    },
    Pair {
        name: "channel/batches",
        theirs: "crossbeam-channel",
        items: 50_000 * BATCH_ITEMS,
        run_ours: |n| batches(n, channel::channel(CAPACITY_BATCHES)),
        run_theirs: |n| batches(n, crossbeam_channel::bounded(CAPACITY_BATCHES)),
    },
    Pair {
        name: "channel/ping",
        theirs: "crossbeam-channel",
        items: 20_000,
        run_ours: |n| ping(n, channel::channel(CAPACITY_BATCHES), channel::channel(CAPACITY_BATCHES)),
        run_theirs: |n| {
            ping(
                n,
                crossbeam_channel::bounded(CAPACITY_BATCHES),
                crossbeam_channel::bounded(CAPACITY_BATCHES),
            )
        },
    },
];

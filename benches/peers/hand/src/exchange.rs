//! An exchange by key between two threads: each generates every other element, keeps its own, and sends the others in
//! batches over a ring; the buffers come back over a second ring.

use std::thread;

use peer_common::elements::mix;
use rtrb::{Consumer, Producer, PushError, RingBuffer};

/// How many threads the exchange has.
pub const THREADS: usize = 2;
const BATCH: usize = 1024;
const RING: usize = 64;

/// What one thread does with the elements of its keys.
pub trait Worker<T>: Default + Send {
    /// Takes in some elements of this thread's keys.
    fn elements(&mut self, batch: &[T]);
    /// The watermark, the minimum over both threads, has come this far (`i64::MAX` at the end).
    fn watermark(&mut self, _to: i64) {}
}

/// What is exchanged.
pub struct Input<T> {
    /// How many elements there are.
    pub n: u64,
    /// Element `i`.
    pub generate: fn(u64) -> T,
    /// The key of an element.
    pub key: fn(&T) -> u64,
    /// The watermark behind an element.
    pub watermark: fn(&T) -> i64,
}

enum Message<T> {
    Batch(Vec<T>, i64),
    Done,
}

/// One thread's ends of the rings, and what it knows of the watermarks.
struct Side<T> {
    out: Producer<Message<T>>,
    into: Consumer<Message<T>>,
    used: Producer<Vec<T>>,
    fresh: Consumer<Vec<T>>,
    my_watermark: i64,
    their_watermark: i64,
    they_are_done: bool,
}

/// Runs the two threads to the end and gives their workers.
pub fn exchange<T: Send, W: Worker<T>>(input: &Input<T>) -> [W; THREADS] {
    let (left, right) = sides();
    thread::scope(|scope| {
        [(0, left), (1, right)]
            .map(|(me, side)| scope.spawn(move || side.run(me, input)))
            .map(|worker| worker.join().expect("a worker does not panic"))
    })
}

fn sides<T>() -> (Side<T>, Side<T>) {
    let (out_left, into_right) = RingBuffer::new(RING);
    let (out_right, into_left) = RingBuffer::new(RING);
    let (used_right, fresh_left) = RingBuffer::new(2 * RING);
    let (used_left, fresh_right) = RingBuffer::new(2 * RING);
    let side = |out, into, used, fresh| Side {
        out,
        into,
        used,
        fresh,
        my_watermark: i64::MIN,
        their_watermark: i64::MIN,
        they_are_done: false,
    };
    (side(out_left, into_left, used_left, fresh_left), side(out_right, into_right, used_right, fresh_right))
}

impl<T> Side<T> {
    fn run<W: Worker<T>>(mut self, me: u64, input: &Input<T>) -> W {
        let mut worker = W::default();
        let (mut mine, mut theirs) = (Vec::with_capacity(BATCH), Vec::with_capacity(BATCH));
        let mut i = me;
        while i < input.n {
            let end = (i + 2 * 2 * BATCH as u64).min(input.n);
            while i < end {
                let x = (input.generate)(i);
                self.my_watermark = self.my_watermark.max((input.watermark)(&x));
                if mix((input.key)(&x)) >> 63 == me {
                    mine.push(x)
                } else {
                    theirs.push(x)
                }
                i += 2;
            }
            let fresh = self.fresh.pop().unwrap_or_else(|_| Vec::with_capacity(2 * BATCH));
            let full = std::mem::replace(&mut theirs, fresh);
            self.send(Message::Batch(full, self.my_watermark), &mut worker);
            worker.elements(&mine);
            mine.clear();
            self.drain(&mut worker);
            worker.watermark(self.my_watermark.min(self.their_watermark));
        }
        self.finish(&mut worker);
        worker
    }

    fn finish<W: Worker<T>>(&mut self, worker: &mut W) {
        self.my_watermark = i64::MAX;
        self.send(Message::Done, worker);
        while !self.they_are_done {
            self.drain(worker);
            worker.watermark(self.their_watermark);
            std::hint::spin_loop();
        }
        worker.watermark(i64::MAX);
    }

    /// Sends, and receives while the ring is full, so that two full rings do not wait for each other.
    fn send<W: Worker<T>>(&mut self, mut message: Message<T>, worker: &mut W) {
        while let Err(PushError::Full(back)) = self.out.push(message) {
            message = back;
            self.drain(worker);
            std::hint::spin_loop();
        }
    }

    fn drain<W: Worker<T>>(&mut self, worker: &mut W) {
        while let Ok(message) = self.into.pop() {
            match message {
                Message::Batch(mut batch, watermark) => {
                    worker.elements(&batch);
                    self.their_watermark = self.their_watermark.max(watermark);
                    batch.clear();
                    // A full ring of used buffers means there are enough: this one is freed.
                    let _ = self.used.push(batch);
                }
                Message::Done => {
                    self.they_are_done = true;
                    self.their_watermark = i64::MAX;
                }
            }
        }
    }
}

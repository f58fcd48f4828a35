//! Every interleaving (up to a number of preemptions) of small programs, by loom: `.ci/loom.sh`.
//!
//! Parks have no timeout here, so a lost wake-up is a deadlock, which loom reports. So are an item read before it
//! is written and a leak.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize as Count, Ordering::Relaxed as Plain};

use loom::sync::atomic::{AtomicBool, Ordering::Relaxed};
use loom::thread;

use super::ring::ring_from;
use super::*;

/// Three preemptions find the known mistakes (each fence or ordering taken away) and keep every model to seconds.
const PREEMPTIONS_MAX: usize = 3;

fn model(program: impl Fn() + Sync + Send + 'static) {
    model_within(PREEMPTIONS_MAX, program);
}

/// [`model`] for a program with too many interleavings; `LOOM_MAX_PREEMPTIONS` overrides the bound.
fn model_within(preemptions: usize, program: impl Fn() + Sync + Send + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound.get_or_insert(preemptions);
    builder.check(program);
}

#[test]
fn ring_single_items() {
    for capacity in [1, 2] {
        model(move || {
            let (mut producer, mut consumer) = ring_from(capacity, usize::MAX);
            let writer = thread::spawn(move || {
                for item in 0..3 {
                    while producer.push(item).is_err() {
                        thread::yield_now();
                    }
                }
            });
            for item in 0..3 {
                assert_eq!(pop_next(&mut consumer), item);
            }
            assert_eq!(consumer.pop(), None);
            writer.join().expect("no panic");
        });
    }
}

fn pop_next(consumer: &mut Consumer<usize>) -> usize {
    loop {
        if let Some(item) = consumer.pop() {
            return item;
        }
        thread::yield_now();
    }
}

#[test]
fn ring_batches() {
    model(|| {
        let (mut producer, mut consumer) = ring_from(2, usize::MAX);
        let writer = thread::spawn(move || {
            let mut items = 0..4;
            while !items.is_empty() {
                if producer.push_from(&mut items) == 0 {
                    thread::yield_now();
                }
            }
        });
        let mut seen = Vec::new();
        while seen.len() < 4 {
            if consumer.pop_into(&mut seen, 3) == 0 {
                thread::yield_now();
            }
        }
        assert_eq!(seen, [0, 1, 2, 3]);
        writer.join().expect("no panic");
    });
}

struct Counted(Arc<Count>);

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.fetch_add(1, Plain);
    }
}

#[test]
fn ring_dropped_with_items_from_both_sides() {
    model(|| {
        let drops = Arc::new(Count::new(0));
        let (mut producer, mut consumer) = ring(2);
        let counted = Arc::clone(&drops);
        let writer = thread::spawn(move || {
            for _ in 0..2 {
                assert!(producer.push(Counted(Arc::clone(&counted))).is_ok());
            }
        });
        drop(consumer.pop());
        drop(consumer);
        writer.join().expect("no panic");
        assert_eq!(drops.load(Plain), 2);
    });
}

#[test]
fn ring_closed_and_then_empty_means_all_was_read() {
    model(|| {
        let (mut producer, mut consumer) = ring(2);
        let writer = thread::spawn(move || {
            for item in 0..2 {
                assert!(producer.push(item).is_ok());
            }
        });
        let mut seen = Vec::new();
        while !(consumer.is_closed() && consumer.is_empty()) {
            match consumer.pop() {
                Some(item) => seen.push(item),
                None => thread::yield_now(),
            }
        }
        assert_eq!(seen, [0, 1]);
        writer.join().expect("no panic");
    });
}

#[test]
fn signal_from_two_wakers() {
    model(|| {
        let (signal, mut waiter) = Signal::new();
        let wakers = [(); 2].map(|()| {
            let news = loom::sync::Arc::new(AtomicBool::new(false));
            let (signal, seen) = (signal.clone(), news.clone());
            let thread = thread::spawn(move || {
                news.store(true, Relaxed);
                signal.wake();
            });
            (thread, seen)
        });
        for (_, seen) in &wakers {
            while !seen.load(Relaxed) {
                waiter.wait(None, || seen.load(Relaxed));
            }
        }
        for (thread, _) in wakers {
            thread.join().expect("no panic");
        }
    });
}

#[test]
fn signal_after_a_sleep_called_off() {
    model(|| {
        let (signal, mut waiter) = Signal::new();
        let news = loom::sync::Arc::new(AtomicBool::new(false));
        let seen = news.clone();
        // Its token may come late: after the sleep that it was for was called off.
        let other = signal.clone();
        let early = thread::spawn(move || other.wake());
        drop(waiter.prepare());
        let thread = thread::spawn(move || {
            news.store(true, Relaxed);
            signal.wake();
        });
        while !seen.load(Relaxed) {
            waiter.wait(None, || seen.load(Relaxed));
        }
        early.join().expect("no panic");
        thread.join().expect("no panic");
    });
}

#[test]
fn channel_both_sides_park() {
    both_sides_park(PREEMPTIONS_MAX, 1, 2);
}

#[test]
fn channel_of_two_both_sides_park() {
    both_sides_park(2, 2, 3);
}

fn both_sides_park(preemptions: usize, capacity: usize, items: usize) {
    model_within(preemptions, move || {
        let (mut sender, mut receiver) = channel(capacity);
        let writer = thread::spawn(move || (0..items).try_for_each(|item| sender.send(item)));
        for item in 0..items {
            assert_eq!(receiver.recv(), Some(item));
        }
        assert_eq!(receiver.recv(), None);
        assert_eq!(writer.join().expect("no panic"), Ok(()));
    });
}

#[test]
fn channel_closed_by_the_receiver() {
    model_within(2, || {
        let (mut sender, mut receiver) = channel(1);
        let writer = thread::spawn(move || while sender.send(Box::new(1)).is_ok() {});
        receiver.recv();
        drop(receiver);
        writer.join().expect("no panic");
    });
}

/// A ring of eight, so that the receiver looks for a refused sender at every second item only.
#[test]
fn full_channel_wakes_its_sender_at_half() {
    model(|| {
        let (mut sender, mut receiver) = channel(8);
        // Shifts the looks against the ring.
        for item in 0..5 {
            assert_eq!(sender.send(item), Ok(()));
            assert_eq!(receiver.recv(), Some(item));
        }
        for item in 0..8 {
            assert_eq!(sender.send(item), Ok(()));
        }
        let writer = thread::spawn(move || sender.send(8));
        for item in 0..9 {
            assert_eq!(receiver.recv(), Some(item));
        }
        assert_eq!(writer.join().expect("no panic"), Ok(()));
    });
}

/// The receiver takes one item of a full ring and then waits for the sender's thread, as in a diamond.
#[test]
fn full_channel_relieves_its_sender_before_half() {
    model(|| {
        let (to_sender, mut waiter) = Signal::new();
        let (to_receiver, _) = Signal::new();
        let (mut sender, mut receiver) = spsc(8, to_receiver, to_sender);
        while sender.free() > 0 {
            assert_eq!(sender.try_send(0), Ok(()));
        }
        let writer = thread::spawn(move || {
            while sender.try_send(1).is_err() {
                waiter.wait(None, || sender.is_ready());
            }
            drop(sender);
        });
        assert_eq!(receiver.try_recv(), Some(0));
        receiver.relieve();
        writer.join().expect("no panic");
        assert_eq!(receiver.len(), 8);
    });
}

/// One thread, one signal, two rings: the shape of a host's thread.
#[test]
fn one_thread_waits_for_two_rings() {
    model_within(2, || {
        let (signal, mut waiter) = Signal::new();
        let (upstream, _) = Signal::new();
        let (mut receivers, threads): (Vec<_>, Vec<_>) = (1..=2)
            .map(|item| {
                let (mut sender, receiver) = spsc(1, signal.clone(), upstream.clone());
                (receiver, thread::spawn(move || sender.try_send(item).expect("there is room")))
            })
            .unzip();
        let mut sum = 0;
        while !receivers.is_empty() {
            sum += receivers.iter_mut().filter_map(|receiver| receiver.try_recv()).sum::<i32>();
            receivers.retain(|receiver| !receiver.is_finished());
            waiter
                .wait(None, || receivers.is_empty() || receivers.iter().any(|receiver| receiver.is_ready()));
        }
        assert_eq!(sum, 3);
        for thread in threads {
            thread.join().expect("no panic");
        }
    });
}

#[test]
fn items_go_round() {
    model(|| {
        let (signal, _) = Signal::new();
        let (mut sender, mut receiver) = recycling(1, signal.clone(), signal);
        let writer = thread::spawn(move || {
            assert_eq!(sender.try_send(Box::new(1)), Ok(()));
            let next = sender.recycled().unwrap_or_else(|| Box::new(2));
            // Whether there is room depends on the receiver; either way nothing may leak.
            drop(sender.try_send(next));
        });
        while !receiver.is_finished() {
            match receiver.try_recv() {
                Some(item) => receiver.recycle(item),
                None => thread::yield_now(),
            }
        }
        writer.join().expect("no panic");
    });
}

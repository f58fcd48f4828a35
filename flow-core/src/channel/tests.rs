//! Tests with real threads, and of what one thread can see; the model checker's are in `models`.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::thread;
use std::time::{Duration, Instant};

use super::ring::ring_from;
use super::*;

const ITEMS: u64 = 1_000_000;

/// Counts itself when dropped.
struct Counted(Arc<AtomicUsize>);

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.fetch_add(1, Relaxed);
    }
}

#[test]
fn the_ring_holds_its_capacity_and_keeps_order_over_the_wrap_of_its_indices() {
    for capacity in [1, 2, 3, 4, 5, 8] {
        let (mut producer, mut consumer) = ring_from(capacity, usize::MAX - 2);
        for lap in 0..7 {
            let items = || (0..capacity).map(move |i| lap * 10 + i);
            for item in items() {
                assert_eq!(producer.push(item), Ok(()));
            }
            assert_eq!(producer.push(99), Err(Full(99)));
            assert_eq!((producer.len(), producer.free(), consumer.len()), (capacity, 0, capacity));
            assert!(items().all(|item| consumer.pop() == Some(item)));
            assert_eq!(consumer.pop(), None);
            assert_eq!((producer.len(), producer.free(), consumer.len()), (0, capacity, 0));
        }
    }
}

#[test]
fn batches_of_any_size_keep_order_and_take_nothing_they_cannot_place() {
    let (mut producer, mut consumer) = ring_from(5, usize::MAX - 3);
    let (mut items, mut seen) = (0..1000, Vec::new());
    for step in 0.. {
        let free = producer.free();
        let left = items.len();
        assert_eq!(producer.push_from(&mut items.by_ref().take(step % 7)), free.min(left).min(step % 7));
        let len = consumer.len();
        assert_eq!(consumer.pop_into(&mut seen, step % 4), len.min(step % 4));
        if seen.len() == 1000 {
            break;
        }
    }
    assert!(seen.into_iter().eq(0..1000));
}

#[test]
fn every_item_is_dropped_once_whoever_goes_first() {
    for producer_first in [true, false] {
        let drops = Arc::new(AtomicUsize::new(0));
        let (mut producer, mut consumer) = ring_from(4, usize::MAX);
        assert_eq!(producer.push_from(&mut (0..3).map(|_| Counted(Arc::clone(&drops)))), 3);
        drop(consumer.pop());
        assert_eq!(drops.load(Relaxed), 1);
        if producer_first {
            drop(producer);
            assert!(consumer.is_closed());
            assert_eq!(drops.load(Relaxed), 1);
            drop(consumer);
        } else {
            drop(consumer);
            assert!(producer.is_closed());
            drop(producer);
        }
        assert_eq!(drops.load(Relaxed), 3);
    }
}

#[test]
fn slots_come_back_in_portions_and_at_the_latest_with_the_last_item() {
    let drops = Arc::new(AtomicUsize::new(0));
    let counted = |count| (0..count).map(|_| Counted(Arc::clone(&drops)));
    let (mut producer, mut consumer) = ring(512);
    assert_eq!(producer.push_from(&mut counted(512)), 512);
    for taken in 1..=100 {
        drop(consumer.pop());
        assert_eq!(producer.free(), taken / 32 * 32);
    }
    consumer.release();
    assert_eq!(producer.free(), 100);
    assert_eq!(consumer.pop_each(411, drop), 411);
    assert_eq!((drops.load(Relaxed), producer.free()), (511, 511));
    drop(consumer.pop());
    assert_eq!(producer.free(), 512);

    assert_eq!(producer.push_from(&mut counted(3)), 3);
    drop(consumer.pop());
    assert_eq!(producer.free(), 509);
    // The slot of the item just taken has not come back; the item must not be dropped again.
    drop((consumer, producer));
    assert_eq!(drops.load(Relaxed), 515);
}

#[test]
fn a_panic_inside_a_batch_leaves_the_ring_whole() {
    let drops = Arc::new(AtomicUsize::new(0));
    let (mut producer, mut consumer) = ring(8);
    let write = catch_unwind(AssertUnwindSafe(|| {
        producer
            .push_from(&mut (0..5).map(|i| if i < 3 { Counted(Arc::clone(&drops)) } else { panic!("items") }))
    }));
    assert!(write.is_err());
    assert_eq!((consumer.len(), drops.load(Relaxed)), (3, 0));
    let read = catch_unwind(AssertUnwindSafe(|| {
        let mut seen = 0;
        consumer.pop_each(8, |_item| {
            seen += 1;
            assert!(seen < 2, "each");
        })
    }));
    assert!(read.is_err());
    assert_eq!((consumer.len(), drops.load(Relaxed)), (1, 2));
    drop((producer, consumer));
    assert_eq!(drops.load(Relaxed), 3);
}

#[test]
fn a_ring_between_threads_loses_and_duplicates_nothing() {
    for capacity in [1, 3, 64] {
        let (mut producer, mut consumer) = ring(capacity);
        let writer = thread::spawn(move || {
            let mut items = 0..ITEMS / 10;
            while !items.is_empty() {
                // By turns one item and a batch.
                producer.push_from(&mut items.by_ref().take(1));
                if producer.push_from(&mut items) == 0 {
                    thread::yield_now();
                }
            }
        });
        let mut next = 0;
        while next < ITEMS / 10 {
            match consumer.pop() {
                Some(item) => assert_eq!(item, next),
                None => {
                    thread::yield_now();
                    continue;
                }
            }
            next += 1;
            next += consumer.pop_each(5, |_item| ()) as u64;
        }
        assert_eq!(consumer.pop(), None);
        writer.join().expect("the writer does not panic");
    }
}

#[test]
fn a_channel_delivers_every_item_in_order_without_a_rescue() {
    for capacity in [1, 2, 7, 64] {
        let (mut sender, mut receiver) = channel(capacity);
        let (to_sender, to_receiver) = (sender.signal(), receiver.signal());
        let items = if capacity < 7 { ITEMS / 50 } else { ITEMS };
        let writer = thread::spawn(move || (0..items).try_for_each(|item| sender.send(item)));
        for item in 0..items {
            assert_eq!(receiver.recv(), Some(item));
        }
        assert_eq!(receiver.recv(), None);
        writer.join().expect("the writer does not panic").expect("the receiver outlives it");
        assert_eq!((to_sender.rescues(), to_receiver.rescues()), (0, 0));
    }
}

#[test]
fn ends_that_always_sleep_are_always_woken() {
    // Slow by turns, so that each side parks; a lost wake-up would cost `PARK_MAX` or more.
    let (mut sender, mut receiver) = channel(2);
    let (to_sender, to_receiver) = (sender.signal(), receiver.signal());
    let begin = Instant::now();
    let writer = thread::spawn(move || {
        for item in 0..200_u64 {
            if item % 20 < 3 {
                thread::sleep(Duration::from_millis(1));
            }
            sender.send(item).expect("the receiver outlives the sender");
        }
    });
    for item in 0..200 {
        if item % 20 > 15 {
            thread::sleep(Duration::from_millis(1));
        }
        assert_eq!(receiver.recv(), Some(item));
    }
    assert_eq!(receiver.recv(), None);
    writer.join().expect("the writer does not panic");
    assert_eq!((to_sender.rescues(), to_receiver.rescues()), (0, 0));
    assert!(begin.elapsed() < Duration::from_secs(5));
}

#[test]
fn a_sender_learns_that_the_receiver_is_gone_also_while_it_waits() {
    let (mut sender, receiver) = channel(1);
    assert_eq!(sender.send(1), Ok(()));
    let waiting = thread::spawn(move || sender.send(2));
    thread::sleep(Duration::from_millis(20));
    drop(receiver);
    assert_eq!(waiting.join().expect("no panic"), Err(Closed(2)));
}

#[test]
fn a_refused_sender_is_ready_again_from_half_the_ring_on_or_when_relieved() {
    let (signal, _waiter) = Signal::new();
    let (mut sender, mut receiver) = spsc(8, signal.clone(), signal);
    let fill = |sender: &mut Sender<u32>| while sender.try_send(0).is_ok() {};
    fill(&mut sender);
    assert!(!sender.is_ready());
    for left in [7, 6, 5] {
        assert_eq!(receiver.try_recv(), Some(0));
        assert_eq!((receiver.len(), sender.is_ready()), (left, false));
    }
    assert_eq!(receiver.try_recv(), Some(0));
    assert!(sender.is_ready());

    fill(&mut sender);
    receiver.relieve();
    assert!(!sender.is_ready(), "there is no room yet");
    assert_eq!(receiver.try_recv(), Some(0));
    receiver.relieve();
    assert!(sender.is_ready());
}

#[test]
fn what_is_recycled_comes_back_and_what_is_too_much_is_dropped() {
    let (signal, _waiter) = Signal::new();
    let (mut sender, mut receiver) = recycling(1, signal.clone(), signal.clone());
    for item in 0..10 {
        receiver.recycle(item);
    }
    assert_eq!([(); 4].map(|()| sender.recycled()), [Some(0), Some(1), Some(2), None]);
    assert_eq!(sender.try_send(7), Ok(()));
    let (mut plain, mut end) = spsc(1, signal.clone(), signal);
    end.recycle(1);
    assert_eq!(plain.recycled(), None);
    assert_eq!(plain.try_send(1), Ok(()));
}

#[test]
fn a_wait_ends_by_news_by_a_signal_or_by_time() {
    let (signal, mut waiter) = Signal::new();
    assert_eq!(waiter.wait(None, || true), Wake::Ready);
    let begin = Instant::now();
    assert_eq!(waiter.wait(Some(Duration::from_millis(130)), || false), Wake::TimedOut);
    assert!(begin.elapsed() >= Duration::from_millis(130));
    let waker = thread::spawn(move || {
        thread::sleep(Duration::from_millis(150));
        signal.wake();
    });
    // Over more than one `PARK_MAX`, which goes unnoticed.
    assert_eq!(waiter.wait(None, || false), Wake::Signalled);
    waker.join().expect("no panic");
}

#[test]
fn a_lost_wake_up_is_rescued_and_counted() {
    let (signal, mut waiter) = Signal::new();
    let mut looks = 0;
    let begin = Instant::now();
    // News from the second look on, without a signal.
    let wake = waiter.wait(None, || {
        looks += 1;
        looks > 1
    });
    assert_eq!((wake, signal.rescues()), (Wake::Rescued, 1));
    assert!(begin.elapsed() >= 2 * PARK_MAX);
}

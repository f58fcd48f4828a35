//! A bounded lock-free ring with one producer and one consumer: the only unsafe code of the crate.
//!
//! ```text
//!              head                 tail            indices only grow (and wrap at 2^64);
//!   ┌────┬────┬────┬────┬────┬────┬────┬────┐       slot = index & mask
//!   │    │    │ x  │ x  │ x  │ x  │    │    │
//!   └────┴────┴────┴────┴────┴────┴────┴────┘       tail - head = items in the ring ≤ capacity
//!              └ consumer owns ──┘└ producer owns …
//! ```
//!
//! **Who owns a slot.** The consumer owns the slots in `head..tail`, the producer owns the others. Only
//! the producer moves `tail` and only the consumer moves `head`; moving an index hands slots over.
//! One thread an end is enforced by types: an end is not `Clone`, not `Sync`, and works by `&mut self`.
//!
//! **Orderings.** An index is stored with `Release` and read by the other side with `Acquire`:
//! * `tail`: the write of an item happens before the read of it. Were it `Relaxed`, the consumer could read
//!   a slot before the item is in it.
//! * `head`: the read of an item happens before the slot is overwritten. Were it `Relaxed`, the producer's
//!   next lap could overtake the read.
//! * `closed`: what the dropped end did happens before the other end sees that it is gone; so a consumer
//!   that sees `closed` and then finds the ring empty has seen every item.
//!
//! Each end keeps its own index and the last value it saw of the other's in plain fields, and reads the
//! other's cache line only when the ring looks full (empty) by that copy. The copy is never too optimistic,
//! because the other side's index only grows.
//!
//! **Portions.** A consumer that takes single items from a large ring gives their slots back in portions, and at the
//! latest when it has taken all it has seen. Otherwise a producer that is faster, and so waits for slots, would take
//! the cache line of `head` from it at every item. Measured on 2 cores, 1,024 slots of 8 bytes: 357 M items/s against
//! 130 without. A small ring gives every slot back at once: it carries batches, whose cost hides that of the line.
//!
//! The ring does not wait; [`spsc`](super::spsc()) does.

use std::cell::Cell;
use std::marker::PhantomData;
use std::mem::{MaybeUninit, needs_drop};
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};

use super::padded::CachePadded;

use super::sync::{Arc, AtomicBool, AtomicUsize, UnsafeCell};

/// Slots that are given back together; a power of two. (Here and below: little under loom, so that a model can have portions.)
const PORTION: usize = if cfg!(loom) { 2 } else { 32 };

/// A ring below this many slots gives back every slot at once.
const PORTIONS_FROM: usize = if cfg!(loom) { 8 } else { 512 };

type Slot<T> = UnsafeCell<MaybeUninit<T>>;

/// What both ends share. `head` and `tail` have a cache line each, so that the ends do not slow each
/// other down; the other fields are (all but) constant and share one.
struct Shared<T> {
    /// Index of the first slot that the consumer has not given back. Written by the consumer, read by both.
    head: CachePadded<AtomicUsize>,
    /// Index of the next item to write. Written by the producer, read by both.
    tail: CachePadded<AtomicUsize>,
    /// Whether an end is gone. Written once or twice, always to `true`, by the ends as they go; read by both.
    closed: AtomicBool,
    /// How many items the ring holds at most; not above `slots.len()`. Constant.
    capacity: usize,
    /// Storage, a power of two long; who may touch which slot is said at the top.
    slots: Box<[Slot<T>]>,
}

// SAFETY: The cells are what makes `Shared` neither `Send` nor `Sync` by itself. A slot is only ever
// touched by the end that owns it, and it changes owner by a `Release` store that the new owner has
// read with `Acquire` (see the top). So `Shared` moves items from one thread to another, which `T: Send`
// allows, and never lets two threads at one item, so that `T: Sync` is not needed.
unsafe impl<T: Send> Send for Shared<T> {}
// SAFETY: As for `Send`.
unsafe impl<T: Send> Sync for Shared<T> {}

impl<T> Shared<T> {
    #[inline(always)]
    fn mask(&self) -> usize {
        self.slots.len() - 1
    }

    /// The `count` slots from `index` on: one run, or two where they wrap.
    #[inline]
    fn runs(&self, index: usize, count: usize) -> [&[Slot<T>]; 2] {
        let start = index & self.mask();
        let first = count.min(self.slots.len() - start);
        [&self.slots[start..start + first], &self.slots[..count - first]]
    }

    #[inline(always)]
    fn slot(&self, index: usize) -> &Slot<T> {
        // SAFETY: `slots` is a power of two long, so masking by its length minus one is in bounds.
        unsafe { self.slots.get_unchecked(index & self.mask()) }
    }
}

/// Moves the item out of `slot`.
///
/// # Safety
/// The caller owns `slot`, there is an item in it, and it is not read again before it is written again.
#[inline(always)]
unsafe fn take<T>(slot: &Slot<T>) -> T {
    // SAFETY: The pointer is valid and nobody else uses the slot: the caller owns it. It is initialised and
    // read once: the caller says so.
    slot.with(|item| unsafe { item.read().assume_init() })
}

/// Moves `item` into `slot`.
///
/// # Safety
/// The caller owns `slot`. (An item already in it is forgotten.)
#[inline(always)]
unsafe fn put<T>(slot: &Slot<T>, item: T) {
    // SAFETY: The pointer is valid and nobody else uses the slot: the caller owns it.
    slot.with_mut(|place| unsafe { place.write(MaybeUninit::new(item)) });
}

impl<T> Drop for Shared<T> {
    fn drop(&mut self) {
        if !needs_drop::<T>() {
            return;
        }
        // Both ends are gone, and `Arc` has made what they did happen before this: `Relaxed` sees it.
        let (head, tail) = (self.head.load(Relaxed), self.tail.load(Relaxed));
        for run in self.runs(head, tail.wrapping_sub(head)) {
            for slot in run {
                // SAFETY: The slots in `head..tail` hold items, and `&mut self` owns them all. A panic in an
                // item's `drop` leaves the rest undropped, never dropped twice.
                drop(unsafe { take(slot) });
            }
        }
    }
}

/// Items a ring may hold at most.
const CAPACITY_MAX: usize = 1 << (usize::BITS / 2);

/// Creates a ring that holds up to `capacity` items.
///
/// # Panics
/// If `capacity` is 0 or above 2^32.
///
/// ```
/// let (mut producer, mut consumer) = flow_core::channel::ring(2);
/// assert!(producer.push('a').is_ok());
/// assert!(producer.push('b').is_ok());
/// assert_eq!(producer.push('c').unwrap_err().0, 'c');
/// assert_eq!(consumer.pop(), Some('a'));
/// ```
pub fn ring<T>(capacity: usize) -> (Producer<T>, Consumer<T>) {
    ring_from(capacity, 0)
}

/// [`ring`] whose indices begin at `index`; tests begin just before the wrap.
pub(super) fn ring_from<T>(capacity: usize, index: usize) -> (Producer<T>, Consumer<T>) {
    assert!(capacity > 0, "a ring needs a capacity of at least 1");
    // Far above, the next power of two would wrap to 0, and every index be out of bounds.
    assert!(capacity <= CAPACITY_MAX, "a ring of {capacity} items: it may hold {CAPACITY_MAX} at most");
    let slots = (0..capacity.next_power_of_two()).map(|_| Slot::new(MaybeUninit::uninit())).collect();
    let shared = Arc::new(Shared {
        head: CachePadded::new(AtomicUsize::new(index)),
        tail: CachePadded::new(AtomicUsize::new(index)),
        closed: AtomicBool::new(false),
        capacity,
        slots,
    });
    let producer = Producer { shared: Arc::clone(&shared), tail: index, head: index, _not_sync: PhantomData };
    let portion_mask = if shared.slots.len() < PORTIONS_FROM { 0 } else { PORTION - 1 };
    let consumer = Consumer { shared, head: index, tail: index, portion_mask, _not_sync: PhantomData };
    (producer, consumer)
}

/// The item that [`Producer::push`] could not place because the ring was full.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Full<T>(pub T);

impl<T> std::fmt::Debug for Full<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Full(..)")
    }
}

/// The writing end of a [`ring`].
pub struct Producer<T> {
    shared: Arc<Shared<T>>,
    /// `shared.tail`, which only this end writes.
    tail: usize,
    /// A value `shared.head` had; it may have grown since.
    head: usize,
    /// One thread at a time, though the thread may change.
    _not_sync: PhantomData<Cell<()>>,
}

impl<T> Producer<T> {
    /// Puts `item` into the ring, or gives it back if the ring is full.
    ///
    /// The push does not look whether the consumer is there: an item pushed after it is gone is dropped with
    /// the ring. Ask [`is_closed`](Self::is_closed).
    #[inline]
    pub fn push(&mut self, item: T) -> Result<(), Full<T>> {
        if self.tail.wrapping_sub(self.head) == self.shared.capacity && self.free() == 0 {
            return Err(Full(item));
        }
        // SAFETY: `tail - head < capacity`, so the slot at `tail` is outside `head..tail`: it is this end's.
        unsafe { put(self.shared.slot(self.tail), item) };
        self.tail = self.tail.wrapping_add(1);
        self.shared.tail.store(self.tail, Release);
        Ok(())
    }

    /// Moves items from `items` into the ring until either ends, hands them over all at once, and returns how
    /// many they were. Never takes an item that it cannot place.
    ///
    /// ```
    /// let (mut producer, _consumer) = flow_core::channel::ring(4);
    /// let mut items = 0..10;
    /// assert_eq!(producer.push_from(&mut items), 4);
    /// assert_eq!(items.next(), Some(4));
    /// ```
    #[inline]
    pub fn push_from(&mut self, items: &mut impl Iterator<Item = T>) -> usize {
        // First the room that is known, so that the consumer's cache line is left alone while there is any.
        let known = self.capacity() - self.tail.wrapping_sub(self.head);
        // SAFETY: `self.head` is a value of `shared.head`, which only grows: at least `known` slots are free.
        let count = unsafe { self.fill(known, items) };
        if count < known {
            return count;
        }
        let more = self.free();
        // SAFETY: As before, with the newest value.
        count + unsafe { self.fill(more, items) }
    }

    /// Moves up to `count` items into the next slots and hands them over.
    ///
    /// # Safety
    /// At least `count` slots are free.
    #[inline]
    unsafe fn fill(&mut self, count: usize, items: &mut impl Iterator<Item = T>) -> usize {
        debug_assert!(count <= self.capacity() - self.len());
        let shared = &*self.shared;
        let runs = shared.runs(self.tail, count);
        let mut written = Advance { own: &mut self.tail, shared: &shared.tail, count: 0 };
        // Nested loops, because `flatten` would keep the compiler from vectorising.
        'full: for run in runs {
            for slot in run {
                let Some(item) = items.next() else { break 'full };
                // SAFETY: The `count` slots from `tail` on are free, says the caller: outside `head..tail`, and
                // so this end's.
                unsafe { put(slot, item) };
                written.count += 1;
            }
        }
        written.count
    }

    /// How many items can be pushed now; the consumer may make more room at any time.
    #[inline]
    pub fn free(&mut self) -> usize {
        self.head = self.shared.head.load(Acquire);
        self.shared.capacity - self.tail.wrapping_sub(self.head)
    }

    /// How many slots are taken; the consumer may give some back at any time.
    #[inline]
    pub fn len(&self) -> usize {
        self.tail.wrapping_sub(self.shared.head.load(Acquire))
    }

    /// Whether the ring is empty.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many items the ring holds at most.
    #[inline]
    pub fn capacity(&self) -> usize {
        self.shared.capacity
    }

    /// Whether the consumer is gone, so that what is pushed is not read any more.
    #[inline]
    pub fn is_closed(&self) -> bool {
        self.shared.closed.load(Acquire)
    }

    /// Says that this end is going; dropping it says so too.
    pub(super) fn close(&mut self) {
        self.shared.closed.store(true, Release);
    }
}

impl<T> Drop for Producer<T> {
    fn drop(&mut self) {
        self.close();
    }
}

/// The reading end of a [`ring`].
pub struct Consumer<T> {
    shared: Arc<Shared<T>>,
    /// Index of the next item to read; `shared.head`, which only this end writes, is up to a portion behind.
    head: usize,
    /// A value `shared.tail` had; it may have grown since.
    tail: usize,
    /// Slots are given back when these bits of `head` are 0: at every portion, or always.
    portion_mask: usize,
    /// One thread at a time, though the thread may change.
    _not_sync: PhantomData<Cell<()>>,
}

impl<T> Consumer<T> {
    /// Takes the oldest item, if there is one. The producer may get the slot a little later: see
    /// [`release`](Self::release).
    #[inline]
    pub fn pop(&mut self) -> Option<T> {
        if self.tail == self.head && self.refresh() == 0 {
            return None;
        }
        // SAFETY: `head < tail`, so the slot at `head` holds an item and is this end's. It is not read again:
        // `head` moves on.
        let item = unsafe { take(self.shared.slot(self.head)) };
        self.head = self.head.wrapping_add(1);
        if self.head == self.tail || self.head & self.portion_mask == 0 {
            self.release();
        }
        Some(item)
    }

    /// Gives the slots of all items taken so far back to the producer.
    #[inline]
    pub fn release(&mut self) {
        self.shared.head.store(self.head, Release);
    }

    /// Hands the oldest items, up to `max`, to `each`; gives their slots back all at once and returns how
    /// many they were.
    ///
    /// ```
    /// let (mut producer, mut consumer) = flow_core::channel::ring(4);
    /// producer.push_from(&mut [1, 2, 3].into_iter());
    /// let mut sum = 0;
    /// assert_eq!(consumer.pop_each(2, |item| sum += item), 2);
    /// assert_eq!(sum, 3);
    /// ```
    #[inline]
    pub fn pop_each(&mut self, max: usize, mut each: impl FnMut(T)) -> usize {
        let count = self.refresh().min(max);
        let shared = &*self.shared;
        let runs = shared.runs(self.head, count);
        let mut read = Advance { own: &mut self.head, shared: &shared.head, count: 0 };
        for run in runs {
            for slot in run {
                // Counted first: if `each` panics, its item is gone and must not be read again.
                read.count += 1;
                // SAFETY: The `count` slots from `head` on are in `head..tail`: they hold items and are this
                // end's. None is read again: all that were counted are given back.
                each(unsafe { take(slot) });
            }
        }
        read.count
    }

    /// Appends the oldest items, up to `max`, to `items` and returns how many they were.
    #[inline]
    pub fn pop_into(&mut self, items: &mut Vec<T>, max: usize) -> usize {
        items.reserve(self.refresh().min(max));
        self.pop_each(max, |item| items.push(item))
    }

    /// Looks where the producer is and returns how many items there are.
    #[inline]
    fn refresh(&mut self) -> usize {
        self.tail = self.shared.tail.load(Acquire);
        self.tail.wrapping_sub(self.head)
    }

    /// How many items are in the ring; the producer may add some at any time.
    #[inline]
    pub fn len(&self) -> usize {
        self.shared.tail.load(Acquire).wrapping_sub(self.head)
    }

    /// Whether the ring is empty.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many items the ring holds at most.
    #[inline]
    pub fn capacity(&self) -> usize {
        self.shared.capacity
    }

    /// Whether the producer is gone. Items may remain: a consumer is done when this is true and the ring is
    /// empty, asked in this order.
    #[inline]
    pub fn is_closed(&self) -> bool {
        self.shared.closed.load(Acquire)
    }

    /// Says that this end is going; dropping it says so too.
    pub(super) fn close(&mut self) {
        // What has been taken must not be dropped with the ring.
        self.release();
        self.shared.closed.store(true, Release);
    }
}

impl<T> Drop for Consumer<T> {
    fn drop(&mut self) {
        self.close();
    }
}

/// Moves an end's index over `count` slots when dropped: also when the caller's code panics in the middle
/// of a batch.
struct Advance<'a> {
    /// The end's own copy of its index.
    own: &'a mut usize,
    /// The index as the other end sees it.
    shared: &'a AtomicUsize,
    /// How many slots have been written (read) so far.
    count: usize,
}

impl Drop for Advance<'_> {
    #[inline(always)]
    fn drop(&mut self) {
        if self.count > 0 {
            *self.own = self.own.wrapping_add(self.count);
            self.shared.store(*self.own, Release);
        }
    }
}

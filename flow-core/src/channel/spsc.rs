//! A ring whose ends wake each other's threads.
//!
//! [`Sender`] and [`Receiver`] never wait themselves: a host's thread steps many stages, and waits with its one
//! [`Waiter`](super::Waiter) only when none of them can go on. What they do is to wake:
//!
//! * a send, and the end of the sender, wake the receiver's thread;
//! * the receiver wakes the sender's thread when it has made room for a sender that was refused; so does its end.
//!
//! # No wake-up is lost
//!
//! Between ring and thread the protocol is [`Signal`]'s: the item is published, then `wake`. (The receiver's re-check is
//! [`Receiver::is_ready`], the sender's [`Sender::is_ready`].) For room there is a second flag, `wants_space`,
//! by the same pattern:
//!
//! | the sender | the receiver |
//! |---|---|
//! | a. is refused; `wants_space = true` | 1. takes items; gives their slots back |
//! | b. `fence(SeqCst)` | 2. `fence(SeqCst)` |
//! | c. tries once more; if refused again, reports `Full` | 3. reads `wants_space`; if set and there is room enough, clears it and wakes the sender's thread |
//!
//! Either c sees the slots that 1 gave back, or 3 sees the flag. With a fence gone, c may miss the slots while 3 misses the flag, and
//! a refused sender sleeps beside an empty ring.
//!
//! **Hysteresis.** *Room enough* is half the ring, else two threads on one core would change places for every
//! item. And the receiver takes the steps 1 to 3 only at every fourth part of the ring, because a fence costs more than
//! taking an item. A refused sender does not move the tail, so the receiver's last look before the ring runs dry is at
//! less than a quarter (and never at more than half) of it, and finds the flag.
//!
//! **Turning away.** A receiver that stops reading before the ring is half empty (a blocked input, the end of its
//! step) must call [`Receiver::relieve`]: the sender's thread might otherwise sleep on
//! although there is room, and with it other stages that this receiver waits for.

use std::sync::atomic::Ordering::{Relaxed, SeqCst};

use super::padded::CachePadded;

use super::ring::{Consumer, Full, Producer, ring};
use super::signal::Signal;
use super::sync::{Arc, AtomicBool, fence};

/// Slots of the return ring beyond those of the ring: the item either end has in hand.
const IN_HAND: usize = 2;

/// Whether the sender was refused and no room has been made since. Set by the sender, cleared by the receiver when it
/// wakes the sender's thread (and by the sender that got in after all).
type WantsSpace = Arc<CachePadded<AtomicBool>>;

/// Creates a ring of `capacity` items whose ends wake the threads of the two signals.
///
/// # Panics
/// If `capacity` is 0.
///
/// ```
/// use flow_core::channel::{Signal, spsc};
///
/// let (upstream, _waiter) = Signal::new();
/// let (downstream, mut waiter) = Signal::new();
/// let (mut sender, mut receiver) = spsc(4, downstream, upstream);
/// let thread = std::thread::spawn(move || {
///     let mut sum = 0;
///     while !receiver.is_finished() {
///         match receiver.try_recv() {
///             Some(item) => sum += item,
///             None => {
///                 waiter.wait(None, || receiver.is_ready());
///             }
///         }
///     }
///     sum
/// });
/// sender.try_send(1).unwrap();
/// sender.try_send(2).unwrap();
/// drop(sender);
/// assert_eq!(thread.join().unwrap(), 3);
/// ```
pub fn spsc<T>(capacity: usize, consumer: Signal, producer: Signal) -> (Sender<T>, Receiver<T>) {
    let (tx, rx) = ring(capacity);
    let wants_space = WantsSpace::default();
    let sender = Sender { ring: tx, wants_space: Arc::clone(&wants_space), consumer, returned: None };
    let look_every = (capacity / 4).max(1);
    let receiver = Receiver { ring: rx, wants_space, producer, look_every, unlooked: 0, returns: None };
    (sender, receiver)
}

/// [`spsc`] with a way back: what the receiver gives to [`Receiver::recycle`] the sender gets from
/// [`Sender::recycled`], so that buffers go round and none is allocated once the ring has been full.
///
/// ```
/// use flow_core::channel::{Signal, recycling};
///
/// let (signal, _waiter) = Signal::new();
/// let (mut sender, mut receiver) = recycling::<Vec<u32>>(4, signal.clone(), signal);
/// sender.try_send(vec![1, 2, 3]).unwrap();
/// let mut batch = receiver.try_recv().unwrap();
/// batch.clear();
/// receiver.recycle(batch);
/// assert!(sender.recycled().unwrap().capacity() >= 3);
/// ```
///
/// # Panics
/// If `capacity` is 0.
pub fn recycling<T>(capacity: usize, consumer: Signal, producer: Signal) -> (Sender<T>, Receiver<T>) {
    let (mut sender, mut receiver) = spsc(capacity, consumer, producer);
    let (returns, returned) = ring(capacity + IN_HAND);
    sender.returned = Some(returned);
    receiver.returns = Some(returns);
    (sender, receiver)
}

/// Why [`Sender::try_send`] gave the item back.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum TrySendError<T> {
    /// There is no room. The receiver wakes the sender's thread when it has made some.
    Full(T),
    /// The receiver is gone.
    Closed(T),
}

impl<T> TrySendError<T> {
    /// The item.
    pub fn into_inner(self) -> T {
        match self {
            Self::Full(item) | Self::Closed(item) => item,
        }
    }
}

impl<T> std::fmt::Debug for TrySendError<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Full(_) => "Full(..)",
            Self::Closed(_) => "Closed(..)",
        })
    }
}

/// The writing end of a channel; see [`spsc`] and [`recycling`].
pub struct Sender<T> {
    ring: Producer<T>,
    wants_space: WantsSpace,
    /// Wakes the receiver's thread.
    consumer: Signal,
    /// Where used items come back, if they do.
    returned: Option<Consumer<T>>,
}

impl<T> Sender<T> {
    /// Sends `item` and wakes the receiver's thread if it sleeps; or gives the item back.
    #[inline]
    pub fn try_send(&mut self, item: T) -> Result<(), TrySendError<T>> {
        if self.ring.is_closed() {
            return Err(TrySendError::Closed(item));
        }
        match self.ring.push(item) {
            Ok(()) => {
                self.consumer.wake();
                Ok(())
            }
            Err(Full(item)) => self.ask_for_space(item),
        }
    }

    /// Steps a to c of the top.
    #[cold]
    fn ask_for_space(&mut self, item: T) -> Result<(), TrySendError<T>> {
        self.wants_space.store(true, Relaxed);
        fence(SeqCst);
        match self.ring.push(item) {
            Ok(()) => {
                self.wants_space.store(false, Relaxed);
                self.consumer.wake();
                Ok(())
            }
            Err(Full(item)) => Err(TrySendError::Full(item)),
        }
    }

    /// Whether trying to send makes sense: the last try was not refused, or there is room again, or the receiver
    /// is gone. This is the re-check before sleeping; each of its reasons is followed by a wake-up.
    ///
    /// After a refusal, room counts from half the ring on, unless the receiver says so earlier.
    #[inline]
    pub fn is_ready(&self) -> bool {
        !self.wants_space.load(Relaxed) || self.ring.is_closed() || self.ring.is_empty()
    }

    /// An item that the receiver has given back, to be used again.
    #[inline]
    pub fn recycled(&mut self) -> Option<T> {
        self.returned.as_mut()?.pop()
    }

    /// How many items can be sent now; the receiver may make more room at any time.
    #[inline]
    pub fn free(&mut self) -> usize {
        self.ring.free()
    }

    /// How many items wait to be received, at most: slots come back in portions.
    #[inline]
    pub fn len(&self) -> usize {
        self.ring.len()
    }

    /// Whether no item waits to be received.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.ring.is_empty()
    }

    /// How many items the channel holds at most.
    #[inline]
    pub fn capacity(&self) -> usize {
        self.ring.capacity()
    }

    /// Whether the receiver is gone.
    #[inline]
    pub fn is_closed(&self) -> bool {
        self.ring.is_closed()
    }
}

impl<T> Drop for Sender<T> {
    fn drop(&mut self) {
        // The ring closes by itself, but only after this: the receiver must find it closed when it wakes.
        self.ring.close();
        self.consumer.wake();
    }
}

/// The reading end of a channel; see [`spsc`] and [`recycling`].
pub struct Receiver<T> {
    ring: Consumer<T>,
    wants_space: WantsSpace,
    /// Wakes the sender's thread.
    producer: Signal,
    /// After how many items to look whether the sender wants space.
    look_every: usize,
    /// Items received since the last look.
    unlooked: usize,
    /// Where used items go back, if they do.
    returns: Option<Producer<T>>,
}

impl<T> Receiver<T> {
    /// Receives the oldest item, if there is one.
    #[inline]
    pub fn try_recv(&mut self) -> Option<T> {
        let item = self.ring.pop()?;
        self.unlooked += 1;
        if self.unlooked >= self.look_every {
            self.make_room(self.ring.capacity() / 2);
        }
        Some(item)
    }

    /// Lets a waiting sender go on although the ring is more than half full. Call this before turning away from a
    /// ring that may hold items.
    #[inline]
    pub fn relieve(&mut self) {
        self.make_room(self.ring.capacity() - 1);
    }

    /// Steps 2 and 3 of the top; room enough is when at most `len_max` items are left.
    #[inline]
    fn make_room(&mut self, len_max: usize) {
        self.unlooked = 0;
        self.ring.release();
        fence(SeqCst);
        if self.wants_space.load(Relaxed) && self.ring.len() <= len_max {
            self.wants_space.store(false, Relaxed);
            self.producer.wake();
        }
    }

    /// Gives an item back to the sender; drops it if the way back is full or there is none.
    #[inline]
    pub fn recycle(&mut self, item: T) {
        if let Some(returns) = &mut self.returns {
            // A full way back is no loss: the item is dropped with the error.
            drop(returns.push(item));
        }
    }

    /// Whether trying to receive makes sense: there is an item, or the sender is gone. This is the re-check before
    /// sleeping; each of its reasons is followed by a wake-up.
    #[inline]
    pub fn is_ready(&self) -> bool {
        !self.ring.is_empty() || self.ring.is_closed()
    }

    /// Whether the sender is gone and every item has been received.
    #[inline]
    pub fn is_finished(&self) -> bool {
        // In this order: what is sent before the close is seen after it.
        self.ring.is_closed() && self.ring.is_empty()
    }

    /// How many items wait to be received; the sender may add some at any time.
    #[inline]
    pub fn len(&self) -> usize {
        self.ring.len()
    }

    /// Whether no item waits to be received.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.ring.is_empty()
    }

    /// How many items the channel holds at most.
    #[inline]
    pub fn capacity(&self) -> usize {
        self.ring.capacity()
    }

    /// Whether the sender is gone; items may remain.
    #[inline]
    pub fn is_closed(&self) -> bool {
        self.ring.is_closed()
    }
}

impl<T> Drop for Receiver<T> {
    fn drop(&mut self) {
        // As for the sender. It may sleep whether it wants space or not, so it is woken in any case.
        self.ring.close();
        self.producer.wake();
    }
}

//! A channel whose ends wait by themselves, for use outside a host.

use super::backoff::{Backoff, Patience};
use super::signal::{Signal, Waiter};
use super::spsc::{Receiver, Sender, TrySendError, spsc};

/// Threads that a channel is for, as far as its policy of waiting can know.
const THREADS: usize = 2;

/// Creates a channel for up to `capacity` items between two threads, each of which waits for the other.
///
/// # Panics
/// If `capacity` is 0.
///
/// ```
/// let (mut sender, mut receiver) = flow_core::channel::channel(4);
/// let thread = std::thread::spawn(move || (0..100).try_for_each(|item| sender.send(item)));
/// let mut sum = 0;
/// while let Some(item) = receiver.recv() {
///     sum += item;
/// }
/// assert_eq!(sum, 4950);
/// assert!(thread.join().unwrap().is_ok());
/// ```
pub fn channel<T>(capacity: usize) -> (BlockingSender<T>, BlockingReceiver<T>) {
    let (to_sender, sender_waiter) = Signal::new();
    let (to_receiver, receiver_waiter) = Signal::new();
    let (sender, receiver) = spsc(capacity, to_receiver, to_sender);
    (
        BlockingSender { sender, waiter: sender_waiter },
        BlockingReceiver { receiver, waiter: receiver_waiter, patience: Patience::default() },
    )
}

/// The item that could not be sent because the receiver is gone.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Closed<T>(pub T);

impl<T> std::fmt::Debug for Closed<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Closed(..)")
    }
}

/// The writing end of a [`channel`].
pub struct BlockingSender<T> {
    sender: Sender<T>,
    waiter: Waiter,
}

impl<T> BlockingSender<T> {
    /// Sends `item`; waits while the channel is full.
    #[inline]
    pub fn send(&mut self, item: T) -> Result<(), Closed<T>> {
        match self.sender.try_send(item) {
            Ok(()) => Ok(()),
            Err(TrySendError::Closed(item)) => Err(Closed(item)),
            Err(TrySendError::Full(item)) => self.send_waiting(item),
        }
    }

    #[cold]
    fn send_waiting(&mut self, mut item: T) -> Result<(), Closed<T>> {
        let mut backoff = Backoff::for_threads(THREADS);
        loop {
            while !self.sender.is_ready() {
                if !backoff.pause() {
                    self.waiter.wait(None, || self.sender.is_ready());
                }
            }
            item = match self.sender.try_send(item) {
                Ok(()) => return Ok(()),
                Err(TrySendError::Closed(item)) => return Err(Closed(item)),
                Err(TrySendError::Full(item)) => item,
            };
        }
    }

    /// A signal of the thread that sends; its [`rescues`](Signal::rescues) are this end's.
    pub fn signal(&self) -> Signal {
        self.waiter.signal()
    }
}

/// The reading end of a [`channel`].
pub struct BlockingReceiver<T> {
    receiver: Receiver<T>,
    waiter: Waiter,
    patience: Patience,
}

impl<T> BlockingReceiver<T> {
    /// Receives the oldest item; waits while there is none. `None` when the sender is gone and every item has been
    /// received.
    #[inline]
    pub fn recv(&mut self) -> Option<T> {
        match self.receiver.try_recv() {
            Some(item) => Some(item),
            None => self.recv_waiting(),
        }
    }

    #[cold]
    fn recv_waiting(&mut self) -> Option<T> {
        let mut backoff = Backoff::for_threads(THREADS);
        if backoff.spins() {
            self.patience.wait();
        }
        while !self.receiver.is_ready() {
            if !backoff.pause() {
                self.waiter.wait(None, || self.receiver.is_ready());
            }
        }
        self.patience.learn(self.receiver.len(), self.receiver.capacity());
        // Ready without an item: the sender is gone and nothing is left.
        self.receiver.try_recv()
    }

    /// A signal of the thread that receives; its [`rescues`](Signal::rescues) are this end's.
    pub fn signal(&self) -> Signal {
        self.waiter.signal()
    }
}

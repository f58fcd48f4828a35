//! The queue between a reading thread and its stage: the thread waits for room, the stage never waits.
//!
//! By hand, because a bounded channel of the standard library is 7,000 lines of LLVM's language, compiled with each clean
//! build, and here a handful of locks a second is all that is asked of it.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

/// The thread's end.
pub(super) struct Sender<T>(Arc<Shared<T>>);

/// The stage's end.
pub(super) struct Receiver<T>(Arc<Shared<T>>);

struct Shared<T> {
    state: Mutex<State<T>>,
    /// An item was taken, or the stage has gone.
    room: Condvar,
}

struct State<T> {
    items: VecDeque<T>,
    max: usize,
    sender_gone: bool,
    receiver_gone: bool,
}

/// What the stage finds.
pub(super) enum Found<T> {
    /// The next item.
    Item(T),
    /// Nothing yet.
    Nothing,
    /// Nothing, and the thread has gone.
    Gone,
}

/// A queue for at most `max` items.
pub(super) fn queue<T>(max: usize) -> (Sender<T>, Receiver<T>) {
    let state = State { items: VecDeque::new(), max, sender_gone: false, receiver_gone: false };
    let shared = Arc::new(Shared { state: Mutex::new(state), room: Condvar::new() });
    (Sender(Arc::clone(&shared)), Receiver(shared))
}

impl<T> Shared<T> {
    fn lock(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T> Sender<T> {
    /// Waits for room; whether the stage is still there.
    pub fn send(&self, item: T) -> bool {
        let mut state = self.0.lock();
        while state.items.len() >= state.max && !state.receiver_gone {
            state = self.0.room.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        if !state.receiver_gone {
            state.items.push_back(item);
        }
        !state.receiver_gone
    }
}

impl<T> Drop for Sender<T> {
    fn drop(&mut self) {
        self.0.lock().sender_gone = true;
    }
}

impl<T> Receiver<T> {
    /// What is there now.
    pub fn take(&self) -> Found<T> {
        let mut state = self.0.lock();
        match state.items.pop_front() {
            Some(item) => {
                self.0.room.notify_one();
                Found::Item(item)
            }
            None if state.sender_gone => Found::Gone,
            None => Found::Nothing,
        }
    }
}

impl<T> Drop for Receiver<T> {
    fn drop(&mut self) {
        let mut state = self.0.lock();
        state.receiver_gone = true;
        self.0.room.notify_one();
        let items = std::mem::take(&mut state.items);
        // What is dropped may be the user's, and take its time.
        drop(state);
        drop(items);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_arrive_in_order_and_then_nobody_is_there() {
        let (sender, receiver) = queue(3);
        let thread = std::thread::spawn(move || (0..1000).all(|n| sender.send(n)));
        let mut taken = Vec::new();
        loop {
            match receiver.take() {
                Found::Item(n) => taken.push(n),
                Found::Nothing => std::thread::yield_now(),
                Found::Gone => break,
            }
        }
        assert!(thread.join().unwrap());
        assert!(taken.into_iter().eq(0..1000));
    }

    #[test]
    fn a_thread_that_waits_for_room_hears_that_the_stage_goes() {
        let (sender, receiver) = queue(1);
        let thread = std::thread::spawn(move || (sender.send(1), sender.send(2)));
        std::thread::sleep(std::time::Duration::from_millis(20));
        drop(receiver);
        assert_eq!(thread.join().unwrap(), (true, false));
    }
}

//! What carries batches from one thread to another: rings, and how threads wait for them.
//!
//! ```text
//!   stage ──▶ Sender ══════ ring ══════▶ Receiver ──▶ stage        spsc
//!                ◀─── recycled items ───                           ring
//!   host thread: Waiter ◀── wake ── Signal: anybody with news      signal, backoff
//! ```
//!
//! Begin with the layer you need:
//! * [`ring()`]: the raw ring. Lock-free, never waits, wakes nobody; all the `unsafe` of this room.
//! * [`Signal`] and [`Waiter`]: how a thread sleeps and is woken, without lost wake-ups; one pair a thread.
//! * [`spsc()`] and [`recycling()`]: a ring whose ends wake each other's threads. Every edge between stages is one.
//! * [`channel()`]: a ring whose ends wait by themselves.
//! * [`Backoff`]: what to do before sleeping.
//!
//! Each ring has one producer and one consumer, by ownership: the ends cannot be cloned or shared. Each holds a
//! fixed number of items. This room knows nothing of batches, stages or hosts.
//!
//! The same code runs under the model checker loom: `sync` swaps the primitives.

mod backoff;
mod blocking;
#[cfg(all(test, loom))]
mod models;
mod padded;
mod ring;
mod signal;
mod spsc;
mod sync;
#[cfg(all(test, not(loom)))]
mod tests;

pub use self::backoff::Backoff;
pub use self::blocking::{BlockingReceiver, BlockingSender, Closed, channel};
pub use self::ring::{Consumer, Full, Producer, ring};
pub use self::signal::{PARK_MAX, Parked, Signal, Sleep, Waiter, Wake};
pub use self::spsc::{Receiver, Sender, TrySendError, recycling, spsc};

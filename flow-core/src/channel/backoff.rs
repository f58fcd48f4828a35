//! What to do before parking: a few spins, a yield or two.

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// Spins before the first yield: about as long as it takes to hand over an item and get the answer, and far less
/// than a park and a wake-up (some 10 µs).
const SPINS: u32 = if cfg!(loom) { 0 } else { 60 };

/// Yields before the park: on a busy machine they let the other side run without the price of a wake-up.
const YIELDS: u32 = if cfg!(loom) { 0 } else { 2 };

/// Counts the rounds of one wait; [`Backoff::pause`] says when it is time to park.
#[derive(Clone, Copy, Debug)]
pub struct Backoff {
    spins: u32,
    round: u32,
}

impl Backoff {
    /// The policy for a program in which `threads` threads want to run. With more threads than cores it does not
    /// spin: the other side may need the very core that would spin.
    pub fn for_threads(threads: usize) -> Self {
        Self { spins: if threads > cores() { 0 } else { SPINS }, round: 0 }
    }

    /// Pauses a little and returns true, or returns false: park.
    #[inline]
    pub fn pause(&mut self) -> bool {
        if self.round >= self.spins + YIELDS {
            return false;
        }
        if self.round < self.spins {
            std::hint::spin_loop();
        } else {
            std::thread::yield_now();
        }
        self.round += 1;
        true
    }

    /// Begins a new wait.
    #[inline]
    pub fn reset(&mut self) {
        self.round = 0;
    }
}

/// How many cores this process may use. Asking the system reads files, so the answer is kept.
fn cores() -> usize {
    /// 0 until asked. Two threads that ask at once store the same answer.
    static CORES: AtomicUsize = AtomicUsize::new(0);
    match CORES.load(Relaxed) {
        0 => {
            let cores = std::thread::available_parallelism().map_or(1, usize::from);
            CORES.store(cores, Relaxed);
            cores
        }
        cores => cores,
    }
}

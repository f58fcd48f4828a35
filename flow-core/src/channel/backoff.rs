//! What to do before parking: a few spins, then yields.

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// Rounds of spinning before the first yield. Each spins twice as long as the one before, because every look takes the
/// cache line from the side that is to write it. Together 127 pauses: 1 to 5 µs depending on the processor.
const SPIN_ROUNDS: u32 = if cfg!(loom) { 0 } else { 7 };

/// Rounds after that, each a yield and a spin as long as the last. All rounds together take about what it costs to park and to be
/// woken, so that a wait takes at most twice as long as with hindsight. The yields let the other side run if it
/// waits for this very core.
const LINGER_ROUNDS: u32 = if cfg!(loom) { 0 } else { 10 };

/// Yields before the park for those who do not spin.
const YIELDS: u32 = if cfg!(loom) { 0 } else { 2 };

/// Counts the rounds of one wait; [`Backoff::pause`] says when it is time to park.
#[derive(Clone, Copy, Debug)]
pub struct Backoff {
    spins: bool,
    round: u32,
}

impl Backoff {
    /// The policy for a program in which `threads` threads want to run. With more threads than cores it does not
    /// spin: the other side may need the very core that would spin.
    pub fn for_threads(threads: usize) -> Self {
        Self { spins: threads <= cores(), round: 0 }
    }

    /// Pauses a little and returns true, or returns false: park.
    #[inline]
    pub fn pause(&mut self) -> bool {
        let round = self.round;
        if round >= if self.spins { SPIN_ROUNDS + LINGER_ROUNDS } else { YIELDS } {
            return false;
        }
        self.round += 1;
        if !self.spins || round >= SPIN_ROUNDS {
            std::thread::yield_now();
        }
        if self.spins {
            spin(1 << round.min(SPIN_ROUNDS.saturating_sub(1)));
        }
        true
    }

    /// Whether it spins at all.
    pub(super) fn spins(&self) -> bool {
        self.spins
    }

    /// Begins a new wait.
    #[inline]
    pub fn reset(&mut self) {
        self.round = 0;
    }
}

/// How long a receiver that is faster than its sender keeps away from the ring when it is empty.
///
/// Were it to look at once, it would follow on the heels of the sender, and every item would cost both sides the way of
/// a cache line from core to core. So it lets some items pile up, but only where they come faster than it waits:
/// where one item came, it was worth looking at once (a round trip). Measured on 2 cores, 1,024 slots, threads on
/// cores of their own: 110 M items/s against 18 without, at the same 0.4 µs a round trip.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Patience {
    pauses: u32,
}

impl Patience {
    /// The shortest wait but none, in pauses.
    const PAUSES_MIN: u32 = 8;
    /// The longest wait: 5 to 20 µs depending on the processor.
    const PAUSES_MAX: u32 = 512;

    /// Waits as long as it has learnt.
    pub fn wait(self) {
        spin(self.pauses);
    }

    /// Learns from a wait after which `found` items were in a ring for `capacity`.
    pub fn learn(&mut self, found: usize, capacity: usize) {
        if found < 2 {
            self.pauses = 0;
        } else if found < capacity / 4 {
            self.pauses = (self.pauses * 2).clamp(Self::PAUSES_MIN, Self::PAUSES_MAX);
        }
    }
}

fn spin(pauses: u32) {
    (0..pauses).for_each(|_| std::hint::spin_loop());
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

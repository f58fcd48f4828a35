//! Checkpoint barriers of several inputs: an input that has shown barrier n waits until all others have.
//!
//! A pure state machine. Ended inputs count as having shown every barrier.

/// Aligns the barriers of `n` inputs.
///
/// ```
/// use flow_core::exchange::Aligner;
/// let mut align = Aligner::new(2);
/// assert_eq!(align.barrier(0, 1), None);
/// assert!(align.holds(0) && !align.holds(1), "input 0 waits for input 1");
/// assert_eq!(align.barrier(1, 1), Some(1));
/// assert!(!align.holds(0));
/// ```
#[derive(Debug)]
pub struct Aligner {
    shown: Vec<bool>,
    ended: Vec<bool>,
    /// The barrier being aligned.
    current: Option<u64>,
}

impl Aligner {
    /// Of `n` inputs, none of which has shown a barrier.
    pub fn new(n: usize) -> Self {
        Aligner { shown: vec![false; n], ended: vec![false; n], current: None }
    }

    /// Whether `input` has to wait: it has shown the barrier that others have not.
    pub fn holds(&self, input: usize) -> bool {
        self.shown[input]
    }

    /// `input` shows barrier `id`; returns it when it is the last to do so.
    pub fn barrier(&mut self, input: usize, id: u64) -> Option<u64> {
        self.current = Some(id);
        self.shown[input] = true;
        self.complete()
    }

    /// `input` has ended; returns the barrier that only it held up.
    pub fn end(&mut self, input: usize) -> Option<u64> {
        self.ended[input] = true;
        self.complete()
    }

    fn complete(&mut self) -> Option<u64> {
        let all = self.shown.iter().zip(&self.ended).all(|(shown, ended)| *shown || *ended);
        let done = if all { self.current.take() } else { None };
        if done.is_some() {
            self.shown.fill(false);
        }
        done
    }
}

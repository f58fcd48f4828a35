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

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// How many barriers each input has shown, and whether it has ended.
    struct Naive(Vec<(u64, bool)>);

    impl Naive {
        /// The barriers that all have shown; those that have ended count as having shown as many as any.
        fn aligned(&self) -> u64 {
            let open = self.0.iter().filter(|input| !input.1).map(|input| input.0).min();
            open.unwrap_or_else(|| self.0.iter().map(|input| input.0).max().unwrap_or(0))
        }
        fn holds(&self, input: usize) -> bool {
            self.0[input].0 > self.aligned()
        }
    }

    proptest! {
        #[test]
        fn agrees_with_counting(n in 1usize..5, moves in prop::collection::vec((0usize..5, 0u8..8), 0..80)) {
            let (mut align, mut naive) = (Aligner::new(n), Naive(vec![(0, false); n]));
            for (input, what) in moves {
                let input = input % n;
                if naive.holds(input) || naive.0[input].1 {
                    continue;
                }
                let before = naive.aligned();
                let told = if what == 0 {
                    naive.0[input].1 = true;
                    align.end(input)
                } else {
                    naive.0[input].0 += 1;
                    align.barrier(input, naive.0[input].0)
                };
                let after = naive.aligned();
                prop_assert_eq!(told, (after > before).then_some(after));
                for i in 0..n {
                    prop_assert_eq!(align.holds(i), naive.holds(i), "input {}", i);
                }
            }
        }
    }
}

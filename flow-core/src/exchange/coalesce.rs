//! The watermark of several inputs: the minimum over those that are neither finished nor idle.
//!
//! A pure state machine: marks of single inputs in, marks of the whole out.
//!
//! ```text
//! live ⇄ idle     an idle input holds back nobody; an element or a watermark of it ends its idleness
//!   └──┬──┘
//!    ended        nothing follows; when all have ended the watermark is MAX
//! ```

use crate::batch::Mark;
use crate::time::Timestamp;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Input {
    Live(Timestamp),
    Idle(Timestamp),
    Ended,
}

/// Merges the watermarks of `n` inputs.
///
/// ```
/// use flow_core::batch::Mark;
/// use flow_core::exchange::Coalescer;
/// use flow_core::time::Timestamp;
/// let mut union = Coalescer::new(2);
/// assert_eq!(union.observe(0, Mark::Watermark(Timestamp(5))), [None, None]);
/// assert_eq!(union.observe(1, Mark::Watermark(Timestamp(20))), [Some(Mark::Watermark(Timestamp(5))), None]);
/// assert_eq!(union.observe(0, Mark::End), [Some(Mark::Watermark(Timestamp(20))), None]);
/// ```
#[derive(Debug)]
pub struct Coalescer {
    inputs: Vec<Input>,
    /// What was last told: it never goes back.
    out: Timestamp,
    /// Whether the last thing told was that all are idle.
    idle: bool,
}

impl Coalescer {
    /// Of `n` inputs that have not said anything.
    pub fn new(n: usize) -> Self {
        Coalescer { inputs: vec![Input::Live(Timestamp::MIN); n], out: Timestamp::MIN, idle: false }
    }

    /// The whole has come to `watermark` already: it tells what is beyond that.
    pub fn go_on_from(&mut self, watermark: Timestamp) {
        self.out = self.out.max(watermark);
    }

    /// The watermark of the whole.
    pub fn watermark(&self) -> Timestamp {
        self.out
    }

    /// Whether `input` has ended.
    pub fn has_ended(&self, input: usize) -> bool {
        self.inputs[input] == Input::Ended
    }

    /// Takes one input's mark; returns what the whole has to say, in order. Barriers are not its business.
    pub fn observe(&mut self, input: usize, mark: Mark) -> [Option<Mark>; 2] {
        let state = &mut self.inputs[input];
        *state = match (*state, mark) {
            (Input::Ended, _) => Input::Ended,
            (_, Mark::End) => Input::Ended,
            (Input::Live(w) | Input::Idle(w), Mark::Watermark(new)) => Input::Live(w.max(new)),
            (Input::Live(w) | Input::Idle(w), Mark::Idle) => Input::Idle(w),
            (Input::Live(w) | Input::Idle(w), Mark::Active) => Input::Live(w),
            (same, Mark::Barrier(_)) => same,
        };
        self.tell()
    }

    /// What has changed for the whole since the last time.
    fn tell(&mut self) -> [Option<Mark>; 2] {
        let mut lowest = Timestamp::MAX;
        let (mut live, mut open, mut idle) = (false, false, false);
        for input in &self.inputs {
            match *input {
                Input::Live(Timestamp::MAX) => open = true,
                Input::Live(w) => {
                    (live, open) = (true, true);
                    lowest = lowest.min(w);
                }
                Input::Idle(_) => (open, idle) = (true, true),
                Input::Ended => {}
            }
        }
        if !open {
            let rise = (self.out < Timestamp::MAX).then_some(Mark::Watermark(Timestamp::MAX));
            self.out = Timestamp::MAX;
            return if rise.is_some() { [rise, Some(Mark::End)] } else { [Some(Mark::End), None] };
        }
        if !live && !idle {
            return [None, None];
        }
        if !live {
            // All are idle: the watermark stays.
            return [(!std::mem::replace(&mut self.idle, true)).then_some(Mark::Idle), None];
        }
        let woke = std::mem::replace(&mut self.idle, false).then_some(Mark::Active);
        let rise = (lowest > self.out).then_some(Mark::Watermark(lowest));
        self.out = self.out.max(lowest);
        if woke.is_some() { [woke, rise] } else { [rise, None] }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    const fn w(t: i64) -> Mark {
        Mark::Watermark(Timestamp(t))
    }

    /// The end of an input behind an exchange is two marks: between them those that are silent are not overtaken.
    #[test]
    fn the_end_of_one_does_not_overtake_the_silent() {
        let mut union = Coalescer::new(2);
        assert_eq!(union.observe(0, w(5)), [None, None]);
        assert_eq!(union.observe(1, Mark::Idle), [Some(w(5)), None]);
        assert_eq!(union.observe(0, w(i64::MAX)), [Some(Mark::Idle), None]);
        assert_eq!(union.observe(0, Mark::End), [None, None]);
        assert_eq!(union.observe(1, w(7)), [Some(Mark::Active), Some(w(7))]);
        assert_eq!(union.observe(1, w(i64::MAX)), [None, None]);
        assert_eq!(union.observe(1, Mark::End), [Some(w(i64::MAX)), Some(Mark::End)]);
    }

    /// Case W8 (i): an element on the idle input makes it active again, so the other's watermark does not count alone.
    #[test]
    fn active_again_before_the_other_rises() {
        let mut c = Coalescer::new(2);
        c.observe(0, w(2));
        c.observe(1, w(1));
        assert_eq!(c.observe(0, Mark::Idle), [None, None]);
        assert_eq!(c.observe(0, Mark::Active), [None, None]);
        assert_eq!(c.observe(1, w(20)), [Some(w(2)), None]);
        assert_eq!(c.watermark(), Timestamp(2));
    }

    /// Case W8 (ii): the other rose first, so the watermark stays at 20 and the element is behind it.
    #[test]
    fn active_again_after_the_other_rose() {
        let mut c = Coalescer::new(2);
        c.observe(0, w(2));
        c.observe(0, Mark::Idle);
        assert_eq!(c.observe(1, w(20)), [Some(w(20)), None]);
        assert_eq!(c.observe(0, Mark::Active), [None, None]);
        assert_eq!(c.watermark(), Timestamp(20));
    }

    /// Cases W10 and W11: the minimum; the end of one frees the other; a watermark does not go back.
    #[test]
    fn union_takes_the_minimum() {
        let mut c = Coalescer::new(2);
        c.observe(0, w(5));
        assert_eq!(c.observe(1, w(20)), [Some(w(5)), None]);
        assert_eq!(c.observe(0, Mark::End), [Some(w(20)), None]);
        assert_eq!(c.observe(1, w(7)), [None, None]);
        assert_eq!(c.observe(1, Mark::End), [Some(w(i64::MAX)), Some(Mark::End)]);
    }

    #[test]
    fn all_idle_is_told_once_and_taken_back() {
        let mut c = Coalescer::new(2);
        assert_eq!(c.observe(0, Mark::Idle), [None, None]);
        assert_eq!(c.observe(1, Mark::Idle), [Some(Mark::Idle), None]);
        assert_eq!(c.observe(1, w(4)), [Some(Mark::Active), Some(w(4))]);
        assert_eq!(c.observe(1, Mark::End), [Some(Mark::Idle), None]);
        assert_eq!(c.observe(0, Mark::End), [Some(w(i64::MAX)), Some(Mark::End)]);
    }
}

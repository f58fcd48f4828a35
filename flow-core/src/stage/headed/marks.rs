//! What a stage does with the marks of its inputs: puts them together, acts on those of the whole, and passes on what its head lets pass.

use super::HeadStage;
use crate::batch::Mark;
use crate::checkpoint::failpoint::point;
use crate::stage::Fire;
use crate::stage::Stage;
use crate::time::Timestamp;

impl HeadStage {
    pub(super) fn observe(&mut self, input: usize, mark: Mark) {
        let aligned = match mark {
            Mark::Barrier(id) => self.align.barrier(input, id),
            Mark::End => self.align.end(input),
            _ => None,
        };
        if aligned.is_none() && matches!(mark, Mark::Barrier(_)) {
            point("P2");
        }
        if matches!(mark, Mark::Barrier(id) if self.is_cut(id)) {
            self.cut_off(input);
        }
        match aligned {
            Some(id) if self.listens() => self.head.order(id),
            aligned => self.owe(aligned.map(Mark::Barrier)),
        }
        if mark == Mark::End && !self.cut {
            self.head.ended(input);
        }
        if !matches!(mark, Mark::Barrier(_)) {
            self.merged(input, mark);
        }
    }

    /// What the whole has to say when an input has said something.
    pub(super) fn merged(&mut self, input: usize, mark: Mark) {
        let [first, second] = self.merge.observe(input, mark);
        self.owe(first);
        self.owe(second);
    }

    /// Not `extend`: with an iterator over these marks that is 2,500 lines of LLVM's language.
    pub(super) fn owe(&mut self, mark: Option<Mark>) {
        if let Some(mark) = mark {
            self.due.push_back(mark);
        }
    }

    /// Fires what is due; that is done when it has left.
    pub(super) fn fire(&mut self) -> Fire {
        match self.head.fire() {
            Fire::Done if self.head.tail_ref().holds() => Fire::Paused,
            fire => fire,
        }
    }

    /// Acts on the first due mark; whether it is dealt with.
    pub(super) fn act(&mut self, mark: Mark) -> Fire {
        if self.cut {
            // What would fire now fires where the stream goes on.
            return self.end_at_the_cut(mark);
        }
        if !std::mem::replace(&mut self.begun, true) {
            match mark {
                Mark::Barrier(id) if self.head.ends_at_a_cut() && self.is_cut(id) => {
                    self.speak();
                    self.head.end();
                }
                Mark::Watermark(w) => {
                    self.told = w;
                    self.head.watermark(w);
                }
                Mark::End => self.head.end(),
                Mark::Idle | Mark::Active | Mark::Barrier(_) => {}
            }
            if !matches!(mark, Mark::Idle | Mark::Barrier(_)) {
                // Where all that are left end, nobody has said that they speak again.
                self.speak();
                self.idle = false;
            }
        }
        let fire = self.fire();
        if let (Fire::Done, Mark::Barrier(id)) = (fire, mark)
            && self.is_cut(id)
            && !self.head.tail().room()
        {
            // No barrier passes what is held back: it would leave here, and once more where the stream goes on.
            return Fire::Paused;
        }
        if let Fire::Barrier(id) = fire {
            self.save(id);
        } else if fire == Fire::Done
            && let Mark::Barrier(id) = mark
        {
            self.begun = false;
            self.due.pop_front();
            self.save(id);
        } else if fire == Fire::Done {
            self.begun = false;
            self.pass_idle();
            self.ended |= mark == Mark::End;
            self.pass(mark);
            self.due.pop_front();
        }
        fire
    }

    /// Passes a mark on; of a watermark what the head lets pass.
    pub(super) fn pass(&mut self, mark: Mark) {
        let mark = match mark {
            Mark::Watermark(w) if w < Timestamp::MAX => {
                let passes = self.head.passes(w);
                if passes <= self.passed {
                    return;
                }
                self.passed = passes;
                Mark::Watermark(passes)
            }
            Mark::Idle => {
                self.idle = true;
                return self.pass_idle();
            }
            // It has been said before anything was fired.
            Mark::Active => return,
            mark => mark,
        };
        self.head.tail().mark(mark);
    }

    /// Passes on that all inputs are idle, if that has been held back and nothing waits any more.
    pub(super) fn pass_idle(&mut self) {
        if self.idle && !self.head.waits() {
            (self.idle, self.silent) = (false, true);
            self.head.tail().mark(Mark::Idle);
        }
    }

    /// Something may leave: takes back that all inputs are idle, where it has been passed on; [`HeadStage::pass_idle`] says it again.
    pub(super) fn speak(&mut self) {
        if std::mem::take(&mut self.silent) {
            self.idle = true;
            self.head.tail().mark(Mark::Active);
        }
    }
}

//! Where a barrier has come to all inputs of a stage: what is kept is written down, and the stage goes on.

use super::HeadStage;
use crate::batch::Mark;
use crate::checkpoint::failpoint::point;
use crate::stage::{Fire, Stage};
use std::sync::atomic::Ordering::Relaxed;

/// Bytes that go to the state backend while a checkpoint is written, at most, before that alone goes on.
const AHEAD: usize = 1 << 20;

impl HeadStage {
    /// Checkpoint `id` has come to here: what is kept is written down, in the head and, as the barrier passes, behind it. The head may
    /// have begun only; the stage goes on.
    #[cold]
    pub(super) fn save(&mut self, id: u64) {
        if !self.kept.saves.is_on() {
            return self.head.tail().mark(Mark::Barrier(id));
        }
        self.cut = self.is_cut(id);
        if self.cut && self.head.ends_at_a_cut() {
            self.pass_idle();
            self.head.tail().mark(Mark::Barrier(id));
            if !self.faults.are_raised() {
                self.kept.saves.saved(id);
            }
            return;
        }
        self.save_all();
        let told = self.head.stands_at(self.told);
        let begun = self.kept.begin(id, self.head.as_mut(), told, self.passed);
        self.head.tail().mark(Mark::Barrier(id));
        point("P3");
        match begun {
            Ok(saving) => {
                self.spilled = self.kept.saves.spilled().load(Relaxed);
                self.saving = Some(saving);
            }
            Err(error) => self.faults.raise(error),
        }
        // There may be little to write.
        if self.may_save() {
            self.save_some();
        }
    }

    /// Whether behind barrier `id` only the end comes.
    pub(super) fn is_cut(&self, id: u64) -> bool {
        self.kept.saves.cut() == Some(id)
    }

    #[cold]
    pub(super) fn end_at_the_cut(&mut self, mark: Mark) -> Fire {
        self.due.pop_front();
        if mark == Mark::End {
            self.ended = true;
            self.head.tail().mark(Mark::End);
        }
        Fire::Done
    }

    /// Whether there is a checkpoint to go on with, and room for more of it.
    pub(super) fn may_save(&self) -> bool {
        self.is_saving() && self.kept.saves.has_room()
    }

    /// Whether so much has gone to the state backend since the barrier that no more may before that is written: what the checkpoint reads is
    /// kept as it was, and what has come after it with it.
    pub(super) fn is_ahead(&self) -> bool {
        self.is_saving() && self.kept.saves.spilled().load(Relaxed) - self.spilled > AHEAD
    }

    /// Goes on with the checkpoint that is being written.
    #[cold]
    pub(super) fn save_some(&mut self) {
        let Some(saving) = &mut self.saving else { return };
        match saving.go_on(self.head.as_mut()) {
            Ok(None) => return,
            // Where something behind the head could not be saved or staged the checkpoint must not be complete.
            Ok(Some(_)) if self.faults.are_raised() => {}
            Ok(Some(id)) => self.kept.saves.saved(id),
            Err(error) => self.faults.raise(error),
        }
        self.saving = None;
    }

    /// Writes what is left of the checkpoint that is being written; nobody begins another before that is through, but by hand.
    pub(super) fn save_all(&mut self) {
        while self.is_saving() {
            self.save_some();
        }
    }

    /// An input has come to the barrier behind which only its end comes: as one that has ended it holds back nobody.
    #[cold]
    pub(super) fn cut_off(&mut self, input: usize) {
        if self.head.ends_at_a_cut() {
            self.head.ended(input);
        }
        self.merged(input, Mark::Idle);
    }
}

//! The checkpoint that is being taken.

use super::{Slot, Writing};
use crate::error::{Error, ErrorKind, Result};
use crate::sorted::Sorted;
use std::collections::HashSet;

/// The first byte of a key group's bytes in a file: all there is, or what has changed since the file before.
pub(super) const WHOLE: u8 = 0;
pub(super) const CHANGES: u8 = 1;

/// The states that have been written.
pub(super) type States = Sorted<String, Seen>;

/// What is known of a state that is being written.
#[derive(Debug, Clone, Copy)]
pub(super) struct Seen {
    /// Whether it replaces what stands in earlier files.
    pub whole: bool,
    /// Of how many instances there is something.
    pub instances: u32,
}

impl Default for Seen {
    fn default() -> Self {
        Seen { whole: true, instances: 0 }
    }
}

/// A checkpoint in flight.
pub(super) struct Current {
    pub id: u64,
    /// When it was begun, in ticks.
    pub since: i64,
    /// A user has asked for it.
    pub savepoint: bool,
    /// None when it has failed; its stages are waited for all the same.
    writing: Option<Writing>,
    pub failed: Option<Error>,
    /// Stage instances that have not given everything.
    waiting: Sorted<usize>,
    /// Those that have: one that has ended since then had not at this checkpoint.
    saved: Sorted<usize>,
    states: States,
    /// The slots whose first piece has been written.
    begun: HashSet<(String, Slot)>,
}

impl Current {
    pub fn new(
        id: u64,
        since: i64,
        savepoint: bool,
        writing: Result<Writing>,
        waiting: Sorted<usize>,
    ) -> Self {
        let (writing, failed) = match writing {
            Ok(writing) => (Some(writing), None),
            Err(error) => (None, Some(error)),
        };
        let (states, begun) = (States::default(), HashSet::new());
        let saved = Sorted::default();
        Current { id, since, savepoint, writing, failed, waiting, saved, states, begun }
    }

    /// Whether every stage instance has given what it has, or has ended.
    pub fn is_whole(&self) -> bool {
        self.waiting.is_empty()
    }

    /// Stage instance `task` has given everything.
    pub fn saved(&mut self, task: usize) {
        self.waiting.remove(&task);
        self.saved.insert(task, ());
    }

    /// Stage instance `task` has ended; whether it had not saved anything for this checkpoint.
    pub fn ended(&mut self, task: usize) -> bool {
        self.waiting.remove(&task).is_some()
    }

    /// Whether stage instance `task` was still there at this checkpoint.
    pub fn has_saved(&self, task: usize) -> bool {
        self.saved.has(&task)
    }

    /// A stage writes keyed `state`.
    pub fn keyed(&mut self, state: String, whole: bool) {
        self.states.or_insert_with(state, Seen::default).whole &= whole;
    }

    /// Takes a piece of a slot.
    pub fn part(&mut self, state: &str, slot: Slot, bytes: &[u8]) {
        let Some(writing) = &mut self.writing else { return };
        let seen = self.states.or_insert_with(state.to_owned(), Seen::default);
        let mut whole = seen.whole;
        if let Slot::Instance(instance) = slot {
            // Of what is beside keyed state nobody writes changes.
            whole = true;
            seen.instances = seen.instances.max(instance + 1);
        }
        let first = self.begun.insert((state.to_owned(), slot));
        let kind = if whole { WHOLE } else { CHANGES };
        let begun = if first { writing.part(state, slot, &[kind]) } else { Ok(()) };
        if let Err(error) = begun.and_then(|()| writing.part(state, slot, bytes)) {
            self.fail(error);
        }
    }

    /// A slot of which nothing is left, though earlier files may say otherwise.
    pub fn nothing(&mut self, state: &str, slot: Slot) {
        let Some(writing) = &mut self.writing else { return };
        if self.begun.insert((state.to_owned(), slot))
            && let Err(error) = writing.part(state, slot, &[WHOLE])
        {
            self.fail(error);
        }
    }

    pub fn has(&self, state: &str, slot: Slot) -> bool {
        self.begun.contains(&(state.to_owned(), slot))
    }

    /// It has failed: what it has written is removed. The first reason is kept.
    pub fn fail(&mut self, error: Error) {
        self.failed.get_or_insert(error);
        self.writing = None;
    }

    /// What has been written, for the manifest.
    pub fn finish(self) -> Result<(Writing, States)> {
        match (self.writing, self.failed) {
            (Some(writing), None) => Ok((writing, self.states)),
            (_, Some(error)) => Err(error),
            (None, None) => {
                Err(Error::new(ErrorKind::State, "a checkpoint without a file: a bug of the coordinator"))
            }
        }
    }
}

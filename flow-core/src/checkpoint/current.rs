//! The checkpoint that is being taken.

use super::manifest::OperatorState;
use super::{Slot, Store, Writing};
use crate::error::{Error, Result};
use std::collections::{BTreeMap, BTreeSet, HashSet};

/// The first byte of a key group's bytes in a file: all there is, or what has changed since the file before.
pub(super) const WHOLE: u8 = 0;
pub(super) const CHANGES: u8 = 1;

/// A checkpoint in flight.
pub(super) struct Current {
    pub id: u64,
    /// When it was begun, in ticks.
    pub since: i64,
    /// None when it has failed; its stages are waited for all the same.
    writing: Option<Writing>,
    pub failed: Option<Error>,
    /// Stage instances that have not given everything.
    waiting: BTreeSet<usize>,
    /// The states that have been written; whether they replace what stands in earlier files.
    states: BTreeMap<String, bool>,
    /// The slots whose first piece has been written.
    begun: HashSet<(String, Slot)>,
}

impl Current {
    pub fn new(id: u64, since: i64, writing: Result<Writing>, waiting: BTreeSet<usize>) -> Self {
        let (writing, failed) = match writing {
            Ok(writing) => (Some(writing), None),
            Err(error) => (None, Some(error)),
        };
        let (states, begun) = (BTreeMap::new(), HashSet::new());
        Current { id, since, writing, failed, waiting, states, begun }
    }

    /// Whether every stage instance has given what it has, or has ended.
    pub fn is_whole(&self) -> bool {
        self.waiting.is_empty()
    }

    /// Stage instance `task` has given everything; whether it was waited for.
    pub fn saved(&mut self, task: usize) -> bool {
        self.waiting.remove(&task)
    }

    /// A stage writes keyed `state`.
    pub fn keyed(&mut self, state: String, whole: bool) {
        *self.states.entry(state).or_insert(true) &= whole;
    }

    /// Takes a piece of a slot.
    pub fn part(&mut self, store: &mut Store, state: &str, slot: Slot, bytes: &[u8]) {
        let Some(writing) = &mut self.writing else { return };
        let whole = *self.states.entry(state.to_owned()).or_insert(true);
        let first = self.begun.insert((state.to_owned(), slot));
        let kind = if whole { WHOLE } else { CHANGES };
        let begun = if first { writing.part(state, slot, &[kind]) } else { Ok(()) };
        if let Err(error) = begun.and_then(|()| writing.part(state, slot, bytes)) {
            self.fail(store, error);
        }
    }

    /// A slot of which nothing is left, though earlier files may say otherwise.
    pub fn nothing(&mut self, store: &mut Store, state: &str, slot: Slot) {
        let Some(writing) = &mut self.writing else { return };
        if self.begun.insert((state.to_owned(), slot))
            && let Err(error) = writing.part(state, slot, &[WHOLE])
        {
            self.fail(store, error);
        }
    }

    pub fn has(&self, state: &str, slot: Slot) -> bool {
        self.begun.contains(&(state.to_owned(), slot))
    }

    /// It has failed: what it has written is removed. The first reason is kept.
    pub fn fail(&mut self, store: &mut Store, error: Error) {
        self.failed.get_or_insert(error);
        if let Some(writing) = self.writing.take() {
            store.abort(writing);
        }
    }

    /// What has been written, for the manifest.
    pub fn finish(self) -> Result<(Writing, BTreeMap<String, bool>)> {
        match (self.writing, self.failed) {
            (Some(writing), None) => Ok((writing, self.states)),
            (_, Some(error)) => Err(error),
            (None, None) => Err(super::lost("a checkpoint without a file: a bug of the coordinator")),
        }
    }
}

/// Which files hold a state, when `written` says whether this checkpoint's file replaces those before.
pub(super) fn files_of(before: &[String], this: &str, replaces: Option<bool>) -> Vec<String> {
    match replaces {
        Some(true) => vec![this.to_owned()],
        Some(false) => before.iter().cloned().chain([this.to_owned()]).collect(),
        None => Vec::new(),
    }
}

/// An operator's state as the manifest names it.
pub(super) fn operator_state(id: &str, files: Vec<u32>, instances: u32) -> OperatorState {
    OperatorState {
        id: id.to_owned(),
        what: String::new(),
        instances,
        finished: false,
        version: 0,
        fingerprint: 0,
        schema: String::new(),
        files,
    }
}

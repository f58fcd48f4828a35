//! What the operators of a job get back when it starts from a checkpoint.

use super::current::WHOLE;
use super::manifest::Manifest;
use super::renames::Renames;
use super::upgrades::Upgrading;
use super::{Parts, Slot, Storage};
use crate::error::{Error, ErrorKind, Result};
use crate::exchange::{KEY_GROUPS, instance_of};
use crate::sorted::Sorted;
use std::sync::{Arc, OnceLock};

/// The state in a checkpoint, by operator.
pub(crate) struct Restored {
    id: u64,
    /// It has no positions: see [`Manifest::history`].
    history: bool,
    states: Sorted<String, State>,
    /// Of stages whose types have changed, once the pipeline is known.
    upgrades: OnceLock<Sorted<String, Upgrading>>,
}

struct State {
    read: Read,
    /// In how many instances the operator ran.
    instances: usize,
    finished: bool,
}

/// Reads the pieces of a slot.
type Read = Box<dyn Fn(Slot) -> Result<Vec<Vec<u8>>> + Send + Sync>;

/// The bytes of a key group: all there is, then changes, in order.
type History = Vec<Vec<u8>>;

impl Restored {
    /// Of `manifest`, by the names of now; its files lie in `storage`.
    pub fn new(storage: &Arc<dyn Storage>, manifest: &Manifest, renames: &Renames) -> Result<Self> {
        let mut states = Sorted::default();
        for state in &manifest.operators {
            let parts = Parts::open(storage, manifest, &state.id)?;
            let instances = usize::try_from(state.instances).unwrap_or(1);
            let read: Read = Box::new(move |slot| parts.read(slot));
            states
                .insert(renames.of(&state.id, manifest), State { read, instances, finished: state.finished });
        }
        Ok(Restored { id: manifest.id, history: manifest.history, states, upgrades: OnceLock::new() })
    }

    /// The checkpoint.
    pub fn id(&self) -> u64 {
        self.id
    }

    /// In how many instances an operator ran, if it kept anything.
    pub fn instances(&self, state: &str) -> Option<usize> {
        self.states.get(state).map(|state| state.instances)
    }

    /// Of bytes in memory, for tests; `finished` are the stages that had ended.
    #[cfg(test)]
    pub fn by_hand(
        id: u64,
        parts: &std::collections::BTreeMap<(String, Slot), Vec<u8>>,
        finished: &[String],
    ) -> Self {
        let mut states = Sorted::default();
        let names = parts.keys().map(|part| &part.0).chain(finished);
        for name in names {
            let of_it = |part: &(&(String, Slot), &Vec<u8>)| part.0.0 == *name;
            let mut slots = Sorted::default();
            let mut instances = 0;
            for ((_, slot), bytes) in parts.iter().filter(of_it) {
                if let Slot::Instance(instance) = slot {
                    instances = instances.max(*instance as usize + 1);
                }
                slots.insert(*slot, [&[WHOLE], &bytes[..]].concat());
            }
            let read: Read = Box::new(move |slot| Ok(slots.get(&slot).cloned().into_iter().collect()));
            let finished = finished.contains(name);
            states.insert(name.clone(), State { read, instances, finished });
        }
        Restored { id, history: false, states, upgrades: OnceLock::new() }
    }

    /// Whether all instances of a stage had ended.
    pub fn has_finished(&self, stage: &str) -> bool {
        self.states.get(stage).is_some_and(|state| state.finished)
    }

    /// The key groups of an instance, each with its history. One after the other is read: all of them may be more than fits into memory.
    pub fn groups(
        &self,
        state: &str,
        instance: usize,
        instances: usize,
    ) -> impl Iterator<Item = Result<(usize, History)>> + use<'_> {
        let read = self.states.get(state).map(|state| &state.read);
        let own = (0..KEY_GROUPS).filter(move |group| instance_of(*group as u64, instances) == instance);
        let of = move |group| {
            let slot = Slot::Group(u16::try_from(group).unwrap_or(u16::MAX));
            let history = read?(slot).and_then(since_whole);
            match history {
                Ok(history) if history.is_empty() => None,
                history => Some(history.map(|history| (group, history))),
            }
        };
        own.filter_map(of)
    }

    /// From now on the state of these stages is read with the types of now.
    pub fn upgrade(&self, upgrades: Sorted<String, Upgrading>) {
        // It is said once, before anything is read.
        let _ = self.upgrades.set(upgrades);
    }

    /// The merged state of a key group, with the types of now.
    ///
    /// # Errors
    /// When it cannot be upgraded.
    pub fn upgraded(&self, state: &str, group: usize, bytes: Vec<u8>) -> Result<Vec<u8>> {
        match self.upgrades.get().and_then(|all| all.get(state)) {
            Some(upgrading) => upgrading.group(group, &bytes),
            None => Ok(bytes),
        }
    }

    /// Whether sources begin at their beginnings.
    pub fn is_history(&self) -> bool {
        self.history
    }

    /// The position of a source's partition.
    pub fn position(&self, source: &str, partition: usize, partitions: usize) -> Result<Vec<u8>> {
        let broken = |what: String| Error::new(ErrorKind::State, what);
        let Some(state) = self.states.get(source) else {
            let what = format!("checkpoint {} has no position of the source `{source}`", self.id);
            let note = "a source that is new or has a new name cannot be added to a job that goes on from a checkpoint";
            return Err(broken(what).note(note));
        };
        if state.instances != partitions {
            let what = format!(
                "the source had {} partitions at checkpoint {}, and has {partitions} now",
                state.instances, self.id
            );
            return Err(
                broken(what).note("its input has to be cut as before, for its positions to mean something")
            );
        }
        let found = self.of_instances(source, |old| *old == partition)?;
        let missing = || {
            broken(format!("checkpoint {} has no position of partition {partition} of `{source}`", self.id))
        };
        found.into_iter().next().ok_or_else(missing)
    }

    /// What instance `instance` of `instances` gets of what an operator kept beside keyed state: its own, and where their
    /// number has changed those that come to it in turn.
    pub fn operator(&self, state: &str, instance: usize, instances: usize) -> Result<Vec<Vec<u8>>> {
        let mine = |old: &usize| old % instances == instance;
        self.of_instances(state, mine)
    }

    /// What all instances kept.
    pub fn operator_everywhere(&self, state: &str) -> Result<Vec<Vec<u8>>> {
        self.of_instances(state, |_| true)
    }

    fn of_instances(&self, state: &str, mine: impl Fn(&usize) -> bool) -> Result<Vec<Vec<u8>>> {
        let Some(State { read, instances, .. }) = self.states.get(state) else { return Ok(Vec::new()) };
        let mut all = Vec::new();
        for old in (0..*instances).filter(mine) {
            let slot = Slot::Instance(u32::try_from(old).unwrap_or(u32::MAX));
            all.extend(since_whole(read(slot)?)?);
        }
        Ok(all)
    }
}

/// Of the pieces of a slot those from the last whole one, without the byte that says which they are.
pub(super) fn since_whole(pieces: Vec<Vec<u8>>) -> Result<History> {
    let mut history = Vec::new();
    for mut piece in pieces {
        let Some(kind) = piece.first().copied() else { continue };
        piece.remove(0);
        if kind == WHOLE {
            history.clear();
        } else if history.is_empty() {
            history.push(Vec::new());
        }
        if !piece.is_empty() || kind != WHOLE {
            history.push(piece);
        }
    }
    // Changes alone: there was nothing before them.
    Ok(history)
}

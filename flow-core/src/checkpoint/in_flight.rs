//! The stage instances of a job, and what they have given of the checkpoint in flight.

use super::current::{Current, States};
use super::saves::FROM_NOW_ON;
use super::{Slot, Writing};
use crate::error::{Error, Result};
use crate::exchange::{KEY_GROUPS, instance_of};
use crate::sorted::Sorted;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A stage instance, as the coordinator knows it.
#[derive(Debug, Clone)]
pub(crate) struct Tracked {
    pub stage: String,
    pub instance: usize,
    pub instances: usize,
    pub ended: bool,
    /// It has ended because its input had, and not because the job was asked to stop: it has nothing to do in any later run.
    pub finished: bool,
    /// The types of its keyed state.
    pub schema: Arc<str>,
}

/// See the module. One checkpoint at most is in flight.
pub(super) struct InFlight {
    tasks: Vec<Tracked>,
    current: Option<Current>,
    /// What stands in all checkpoints to come, of stages that have ended.
    last: Sorted<(String, Slot), Vec<u8>>,
    /// The job was asked to stop: what ends from now on does so before its input has.
    stopping: Arc<AtomicBool>,
}

/// A checkpoint of which everybody has given what there is.
pub(super) struct Given {
    pub id: u64,
    pub savepoint: bool,
    /// As they were at the barrier.
    pub tasks: Vec<Tracked>,
    /// The file; why there is none.
    pub written: Result<(Writing, States)>,
}

impl InFlight {
    pub fn new(tasks: Vec<Tracked>, stopping: Arc<AtomicBool>) -> Self {
        InFlight { tasks, current: None, last: Sorted::default(), stopping }
    }

    /// Whether all stages have come to their end.
    pub fn have_all_ended(&self) -> bool {
        self.tasks.iter().all(|task| task.ended)
    }

    /// The checkpoint that is being taken.
    pub fn current(&self) -> Option<&Current> {
        self.current.as_ref()
    }

    /// Checkpoint `id` begins, at `now`; `writing` is its file.
    pub fn begin(&mut self, id: u64, now: i64, savepoint: bool, writing: Result<Writing>) {
        let mut waiting = Sorted::default();
        for (task, _) in self.tasks.iter().enumerate().filter(|task| !task.1.ended) {
            waiting.insert(task, ());
        }
        self.current = Some(Current::new(id, now, savepoint, writing, waiting));
    }

    /// It has failed; its barriers are waited for all the same.
    pub fn fail(&mut self, error: Error) {
        if let Some(current) = &mut self.current {
            current.fail(error);
        }
    }

    /// There will be none any more.
    pub fn give_up(&mut self, error: Error) {
        self.fail(error);
        self.current = None;
    }

    /// Whether something of checkpoint `id` may come.
    pub fn expects(&self, id: u64) -> bool {
        let expected = id == FROM_NOW_ON || self.current.as_ref().is_some_and(|current| current.id == id);
        debug_assert!(expected, "news of a checkpoint that is not in flight");
        expected
    }

    /// A piece of a slot, of the checkpoint in flight or of all to come.
    pub fn part(&mut self, id: u64, state: String, slot: Slot, bytes: Vec<u8>) {
        if id == FROM_NOW_ON {
            self.last.insert((state, slot), bytes);
        } else if let Some(current) = &mut self.current {
            current.part(&state, slot, &bytes);
        }
    }

    /// How a stage writes its keyed state.
    pub fn keyed(&mut self, state: String, whole: bool) {
        if let Some(current) = &mut self.current {
            current.keyed(state, whole);
        }
    }

    /// Stage instance `task` has given everything.
    pub fn saved(&mut self, task: usize) {
        if let Some(current) = &mut self.current {
            current.saved(task);
        }
    }

    /// Stage instance `task` has ended. Of its key groups nothing is left; files that say what has changed do not say that by themselves.
    /// `stands` says whether a stage stands in the checkpoint before.
    pub fn ended(&mut self, task: usize, stands: impl FnOnce(&str) -> bool) {
        let Some(tracked) = self.tasks.get_mut(task) else { return };
        tracked.ended = true;
        tracked.finished = !self.stopping.load(Ordering::Relaxed);
        let Tracked { stage, instance, instances, .. } = &*tracked;
        if let Some(current) = &mut self.current
            && current.ended(task)
            && stands(stage)
        {
            for group in (0..KEY_GROUPS).filter(|group| instance_of(*group as u64, *instances) == *instance) {
                let group = u16::try_from(group).unwrap_or(u16::MAX);
                current.nothing(stage, Slot::Group(group));
            }
        }
    }

    /// Takes the checkpoint out, once everybody has given what there is.
    pub fn take_whole(&mut self) -> Option<Given> {
        let mut current = self.current.take_if(|current| current.is_whole())?;
        for ((state, slot), bytes) in self.last.iter() {
            if !current.has(state, *slot) {
                current.part(state, *slot, bytes);
            }
        }
        // One that has saved and then ended was still there at the barrier.
        let at_barrier = |(i, task): (usize, &Tracked)| Tracked {
            finished: task.finished && !current.has_saved(i),
            ..task.clone()
        };
        let tasks = self.tasks.iter().enumerate().map(at_barrier).collect();
        let (id, savepoint) = (current.id, current.savepoint);
        Some(Given { id, savepoint, tasks, written: current.finish() })
    }
}

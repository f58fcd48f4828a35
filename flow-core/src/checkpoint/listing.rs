//! Which files a checkpoint lists: for each state those in which it stands.

use super::current::States;
use super::in_flight::Tracked;
use super::manifest::{Manifest, OperatorState, StagedOutput, StateFile};
use super::schemas::fingerprint;
use crate::sorted::Sorted;
use crate::time::Timestamp;

/// What a checkpoint has written, beside what stood in the one before.
pub(super) struct Written<'a> {
    pub id: u64,
    pub taken: Timestamp,
    pub savepoint: bool,
    pub finished: bool,
    pub history: bool,
    pub file: StateFile,
    pub states: &'a States,
    pub staged: Vec<StagedOutput>,
    pub tasks: &'a [Tracked],
}

/// The manifest of what was written after `before`.
pub(super) fn manifest(written: Written<'_>, before: &Manifest) -> Manifest {
    let Written { id, taken, savepoint, finished, history, file, states, staged, tasks } = written;
    let mut listed = Listed { files: vec![file] };
    let mut operators = Sorted::default();
    for (name, seen) in states.iter() {
        let mut files = Vec::new();
        if !seen.whole
            && let Some(old) = before.operators.iter().find(|old| old.id == *name)
        {
            files.extend(
                old.files.iter().filter_map(|at| before.files.get(*at as usize)).map(|file| listed.at(file)),
            );
        }
        files.push(0);
        let known = of_tasks(name, tasks);
        let instances = known.instances.max(seen.instances);
        if history && seen.instances == 0 && known.schema.is_empty() && !known.finished {
            continue;
        }
        operators.insert(name.clone(), OperatorState { id: name.clone(), files, instances, ..known });
    }
    // A stage that has ended says nothing, but that it has. What has no more to do with the stream that goes on from a batch is not looked for there.
    for stage in tasks.iter().filter(|task| task.instance == 0 && !states.has(&task.stage)) {
        let state = OperatorState { id: stage.stage.clone(), ..of_tasks(&stage.stage, tasks) };
        if state.finished || !history {
            operators.insert(state.id.clone(), state);
        }
    }
    let operators = operators.into_iter().map(|operator| operator.1).collect();
    let files = listed.files;
    Manifest { id, taken, savepoint, finished, history, operators, staged, files, ..Manifest::default() }
}

/// What is known of the stage of this name, or of the operator of a stage.
fn of_tasks(name: &str, tasks: &[Tracked]) -> OperatorState {
    let mut state = OperatorState::default();
    for task in tasks.iter().filter(|task| name == task.stage) {
        state.instances = u32::try_from(task.instances).unwrap_or(u32::MAX);
        state.fingerprint = fingerprint(&task.schema);
        state.schema = task.schema.to_string();
    }
    let mut of_it = tasks.iter().filter(|task| task.stage == name).peekable();
    state.finished = of_it.peek().is_some() && of_it.all(|task| task.finished);
    state
}

struct Listed {
    files: Vec<StateFile>,
}

impl Listed {
    /// The index of a file.
    fn at(&mut self, file: &StateFile) -> u32 {
        let at = self.files.iter().position(|known| known.name == file.name).unwrap_or_else(|| {
            self.files.push(file.clone());
            self.files.len() - 1
        });
        u32::try_from(at).unwrap_or(u32::MAX)
    }
}

//! What of a case lies outside its jobs and outlives them: the disk, deaths, and when there is a checkpoint.

use crate::case::{Arrival, El};
use crate::pipeline::Elements;
use crate::rows::Rows;
use crate::sinks::{Faults, Place};
use flow_core::checkpoint::Storage;
use flow_core::prelude::*;
use flow_core::testing::{SimFs, Step};
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

/// See the module. A clone is the same one.
#[derive(Clone, Default)]
pub struct World {
    pub disk: SimFs,
    /// Where the process has died already, by input and arrival.
    died: Arc<Mutex<BTreeSet<(usize, usize)>>>,
    /// A case has one at most.
    savepoint: Arc<Mutex<Asked>>,
    /// Where rows go, and what becomes of commits.
    pub place: Place,
    pub faults: Faults,
    /// What a life does beside what the case says.
    pub fate: Option<Fate>,
}

/// Whether there is a savepoint.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
enum Asked {
    #[default]
    No,
    Yes,
    Taken,
}

/// Behind the arrival `held` of an input a checkpoint is waited for, and behind the arrival `dies` the process dies.
#[derive(Debug, Clone, Copy)]
pub struct Fate {
    pub input: usize,
    pub held: usize,
    pub dies: usize,
}

impl Fate {
    /// Nothing happens.
    pub const NONE: Fate = Fate { input: 0, held: usize::MAX, dies: usize::MAX };
}

impl World {
    /// Nothing has happened.
    pub fn new() -> Self {
        World::default()
    }

    /// The number of the newest checkpoint, 0 where there is none.
    pub fn newest(&self) -> u64 {
        let names = self.disk.list().expect("no call fails");
        let numbers = names.iter().filter_map(|name| {
            let number = name.strip_suffix(".manifest")?.strip_prefix("chk-")?;
            number.split('-').next()?.parse().ok()
        });
        numbers.max().unwrap_or(0)
    }

    /// Waits for a checkpoint that has begun since: the one after that which may be under way.
    fn checkpoint(&self) -> Step<El> {
        let (world, asked) = (self.clone(), Mutex::new(None));
        Step::Until(Arc::new(move || {
            let newest = world.newest();
            newest >= *asked.lock().expect("nobody panics").get_or_insert(newest) + 2
        }))
    }

    /// What arrival `at` of `input` says to the world.
    pub fn step(&self, at: (usize, usize), arrival: &Arrival) -> Step<El> {
        match arrival {
            Arrival::Checkpoint => self.checkpoint(),
            Arrival::Savepoint => {
                let savepoint = Arc::clone(&self.savepoint);
                Step::Until(Arc::new(move || {
                    let mut savepoint = savepoint.lock().expect("nobody panics");
                    if *savepoint == Asked::No {
                        *savepoint = Asked::Yes;
                    }
                    *savepoint == Asked::Taken
                }))
            }
            Arrival::Crash => {
                let died = Arc::clone(&self.died);
                Step::Dies(Arc::new(move || died.lock().expect("nobody panics").insert(at)))
            }
            other => panic!("{other:?} is said to the pipeline"),
        }
    }

    /// What comes behind arrival `at` of `input`: as many steps in every life.
    pub fn behind(&self, (input, at): (usize, usize)) -> Vec<Step<El>> {
        let Some(fate) = self.fate else { return Vec::new() };
        let held = input == fate.input && at == fate.held;
        let dies = input == fate.input && at == fate.dies;
        let held = if held { self.checkpoint() } else { Step::Dies(Arc::new(|| false)) };
        vec![held, Step::Dies(Arc::new(move || dies))]
    }

    /// Takes the savepoint, if it has been asked for.
    pub fn save(&self, savepoint: impl FnOnce() -> Result<u64>) -> Result<()> {
        if *self.savepoint.lock().expect("nobody panics") == Asked::Yes {
            savepoint()?;
            *self.savepoint.lock().expect("nobody panics") = Asked::Taken;
        }
        Ok(())
    }

    /// Where a case's rows go.
    pub fn end(&self, job: &mut Job, stream: Elements, rows: &Rows) {
        self.place.end(job, stream, rows, &self.faults);
    }
}

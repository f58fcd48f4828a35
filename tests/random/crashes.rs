//! The same jobs with checkpoints, in a process that dies now and then: each row counts once all the same.

use super::build::build_into;
use super::function::Rec;
use super::graph::Graph;
use flow_core::checkpoint::Storage;
use flow_core::prelude::*;
use flow_core::stage::split_mix;
use flow_core::testing::{MapBackend, SimFs};
use std::sync::Arc;

/// So often the process may die.
const DEATHS: u64 = 4;
/// After so many steps at most, one of these: short jobs take few.
const LIVES: [u64; 4] = [80, 200, 600, 2000];

/// What happened on the way.
#[derive(Debug, Default, Clone, Copy)]
pub struct Deaths {
    /// Graphs whose rows are the same after a restart.
    pub graphs: usize,
    pub died: usize,
    /// Starts that went on from a checkpoint, and those of them at another parallelism than the one before.
    pub restored: usize,
    pub rescaled: usize,
}

/// Runs the graph's job to its end through some deaths, and compares.
pub fn check(graph: &Graph) -> Result<Deaths, String> {
    if !graph.survives() {
        return Ok(Deaths::default());
    }
    let mut seed = graph.run.seed;
    let collections: Vec<Collected<Rec>> = graph.ports.iter().map(|_| Collected::new()).collect();
    let others: Vec<Graph> = (1..=4).filter_map(|parallelism| graph.at(parallelism)).collect();
    let storage = Arc::new(SimFs::new());
    let (mut seen, mut before) = (Deaths { graphs: 1, ..Deaths::default() }, graph.run.parallelism);
    for start in 0..=DEATHS {
        let drawn = split_mix(&mut seed);
        let now = if start == 0 || others.is_empty() {
            graph
        } else {
            &others[(drawn % others.len() as u64) as usize]
        };
        if storage.list().map_err(|e| e.to_string())?.iter().any(|name| name.ends_with(".manifest")) {
            seen.restored += 1;
            seen.rescaled += usize::from(now.run.parallelism != before);
        }
        before = now.run.parallelism;
        let built = build_into(now, &collections);
        let checkpoints = Checkpoints::in_storage(Arc::clone(&storage) as Arc<dyn Storage>)
            .deltas((drawn >> 32) as u32 % 4)
            // Of some the disk is slow: what is saved waits for room.
            .buffer([0, 100, 1 << 26][(drawn >> 40) as usize % 3]);
        let job = built.job.checkpoints(checkpoints);
        // State that has to leave the memory, all of it or some.
        let job = match drawn >> 40 & 3 {
            0 => job,
            n => job.state_backend(MapBackend::with_limit([0, 3_000, 20_000][n as usize - 1])),
        };
        let job = if start < DEATHS {
            job.crash_at(1 + split_mix(&mut seed) % LIVES[(drawn >> 16) as usize % LIVES.len()])
        } else {
            job
        };
        match job.simulate(split_mix(&mut seed)) {
            Ok(_) => break,
            Err(error) if error.kind() == ErrorKind::Crash => seen.died += 1,
            Err(error) => return Err(format!("start {start}: {error}")),
        }
    }
    for (port, known) in graph.ports.iter().enumerate().filter(|port| graph.is_shown(port.0)) {
        let mut found = collections[port].take();
        found.sort();
        if found != known.sorted() {
            return Err(format!(
                "rows of s{port} after {seen:?}:\n   found {found:?}\nexpected {:?}",
                known.sorted()
            ));
        }
    }
    Ok(seen)
}

//! Cases that are about checkpoints: they say where there is one, where the process dies, and what else happens.

use crate::backends::{Backend, Disk};
use crate::case::{Arrival, Case};
use crate::pipeline::{Probe, build};
use crate::sinks::{Faults, Place};
use flow_core::checkpoint::Storage;
use flow_core::prelude::*;
use flow_tests::crashing::all_faults;
use std::sync::Arc;
use std::time::Duration;

const SEEDS: u64 = 3;
/// A case that dies more often never comes to its end.
const LIVES: usize = 12;
/// With state on the disk each so manieth run, unless everything is asked for: to open and to close the database waits for the disk. Of each
/// parallelism, of each place and of each way there are some.
const EACH: usize = 7;

#[derive(Debug, Clone, Copy)]
enum Way {
    On(HostKind),
    Seed(u64),
}

/// Runs the case in every way; what is wrong, if anything is.
pub fn check(case: &Case) -> std::result::Result<(), String> {
    let hosts = [HostKind::Threads, HostKind::Workers(2)].map(Way::On);
    let on_hosts_only = case.inputs.iter().flatten().any(|arrival| *arrival == Arrival::Savepoint);
    let seeds = if on_hosts_only { 0 } else { SEEDS };
    let lives =
        case.said("lives").map(|words| words.split(' ').map(|n| n.parse().expect("a number")).collect());
    let lives: Vec<Vec<usize>> = lives.map_or(vec![vec![1], vec![2], vec![4]], |lives| vec![lives]);
    let counts = case.inputs.iter().flatten().any(|arrival| matches!(arrival, Arrival::Rows(_)));
    let ways: Vec<Way> = hosts.into_iter().chain((0..seeds).map(Way::Seed)).collect();
    let disk = Disk::new();
    for backend in [Backend::Memory, Backend::Maps, Backend::Disk(&disk)] {
        let mut runs = 0;
        for way in &ways {
            for lives in &lives {
                let folder = tempfile::tempdir().expect("a folder for temporary files");
                let others = [Place::Collected(Collected::new()), Place::Files(folder.path().join("rows"))];
                // Only there it is known how many rows have left so far.
                let others = others.into_iter().filter(|_| !counts);
                for place in [Place::Memory].into_iter().chain(others) {
                    runs += 1;
                    if backend.is_slow() && !all_faults() && runs % EACH != 1 {
                        continue;
                    }
                    run(case, backend, *way, lives, place)
                        .map_err(|what| format!("{}\n  {backend:?} {way:?} {lives:?}: {what}", case.id))?;
                }
            }
        }
    }
    let keyed = case.steps.iter().flatten().any(|word| word == "rolling" || word == "tumbling");
    if keyed && disk.entries() == 0 {
        return Err(format!("{}\n  nothing has gone to the disk", case.id));
    }
    Ok(())
}

/// One after the other until one comes to the end.
fn run(
    case: &Case,
    backend: Backend<'_>,
    way: Way,
    lives: &[usize],
    place: Place,
) -> std::result::Result<(), String> {
    let mut probe = Probe::new(false);
    let kind = case.said("commits").unwrap_or_default().to_owned();
    // The faults are those of a sink.
    let collected = matches!(place, Place::Collected(_));
    let faults = Faults { kind, ..Faults::default() };
    (probe.world.place, probe.world.faults) = (place, faults);
    let died = case.inputs.iter().flatten().any(|arrival| *arrival == Arrival::Crash)
        || case.said("commits") == Some("lost") && !collected;
    for life in 0..LIVES {
        probe = Probe { seen: Arc::default(), surplus: Arc::default(), ..probe };
        match live(case, backend, way, lives[life.min(lives.len() - 1)], &probe) {
            Err(error) if error.kind() == ErrorKind::Crash => continue,
            Err(error) => return Err(format!("life {life}: {error}")),
            Ok(_) if died && life == 0 => return Err("nobody has died".into()),
            Ok(_) => {}
        }
        let (mut want, mut got) = (case.rows.clone(), probe.world.place.take(&probe.rows));
        want.sort();
        got.sort();
        if want != got {
            return Err(format!("after {life} deaths: expected {want:#?}, got {got:#?}"));
        }
        let checkpoints = case.said("checkpoints").filter(|_| matches!(way, Way::On(_)));
        let there = probe.world.newest().to_string();
        return match checkpoints {
            Some(number) if number != there => Err(format!("the newest checkpoint is {there}")),
            _ => Ok(()),
        };
    }
    Err("it does not come to an end".into())
}

fn live(case: &Case, backend: Backend<'_>, way: Way, parallelism: usize, probe: &Probe) -> Result<Report> {
    let storage: Arc<dyn Storage> = Arc::new(probe.world.disk.clone());
    let every = if case.said("every") == Some("never") { Millis(3_600_000) } else { Millis(1) };
    let retained = case.said("retained").map_or(2, |n| n.parse().expect("a number"));
    let checkpoints = Checkpoints::in_storage(storage).every(every).retained(retained);
    let job = Job::build("case", |job| build(job, case, probe)).parallelism(parallelism).batch_size(3);
    let job = backend.give(job.checkpoints(checkpoints));
    let host = match way {
        Way::Seed(seed) => return job.simulate(seed),
        Way::On(host) => host,
    };
    let handle = job.host(host).start()?;
    while !handle.is_finished() {
        probe.world.save(|| handle.savepoint())?;
        std::thread::sleep(Duration::from_micros(200));
    }
    handle.join()
}

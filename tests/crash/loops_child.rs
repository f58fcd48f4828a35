//! Loops that are killed. Each process notes in the file `supersteps` below its folder which supersteps it comes to: `PROCESS SUPERSTEP CHECKPOINT`, with the newest
//! checkpoint that is complete then.

use super::Settings;
use flow_core::prelude::*;
use flow_tests::crashing::graphs::{ROUNDS, edge, edges, starts};
use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

/// Between so many records of an instance there is a pause.
const PAUSE_EVERY: u64 = 256;

/// Which superstep this process has come to; and what keeps it from going through them too fast.
#[derive(Clone)]
struct Steps {
    newest: Arc<AtomicU64>,
    folder: PathBuf,
    pause: Duration,
}

impl Steps {
    fn new(settings: &Settings, folder: &Path) -> Self {
        let pause = Duration::from_secs(PAUSE_EVERY) / u32::try_from(settings.rate).unwrap_or(u32::MAX);
        Steps { newest: Arc::default(), folder: folder.to_owned(), pause }
    }

    /// An instance has a record of superstep `step`, its `n`th.
    fn at(&self, step: u64, n: u64) {
        if self.newest.fetch_max(step, Relaxed) < step {
            self.note(step);
        }
        if n.is_multiple_of(PAUSE_EVERY) {
            std::thread::sleep(self.pause);
        }
    }

    #[allow(clippy::expect_used, reason = "without it the test says nothing")]
    fn note(&self, step: u64) {
        let names = std::fs::read_dir(self.folder.join("state")).into_iter().flatten().flatten();
        let ids = names.filter_map(|name| {
            let name = name.file_name().into_string().ok()?;
            name.strip_suffix(".manifest")?.strip_prefix("chk-")?.split('-').next()?.parse::<u64>().ok()
        });
        let line = format!("{} {step} {}\n", std::process::id(), ids.max().unwrap_or(0));
        let file = OpenOptions::new().create(true).append(true).open(self.folder.join("supersteps"));
        file.and_then(|mut file| file.write_all(line.as_bytes())).expect("the file of supersteps");
    }
}

/// Sums along edges.
pub fn bulk(settings: &Settings, folder: &Path) -> Job {
    let (count, steps) = (settings.count, Steps::new(settings, folder));
    Job::build("loop", |job| {
        let numbers = source(generate(count, |v| (v, v))).durable().named("numbers");
        let edges = source(generate(edges(count), move |n| edge(count, n))).durable().key_by(|e| e.0);
        let sums = numbers.iterate(ROUNDS, |sums| {
            let along = sums.key_by(|s| s.0).join(edges).lookup();
            let along = along.map(|(_, ((_, sum), (_, to, length)))| (to, sum.wrapping_mul(length)));
            let along = along.superstep().map_init(
                |_| 0,
                move |n, (step, sum)| {
                    *n += 1;
                    steps.at(step, *n);
                    sum
                },
            );
            along.key_by(|s| s.0).wrapping_sum(|s| s.1)
        });
        job.add(sums.sink(csv_files(folder.join("rows")).no_header()));
    })
}

/// Distances from a part of the vertices.
pub fn delta(settings: &Settings, folder: &Path) -> Job {
    let (count, steps) = (settings.count, Steps::new(settings, folder));
    Job::build("delta", |job| {
        let starts = source(generate(starts(count), |v| (v, 0u64))).durable().named("numbers");
        let edges = source(generate(edges(count), move |n| edge(count, n))).durable().key_by(|e| e.0);
        let shorter = |far: &mut u64, came: u64| {
            let less = came < *far;
            *far = came.min(*far);
            less
        };
        let distances = starts.iterate_delta(shorter, |changed| {
            let along = changed.key_by(|c| c.0).join(edges).lookup();
            let along = along.map(|(_, ((_, far), (_, to, length)))| (to, far + length));
            along.superstep().map_init(
                |_| 0,
                move |n, (step, far)| {
                    *n += 1;
                    steps.at(step, *n);
                    far
                },
            )
        });
        job.add(distances.sink(csv_files(folder.join("rows")).no_header()));
    })
}

/// How many supersteps the report counts.
pub fn supersteps(report: &Report) -> i64 {
    let counters = report.stages.iter().flat_map(|stage| &stage.counters);
    counters.filter(|counter| counter.0.ends_with(".supersteps")).map(|counter| counter.1).sum()
}

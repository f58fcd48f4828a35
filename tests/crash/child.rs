//! A program with a pipeline that takes checkpoints, to be killed: `child PIPELINE FOLDER PARALLELISM COUNT RATE EVERY_MS`.
//!
//! Below the folder it has `state` and the folders of its sinks. With `FLOW_SPILLS` its state goes to the disk as soon as it can, which `sums` has
//! do so always; once some has, there is a file `has_spilled`. At the end it prints how many records it has read.

mod loops_child;
mod misdeed;
mod queue;

use flow_core::prelude::*;
use flow_core::testing::NothingInMemory;
use flow_tests::crashing::{Pipeline, WINDOW_MS, key, time};
use misdeed::Misdeed;
use serde::{Deserialize, Serialize};
use std::path::Path;
use std::process::ExitCode;

#[derive(Clone, Copy, Serialize, Deserialize)]
struct Other {
    n: u64,
}

struct Settings {
    pipeline: Pipeline,
    folder: String,
    parallelism: usize,
    count: u64,
    rate: u64,
    every: i64,
}

fn settings() -> Option<Settings> {
    let mut args = std::env::args().skip(1);
    let mut next = || args.next();
    Some(Settings {
        pipeline: next()?.parse().ok()?,
        folder: next()?,
        parallelism: next()?.parse().ok()?,
        count: next()?.parse().ok()?,
        rate: next()?.parse().ok()?,
        every: next()?.parse().ok()?,
    })
}

fn main() -> ExitCode {
    let Some(settings) = settings() else {
        eprintln!("usage: child PIPELINE FOLDER PARALLELISM COUNT RATE EVERY_MS");
        return ExitCode::from(2);
    };
    let folder = Path::new(&settings.folder);
    let mut checkpoints = Checkpoints::to(folder.join("state")).every(Millis(settings.every));
    if let Some(timeout) = std::env::var("FLOW_TIMEOUT_MS").ok().and_then(|text| text.parse().ok()) {
        checkpoints = checkpoints.timeout(Millis(timeout)).max_failed(u32::MAX);
    }
    let job = match settings.pipeline {
        Pipeline::Linear => linear(&settings, folder),
        Pipeline::Windows => windows(&settings, folder),
        Pipeline::Join => join(&settings, folder),
        Pipeline::Queue => queued(&settings, folder),
        Pipeline::Sums => sums(&settings, folder),
        Pipeline::Loop => loops_child::bulk(&settings, folder),
        Pipeline::Delta => loops_child::delta(&settings, folder),
    };
    let job = if settings.pipeline == Pipeline::Sums || std::env::var_os("FLOW_SPILLS").is_some() {
        let (backend, mark) = (Fjall::at(folder.join("spilled")), folder.join("has_spilled"));
        let mark = move || drop(std::fs::write(&mark, ""));
        job.state_backend(NothingInMemory::marked(backend.memory_limit(16 << 20), mark))
    } else {
        job
    };
    let host = match std::env::var("FLOW_HOST").as_deref() {
        Ok("threads") => HostKind::Threads,
        Ok("workers") => HostKind::Workers(1),
        _ => HostKind::Auto,
    };
    match job.checkpoints(checkpoints).parallelism(settings.parallelism).host(host).run() {
        Ok(report) => {
            let read = report
                .stages
                .iter()
                .find(|stage| stage.name.starts_with("numbers"))
                .map_or(0, |s| s.records_in);
            println!(
                "read {read}\ncpu {}\nsupersteps {}",
                processor_time(),
                loops_child::supersteps(&report)
            );
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

/// The seconds of processor time that this process has used.
fn processor_time() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // Behind the name, which may have blanks; a tick is 10 ms on every Linux.
    let fields = stat.rsplit(") ").next().unwrap_or_default().split(' ').skip(11).take(2);
    fields.filter_map(|ticks| ticks.parse::<f64>().ok()).sum::<f64>() / 100.0
}

fn linear(settings: &Settings, folder: &Path) -> Job {
    let (count, rate) = (settings.count, settings.rate);
    let misdeed = Misdeed::new(folder, count);
    Job::build("linear", |job| {
        let numbers = source(generate(count, |i| i).splits(2).rate(rate)).durable().named("numbers");
        let numbers = numbers.inspect(move |i| misdeed.at(*i));
        job.add(numbers.map(|i| (key(i), i)).sink(csv_files(folder.join("rows")).no_header()));
    })
}

fn queued(settings: &Settings, folder: &Path) -> Job {
    let queue = queue::Queue::new(folder.join("broker"), settings.count, settings.rate);
    Job::build("queue", |job| {
        let numbers = source(queue).durable().named("numbers");
        job.add(numbers.map(|i| (key(i), i)).sink(csv_files(folder.join("rows")).no_header()));
    })
}

fn sums(settings: &Settings, folder: &Path) -> Job {
    let (count, rate) = (settings.count, settings.rate);
    Job::build("sums", |job| {
        let numbers = source(generate(count, |i| i).splits(2).rate(rate)).durable().named("numbers");
        let sums = numbers.key_by(|i| key(*i)).sum(|i| *i);
        job.add(sums.sink(csv_files(folder.join("rows")).no_header()));
    })
}

fn windows(settings: &Settings, folder: &Path) -> Job {
    let (count, rate) = (settings.count, settings.rate);
    let misdeed = Misdeed::new(folder, count);
    Job::build("windows", |job| {
        let numbers = source(generate(count, |i| i).splits(2).rate(rate)).durable().named("numbers");
        let windows = numbers.event_time(|i| time(*i)).monotonic();
        let windows = windows.key_by(|i| key(*i)).window(tumbling(Millis(WINDOW_MS)));
        let rows = windows.aggregate(|a| (a.count(), a.sum(|i| *i)));
        let rows = rows.inspect(move |w| misdeed.at(w.start.millis().unsigned_abs()));
        let rows = rows.map(|w| (w.key, w.start.millis(), w.value.0, w.value.1));
        job.add(rows.sink(csv_files(folder.join("rows")).no_header()));
    })
}

fn join(settings: &Settings, folder: &Path) -> Job {
    let (count, rate) = (settings.count, settings.rate);
    Job::build("join", |job| {
        let numbers = source(generate(count, |i| i).rate(rate)).durable().named("numbers");
        let numbers = numbers.event_time(|i| time(*i)).monotonic();
        let others = source(csv::<Other>(folder.join("other.csv")).splits(1)).durable().named("others");
        let others = others.event_time(|o| time(o.n)).monotonic();
        let pairs = numbers.key_by(|i| key(*i)).join(others.key_by(|o| key(o.n)));
        let pairs = pairs.window(tumbling(Millis(WINDOW_MS)));
        let rows = pairs.root().map(|w| (w.key, w.start.millis(), w.value.0, w.value.1.n));
        let rows = rows.sink(csv_files(folder.join("rows")).no_header());
        let sums = pairs.root().key_by(|w| w.key).window(tumbling(Millis(WINDOW_MS)));
        let sums = sums.aggregate(|a| (a.count(), a.sum(|w| w.value.0)));
        let sums = sums.map(|w| (w.key, w.start.millis(), w.value.0, w.value.1));
        let sums = sums.sink(csv_files(folder.join("sums")).no_header());
        job.add(pairs.tee(|both| both.both(rows, sums)));
    })
}

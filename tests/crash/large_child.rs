//! A program whose state is larger than the memory it may have: `large FOLDER KEYS BYTES LIMIT EVERY_MS [windows]`.
//!
//! Each of so many keys keeps a text of so many bytes, which comes back once all the others have been there. `LIMIT` is that of the state
//! backend `Fjall`, 0 for none; `EVERY_MS` that of checkpoints, 0 for none. Of each key there is a line in `FOLDER/rows` at the end. With `windows` it
//! is one window that has all of that. It prints how much memory
//! it has taken at most.

use flow_core::prelude::*;
use flow_tests::crashing::{large_text, sum_of};
use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let number = |at: usize| args.get(at).and_then(|text| text.parse::<u64>().ok());
    let (Some(folder), Some(keys), Some(bytes), Some(limit), Some(every)) =
        (args.first().map(Path::new), number(1), number(2), number(3), number(4))
    else {
        eprintln!("usage: large FOLDER KEYS BYTES LIMIT EVERY_MS");
        return ExitCode::from(2);
    };
    let job = if args.get(5).is_some() { windows(folder, keys, bytes) } else { rolling(folder, keys, bytes) };
    let mut job = job.parallelism(2);
    if limit > 0 {
        job = job.state_backend(Fjall::at(folder.join("spilled")).memory_limit(limit as usize));
    }
    // The last one makes the rows final, whether there are others or not.
    let every = Millis(if every > 0 { every as i64 } else { i64::MAX / 4 });
    job = job.checkpoints(Checkpoints::to(folder.join("state")).every(every));
    match job.run() {
        Ok(_) => {
            println!("{}", most_memory());
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn rolling(folder: &Path, keys: u64, bytes: u64) -> Job {
    Job::build("large", |job| {
        let numbers = source(generate(2 * keys, |i| i).splits(2)).durable().named("numbers");
        let texts = numbers.key_by(move |i| i % keys).scan(String::new(), move |text, i| {
            if text.is_empty() {
                *text = large_text(i % keys, bytes);
                return None;
            }
            let sum = sum_of(text);
            text.insert(0, '!');
            Some(sum)
        });
        job.add(texts.sink(csv_files(folder.join("rows")).no_header()));
    })
}

fn windows(folder: &Path, keys: u64, bytes: u64) -> Job {
    Job::build("large", |job| {
        let numbers = source(generate(2 * keys, |i| i).splits(2)).durable().named("numbers");
        let timed = numbers.event_time(|i| Timestamp(*i as i64)).monotonic();
        let windows = timed.key_by(move |i| i % keys).window(tumbling(Millis(1 << 40)));
        let texts = windows.fold(String::new(), move |text, i| {
            if text.is_empty() {
                *text = large_text(i % keys, bytes);
            }
        });
        let sums = texts.map(|w| (w.key, sum_of(&w.value)));
        job.add(sums.sink(csv_files(folder.join("rows")).no_header()));
    })
}

/// How many bytes of memory this process has had at most.
fn most_memory() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap_or_default();
    line.trim().trim_end_matches("kB").trim().parse::<u64>().map_or(u64::MAX, |kb| kb * 1024)
}

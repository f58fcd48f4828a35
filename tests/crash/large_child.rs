//! A program whose state is larger than the memory it may have: `large FOLDER KEYS BYTES LIMIT EVERY_MS [WHAT]`.
//!
//! Each of so many keys keeps a text of so many bytes, which comes back once all the others have been there. `LIMIT` is that of the state
//! backend `Fjall`, 0 for none; `EVERY_MS` that of checkpoints, 0 for none. Of each key there is a line in `FOLDER/rows` at the end. With `windows` it
//! is one window that has all of that. With `sort`, `group`, `hash` or `sort_merge` so many records of so many bytes are in a batch, whose memory has the limit, and the program
//! checks what comes of them by itself. It prints how much memory it has taken at most.

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
    let what = args.get(5).map_or("rolling", String::as_str);
    if !matches!(what, "rolling" | "windows") {
        return ended(batch(what, keys, bytes).memory(limit as usize).spill_to(folder).parallelism(2).run());
    }
    let job = if what == "windows" { windows(folder, keys, bytes) } else { rolling(folder, keys, bytes) };
    let mut job = job.parallelism(2);
    if limit > 0 {
        job = job.state_backend(Fjall::at(folder.join("spilled")).memory_limit(limit as usize));
    }
    // The last one makes the rows final, whether there are others or not.
    let every = Millis(if every > 0 { every as i64 } else { i64::MAX / 4 });
    job = job.checkpoints(Checkpoints::to(folder.join("state")).every(every));
    ended(job.run())
}

/// Says how much memory it has taken, and of a batch how many records have been on the disk.
fn ended(report: Result<Report>) -> ExitCode {
    match report {
        Ok(report) => {
            let counters = report.stages.iter().flat_map(|stage| &stage.counters);
            let spilled: i64 = counters.filter(|counter| counter.0.ends_with(".spilled")).map(|c| c.1).sum();
            eprintln!("{spilled} spilled");
            println!("{}", most_memory());
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

/// A batch that sorts so many records, or groups or joins them, and panics where what comes of them is wrong, or not all of it.
fn batch(what: &str, keys: u64, bytes: u64) -> Job {
    // No record is near the ones of the next keys.
    let texts = move |n: u64| {
        let numbers = source(generate(n, move |i| i * 7_919 % n).splits(2)).batch();
        // A text has no room to grow: how much it has nobody can ask it.
        numbers.map(move |i| (i, large_text(i, bytes).into_boxed_str().into_string()))
    };
    let check = move |key: u64, text: &str| assert!(text == large_text(key, bytes), "the text of {key}");
    // Rings have a few records only: what is limited is what operators keep.
    let job = Job::build("batch", |job| {
        let both = || texts(keys / 2).key_by(|t| t.0).join(texts(keys / 2).key_by(|t| t.0));
        let met = move |(key, (left, right)): (u64, ((u64, String), (u64, String)))| {
            check(key, &left.1);
            check(key, &right.1);
            key
        };
        let all = move |n: u64| move |sum: u64| assert_eq!(sum, n * (n - 1) / 2, "all keys, once each");
        match what {
            "sort" => {
                let mut next = 0;
                let in_order = move |(key, text): (u64, String)| {
                    assert_eq!(key, next, "in order");
                    check(key, &text);
                    next += 1;
                };
                job.add(texts(keys).sort_by_key(|t| t.0).for_each(in_order));
            }
            "group" => {
                let groups = texts(keys).key_by(|t| t.0 / 100).reduce_group(move |_, texts| {
                    texts.inspect(|(key, text)| check(*key, text)).map(|(key, _)| key).sum::<u64>()
                });
                job.add(groups.map(|(_, sum)| sum).sum(|sum| *sum).for_each(all(keys)));
            }
            "hash" => job.add(both().hash().map(met).sum(|key| *key).for_each(all(keys / 2))),
            _ => job.add(both().sort_merge().map(met).sum(|key| *key).for_each(all(keys / 2))),
        }
    });
    job.batch_size(16)
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

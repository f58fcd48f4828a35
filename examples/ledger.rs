//! Running balances that come out once each, whatever kills the program: checkpoints, files that appear with them, and a stop in between.

use flow_core::prelude::*;
use flow_examples::Stop;
use serde::{Deserialize, Serialize};
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

const HELP: &str = "
ledger [INPUT] [--state DIR] [--out DIR] [--every DUR] [--rate N] [-p N]

The running balance of each key, as lines `key,seq,balance` in the files OUT/*.csv; seq counts from 1 for each key, in the order of
the input. Started again with the same folders it goes on where the last checkpoint left it: whatever kills it and however often,
in the end every line stands there once.

  INPUT        entries as CSV with the header key,amount, whole numbers; a sample unless given
  --state DIR  where checkpoints lie; made where it is missing
  --out DIR    where the result goes; made where it is missing
               Both stand in a temporary folder unless given.
  --every DUR  the time from one checkpoint to the next (500ms, 5s, 15min, 1h, 1d); 1s unless given
  --rate N     at most N entries a second (also written N/s); as fast as it goes unless given
  -p N         instances behind an exchange; 1 unless given

SIGTERM and Ctrl-C take a savepoint, which is a checkpoint that is kept, and end the program with exit code 0; a second one ends it at
once. A savepoint is restored by the next start, at any other -p:

  ledger entries.csv --state state --out out -p 2      # until Ctrl-C
  ledger entries.csv --state state --out out -p 4      # goes on from there

The result and how much was done is told on standard output, the report of the job on standard error.
";

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Entry {
    key: ShortString,
    amount: i64,
}

/// How many entries a key has had, and what they come to: no sum of so many can overflow.
type Account = (u64, i128);

dataflow! {
    /// The entries' running balances go to files in `out`.
    #[checkpointed]
    fn ledger(entries: PathBuf, per_second: u64, out: PathBuf) {
        // One partition: the order of each key is that of the file.
        let entries = source(csv::<Entry>(entries).splits(1));
        let paced = entries.rate_limit(per_second);

        let balances = paced.key_by(|entry| entry.key.clone()).scan((0, 0), |account: &mut Account, entry| {
            account.0 += 1;
            account.1 += i128::from(entry.amount);
            Some(*account)
        });
        let lines = balances.map(|(key, (seq, balance))| (key, seq, balance));

        lines.sink(csv_files(out).no_header());
    }
}

/// Runs to the end, or to the savepoint that a signal asks for.
fn run(job: Job) -> Result<(Report, Option<u64>), Stop> {
    let asked = Arc::new(AtomicBool::new(false));
    for signal in [SIGTERM, SIGINT] {
        // In this order: the first signal finds nothing asked for yet, the second ends the process.
        flag::register_conditional_shutdown(signal, 128 + signal, Arc::clone(&asked))?;
        flag::register(signal, Arc::clone(&asked))?;
    }
    let handle = job.start()?;
    let mut savepoint = None;
    while !handle.is_finished() && savepoint.is_none() {
        if asked.load(Ordering::Relaxed) {
            match handle.stop_with_savepoint() {
                Ok(id) => savepoint = Some(id),
                // It has come to its end by itself, and says how below.
                Err(_) if handle.is_finished() => {}
                Err(error) => return Err(error.into()),
            }
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    Ok((handle.join()?, savepoint))
}

fn main() -> ExitCode {
    flow_examples::main(HELP, |mut args| {
        let parallelism = args.parallelism()?;
        let own = std::env::temp_dir().join(format!("flow-ledger-{}", std::process::id()));
        let state = args.value("--state")?.unwrap_or_else(|| own.join("state"));
        let out: PathBuf = args.value("--out")?.unwrap_or_else(|| own.join("out"));
        let every = args.duration("--every", "1s")?;
        let per_second = args.rate("--rate")?.unwrap_or(1_000_000_000);
        let entries = args.input("entries.csv")?;

        let job = ledger(entries, per_second, out.clone());
        let job = job.checkpoints(Checkpoints::to(&state).every(every)).parallelism(parallelism);
        let (report, savepoint) = run(job)?;
        flow_examples::tell(&report);
        println!("results: {}", out.join("*.csv").display());
        println!("state: {}", state.display());
        let read: u64 = report
            .stages
            .iter()
            .filter(|stage| stage.name.starts_with("entries"))
            .map(|s| s.records_in)
            .sum();
        println!("{read} entries in this run, {} checkpoints", report.counter("checkpoints.completed"));
        if let Some(id) = savepoint {
            println!("stopped at savepoint {id}: started again it goes on from there");
        }
        Ok(())
    })
}

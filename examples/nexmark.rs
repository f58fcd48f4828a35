//! The queries of the Nexmark suite, over the events of a seeded generator.

use flow_core::prelude::*;
use flow_examples::{Args, Stop};
use nexmark::{Events, Generator, QUERIES, Query};
use std::path::PathBuf;
use std::process::ExitCode;

#[path = "support/nexmark/mod.rs"]
mod nexmark;

const HELP: &str = "
nexmark [--query qN] [--events N] [--rate N] [--seed N] [-o FILE] [--dump FILE] [--graph FILE] [-p N]

A query on persons, auctions and bids, as CSV. Where results are updated only the last of each key is written.

  --query qN    q0 to q22 without q10; q5 unless given
  --events N    how many events are generated; 100,000 unless given
  --rate N      events per second of event time; 10,000 unless given
  --seed N      other events; 0 unless given
  -o FILE       where the result goes, instead of standard output
  --dump FILE   where the events go, as lines of JSON in the order of events
  --graph FILE  where the picture of the query's graph goes, as SVG; nothing is run
  -p N          instances of the source, and behind an exchange; 1 unless given

The events are the same for every query and every -p. The report of the job goes to standard error.
";

/// Event times stay far from the end of time.
const EVENTS_MAX: u64 = 1_000_000_000_000;

dataflow! {
    /// Writes the events down.
    fn dump(events: Events, path: PathBuf) {
        source(events).try_map(|event| event.json()).sink(text_file(path));
    }
}

fn main() -> ExitCode {
    flow_examples::main(HELP, |mut args| {
        let parallelism = args.parallelism()?;
        let query = query(&mut args)?;
        let count = number(&mut args, "--events", 100_000, 0)?;
        let rate = number(&mut args, "--rate", 10_000, 1)?;
        let seed = args.value("--seed")?.unwrap_or(0);
        let output = args.output("-o", "-")?;
        let dumped: Option<PathBuf> = args.value("--dump")?;
        let graph: Option<PathBuf> = args.value("--graph")?;
        args.nothing_else()?;

        if let Some(path) = graph {
            // In a page the picture takes the page's colours; as a file it brings its own.
            let picture = query.graph.svg.replacen("style=\"", "style=\"background:white;color:black;", 1);
            return Ok(std::fs::write(path, format!("{picture}\n"))?);
        }
        let generator = Generator { seed, rate };
        let dumping = match dumped {
            Some(path) => Some(dump(Events { generator, count, partitions: 1 }, path).start()?),
            None => None,
        };
        let events = Events { generator, count, partitions: parallelism as u64 };
        let report = (query.job)(events, output).parallelism(parallelism).run()?;
        if let Some(dumping) = dumping {
            dumping.join()?;
        }
        flow_examples::tell(&report);
        Ok(())
    })
}

fn query(args: &mut Args) -> Result<&'static Query, Stop> {
    let name = args.value("--query")?.unwrap_or_else(|| "q5".to_owned());
    let found = QUERIES.iter().find(|query| query.name == name);
    found.ok_or_else(|| {
        let names: Vec<&str> = QUERIES.iter().map(|query| query.name).collect();
        Stop::Arguments(format!("--query {name}: give one of {}", names.join(" ")))
    })
}

fn number(args: &mut Args, name: &'static str, default: u64, least: u64) -> Result<u64, Stop> {
    match args.value(name)?.unwrap_or(default) {
        n if (least..=EVENTS_MAX).contains(&n) => Ok(n),
        n => Err(Stop::Arguments(format!("{name} {n}: give a number from {least} to {EVENTS_MAX}"))),
    }
}

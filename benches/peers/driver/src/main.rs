//! Runs a workload on flow and on its peers in interleaved pairs, and prints how they compare.
//!
//! `cargo run --release -- WORKLOAD -p N [--pairs K] [--against hand1,hand,timely,renoir,dfir,polars,duckdb] [--n ITEMS] [--json]`
//!
//! Every program is a process of its own, built by itself with the same profile (the driver asks cargo for what it runs),
//! and takes its own time from within. Start with [`compare()`].

mod args;
mod build;
mod compare;
mod contender;
mod print;
mod process;
mod stats;
mod text;

use std::process::ExitCode;

use args::Args;
use process::Failure;

fn main() -> ExitCode {
    match compare() {
        Ok(()) => ExitCode::SUCCESS,
        Err(Failure::NoSuchWorkload(message)) => {
            eprintln!("{message}");
            ExitCode::from(process::NO_SUCH_WORKLOAD)
        }
        Err(Failure::Other(message)) => {
            eprintln!("error: {message}");
            ExitCode::FAILURE
        }
    }
}

/// The whole of it: read the arguments, make the text, see that flow has the workload, build the peers, run the pairs,
/// print.
fn compare() -> Result<(), Failure> {
    let Some(args) = Args::from_env()? else {
        print!("{}", args::USAGE);
        return Ok(());
    };
    let text = text::ready(&args)?;
    let flow = build::flow(&args.workload)?;
    compare::warm_up(&args, &flow, &text)?;
    let programs = build::programs(&args)?;
    let comparisons = compare::all(&args, &programs, &text)?;
    if args.json {
        print::json(&args, &comparisons)
    } else {
        print::table(&args, &comparisons)
    }
    compare::unexplained(&args, &comparisons)
}

//! The frame of a peer: `PROGRAM WORKLOAD THREADS N TEXT OUT`, one run, one line of JSON.
//!
//! The clock runs from just before the pipeline is built to just after its answer is there, within the process: neither
//! the start of the process nor the load of its pages counts. W10's input is in memory before ([`prepared`]).

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use crate::Answer;

/// The exit code of a peer that has no such workload.
pub const NO_SUCH_WORKLOAD: u8 = 2;

/// What a peer is asked to do.
#[derive(Clone, Debug)]
pub struct Run {
    /// `w1` to `w10`, or `w1b`.
    pub workload: String,
    /// The parallelism.
    pub threads: usize,
    /// How many elements there are (W1 and W1B take the whole text).
    pub n: u64,
    /// The text of W1 and W1B.
    pub text: PathBuf,
    /// Where those write their counts.
    pub out: PathBuf,
}

impl Run {
    fn from_args() -> Option<Run> {
        let mut args = std::env::args().skip(1);
        let run = Run {
            workload: args.next()?,
            threads: args.next()?.parse().ok().filter(|threads| *threads > 0)?,
            n: args.next()?.parse().ok()?,
            text: args.next()?.into(),
            out: args.next()?.into(),
        };
        args.next().is_none().then_some(run)
    }
}

/// The `main` of a program that has but one workload; `run` gives `None` where it does not have it at this parallelism.
pub fn only(peer: &str, workload: &str, run: impl FnOnce(&Run) -> Option<Answer>) -> ExitCode {
    main(peer, |args| if args.workload == workload { run(args) } else { None })
}

/// The same for a workload whose input is in memory before the clock starts: `prepare` makes it, and it is freed behind.
pub fn prepared<P>(
    peer: &str,
    workload: &str,
    prepare: impl FnOnce(&Run) -> P,
    run: impl FnOnce(&Run, &P) -> Answer,
) -> ExitCode {
    let Some(args) = Run::from_args() else { return usage(peer) };
    if args.workload != workload {
        return absent(peer, &args);
    }
    let input = prepare(&args);
    let start = Instant::now();
    let answer = run(&args, &input);
    report(start.elapsed(), answer)
}

/// Runs the workload the arguments name and prints its time and its answer; `run` gives `None` for one that `peer` does
/// not have (at this parallelism).
pub fn main(peer: &str, run: impl FnOnce(&Run) -> Option<Answer>) -> ExitCode {
    let Some(args) = Run::from_args() else { return usage(peer) };
    let start = Instant::now();
    let answer = run(&args);
    let took = start.elapsed();
    answer.map_or_else(|| absent(peer, &args), |answer| report(took, answer))
}

fn usage(peer: &str) -> ExitCode {
    eprintln!("usage: {peer} WORKLOAD THREADS N TEXT OUT");
    ExitCode::FAILURE
}

fn absent(peer: &str, args: &Run) -> ExitCode {
    eprintln!("{peer} has no {} yet", args.workload);
    ExitCode::from(NO_SUCH_WORKLOAD)
}

fn report(took: Duration, Answer { count, checksum }: Answer) -> ExitCode {
    println!(r#"{{"secs":{:.6},"count":{count},"checksum":"{checksum:016x}"}}"#, took.as_secs_f64());
    ExitCode::SUCCESS
}

//! The frame of a peer: `PROGRAM WORKLOAD THREADS N TEXT OUT`, one run, one line of JSON.
//!
//! The clock runs from just before the pipeline is built to just after its answer is there, within the process: neither
//! the start of the process nor the load of its pages counts.

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

use crate::Answer;

/// The exit code of a peer that has no such workload.
pub const NO_SUCH_WORKLOAD: u8 = 2;

/// What a peer is asked to do.
#[derive(Clone, Debug)]
pub struct Run {
    /// `w1` to `w8`.
    pub workload: String,
    /// The parallelism.
    pub threads: usize,
    /// How many elements there are (W1 takes the whole text).
    pub n: u64,
    /// The text of W1.
    pub text: PathBuf,
    /// Where W1 writes its counts.
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

/// Runs the workload the arguments name and prints its time and its answer; `run` gives `None` for one that `peer` does
/// not have (at this parallelism).
pub fn main(peer: &str, run: impl FnOnce(&Run) -> Option<Answer>) -> ExitCode {
    let Some(args) = Run::from_args() else {
        eprintln!("usage: {peer} WORKLOAD THREADS N TEXT OUT");
        return ExitCode::FAILURE;
    };
    let start = Instant::now();
    let answer = run(&args);
    let secs = start.elapsed().as_secs_f64();
    let Some(Answer { count, checksum }) = answer else {
        eprintln!("{peer} has no {} yet", args.workload);
        return ExitCode::from(NO_SUCH_WORKLOAD);
    };
    println!(r#"{{"secs":{secs:.6},"count":{count},"checksum":"{checksum:016x}"}}"#);
    ExitCode::SUCCESS
}

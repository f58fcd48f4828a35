//! The results, as a table or as JSON.

use serde_json::json;

use crate::args::Args;
use crate::compare::{Comparison, Outcome};
use crate::contender::Peer;

/// One line of JSON for each peer that has the workload.
pub fn json(args: &Args, comparisons: &[Comparison]) {
    for Comparison { peer, result } in comparisons {
        match result {
            Some(outcome) => println!("{}", line(args, peer, outcome)),
            None => eprintln!("{}", absent(args, peer)),
        }
        if let Some(why) = why_not(args, peer, result.as_ref()) {
            eprintln!("{why}");
        }
    }
}

/// A table with a row for each peer, and a sentence for what needs one.
pub fn table(args: &Args, comparisons: &[Comparison]) {
    println!("{} at parallelism {}, {} pairs; times in seconds", args.workload, args.parallelism, args.pairs);
    println!("{:<8} {:>9} {:>9} {:>11} {:>7} {:>7}  agree", "peer", "flow", "peer", "flow/peer", "q1", "q3");
    for Comparison { peer, result } in comparisons {
        let Some(Outcome { ours, theirs, flow_over_peer: ratio, agree }) = result else {
            println!("{}", absent(args, peer));
            continue;
        };
        println!(
            "{:<8} {:>9.4} {:>9.4} {:>11.3} {:>7.3} {:>7.3}  {}",
            peer.name, ours.median, theirs.median, ratio.median, ratio.q1, ratio.q3, agree
        );
    }
    for Comparison { peer, result } in comparisons {
        if let Some(why) = why_not(args, peer, result.as_ref()) {
            println!("{why}");
        }
        if !peer.program.parallel && args.parallelism > 1 {
            println!("{} runs on one thread: it has no parallelism within a graph", peer.name);
        }
    }
}

fn line(args: &Args, peer: &Peer, outcome: &Outcome) -> String {
    let ratio = outcome.flow_over_peer;
    // Written out, because the order of the fields is part of the form.
    format!(
        r#"{{"workload":{},"parallelism":{},"peer":{},"flow_over_peer":{:.3},"q1":{:.3},"q3":{:.3},"pairs":{},"agree":{}}}"#,
        json!(args.workload),
        args.parallelism,
        json!(peer.name),
        ratio.median,
        ratio.q1,
        ratio.q3,
        args.pairs,
        outcome.agree
    )
}

fn absent(args: &Args, peer: &Peer) -> String {
    format!("{} has no {}", peer.name, args.workload)
}

fn why_not(args: &Args, peer: &Peer, outcome: Option<&Outcome>) -> Option<String> {
    let known = outcome.is_some_and(|outcome| !outcome.agree) && peer.differs_in(&args.workload);
    known.then(|| format!("{} does not agree in {}: {}", peer.name, args.workload, peer.why))
}

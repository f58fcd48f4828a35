//! `state` on the checkpoints of `ledger`.

use super::run::{Scratch, example, finish, succeed};
use std::process::{Command, Stdio};

fn state(folder: &std::path::Path) -> Command {
    let mut command = example("state");
    command.arg(folder);
    command
}

#[test]
fn checkpoints_are_shown_and_made() {
    let scratch = Scratch::new("state");
    let folder = scratch.path("state");
    succeed(example("ledger").arg("--state").arg(&folder).arg("--out").arg(scratch.path("out")));
    let told = succeed(&mut state(&folder)).stdout;
    assert!(told.contains("of the job `ledger`") && told.contains("balances/scan: "), "{told}");
    let lines = succeed(state(&folder).arg("--lines")).stdout;
    assert!(
        lines.starts_with("{\"checkpoint\":") && lines.contains("\"schema\":\"string -> (u64, i128)\""),
        "{lines}"
    );
    let (file, other) = (scratch.path("lines.json"), scratch.path("other"));
    std::fs::write(&file, &lines).expect("it can be written");
    let made = succeed(state(&other).arg("--import").arg(&file)).stdout;
    assert!(made.starts_with("checkpoint "), "{made}");
    let again = succeed(state(&other).arg("--lines")).stdout;
    assert_eq!(again.lines().count(), lines.lines().count());
    // Nothing is left to do, from there as from the first.
    succeed(example("ledger").arg("--state").arg(&other).arg("--out").arg(scratch.path("out")));
}

#[test]
fn mistakes_are_told() {
    let scratch = Scratch::new("state-mistakes");
    for (args, code, what) in [
        (&["--import", "-"][..], 2, "the folder of checkpoints is missing"),
        (&["a", "--import", "b", "--lines"], 2, "--import stands alone"),
        (&["a", "--at", "x"], 2, "--at"),
        (&["/nowhere"], 1, "there is no folder /nowhere"),
    ] {
        let outcome = finish(example("state").args(args).stdin(Stdio::null()));
        assert_eq!(outcome.code, Some(code), "{args:?}: {}", outcome.stderr);
        assert!(outcome.stderr.contains(what) && outcome.stderr.lines().count() == 1, "{}", outcome.stderr);
    }
    let bad = scratch.path("bad.json");
    std::fs::write(&bad, "{}\n").expect("it can be written");
    let outcome = finish(state(&scratch.path("new")).arg("--import").arg(&bad));
    assert!(outcome.code == Some(1) && outcome.stderr.contains("line 1: "), "{}", outcome.stderr);
    let help = succeed(example("state").arg("--help")).stdout;
    assert!(help.starts_with("state DIR"), "{help}");
}

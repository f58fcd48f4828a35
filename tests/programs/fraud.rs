//! `fraud` against its oracle: the sample, and few accounts with many payments at equal times.

use super::run::{self, Order, Scratch, example, oracle, same_lines, succeed};
use super::{Random, sample};
use std::fmt::Write as _;
use std::path::Path;

fn check(input: &Path, disorders: &[&str]) {
    let Some(oracle_script) = oracle("fraud.py") else { return };
    let scratch = Scratch::new("fraud");
    let rows = scratch.path("rows");
    let expected = succeed(oracle_script().arg(input));
    for disorder in disorders {
        for parallelism in [1, 2, 4] {
            let case = format!("fraud of {} at -p {parallelism}, disorder {disorder}", input.display());
            let mut program = example("fraud");
            program.arg(input).args(["-p", &parallelism.to_string(), "--disorder", disorder]);
            succeed(program.arg("-o").arg(&rows));
            let order = if parallelism == 1 { Order::Exact } else { Order::HeaderThenAny };
            same_lines(&case, &run::read(&rows), &expected.stdout, order);
        }
    }
}

#[test]
fn fraud_of_the_sample() {
    check(&sample("payments.csv"), &["1d", "10min"]);
}

#[test]
fn fraud_at_equal_times() {
    let scratch = Scratch::new("equal_times");
    let input = scratch.path("payments.csv");
    let mut random = Random(11);
    for round in 0..4 {
        let mut text = String::from("ts,account,amount\n");
        for _ in 0..random.below(400) {
            let (ts, account) = (random.below(40) as i64 * 10_000 - 100_000, random.below(4));
            let amount = ["0.99", "1.00", "0", "500.00", "500.01", "1e3", "-3.5"][random.below(7) as usize];
            writeln!(text, "{ts},{account},{amount}").expect("a String takes it");
        }
        std::fs::write(&input, &text).expect("the scratch folder is writable");
        println!("round {round}");
        check(&input, &["1d"]);
    }
}

/// What is too late to be put in order, and what is no amount, ends the job with one line.
#[test]
fn fraud_of_bad_input() {
    let scratch = Scratch::new("bad_payments");
    let input = scratch.path("payments.csv");
    for (rows, words) in [
        ("0,a,1.00\n900000,a,1.00\n5,b,1.00\n", "comes too late"),
        ("0,a,1.00\n5,b,much\n", "`much` is not an amount"),
    ] {
        std::fs::write(&input, format!("ts,account,amount\n{rows}")).expect("the scratch folder is writable");
        let mut program = example("fraud");
        let outcome = run::finish(program.arg(&input).args(["--disorder", "1min"]));
        assert_eq!(outcome.code, Some(1), "{}", outcome.stderr);
        assert!(outcome.stderr.contains(words), "{}", outcome.stderr);
    }
}

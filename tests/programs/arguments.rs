//! What every example promises about its arguments, its exit code and its error line.

use crate::run::{Scratch, example, finish, read, succeed};
use crate::sample;

const EXAMPLES: &[&str] = &["word_count", "flight_delays", "windows", "aircraft_days", "fraud", "nexmark"];

#[test]
fn help_goes_to_standard_output() {
    for name in EXAMPLES {
        for flag in ["--help", "-h"] {
            let outcome = succeed(example(name).arg(flag));
            assert!(
                outcome.stdout.contains(name) && outcome.stdout.contains("-p N"),
                "{name}: {}",
                outcome.stdout
            );
            assert!(outcome.stderr.is_empty(), "{name}: {}", outcome.stderr);
        }
    }
}

#[test]
fn without_arguments_they_run_on_the_sample() {
    for name in EXAMPLES {
        let outcome = succeed(&mut example(name));
        // nexmark runs q5: one line or two for each window; few payments are suspicious.
        let least = match *name {
            "nexmark" => 9,
            "fraud" => 200,
            _ => 1000,
        };
        let lines = outcome.stdout.lines().count();
        assert!(lines >= least, "{name} printed {lines} lines");
        assert!(!outcome.stderr.trim().is_empty(), "{name} printed no report");
    }
}

#[test]
fn bad_arguments_are_exit_code_2() {
    for name in EXAMPLES {
        for bad in [
            &["--frobnicate"][..],
            &["-p"],
            &["-p", "0"],
            &["-p", "x"],
            &["-p", "100000"],
            &["-o"],
            if *name == "windows" { &["--size", "x"] } else { &["a", "b"] },
        ] {
            let outcome = finish(example(name).args(bad));
            assert_eq!(outcome.code, Some(2), "{name} {bad:?}: {}", outcome.stderr);
            assert_eq!(outcome.stderr.lines().count(), 1, "{name} {bad:?}: {}", outcome.stderr);
            assert!(outcome.stdout.is_empty(), "{name} {bad:?}: {}", outcome.stdout);
        }
    }
    for bad in ["1", "-1h", "1 fortnight", "", "99999999999999d"] {
        let options =
            [("flight_delays", "--disorder"), ("aircraft_days", "--disorder"), ("aircraft_days", "--gap")];
        for (name, option) in options {
            let outcome = finish(example(name).args([option, bad]));
            assert_eq!(outcome.code, Some(2), "{name} {option} {bad:?}: {}", outcome.stderr);
        }
    }
}

#[test]
fn nexmark_says_what_it_cannot_run() {
    for (bad, why) in [
        ("--query=q10", "give one of q0 q1"),
        ("--query=5", "give one of q0 q1"),
        ("--events=-1", "-1"),
        ("--events=1000000000001", "from 0 to"),
        ("--rate=0", "from 1 to"),
        ("--seed=x", "x"),
        ("input.csv", "unexpected argument input.csv"),
    ] {
        let outcome = finish(example("nexmark").arg(bad));
        assert_eq!(outcome.code, Some(2), "{bad}: {}", outcome.stderr);
        assert_eq!(outcome.stderr.lines().count(), 1, "{bad}: {}", outcome.stderr);
        assert!(outcome.stderr.contains(why) && outcome.stdout.is_empty(), "{bad}: {}", outcome.stderr);
    }
    for option in ["-o", "--dump", "--graph"] {
        let outcome = finish(example("nexmark").args([option, "/nowhere/file", "--events=100"]));
        assert_eq!(outcome.code, Some(1), "{option}: {}", outcome.stderr);
        assert_eq!(outcome.stderr.lines().count(), 1, "{option}: {}", outcome.stderr);
    }
}

#[test]
fn windows_that_cannot_be_are_exit_code_2() {
    for (bad, why) in [
        ("--kind=hopping", "give tumbling, sliding, session or count"),
        ("--kind=sliding", "needs --slide"),
        ("--kind=session", "needs --gap"),
        ("--kind=session --gap=0", "gap"),
        ("--size=0", "size"),
        ("--size=10 --offset=-10", "offset"),
        ("--kind=sliding --size=10 --slide=11", "gaps"),
        ("--kind=count --size=10 --slide=11", "gaps"),
        ("--kind=count --size=-1", "number of elements"),
        ("--kind=count --size=0", "0 elements"),
        ("--lateness=-1", "lateness"),
        ("--disorder=-1", "disorder"),
        ("--offset=5ms", "5ms"),
    ] {
        let outcome = finish(example("windows").args(bad.split(' ')));
        assert_eq!(outcome.code, Some(2), "{bad}: {}", outcome.stderr);
        assert_eq!(outcome.stderr.lines().count(), 1, "{bad}: {}", outcome.stderr);
        assert!(outcome.stderr.contains(why) && outcome.stdout.is_empty(), "{bad}: {}", outcome.stderr);
    }
}

#[test]
fn bad_input_is_one_line_and_exit_code_1() {
    let scratch = Scratch::new("bad_input");
    for name in EXAMPLES.iter().filter(|name| **name != "nexmark") {
        let outcome = finish(example(name).arg(scratch.path("missing")));
        assert_eq!(outcome.code, Some(1), "{name}: {}", outcome.stderr);
        assert_eq!(outcome.stderr.lines().count(), 1, "{name}: {}", outcome.stderr);
        assert!(outcome.stderr.contains("missing"), "{name} does not name the file: {}", outcome.stderr);
    }
    let header = "time_hour,carrier,flight,origin,minute,dep_delay\n";
    let broken = [
        ("no column", "time_hour,carrier,flight,origin,minute\n2013-01-01T10:00:00Z,UA,1,EWR,5\n"),
        (
            "no number",
            &format!("{header}2013-01-01T10:00:00Z,UA,1,EWR,5,2\n2013-01-01T10:00:00Z,UA,1,EWR,x,2\n"),
        ),
        ("no time", &format!("{header}yesterday,UA,1,EWR,5,2\n")),
        ("short record", &format!("{header}2013-01-01T10:00:00Z,UA,1\n")),
    ];
    for (case, text) in broken {
        let (input, output) = (scratch.path("broken.csv"), scratch.path("rows.csv"));
        std::fs::write(&input, text).expect("the scratch folder is writable");
        let outcome = finish(example("flight_delays").arg(&input).arg("-o").arg(&output));
        assert_eq!(outcome.code, Some(1), "{case}: {}", outcome.stderr);
        assert_eq!(outcome.stderr.lines().count(), 1, "{case}: {}", outcome.stderr);
        assert!(outcome.stderr.contains("broken.csv"), "{case} does not name the file: {}", outcome.stderr);
        assert!(!output.exists(), "{case}: a partial result stands as a whole one");
    }
}

#[test]
fn values_may_follow_an_equals_sign_and_files_are_replaced() {
    let scratch = Scratch::new("equals");
    let (rows, late) = (scratch.path("rows.csv"), scratch.path("late.csv"));
    for path in [&rows, &late] {
        std::fs::write(path, "old\n".repeat(100_000)).expect("the scratch folder is writable");
    }
    let apart =
        succeed(example("flight_delays").arg(sample("flights.csv")).args(["--disorder", "2d", "-p", "1"]));
    let mut program = example("flight_delays");
    program.args(["--disorder=2d".into(), format!("--late={}", late.display()), "-p=1".into()]);
    succeed(program.arg("-o").arg(&rows));
    assert_eq!(read(&rows), apart.stdout);
    assert_eq!(read(&late), "origin,event_time,carrier,flight\n", "no flight is late by two days");
}

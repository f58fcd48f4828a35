//! What every example promises about its arguments, its exit code and its error line.

use crate::run::{Scratch, example, finish, read, succeed};
use crate::sample;
use std::fs::File;
use std::process::Stdio;

const EXAMPLES: &[&str] =
    &["word_count", "flight_delays", "windows", "aircraft_days", "fraud", "flight_weather", "nexmark"];

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
            &["-p", "2", "-p", "3"],
            &["-", "-"],
            match *name {
                "windows" => &["--size", "x"],
                "flight_weather" => &["a", "b", "c"],
                _ => &["a", "b"],
            },
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
            let told = format!("{option}: \"{bad}\" is not a duration, for example 10s");
            assert!(outcome.stderr.contains(&told), "{name} {option} {bad:?}: {}", outcome.stderr);
        }
    }
}

/// The option is named, and what it takes.
#[test]
fn what_is_wrong_with_an_option_is_said() {
    for (name, bad, why) in [
        ("fraud", "-p=x", "-p: \"x\" is not a whole number from 0, for example 10"),
        ("fraud", "-p=0", "-p: 0 instances are not possible: give a number from 1 to 256"),
        ("fraud", "-p", "-p needs a value"),
        ("fraud", "-o", "-o needs a value"),
        ("fraud", "--p=1", "unknown option --p=1"),
        ("fraud", "-p=1 -p=2", "-p is given twice"),
        ("fraud", "--disorder=1h --disorder=2h", "--disorder is given twice"),
        ("windows", "--size=5s", "--size: \"5s\" is not a whole number, for example 10"),
        ("windows", "- -", "- is given twice, but standard input can be read once"),
        ("flight_weather", "flights.csv", "give both inputs or none"),
        ("nexmark", "--rate=1.5", "--rate: \"1.5\" is not a whole number from 0, for example 10"),
    ] {
        let outcome = finish(example(name).args(bad.split(' ')));
        assert_eq!(outcome.stderr, format!("error: {why} (see --help)\n"), "{name} {bad}");
        assert_eq!(outcome.code, Some(2), "{name} {bad}");
    }
}

/// `-` is standard input, and the same as the file.
#[test]
fn standard_input_is_read_where_a_dash_says_so() {
    for (name, input, args) in [
        ("word_count", "kjv.txt", &["-"][..]),
        ("flight_delays", "flights.csv", &["-"]),
        ("windows", "delays.csv", &["-"]),
        ("aircraft_days", "flights.csv", &["-"]),
        ("fraud", "payments.csv", &["-"]),
    ] {
        let input = File::open(sample(input)).expect("the sample is there");
        let mut program = example(name);
        let read = program.args(args).stdin(input).output().expect("it starts");
        let told = String::from_utf8_lossy(&read.stderr);
        assert_eq!(read.status.code(), Some(0), "{name}: {told}");
        let expected = succeed(&mut example(name));
        assert_eq!(String::from_utf8_lossy(&read.stdout), expected.stdout, "{name}");
    }
}

/// `example | head -1`: no error, no panic, exit code 0, whatever is written into the closed pipe.
#[test]
fn a_reader_that_goes_is_no_failure() {
    for name in EXAMPLES {
        for (args, closes_stderr) in
            [(&["--help"][..], false), (&[], false), (&[], true), (&["--wrong"], true)]
        {
            let (reader, writer) = std::io::pipe().expect("a pipe");
            let mut program = example(name);
            program.args(args).stdin(Stdio::null()).stdout(writer.try_clone().expect("a handle"));
            if closes_stderr {
                program.stderr(writer);
            } else {
                program.stderr(Stdio::piped());
                drop(writer);
            }
            drop(reader);
            let child = program.spawn().expect("it starts");
            // The command holds the writing end too.
            drop(program);
            let done = child.wait_with_output().expect("it ends");
            let told = String::from_utf8_lossy(&done.stderr);
            let code = if args == ["--wrong"] { 2 } else { 0 };
            assert_eq!(done.status.code(), Some(code), "{name} {args:?}: {told}");
            assert!(!told.contains("error") && !told.contains("panic"), "{name} {args:?}: {told}");
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
    for name in EXAMPLES.iter().filter(|name| !matches!(**name, "nexmark" | "flight_weather")) {
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

//! `windows` and `aircraft_days` against their oracles: random inputs and options, and the flights.

use crate::run::{self, Order, Scratch, example, oracle, same_lines, succeed};
use crate::{Random, sample, tells_late};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// Inputs and options for each kind; each is run at three parallelisms.
const CASES: u64 = 12;

const KINDS: [&str; 4] = ["tumbling", "sliding", "session", "count"];

/// Elements of one input: timestamps go up on the whole, from below 0 on, with some that are behind. Returns how far behind, too.
fn elements(random: &mut Random, keys: &[&str], prefix: &str) -> (String, i64) {
    let mut text = String::from("ts,key,value\n");
    let (mut now, mut newest, mut disorder) = (-100, i64::MIN, 0);
    for _ in 0..random.below(120) {
        now += random.below(8) as i64;
        let behind = if random.below(3) == 0 { random.below(40) as i64 } else { 0 };
        let (ts, key) = (now - behind, keys[random.below(keys.len() as u64) as usize]);
        newest = newest.max(ts);
        disorder = disorder.max(newest - ts);
        let value = random.below(2000) as i64 - 1000;
        writeln!(text, "{ts},\"{prefix}{}\",{value}", key.replace('"', "\"\"")).expect("a String takes it");
    }
    (text, disorder)
}

fn options(random: &mut Random, kind: &str) -> Vec<String> {
    let size = 1 + random.below(40) as i64;
    let slide = 1 + random.below(60) as i64;
    let lateness = [0, 0, random.below(30) as i64, i64::MAX][random.below(4) as usize];
    let mut options = vec![format!("--kind={kind}")];
    if kind == "session" {
        options.push(format!("--gap={}", 1 + random.below(12)));
    } else {
        options.extend(["--size".into(), size.to_string()]);
    }
    if kind == "sliding" || kind == "count" && random.below(3) > 0 {
        options.push(format!("--slide={slide}"));
        options.extend((slide > size).then(|| "--gaps".into()));
    }
    if kind == "count" {
        options.extend((random.below(2) == 0).then(|| "--exact".into()));
    } else {
        options.push(format!("--lateness={lateness}"));
    }
    if ["tumbling", "sliding"].contains(&kind) && random.below(3) > 0 {
        let step = if kind == "sliding" { slide } else { size };
        options.push(format!("--offset={}", random.below(2 * step as u64 - 1) as i64 - (step - 1)));
    }
    options
}

/// Inside one firing of a sliding window the order of keys is not said.
fn sorted_firings(text: &str) -> String {
    let bounds = |line: &str| line.rsplitn(7, ',').skip(4).take(2).map(str::to_owned).collect::<Vec<_>>();
    let mut lines: Vec<&str> = text.split_inclusive('\n').collect();
    lines.chunk_by_mut(|a, b| bounds(a) == bounds(b)).for_each(<[&str]>::sort_unstable);
    lines.concat()
}

/// Rows and late elements equal the oracle's at each parallelism, and the report counts the late ones.
fn check_windows(inputs: &[PathBuf], options: &[String], scratch: &Scratch) {
    let Some(script) = oracle("windows.py") else { return };
    let (rows, late) = (scratch.path("rows"), scratch.path("late"));
    let expected = succeed(script().args(inputs).args(options).arg("--late").arg(&late));
    let expected_late = run::read(&late);
    for parallelism in ["1", "2", "4"] {
        let case = format!("windows {inputs:?} {options:?} at -p {parallelism}");
        let mut program = example("windows");
        program.args(options).args(["-p", parallelism, "-o"]).arg(&rows).arg("--late").arg(&late);
        let outcome = succeed(program.args(inputs));
        let is_ordered = parallelism == "1" && inputs.len() == 1;
        let order = if is_ordered { Order::Exact } else { Order::HeaderThenAny };
        let (mut got, mut wanted) = (run::read(&rows), expected.stdout.clone());
        if options[0] == "--kind=sliding" {
            (got, wanted) = (sorted_firings(&got), sorted_firings(&wanted));
        }
        same_lines(&format!("{case}: rows"), &got, &wanted, order);
        same_lines(&format!("{case}: late"), &run::read(&late), &expected_late, order);
        let count = expected_late.lines().count() - 1;
        let told = outcome.stderr.lines().any(|line| tells_late(line, count));
        assert!(told || options[0] == "--kind=count", "{case}: {count} late:\n{}", outcome.stderr);
    }
}

#[test]
fn windows_of_one_random_input() {
    let scratch = Scratch::new("windows");
    let mut random = Random(11);
    for (number, kind) in (0..CASES).flat_map(|n| KINDS.map(|kind| (n, kind))) {
        let input = scratch.path(&format!("{kind}{number}.csv"));
        let (text, _) = elements(&mut random, &["a", "b", "", "a, \"b\"", "ä"], "");
        std::fs::write(&input, text).expect("the scratch folder is writable");
        let mut options = options(&mut random, kind);
        options.push(format!("--disorder={}", random.below(30)));
        check_windows(&[input], &options, &scratch);
    }
}

/// No element is behind the watermark of its own input, so that the answer does not depend on how fast which is read.
#[test]
fn windows_of_several_random_inputs() {
    let scratch = Scratch::new("several");
    let mut random = Random(12);
    for (number, kind) in (0..CASES / 2).flat_map(|n| KINDS.map(|kind| (n, kind))) {
        let (mut inputs, mut most) = (Vec::new(), 0);
        for part in 0..2 + random.below(3) {
            // Elements of one key in two inputs have no order, and so no count windows.
            let prefix = if kind == "count" { format!("{part}") } else { String::new() };
            let (text, disorder) = elements(&mut random, &["a", "b", "c"], &prefix);
            most = most.max(disorder);
            inputs.push(scratch.path(&format!("{kind}{number}-{part}.csv")));
            std::fs::write(&inputs[part as usize], text).expect("the scratch folder is writable");
        }
        let mut options = options(&mut random, kind);
        options.push(format!("--disorder={most}"));
        check_windows(&inputs, &options, &scratch);
    }
}

#[test]
fn windows_of_the_sample() {
    let scratch = Scratch::new("windows_sample");
    let kinds = [
        "tumbling --size=3600000",
        "sliding --slide=500",
        "session --gap=600000",
        "count --size=7 --slide=3",
    ];
    for kind in kinds {
        let options: Vec<String> = format!("--kind={kind}").split(' ').map(str::to_owned).collect();
        check_windows(&[sample("delays.csv")], &options, &scratch);
    }
}

/// Rows equal the oracle's, and the report counts as many late flights.
pub fn check_aircraft_days(input: &Path, options: &[[&str; 2]]) {
    let Some(script) = oracle("aircraft_days.py") else { return };
    for [gap, disorder] in options {
        let arguments = ["--gap", gap, "--disorder", disorder];
        let expected = succeed(script().arg(input).args(arguments));
        let late = expected.stderr.trim().trim_start_matches("late: ").parse().expect("the oracle says it");
        for parallelism in ["1", "2", "4"] {
            let case = format!("aircraft_days of {} {arguments:?} at -p {parallelism}", input.display());
            let outcome =
                succeed(example("aircraft_days").arg(input).args(arguments).args(["-p", parallelism]));
            let order = if parallelism == "1" { Order::Exact } else { Order::HeaderThenAny };
            same_lines(&case, &outcome.stdout, &expected.stdout, order);
            let told = outcome.stderr.lines().any(|line| tells_late(line, late));
            assert!(told, "{case}: the report does not say that {late} were late:\n{}", outcome.stderr);
        }
    }
}

#[test]
fn aircraft_days_of_the_sample() {
    check_aircraft_days(&sample("flights.csv"), &[["6h", "1d"], ["90min", "12h"], ["1d", "0ms"]]);
}

/// Aircraft with and without a number, flights that left or not, in an order that makes some late.
#[test]
fn aircraft_days_of_disorder() {
    let scratch = Scratch::new("aircraft");
    let mut random = Random(13);
    let mut text = String::from("time_hour,tailnum,minute,dep_delay,distance\n");
    for flight in 0..3000 {
        let (day, hour, minute) = (1 + flight / 500, random.below(24), random.below(60));
        let tailnum = ["N1", "N22", "NA", "", "\"N3,4\"", "N5"][random.below(6) as usize];
        let delay = ["-3", "0", "12", "NA", ""][random.below(5) as usize];
        let distance = 100 + random.below(2000);
        writeln!(text, "2013-02-0{day}T{hour:02}:00:00Z,{tailnum},{minute},{delay},{distance}")
            .expect("a String takes it");
    }
    let input = scratch.path("flights.csv");
    std::fs::write(&input, text).expect("the scratch folder is writable");
    check_aircraft_days(&input, &[["10min", "1d"], ["20min", "3h"], ["1h", "0ms"], ["1ms", "30min"]]);
}

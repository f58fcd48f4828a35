//! The example programs as a user runs them, against answers computed by the scripts in `oracles`.

#[path = "programs/arguments.rs"]
mod arguments;
#[path = "programs/fraud.rs"]
mod fraud;
#[path = "programs/graphs.rs"]
mod graphs;
#[path = "programs/ledger.rs"]
mod ledger;
#[path = "programs/nexmark.rs"]
mod nexmark;
#[path = "programs/run.rs"]
mod run;
#[path = "programs/state.rs"]
mod state;
#[path = "programs/weather.rs"]
mod weather;
#[path = "programs/windows.rs"]
mod windows;

use run::{Order, Scratch, example, oracle, same_lines, succeed};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

fn sample(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/data").join(name)
}

/// Numbers that look random, the same in every run.
struct Random(u64);

impl Random {
    /// Below `limit`, which is not 0.
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit
    }
}

/// Both result files of `flight_delays` equal the oracle's, and the report counts the late ones.
fn check_flight_delays(input: &Path, disorders: &[&str]) {
    let scratch = Scratch::new("flight_delays");
    let Some(oracle_script) = oracle("flight_delays.py") else { return };
    for disorder in disorders {
        let (rows, late) = (scratch.path("rows"), scratch.path("late"));
        let expected_late = scratch.path("expected_late");
        let mut script = oracle_script();
        let expected =
            succeed(script.arg(input).args(["--disorder", disorder, "--late"]).arg(&expected_late));
        let expected_late = run::read(&expected_late);
        for parallelism in [1, 2, 4] {
            let case =
                format!("flight_delays of {} at -p {parallelism}, disorder {disorder}", input.display());
            let mut program = example("flight_delays");
            program.arg(input).args(["-p", &parallelism.to_string(), "--disorder", disorder]);
            let outcome = succeed(program.arg("-o").arg(&rows).arg("--late").arg(&late));
            let order = if parallelism == 1 { Order::Exact } else { Order::HeaderThenAny };
            same_lines(&format!("{case}: rows"), &run::read(&rows), &expected.stdout, order);
            same_lines(&format!("{case}: late"), &run::read(&late), &expected_late, order);
            let count = expected_late.lines().count() - 1;
            let told = outcome.stderr.lines().any(|line| tells_late(line, count));
            assert!(told, "{case}: the report does not say that {count} were late:\n{}", outcome.stderr);
        }
    }
}

/// Whether a line of the report says `late` with this number beside it: `late 5469`, `late: 5,469`, `late=5469`.
fn tells_late(line: &str, count: usize) -> bool {
    let plain = line.replace([',', '_'], "");
    let mut words = plain.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    let has_late = plain.contains("late");
    has_late && words.any(|word| word == count.to_string())
}

fn check_word_count(input: &Path) {
    let mut expected = oracle("word_count.py").map(|script| succeed(script().arg(input)).stdout);
    for parallelism in ["1", "2", "4"] {
        let outcome = succeed(example("word_count").arg(input).args(["-p", parallelism]));
        let case = format!("word_count of {} at -p {parallelism}", input.display());
        // Without an oracle, the runs are compared with the first.
        let expected = expected.get_or_insert_with(|| outcome.stdout.clone());
        same_lines(&case, &outcome.stdout, expected, Order::Exact);
    }
}

#[test]
fn flight_delays_of_the_sample() {
    check_flight_delays(&sample("flights.csv"), &["1d", "12h", "0ms"]);
}

#[test]
fn word_count_of_the_sample() {
    check_word_count(&sample("kjv.txt"));
}

/// Three days in random order: nearly every element meets a watermark close to its window's end.
#[test]
fn flight_delays_of_disorder() {
    let scratch = Scratch::new("disorder");
    let mut text = String::from("time_hour,carrier,flight,origin,minute,dep_delay\n");
    let mut random = Random(7);
    for flight in 0..4000 {
        let (day, hour, minute) = (1 + flight / 1500, random.below(24), random.below(60));
        let origin = ["EWR", "JFK", "LGA"][random.below(3) as usize];
        let delay =
            if random.below(9) == 0 { "NA".to_string() } else { (random.below(200) as i64 - 60).to_string() };
        writeln!(text, "2013-03-0{day}T{hour:02}:00:00Z,UA,{flight},{origin},{minute},{delay}")
            .expect("a String takes it");
    }
    let input = scratch.path("flights.csv");
    std::fs::write(&input, text).expect("the scratch folder is writable");
    check_flight_delays(&input, &["0ms", "1ms", "90min", "23h"]);
}

/// Case, numbers, line ends, a BOM, a word at the very end: each where Rust and a naive loop could differ.
#[test]
fn word_count_of_odd_text() {
    let scratch = Scratch::new("odd_text");
    let text = "\u{feff}Straße STRASSE ΌΔΟΣ όδος ΣΑΣ\r\nıI İstanbul x_y don't ½ Ⅷ ² ７７ 七\n\n a\ta\u{a0}a—b\rb Ǆ ﬁn ﬁN\nend";
    let input = scratch.path("odd.txt");
    for (name, text) in [("odd", text), ("empty", ""), ("no words", "--\n\n"), ("one", "One one ONE\n")] {
        std::fs::write(&input, text).expect("the scratch folder is writable");
        println!("{name}");
        check_word_count(&input);
    }
}

/// All of January to August 2013 and the whole text, where they lie beside the repository: `../shared/data`. Skipped elsewhere.
#[test]
fn examples_on_the_full_data() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/data");
    let scratch = Scratch::new("full");
    for (packed, check) in
        [("flights.csv.zst", check_full_flights as fn(&Path)), ("kjv.txt.zst", check_word_count)]
    {
        let (packed, plain) = (folder.join(packed), scratch.path(packed.trim_end_matches(".zst")));
        if !packed.exists() {
            println!("skipped: {} is not there", packed.display());
        } else if run::unpack(&packed, &plain) {
            check(&plain);
        }
    }
}

fn check_full_flights(input: &Path) {
    check_flight_delays(input, &["1d", "12h", "0ms"]);
    let observed = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/data/weather.csv");
    weather::check(input, &observed);
    windows::check_aircraft_days(input, &[["6h", "1d"], ["1h", "6h"]]);
}

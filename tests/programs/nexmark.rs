//! `nexmark` against its oracles, its generator against the rules, and the page of its queries.

use crate::run::{self, Order, Scratch, example, oracle, same_lines, succeed};
use std::path::Path;
use std::process::Command;

const QUERIES: [&str; 21] = [
    "q0", "q1", "q2", "q3", "q4", "q5", "q6", "q7", "q8", "q9", "q11", "q13", "q14", "q15", "q16", "q17",
    "q18", "q19", "q20", "q21", "q22",
];

fn dumped(options: &[&str], dump: &Path) {
    let mut program = example("nexmark");
    succeed(program.args(["--query", "q2", "-o", "/dev/null"]).args(options).arg("--dump").arg(dump));
}

/// Each query equals what `script` makes of the events, at each parallelism; the events are the same at each.
fn check(options: &[&str], queries: &[&str], scratch: &Scratch, script: impl Fn(&Path, &Path) -> bool) {
    let (dump, again, rows) = (scratch.path("dump"), scratch.path("again"), scratch.path("rows"));
    dumped(options, &dump);
    if !script(&dump, &scratch.path("")) {
        return;
    }
    let events = run::read(&dump);
    for parallelism in ["1", "2", "4"] {
        for query in queries {
            let case = format!("{query} of {options:?} at -p {parallelism}");
            let mut program = example("nexmark");
            program.args(["--query", query, "-p", parallelism]).args(options);
            succeed(program.arg("-o").arg(&rows).arg("--dump").arg(&again));
            let expected = run::read(&scratch.path(&format!("{query}.csv")));
            same_lines(&case, &run::read(&rows), &expected, Order::HeaderThenAny);
            assert!(run::read(&again) == events, "{case}: other events");
        }
    }
}

/// With the default rate, with windows that end, and with days that end.
#[test]
fn queries_equal_the_oracle() {
    let Some(python) = oracle("nexmark.py") else { return };
    let script = |dump: &Path, folder: &Path| {
        succeed(python().arg(dump).arg(folder));
        true
    };
    let scratch = Scratch::new("nexmark");
    check(&["--events", "0"], &QUERIES, &scratch, script);
    check(&["--events=3000"], &QUERIES, &scratch, script);
    check(&["--events=10000", "--rate=100", "--seed=7"], &QUERIES, &scratch, script);
    check(&["--events=90000", "--rate=1", "--seed=1"], &["q14", "q15", "q16", "q17"], &scratch, script);
}

/// The 200,000 events of the suite, by DuckDB. `FLOW_DUCKDB_PYTHON` names a Python that has it; skipped where there is none.
#[test]
fn queries_equal_duckdb() {
    let python = std::env::var_os("FLOW_DUCKDB_PYTHON").unwrap_or_else(|| "python3".into());
    let script = |dump: &Path, folder: &Path| {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("oracles/nexmark_duckdb.py");
        match Command::new(&python).arg("-B").arg(path).arg(dump).arg(folder).status() {
            Ok(status) if status.success() => true,
            Ok(status) if status.code() == Some(3) => {
                println!("skipped: {} has no package duckdb", python.display());
                false
            }
            Err(error) => {
                println!("skipped: {}: {error}", python.display());
                false
            }
            Ok(status) => panic!("the oracle failed: {status}"),
        }
    };
    check(&["--events", "200000"], &QUERIES, &Scratch::new("duckdb"), script);
}

#[test]
fn events_keep_the_rules() {
    let Some(rules) = oracle("nexmark_rules.py") else { return };
    let scratch = Scratch::new("rules");
    let dump = scratch.path("dump");
    for (events, rate, seed) in [("60000", "10000", "0"), ("20000", "777", "5"), ("300", "10000000", "6")] {
        dumped(&["--events", events, "--rate", rate, "--seed", seed], &dump);
        succeed(rules().arg(&dump).arg(rate));
        assert_eq!(run::read(&dump).lines().count().to_string(), events);
    }
}

/// The first events do not depend on how many there are, all of them on the seed.
#[test]
fn events_are_a_function_of_seed_and_number() {
    let scratch = Scratch::new("seeds");
    let events = |count: &str, seed: &str| {
        dumped(&["--events", count, "--seed", seed], &scratch.path("dump"));
        run::read(&scratch.path("dump"))
    };
    let (all, few, others) = (events("400", "3"), events("100", "3"), events("400", "4"));
    assert!(all.starts_with(&few) && all != others);
    let same = all.lines().zip(others.lines()).filter(|(a, b)| a == b).count();
    assert_eq!(same, 0);
}

/// Windows of the clock are others in every run: what is in them is not.
#[test]
fn windows_of_the_clock_hold_every_bid() {
    for parallelism in ["1", "2", "4"] {
        let arguments = ["--query", "q12", "--events", "50000", "-p", parallelism];
        let rows = succeed(example("nexmark").args(arguments)).stdout;
        let mut lines = rows.lines();
        assert_eq!(lines.next(), Some("bidder,bids,start,end"));
        let numbers =
            lines.map(|line| line.split(',').map(|n| n.parse().expect("a number")).collect::<Vec<i64>>());
        let mut bids = 0;
        for row in numbers {
            assert!(row[0] >= 1000 && row[2] % 10_000 == 0 && row[3] - row[2] == 10_000, "{row:?}");
            bids += row[1];
        }
        assert_eq!(bids, 46_000, "-p {parallelism}");
    }
}

/// The page `docs/nexmark` shows each query with its picture. `UPDATE_EXPECT=1` writes it.
#[test]
fn the_page_of_queries_is_current() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut page = String::from(
        "# The Nexmark queries\n\nWhat `cargo run --release --example nexmark -- --query qN` runs, with the picture of its graph (`--graph FILE`). \
         Thick arrows lead to\nother instances. The page is made of [the queries](../../examples/support/nexmark) by a test.\n",
    );
    let (folder, scratch) = (root.join("docs/nexmark"), Scratch::new("page"));
    let mut queries = QUERIES.to_vec();
    queries.insert(11, "q12");
    for query in queries {
        let text = text_of(&root.join("examples/support/nexmark"), query);
        page += &format!("\n## {query}\n\n![{query}]({query}.svg)\n\n```rust,ignore\n{text}```\n");
        let picture = scratch.path("picture.svg");
        succeed(example("nexmark").args(["--query", query, "--graph"]).arg(&picture));
        is_current(&folder.join(format!("{query}.svg")), &run::read(&picture));
    }
    is_current(&folder.join("README.md"), &page);
}

/// The pipeline as it stands in its file, with its comment, without the indentation.
fn text_of(folder: &Path, query: &str) -> String {
    let head = format!("    pub fn {query}(");
    let files = std::fs::read_dir(folder).expect("the queries are there");
    let texts = files.map(|file| run::read(&file.expect("a folder's entry is readable").path()));
    let text = texts.into_iter().find(|text| text.contains(&head)).expect("each query has its function");
    let lines: Vec<&str> = text.lines().collect();
    let begin = lines.iter().position(|line| line.starts_with(&head)).expect("it was found");
    let comments = lines[..begin].iter().rev().take_while(|line| line.starts_with("    ///")).count();
    let length = lines[begin..].iter().position(|line| *line == "    }").expect("a function ends");
    let all = &lines[begin - comments..=begin + length];
    all.iter().map(|line| format!("{}\n", line.strip_prefix("    ").unwrap_or(line))).collect()
}

fn is_current(path: &Path, expected: &str) {
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        std::fs::create_dir_all(path.parent().expect("a file lies in a folder")).expect("docs is writable");
        std::fs::write(path, expected).expect("docs is writable");
    }
    let found = std::fs::read_to_string(path).unwrap_or_default();
    same_lines(&format!("{} (UPDATE_EXPECT=1 writes it)", path.display()), &found, expected, Order::Exact);
}

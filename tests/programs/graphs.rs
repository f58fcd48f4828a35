//! `page_rank` and `components` against their oracles: the sample, random graphs, and graphs of one shape.

use super::run::{self, Order, Scratch, example, oracle, same_lines, succeed};
use super::{Random, sample};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

/// What the program writes, which is the same at any parallelism.
fn rows_of(name: &str, input: &Path, arguments: &[&str]) -> String {
    let scratch = Scratch::new(name);
    let rows = scratch.path("rows");
    let mut first = None;
    for parallelism in ["1", "2", "4"] {
        let mut program = example(name);
        program.arg(input).args(["-p", parallelism]).args(arguments);
        succeed(program.arg("-o").arg(&rows));
        let text = run::read(&rows);
        let case = format!("{name} of {} at -p {parallelism}", input.display());
        same_lines(&case, &text, first.get_or_insert_with(|| text.clone()), Order::Exact);
    }
    first.expect("it ran")
}

/// Ranks stand in their order, sum to 1, and agree with the oracle's to 1e-9.
fn check_ranks(input: &Path, rounds: &str) {
    let text = rows_of("page_rank", input, &["--rounds", rounds]);
    let mut lines = text.lines();
    assert_eq!(lines.next(), Some("vertex,rank"));
    let found: Vec<(&str, f64)> = lines.map(row).collect();
    assert!(found.windows(2).all(|two| (two[1].1, two[0].0) < (two[0].1, two[1].0)), "order of {text}");
    let sum: f64 = found.iter().map(|row| row.1).sum();
    assert!(found.is_empty() || (sum - 1.0).abs() < 1e-9 * found.len() as f64, "they sum to {sum}");
    let Some(script) = oracle("page_rank.py") else { return };
    let expected = succeed(script().arg(input).args(["--rounds", rounds])).stdout;
    let expected: BTreeMap<&str, f64> = expected.lines().skip(1).map(row).collect();
    assert_eq!(found.len(), expected.len());
    for (vertex, rank) in found {
        let right = expected[vertex];
        assert!((rank - right).abs() <= 1e-9, "{vertex}: {rank}, not {right}");
    }
}

fn row(line: &str) -> (&str, f64) {
    let (vertex, rank) = line.split_once(',').expect("two fields");
    (vertex, rank.parse().expect("a number"))
}

fn check_components(input: &Path) {
    let text = rows_of("components", input, &[]);
    let Some(script) = oracle("components.py") else { return };
    let expected = succeed(script().arg(input)).stdout;
    same_lines(&format!("components of {}", input.display()), &text, &expected, Order::Exact);
}

/// Writes the edges to a file that lives as long as the folder.
fn graph(scratch: &Scratch, name: &str, edges: &[(i64, i64)]) -> std::path::PathBuf {
    let path = scratch.path(name);
    let mut text = String::from("from,to\n");
    for (from, to) in edges {
        writeln!(text, "{from},{to}").expect("a String takes it");
    }
    std::fs::write(&path, text).expect("the scratch folder is writable");
    path
}

#[test]
fn graphs_of_the_sample() {
    check_ranks(&sample("links.csv"), "20");
    check_components(&sample("links.csv"));
}

#[test]
fn graphs_at_random() {
    let scratch = Scratch::new("random_graphs");
    let mut random = Random(5);
    for round in 0..6 {
        let vertices = 1 + random.below(300);
        let mut one = || random.below(vertices) as i64 - 20;
        let edges: Vec<_> = (0..vertices * (round + 1) / 3).map(|_| (one(), one())).collect();
        let input = graph(&scratch, "edges.csv", &edges);
        check_ranks(&input, if round % 2 == 0 { "20" } else { "3" });
        check_components(&input);
    }
}

#[test]
fn graphs_of_one_shape() {
    let scratch = Scratch::new("graphs");
    let chain: Vec<_> = (0..10_000).map(|n| (n, n + 1)).collect();
    let shapes = [
        ("chain", chain),
        ("star", (1..3_000).map(|n| (n, 0)).collect()),
        ("star the other way", (1..3_000).map(|n| (0, n)).collect()),
        ("loops", (0..50).flat_map(|n| [(n, n), (n, n / 2)]).collect()),
        ("parallel", (0..50).flat_map(|n| [(n, 1), (n, 1), (n, 2), (n, n)]).collect()),
        ("one", vec![(-3, 7)]),
        ("itself", vec![(4, 4)]),
        ("nothing", vec![]),
    ];
    for (name, edges) in shapes {
        let input = graph(&scratch, name, &edges);
        check_ranks(&input, "20");
        check_components(&input);
    }
}

//! `page_rank` and `components` against their oracles: the sample, random graphs, and graphs of one shape.

use super::run::{self, Order, Scratch, example, oracle, same_lines, succeed};
use super::{Random, sample};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

/// Ranks agree to 1e-9, they are the same at any parallelism, and they stand in their order.
fn check_ranks(input: &Path, rounds: &str) {
    let Some(script) = oracle("page_rank.py") else { return };
    let expected = succeed(script().arg(input).args(["--rounds", rounds])).stdout;
    let expected: BTreeMap<&str, f64> = expected.lines().skip(1).map(row).collect();
    let scratch = Scratch::new("page_rank");
    let rows = scratch.path("rows");
    let mut first = None;
    for parallelism in ["1", "2", "4"] {
        let mut program = example("page_rank");
        program.arg(input).args(["-p", parallelism, "--rounds", rounds, "-o"]);
        succeed(program.arg(&rows));
        let text = run::read(&rows);
        let case = format!("page_rank of {} at -p {parallelism}", input.display());
        same_lines(&case, &text, first.get_or_insert_with(|| text.clone()), Order::Exact);
    }
    let text = first.expect("it ran");
    let mut lines = text.lines();
    assert_eq!(lines.next(), Some("vertex,rank"));
    let found: Vec<(&str, &str)> = lines.map(|line| line.split_once(',').expect("two fields")).collect();
    assert_eq!(found.len(), expected.len());
    assert!(found.windows(2).all(|two| (two[1].1, two[0].0) < (two[0].1, two[1].0)), "order of {text}");
    let mut sum = 0.0;
    for (vertex, rank) in found {
        let (rank, right) = (rank.parse::<f64>().expect("a number"), expected[vertex]);
        assert!((rank - right).abs() <= 1e-9, "{vertex}: {rank}, not {right}");
        sum += rank;
    }
    assert!(expected.is_empty() || (sum - 1.0).abs() < 1e-9 * expected.len() as f64, "they sum to {sum}");
}

fn row(line: &str) -> (&str, f64) {
    let (vertex, rank) = line.split_once(',').expect("two fields");
    (vertex, rank.parse().expect("a number"))
}

fn check_components(input: &Path) {
    let Some(script) = oracle("components.py") else { return };
    let expected = succeed(script().arg(input)).stdout;
    let scratch = Scratch::new("components");
    let rows = scratch.path("rows");
    for parallelism in ["1", "2", "4"] {
        let mut program = example("components");
        succeed(program.arg(input).args(["-p", parallelism, "-o"]).arg(&rows));
        let case = format!("components of {} at -p {parallelism}", input.display());
        same_lines(&case, &run::read(&rows), &expected, Order::Exact);
    }
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

//! Random pipelines, as streams and as batches (`crate::mode`): proptest builds graphs of operators over random inputs; the job, on a simulation with a random seed,
//! and a naive interpreter have to agree on every row, on their order where it is defined, and on how many elements were late.
//!
//! `FLOW_RANDOM_CASES` says how many graphs (2,000 and more check the coverage too), `FLOW_RANDOM_FIRST` with which seed to
//! begin: a failure names the one to begin with, and prints the smallest graph that fails.

mod build;
mod counted;
mod coverage;
mod crashes;
mod function;
mod graph;
mod interpret;
mod joined;
mod joins;
mod keyed;
mod plan;
mod port;
mod rolling;
mod sessions;
mod windowed;
mod windows;

use build::{Built, build};
use coverage::Coverage;
use flow_core::host::HostKind;
use function::Rec;
use graph::Graph;
use plan::{Op, plan};
use port::{Event, Strand};
use proptest::strategy::Strategy;
use proptest::test_runner::{Config, RngAlgorithm, TestCaseError, TestError, TestRng, TestRunner};
use std::fmt::Debug;

/// Enough for a change that breaks something; see the module for more.
const CASES: u64 = 300;
/// Each of them runs several times.
const CASES_THAT_DIE: u64 = 120;
/// One case of so many also runs on threads.
const ON_THREADS: u64 = 10;

fn number(variable: &str, otherwise: u64) -> u64 {
    std::env::var(variable).map_or(otherwise, |text| text.parse().expect("a number"))
}

#[test]
fn jobs_do_what_the_interpreter_says() {
    let first = number("FLOW_RANDOM_FIRST", 0);
    let cases = number("FLOW_RANDOM_CASES", CASES);
    let mut coverage = Coverage::default();
    for seed in first..first + cases {
        case(seed, &mut coverage);
    }
    println!("{coverage}");
    if cases >= 2000 {
        coverage.check();
    }
}

/// Whatever kills the process and whenever: every row once.
#[test]
fn jobs_that_die_give_each_row_once() {
    let first = number("FLOW_RANDOM_FIRST", 0);
    let cases = number("FLOW_RANDOM_CASES", CASES_THAT_DIE);
    let mut all = crashes::Deaths::default();
    for seed in first..first + cases {
        let mut one = crashes::Deaths::default();
        with_plan(seed, |plan| {
            one = crashes::check(&Graph::new(plan))?;
            Ok(())
        });
        all.graphs += one.graphs;
        all.died += one.died;
        all.restored += one.restored;
        all.rescaled += one.rescaled;
    }
    println!("{all:?} of {cases}");
    assert!(
        all.graphs as u64 > cases / 3 && all.restored > all.graphs / 3,
        "too few go on from a checkpoint: {all:?}"
    );
}

fn case(seed: u64, coverage: &mut Coverage) {
    let mut first = true;
    with_plan(seed, |plan| {
        let graph = Graph::new(plan);
        if std::mem::take(&mut first) {
            coverage.add(&graph);
        }
        check(&graph, seed.is_multiple_of(ON_THREADS))
    });
}

/// Tests the plan of a seed; one that fails is made smaller.
fn with_plan(seed: u64, mut test: impl FnMut(&plan::Plan) -> Result<(), String>) {
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    let config = Config {
        failure_persistence: None,
        max_shrink_iters: 4000,
        max_shrink_time: 20_000,
        ..Config::default()
    };
    let mut runner = TestRunner::new_with_rng(config, TestRng::from_seed(RngAlgorithm::ChaCha, &bytes));
    let tree = plan().new_tree(&mut runner).expect("no strategy rejects");
    let test = std::cell::RefCell::new(&mut test);
    let outcome = runner.run_one(tree, |plan| (test.borrow_mut())(&plan).map_err(TestCaseError::fail));
    if let Err(TestError::Fail(why, plan)) = outcome {
        panic!(
            "{why}\nFLOW_RANDOM_FIRST={seed} FLOW_RANDOM_CASES=1 runs it again; smallest graph:\n{}",
            Graph::new(&plan)
        );
    }
}

/// Runs the graph's job and compares.
fn check(graph: &Graph, on_threads: bool) -> Result<(), String> {
    let built = build(graph);
    run_and_compare(graph, built, |job| job.simulate(graph.run.seed))
        .map_err(|why| format!("simulation: {why}"))?;
    if on_threads {
        let host = if graph.run.seed.is_multiple_of(2) { HostKind::Workers(2) } else { HostKind::Threads };
        run_and_compare(graph, build(graph), |job| job.host(host).run())
            .map_err(|why| format!("{host:?}: {why}"))?;
    }
    Ok(())
}

fn run_and_compare(
    graph: &Graph,
    built: Built,
    run: impl FnOnce(flow_core::Job) -> flow_core::Result<flow_core::metrics::Report>,
) -> Result<(), String> {
    let report = run(built.job).map_err(|error| format!("the job failed: {error}"))?;
    for (port, shown) in built.shown.iter().enumerate() {
        let Some(shown) = shown else { continue };
        let known = &graph.ports[port];
        let found = shown.rows();
        let in_order = known.strands.iter().all(|strand| contains(&found, strand));
        let expected: Vec<Rec> = known.elements().map(|el| el.rec).collect();
        same(found, expected, known.single()).map_err(|why| format!("rows of s{port}: {why}"))?;
        if !in_order {
            return Err(format!("rows of s{port}: what came from one sender is not in its order"));
        }
    }
    // What lies before a `take` may not see all of its input.
    if graph.cuts {
        return Ok(());
    }
    if report.late() != graph.late as i64 {
        return Err(format!("{} late elements are reported, there are {}", report.late(), graph.late));
    }
    for (node, seen) in graph.nodes.iter().zip(&built.inspected) {
        if node.op == Op::Inspect {
            let expected = graph.ports[node.inputs[0]].elements().map(|el| el.rec).collect();
            let seen = std::mem::take(&mut *seen.lock().expect("no closure panics"));
            same(seen, expected, false).map_err(|why| format!("inspect of s{:?}: {why}", node.inputs))?;
        }
    }
    Ok(())
}

/// Whether the records of a strand are among `found`, in their order.
fn contains(found: &[Rec], strand: &Strand) -> bool {
    let mut found = found.iter();
    strand.iter().all(|event| match event {
        Event::El(el) => found.any(|rec| *rec == el.rec),
        Event::Watermark(_) => true,
    })
}

fn same<T: Ord + Debug>(mut found: Vec<T>, mut expected: Vec<T>, in_order: bool) -> Result<(), String> {
    if !in_order {
        found.sort();
        expected.sort();
    }
    if found == expected {
        return Ok(());
    }
    let order = if in_order { "in this order" } else { "in any order" };
    Err(format!("{order}\n   found {found:?}\nexpected {expected:?}"))
}

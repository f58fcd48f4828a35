//! One loop.

use super::model::smaller;
use super::runner::check_loop;
use flow_core::op::fork::Either;
use flow_core::prelude::*;

#[test]
fn sums_along_edges() {
    check_loop!(
        |graph, edges, start| graph.start() => {

            start.iterate(graph.rounds, |all| {
                let along = all.key_by(|n| n.0).join(edges).lookup();
                let along = along.map(|(_, ((_, value), (_, to, length)))| (to, value.wrapping_mul(length)));
                along.key_by(|n| n.0).wrapping_sum(|n| n.1)
            })
        },
        |graph| (0..graph.rounds).fold(graph.start(), |all, _| graph.sums(&all)).into_iter().collect(),
    );
}

/// Some leave in each superstep.
#[test]
fn what_leaves_on_the_way() {
    check_loop!(
        |graph, edges, start| graph.start() => {

            start.iterate(graph.rounds, |all| {
                    let along = all.key_by(|n| n.0).join(edges).lookup();
                    let along = along.map(|(_, ((_, value), (_, to, length)))| (to, value + length));
                    let least = along.key_by(|n| n.0).min(|n| n.1).superstep();
                    least.map(|(step, (v, d))| {
                        if v % 3 == step % 3 { Either::B((v, d * 100 + step)) } else { Either::A((v, d)) }
                    })
                })
        },
        |graph| {
            let (mut all, mut left) = (graph.start(), Vec::new());
            for step in 1..=graph.rounds {
                let came = graph.hop(&all);
                let leaves = |v: &u64| v % 3 == step % 3;
                left.extend(came.iter().filter(|c| leaves(c.0)).map(|(v, d)| (*v, d * 100 + step)));
                all = came.into_iter().filter(|c| !leaves(&c.0)).collect();
            }
            left
        },
    );
}

/// A condition ends it.
#[test]
fn sums_until_one_is_large() {
    const LARGE: u64 = 1_000;
    check_loop!(
        |graph, edges, start| graph.start() => {
            let summed = start.iterate(graph.rounds, |all| {
                let along = all.key_by(|n| n.0).join(edges).lookup();
                let along = along.map(|(_, ((_, value), (_, to, length)))| (to, value.wrapping_mul(length)));
                along.key_by(|n| n.0).wrapping_sum(|n| n.1)
            });
            summed.until(|a| a.max(|n| n.1), |most| *most > LARGE)
        },
        |graph| {
            let mut all = graph.start();
            for _ in 0..graph.rounds {
                all = graph.sums(&all);
                if all.values().any(|sum| *sum > LARGE) {
                    break;
                }
            }
            all.into_iter().collect()
        },
    );
}

#[test]
fn distances_by_what_changes() {
    check_loop!(
        |graph, edges, start| graph.first() => {
            start.iterate_delta(smaller, |changed| {
                let along = changed.key_by(|c| c.0).join(edges).lookup();
                along.map(|(_, ((_, d), (_, to, length)))| (to, d + length))
            })
        },
        |graph| graph.least(graph.first(), u64::MAX, |all| graph.hop(all)).into_iter().collect(),
    );
}

#[test]
fn distances_by_few_edges() {
    check_loop!(
        |graph, edges, start| graph.start() => {
            let found = start.iterate_delta(smaller, |changed| {
                let along = changed.key_by(|c| c.0).join(edges).lookup();
                along.map(|(_, ((_, d), (_, to, length)))| (to, d + length))
            });
            found.rounds(graph.rounds)
        },
        |graph| graph.least(graph.start(), graph.rounds, |all| graph.hop(all)).into_iter().collect(),
    );
}

/// The smallest vertex of each component.
#[test]
fn components_by_what_changes() {
    check_loop!(
        |graph, edges, start| graph.start(), graph.both_ways() => {
            start.iterate_delta(smaller, |changed| {
                let there = changed.key_by(|c| c.0).join(edges).lookup();
                there.map(|(_, ((_, label), edge))| (edge.1, label))
            })
        },
        |graph| {
            let mut labels: Vec<u64> = (1..=graph.vertices).collect();
            loop {
                let before = labels.clone();
                for (a, b, _) in graph.edges.iter().flat_map(|(a, b, l)| [(*a, *b, l), (*b, *a, l)]) {
                    labels[b as usize] = labels[b as usize].min(labels[a as usize]);
                }
                if labels == before {
                    return (0..).zip(labels).collect();
                }
            }
        },
    );
}

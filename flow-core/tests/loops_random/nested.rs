//! Loops in loops.

use super::model::{Graph, Values, smaller};
use super::runner::check_loop;
use flow_core::op::fork::Either;
use flow_core::prelude::*;

/// Rounds of sums inside, which count the inner supersteps; outside each value is damped by the number of the outer one.
#[test]
fn sums_inside_of_damping() {
    check_loop!(
        |graph, edges, start| graph.start() => {
            let inner = graph.inner;

            start.iterate(graph.rounds, |all| {
                let summed = all.iterate(inner, |all| {
                    let along = all.key_by(|n| n.0).join(edges).lookup().superstep();
                    let along = along.map(|(step, (_, ((_, value), (_, to, length))))| {
                        (to, value.wrapping_mul(length).wrapping_add(step))
                    });
                    along.key_by(|n| n.0).wrapping_sum(|n| n.1)
                });
                summed.superstep().map(|(step, (v, sum))| (v, sum / 2 + step))
            })
        },
        |graph| {
            let mut all = graph.start();
            for outer in 1..=graph.rounds {
                for inner in 1..=graph.inner {
                    let mut next = Values::new();
                    for (from, to, length) in &graph.edges {
                        if let Some(value) = all.get(from) {
                            let there = next.entry(*to).or_default();
                            *there =
                                u64::wrapping_add(*there, value.wrapping_mul(*length).wrapping_add(inner));
                        }
                    }
                    all = next;
                }
                all.values_mut().for_each(|value| *value = *value / 2 + outer);
            }
            all.into_iter().collect()
        },
    );
}

/// What leaves the inner loop at once, and at its end nothing; the outer body goes on with it in the same superstep.
#[test]
fn what_leaves_inside() {
    check_loop!(
        |graph, edges, start| graph.start() => {
            let inner = graph.inner;

            start.iterate(graph.rounds, |all| {
                let left =
                    all.iterate(inner, |all| {
                        let along = all.key_by(|n| n.0).join(edges).lookup();
                        let along = along.map(|(_, ((_, value), (_, to, length)))| (to, value + length));
                        let least = along.key_by(|n| n.0).min(|n| n.1).superstep();
                        least.map(|(step, (v, d))| {
                            if v % 3 == step % 3 { Either::B((v, d + step)) } else { Either::A((v, d)) }
                        })
                    });
                // Of a vertex that has left several times the sum.
                left.key_by(|n| n.0).sum(|n| n.1)
            })
        },
        |graph| {
            let mut all = graph.start();
            for _ in 0..graph.rounds {
                let mut left = Values::new();
                for step in 1..=graph.inner {
                    let came = graph.hop(&all);
                    let leaves = |v: &u64| v % 3 == step % 3;
                    for (v, d) in came.iter().filter(|c| leaves(c.0)) {
                        *left.entry(*v).or_default() += d + step;
                    }
                    all = came.into_iter().filter(|c| !leaves(&c.0)).collect();
                }
                all = left;
            }
            all.into_iter().collect()
        },
    );
}

/// A solution that is found anew in each outer superstep, to the end or by few edges; some of it stays.
#[test]
fn distances_inside_of_a_bulk_loop() {
    for bounded in [false, true] {
        let rounds = move |graph: &Graph| if bounded { graph.inner } else { u64::MAX };
        check_loop!(
            |graph, edges, start| graph.first() => {

                start.iterate(graph.rounds, |all| {
                    let found = all.iterate_delta(smaller, |changed| {
                        let along = changed.key_by(|c| c.0).join(edges).lookup();
                        along.map(|(_, ((_, d), (_, to, length)))| (to, d + length))
                    });
                    let found = found.rounds(rounds(graph)).superstep();
                    found.filter(|(step, (v, _))| v % 4 != step % 4).map(|(step, (v, d))| (v, d + step))
                })
            },
            |graph| {
                let mut all = graph.first();
                for step in 1..=graph.rounds {
                    let found = graph.least(all, rounds(graph), |all| graph.hop(all));
                    all = found
                        .into_iter()
                        .filter(|c| c.0 % 4 != step % 4)
                        .map(|(v, d)| (v, d + step))
                        .collect();
                }
                all.into_iter().collect()
            },
        );
    }
}

/// What has changed goes some edges far in one superstep.
#[test]
fn hops_inside_of_a_delta_loop() {
    check_loop!(
        |graph, edges, start| graph.first() => {
            let inner = graph.inner;
            let found = start.iterate_delta(smaller, |changed| {
                changed.iterate(inner, |all| {
                    let along = all.key_by(|n| n.0).join(edges).lookup();
                    let along = along.map(|(_, ((_, d), (_, to, length)))| (to, d + length));
                    along.key_by(|n| n.0).min(|n| n.1)
                })
            });
            found.rounds(graph.rounds)
        },
        |graph| {
            let hops = |all: &Values| (0..graph.inner).fold(all.clone(), |all, _| graph.hop(&all));
            graph.least(graph.first(), graph.rounds, hops).into_iter().collect()
        },
    );
}

/// Two solutions, one in the other; and a condition inside.
#[test]
fn distances_inside_of_a_delta_loop() {
    check_loop!(
        |graph, edges, start| graph.first() => {
            let inner = graph.inner;
            let found = start.iterate_delta(smaller, |changed| {
                let found = changed.iterate_delta(smaller, |changed| {
                    let along = changed.key_by(|c| c.0).join(edges).lookup();
                    along.map(|(_, ((_, d), (_, to, length)))| (to, d + length))
                });
                found.rounds(inner).map(|(v, d)| (v / 2, d + 1))
            });
            found.rounds(graph.rounds)
        },
        |graph| {
            let way = |all: &Values| {
                let mut came = Values::new();
                for (v, d) in graph.least(all.clone(), graph.inner, |all| graph.hop(all)) {
                    came.entry(v / 2).and_modify(|kept| *kept = (d + 1).min(*kept)).or_insert(d + 1);
                }
                came
            };
            graph.least(graph.first(), graph.rounds, way).into_iter().collect()
        },
    );
}

/// The inner condition is tested in each outer superstep anew.
#[test]
fn a_condition_inside() {
    const LARGE: u64 = 200;
    check_loop!(
        |graph, edges, start| graph.start() => {

            start.iterate(graph.rounds, |all| {
                let summed = all.iterate(9, |all| {
                    let along = all.key_by(|n| n.0).join(edges).lookup();
                    let along =
                        along.map(|(_, ((_, value), (_, to, length)))| (to, value.wrapping_mul(length)));
                    along.key_by(|n| n.0).wrapping_sum(|n| n.1)
                });
                summed.until(|a| a.max(|n| n.1), |most| *most > LARGE).map(|(v, sum)| (v, sum % 97 + 1))
            })
        },
        |graph| {
            let mut all = graph.start();
            for _ in 0..graph.rounds {
                for _ in 0..9 {
                    all = graph.sums(&all);
                    if all.values().any(|sum| *sum > LARGE) {
                        break;
                    }
                }
                all.values_mut().for_each(|sum| *sum = *sum % 97 + 1);
            }
            all.into_iter().collect()
        },
    );
}

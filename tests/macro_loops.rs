//! Loops in the macro.

use flow_core::prelude::*;

#[test]
fn a_body_names_streams_and_values_from_outside() {
    let out = Collected::new();
    let shift = 1u64;
    let job = dataflow! {
        let edges = source(from_vec(vec![(1u64, 2u64), (2, 3), (3, 1)]));
        let ranks = source(from_iter(1..4u64)).map(|v| (v, v * 10));
        let moved = ranks.iterate(rounds = 2, |ranks| {
            ranks.key_by(|r| r.0).join(edges.key_by(|e| e.0)).lookup().map(|(_, ((_, rank), edge))| (edge.1, rank + shift))
        });
        moved.map(|(v, rank)| v * 1000 + rank + shift).collect(&out);
    };
    let report = job.run().unwrap();
    let mut rows = out.take();
    rows.sort_unstable();
    assert_eq!(rows, [1023, 2033, 3013]);
    assert_eq!(report.counter("moved/iterate.supersteps"), 2);
}

#[test]
fn a_delta_loop_with_a_bound_and_a_condition() {
    let out = Collected::new();
    let most = 40u64;
    let job = dataflow! {
        let start = source(from_vec(vec![(0u64, 0u64)]));
        let far = start.iterate_delta(
            |kept: &mut u64, came| {
                let less = came < *kept;
                *kept = came.min(*kept);
                less
            },
            |changed| changed.map(|(v, d)| (v + 1, d + 10)),
            rounds = 9,
        );
        far.until(|a| a.max(|r| r.1), |far| *far >= most).collect(&out);
    };
    job.run().unwrap();
    assert_eq!(out.take(), [(0, 0), (1, 10), (2, 20), (3, 30), (4, 40)]);
}

/// One stream in several places, two of them bodies.
#[test]
fn a_body_shares_streams_with_others() {
    let out = Collected::new();
    let job = dataflow! {
        #![batch]
        let edges = source(from_vec(vec![(1u64, 2u64), (2, 3), (7, 8)]));
        let vertices = edges.flat_map(|e| [e.0, e.1]).distinct().map(|v| (v, v));
        let down = vertices.iterate_delta(
            |kept: &mut u64, came| {
                let less = came < *kept;
                *kept = came.min(*kept);
                less
            },
            |changed| changed.key_by(|c| c.0).join(edges.key_by(|e| e.0)).lookup().map(|(_, ((_, label), e))| (e.1, label)),
        );
        let again = down.iterate(rounds = 1, |labels| {
            labels.key_by(|l| l.0).left_join(edges.key_by(|e| e.1)).lookup().map(|(v, ((_, l), e))| (v, l * 10 + u64::from(e.is_some())))
        });
        again.collect(&out);
    };
    job.parallelism(2).run().unwrap();
    let mut rows = out.take();
    rows.sort_unstable();
    assert_eq!(rows, [(1, 10), (2, 11), (3, 11), (7, 70), (8, 71)]);
}

/// The inner loop runs to its end in each superstep of the outer one, and both look into the same edges.
#[test]
fn a_loop_in_the_body_of_a_loop() {
    let out = Collected::new();
    let job = dataflow! {
        let edges = source(from_vec(vec![(1u64, 2u64), (2, 3), (3, 1)]));
        let ranks = source(from_iter(1..4u64)).map(|v| (v, v * 10));
        let moved = ranks.iterate(rounds = 2, |ranks| {
            let moved = ranks.iterate(3, |ranks| {
                let there = ranks.key_by(|r| r.0).join(edges.key_by(|e| e.0)).lookup();
                there.superstep().map(|(step, (_, ((_, rank), edge)))| (edge.1, rank + step))
            });
            moved.superstep().map(|(step, (v, rank))| (v, rank + step * 100))
        });
        moved.collect(&out);
    };
    let report = job.parallelism(2).run().unwrap();
    let mut rows = out.take();
    rows.sort_unstable();
    assert_eq!(rows, [(1, 322), (2, 332), (3, 342)].map(|(v, rank)| (v, rank)));
    assert_eq!(report.counter("moved/iterate.supersteps"), 2);
}

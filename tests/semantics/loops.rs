//! Loops: numbers that grow, and the smallest vertex that each is connected with.

use crate::aggregates::timed;
use crate::case::{El, number};
use crate::pipeline::{Elements, named};
use flow_core::op::fork::Either;

/// One is added to each number, until it is `most`.
pub fn grow(stream: Elements, most: i64) -> Elements {
    let grown = stream.map(|el| number(&el.name)).iterate(1_000, move |numbers| {
        numbers.map(move |n| if n + 1 < most { Either::A(n + 1) } else { Either::B(n + 1) })
    });
    timed(grown.map(named))
}

/// The vertices with the smallest that each is connected with by `edges`, which go both ways.
pub fn least(vertices: Elements, edges: Elements) -> Elements {
    let edges = edges.map(|el| (number(&el.key), number(&el.name))).flat_map(|(a, b)| [(a, b), (b, a)]);
    let vertices = vertices.map(|el| number(&el.name)).map(|v| (v, v));
    let labels = vertices.iterate_delta(
        |label: &mut i64, came| {
            let less = came < *label;
            *label = came.min(*label);
            less
        },
        |changed| {
            let there = changed.key_by(|c| c.0).join(edges.key_by(|e| e.0)).lookup();
            there.map(|(_, ((_, label), (_, to)))| (to, label))
        },
    );
    timed(labels.map(|(v, label)| El { key: v.to_string(), ..named(label) }))
}

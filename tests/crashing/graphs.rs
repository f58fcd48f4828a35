//! A graph for loops that are killed, and what they have to find in it.

use super::by_key;

/// Supersteps of the sums along its edges.
pub const ROUNDS: u64 = 24;
/// Edges from each vertex.
const EDGES: u64 = 4;
/// Vertices stand in layers, in a ring: what begins in one has gone round after so many supersteps.
const LAYERS: u64 = 24;

/// How many edges a graph of `vertices` has.
pub fn edges(vertices: u64) -> u64 {
    vertices * EDGES
}

/// How many vertices stand in a layer.
fn width(vertices: u64) -> u64 {
    vertices.div_ceil(LAYERS)
}

/// Edge `n`: from where to where, and how long. Most go into the next layer, some over it.
pub fn edge(vertices: u64, n: u64) -> (u64, u64, u64) {
    let (from, width) = (n / EDGES, width(vertices));
    let mixed = n.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 20;
    let (step, longest) = if n.is_multiple_of(EDGES) { (2, 31) } else { (1, 11) };
    let to = ((from / width + step) * width + mixed % width) % vertices;
    (from, to, 1 + mixed % longest)
}

/// Where the distances begin.
pub fn starts(vertices: u64) -> u64 {
    width(vertices)
}

/// What each vertex has after all rounds, of what came to it along its edges; one has its number to begin with. Where nothing comes to there is no row.
pub(super) fn sums(vertices: u64) -> Vec<String> {
    let mut all: Vec<Option<u64>> = (0..vertices).map(Some).collect();
    for _ in 0..ROUNDS {
        let mut next = vec![None; all.len()];
        for (from, to, length) in (0..edges(vertices)).map(|n| edge(vertices, n)) {
            if let Some(sum) = all[at(from)] {
                let there: &mut u64 = next[at(to)].get_or_insert(0);
                *there = there.wrapping_add(sum.wrapping_mul(length));
            }
        }
        all = next;
    }
    rows(all)
}

/// How far each vertex is from the first layer, if it can be reached.
pub(super) fn distances(vertices: u64) -> Vec<String> {
    let mut all: Vec<Option<u64>> = (0..vertices).map(|v| (v < starts(vertices)).then_some(0)).collect();
    let mut shorter = true;
    while std::mem::take(&mut shorter) {
        for (from, to, length) in (0..edges(vertices)).map(|n| edge(vertices, n)) {
            let Some(far) = all[at(from)].map(|far| far + length) else { continue };
            if all[at(to)].is_none_or(|known| far < known) {
                all[at(to)] = Some(far);
                shorter = true;
            }
        }
    }
    rows(all)
}

fn at(vertex: u64) -> usize {
    usize::try_from(vertex).unwrap_or(usize::MAX)
}

fn rows(all: Vec<Option<u64>>) -> Vec<String> {
    by_key((0..).zip(all).filter_map(|(v, value): (u64, _)| Some(format!("{v},{}", value?))))
}

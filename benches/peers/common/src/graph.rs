//! The graph of W8 and W9. Ranks are integers, so that every program rounds alike.

use crate::elements::mix;

/// How many vertices there are.
pub const NODES: u64 = 1_000_000;
/// How many rounds are run.
pub const ROUNDS: u64 = 20;
/// The rank every vertex starts with.
pub const FIRST_RANK: u64 = 1_000_000_000;

/// Edge `i` as (from, to).
#[inline(always)]
pub fn edge(i: u64) -> (u32, u32) {
    let h = mix(i);
    let node = |bits: u64| ((bits * NODES) >> 32) as u32;
    (node(h >> 32), node(h & 0xffff_ffff))
}

/// Edge `i` without a direction: as (from, to) both ways.
#[inline(always)]
pub fn both_ways(i: u64) -> [(u32, u32); 2] {
    let (from, to) = edge(i);
    [(from, to), (to, from)]
}

/// A vertex' new rank, from the sum of the shares it was sent.
#[inline(always)]
pub fn damp(sum: u64) -> u64 {
    FIRST_RANK * 15 / 100 + sum / 100 * 85
}

/// The hash of one vertex' rank, for the checksum.
pub fn rank_hash(node: u64, rank: u64) -> u64 {
    mix(node.wrapping_mul(0x9E37_79B9) ^ rank)
}

/// The hash of one vertex with the smallest vertex of its component, for the checksum.
pub fn label_hash(vertex: u32, label: u32) -> u64 {
    mix(u64::from(vertex) << 32 | u64::from(label))
}

/// The edges that leave some vertices, grouped by vertex: vertex `v`'s targets are `targets[offsets[v]..offsets[v + 1]]`.
#[derive(Debug, Default)]
pub struct Adjacency {
    offsets: Vec<u32>,
    targets: Vec<u32>,
}

impl Adjacency {
    /// Groups the edges that `edges` gives (it is asked twice) by the vertex they leave; there are `nodes` vertices.
    pub fn new<I: Iterator<Item = (usize, u32)>>(nodes: usize, edges: impl Fn() -> I) -> Self {
        let mut offsets = vec![0u32; nodes + 1];
        for (from, _) in edges() {
            offsets[from + 1] += 1;
        }
        for v in 0..nodes {
            offsets[v + 1] += offsets[v];
        }
        let mut next = offsets.clone();
        let mut targets = vec![0u32; offsets[nodes] as usize];
        for (from, to) in edges() {
            targets[next[from] as usize] = to;
            next[from] += 1;
        }
        Adjacency { offsets, targets }
    }

    /// Where the edges that leave `v` lead.
    #[inline(always)]
    pub fn of(&self, v: usize) -> &[u32] {
        &self.targets[self.offsets[v] as usize..self.offsets[v + 1] as usize]
    }
}

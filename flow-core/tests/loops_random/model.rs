//! Random graphs, and loops over them the naive way.

use std::collections::BTreeMap;

/// Values of vertices.
pub type Values = BTreeMap<u64, u64>;

#[derive(Debug, Clone)]
pub struct Graph {
    pub vertices: u64,
    /// From where to where, and how long.
    pub edges: Vec<(u64, u64, u64)>,
    pub rounds: u64,
    pub inner: u64,
}

/// Numbers that look random.
pub struct Random(pub u64);

impl Random {
    pub fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit
    }
}

impl Graph {
    /// Empty and full ones, with edges in parallel and to themselves.
    pub fn random(seed: u64) -> Self {
        let mut random = Random(seed.wrapping_mul(7_919).wrapping_add(3));
        let vertices = random.below(40);
        let edges = if vertices == 0 { 0 } else { random.below(3 * vertices + 1) };
        let edges = (0..edges).map(|_| (random.below(vertices), random.below(vertices), 1 + random.below(9)));
        let edges = edges.collect();
        Graph { vertices, edges, rounds: 1 + random.below(6), inner: 1 + random.below(4) }
    }

    /// Its edges, to both ends.
    pub fn both_ways(&self) -> Vec<(u64, u64, u64)> {
        self.edges.iter().flat_map(|(a, b, length)| [(*a, *b, *length), (*b, *a, *length)]).collect()
    }

    /// What each vertex begins with.
    pub fn start(&self) -> Values {
        (0..self.vertices).map(|v| (v, v + 1)).collect()
    }

    /// Where distances begin.
    pub fn first(&self) -> Values {
        (0..self.vertices.min(1)).map(|v| (v, 0)).collect()
    }

    /// What comes to each vertex along the edges, put together.
    pub fn along(&self, all: &Values, with: fn(u64, u64) -> u64, both: fn(u64, u64) -> u64) -> Values {
        let mut next = Values::new();
        for (from, to, length) in &self.edges {
            if let Some(value) = all.get(from) {
                let came = with(*value, *length);
                next.entry(*to).and_modify(|kept| *kept = both(*kept, came)).or_insert(came);
            }
        }
        next
    }

    /// Sums of products.
    pub fn sums(&self, all: &Values) -> Values {
        self.along(all, u64::wrapping_mul, u64::wrapping_add)
    }

    /// The shortest ways by one edge.
    pub fn hop(&self, all: &Values) -> Values {
        self.along(all, u64::wrapping_add, u64::min)
    }

    /// The least that comes to each by `way`, again and again from what has changed, `rounds` times at most.
    pub fn least(&self, start: Values, rounds: u64, way: impl Fn(&Values) -> Values) -> Values {
        let (mut all, mut changed) = (start.clone(), start);
        for _ in 0..rounds {
            let came = way(&changed);
            changed = came.into_iter().filter(|(v, d)| all.get(v).is_none_or(|kept| d < kept)).collect();
            if changed.is_empty() {
                break;
            }
            all.extend(changed.iter().map(|(v, d)| (*v, *d)));
        }
        all
    }
}

/// `update` of delta loops that look for the least.
pub fn smaller(kept: &mut u64, came: u64) -> bool {
    let less = came < *kept;
    *kept = came.min(*kept);
    less
}

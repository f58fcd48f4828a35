use flow_core::prelude::*;

dataflow! {
    pub fn p(numbers: Vec<u64>, edges: Vec<(u64, u64)>) {
        let edges = source(from_vec(edges)).key_by(|e| e.0);
        let numbers = source(from_vec(numbers)).map(|n| (n, n));
        let moved = numbers.iterate(rounds = 3, |n| n.key_by(|n| n.0).join(edges).lookup().map(|(_, (n, e))| (e.1, n.1)));
        moved.for_each(|n| println!("{n:?}"));
        edges.count().for_each(|n| println!("{n:?}"));
    }
}

fn main() {}

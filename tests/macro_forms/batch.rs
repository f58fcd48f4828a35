//! Pipelines of batches, with the operators that need all their input.

use flow_core::prelude::*;
use std::cmp::Reverse;

type Pair = (u32, u32);

dataflow! {
    #[batch]
    fn joined(people: Vec<Pair>, calls: Vec<Pair>, both: Collected<(u32, Option<u32>)>, silent: Collected<u32>) {
        let people = source(from_vec(people));
        let calls = source(from_vec(calls));
        let pairs = people.key_by(|p| p.0).left_join(calls.key_by(|c| c.0)).hash();
        pairs.map(|(id, (_, call))| (id, call.map(|c| c.1))).sort_by_key(|row| *row).collect(&both);
        let without = people.key_by(|p| p.0).anti_join(calls.key_by(|c| c.0)).sort_merge();
        without.map(|(id, _)| id).collect(&silent);
    }

    #[batch]
    fn medians(prices: Vec<Pair>, out: Collected<Pair>, top: Collected<Vec<Pair>>) {
        let prices = source(from_vec(prices)).event_time(|p| i64::from(p.1), disorder = 0s);
        let skip = 1;
        let medians = prices.key_by(|p| p.0).reduce_group(|_, prices| {
            let mut all: Vec<u32> = prices.skip(skip).map(|p| p.1).collect();
            all.sort_unstable();
            all.get(all.len() / 2).copied().unwrap_or(0)
        });
        medians.sort_by(|a, b| b.cmp(a)).collect(&out);
        prices.aggregate(|a| a.top_k(2, |p| p.1)).collect(&top);
    }

    /// All pairs of both: a key that is the same for all.
    #[batch]
    fn crossed(left: Vec<u32>, right: Vec<u32>, out: Collected<Pair>) {
        let left = source(from_vec(left));
        let right = source(from_vec(right));
        let pairs = left.key_by(|_| ()).join(right.key_by(|_| ())).hash();
        pairs.map(|(_, pair)| pair).sort_by_key(|pair| Reverse(*pair)).collect(&out);
    }
}

#[test]
fn joins_by_both_ways() {
    for parallelism in [1, 2, 4] {
        let (both, silent) = (Collected::new(), Collected::new());
        let job = joined(
            vec![(1, 10), (2, 20), (3, 30)],
            vec![(1, 7), (1, 5), (4, 9)],
            both.clone(),
            silent.clone(),
        );
        job.parallelism(parallelism).run().unwrap();
        assert_eq!(both.take(), [(1, Some(5)), (1, Some(7)), (2, None), (3, None)]);
        let mut silent = silent.take();
        silent.sort_unstable();
        assert_eq!(silent, [2, 3]);
    }
}

#[test]
fn groups_as_a_whole() {
    for parallelism in [1, 2, 4] {
        let (out, top) = (Collected::new(), Collected::new());
        let prices = vec![(1, 30), (2, 7), (1, 10), (1, 50), (1, 20), (2, 9)];
        medians(prices, out.clone(), top.clone()).parallelism(parallelism).run().unwrap();
        assert_eq!(out.take(), [(2, 9), (1, 20)], "without the first of each");
        assert_eq!(top.take(), [[(1, 50), (1, 30)]]);
    }
}

#[test]
fn all_pairs() {
    let out = Collected::new();
    crossed(vec![1, 2], vec![5, 6], out.clone()).parallelism(2).run().unwrap();
    assert_eq!(out.take(), [(2, 6), (2, 5), (1, 6), (1, 5)]);
}

/// The picture of a pipeline says where records meet.
#[test]
fn the_graph_knows_the_edges() {
    let edges: Vec<String> = joined::GRAPH.edges.iter().map(|edge| format!("{:?}", edge.kind)).collect();
    assert!(edges.iter().any(|kind| kind == "Global"), "{edges:?}");
    assert_eq!(edges.iter().filter(|kind| *kind == "KeyBy").count(), 4, "{edges:?}");
}

//! W8: PageRank with `iterate`. The ranks are joined with the adjacency in each round and fed back.

use peer_common::graph::{FIRST_RANK, NODES, ROUNDS, damp, edge, rank_hash};
use peer_common::{Answer, Run};

use crate::run::{context, strided, sum};

/// Every vertex also sends itself an empty share, so that none is lost.
pub fn run(run: &Run) -> Answer {
    let (context, n) = (context(run), run.n);
    let adjacency = context
        .stream_par_iter(move |first: u64, step: u64| strided(n, first, step))
        .map(edge)
        .group_by_fold(
            |(from, _)| *from,
            Vec::<u32>::new(),
            |targets, (_, to)| targets.push(to),
            |targets, mut more| targets.append(&mut more),
        )
        .unkey();
    let (state, ranks) = context
        .stream_par_iter(move |first: u64, step: u64| strided(NODES, first, step))
        .map(|v| (v as u32, FIRST_RANK))
        .iterate(
            ROUNDS as usize,
            (),
            move |ranks, _| {
                let mut both = ranks.split(2).into_iter();
                let (Some(ranks), Some(vertices)) = (both.next(), both.next()) else {
                    unreachable!("a split into two gives two")
                };
                let shares = ranks
                    .join(adjacency, |(v, _)| *v, |(v, _)| *v)
                    .flat_map(|(_, ((_, rank), (_, targets)))| {
                        let share = rank / targets.len() as u64;
                        targets.into_iter().map(move |to| (to, share))
                    })
                    .drop_key();
                shares
                    .merge(vertices.map(|(v, _)| (v, 0u64)))
                    .group_by_sum(|(v, _)| *v, |(_, share)| share)
                    .map(|(_, sum)| damp(sum))
                    .unkey()
            },
            |_: &mut (), _| (),
            |_, _| (),
            |_| true,
        );
    state.for_each(drop);
    sum(context, ranks.map(|(v, rank)| rank_hash(u64::from(v), rank)))
}

//! W9: the components of a graph with `iterate`. It has no delta loop: all labels are fed back with a mark of what has
//! changed, and only those are joined with the adjacency.

use peer_common::graph::{NODES, both_ways, label_hash};
use peer_common::{Answer, Run};

use crate::run::{context, strided, sum};

/// More rounds than any graph of so many vertices needs.
const ROUNDS: usize = NODES as usize;

/// Every vertex sends itself its own label, too, so that none is lost and a change is seen.
pub fn run(run: &Run) -> Answer {
    let (context, n) = (context(run), run.n);
    let adjacency = context
        .stream_par_iter(move |first: u64, step: u64| strided(n, first, step))
        .flat_map(both_ways)
        .group_by_fold(
            |(from, _)| *from,
            Vec::<u32>::new(),
            |targets, (_, to)| targets.push(to),
            |targets, mut more| targets.append(&mut more),
        )
        .unkey();
    let (state, labels) = context
        .stream_par_iter(move |first: u64, step: u64| strided(NODES, first, step))
        .map(|v| (v as u32, v as u32, true))
        .iterate(
            ROUNDS,
            0u64,
            move |labels, _| {
                let mut both = labels.split(2).into_iter();
                let (Some(labels), Some(own)) = (both.next(), both.next()) else {
                    unreachable!("a split into two gives two")
                };
                let spread = labels
                    .filter(|(_, _, changed)| *changed)
                    .join(adjacency, |(v, _, _)| *v, |(v, _)| *v)
                    .flat_map(|(_, ((_, label, _), (_, targets)))| {
                        targets.into_iter().map(move |to| (to, label, u32::MAX))
                    })
                    .drop_key();
                spread
                    .merge(own.map(|(v, label, _)| (v, label, label)))
                    // The smallest label, and the one it had.
                    .group_by_reduce(
                        |(v, _, _)| *v,
                        |least, more| {
                            least.1 = least.1.min(more.1);
                            least.2 = least.2.min(more.2);
                        },
                    )
                    .unkey()
                    .map(|(_, (v, label, had))| (v, label, label < had))
            },
            |changes: &mut u64, (_, _, changed)| *changes += u64::from(changed),
            |all, changes| *all += changes,
            |all| std::mem::take(all) > 0,
        );
    state.for_each(drop);
    sum(context, labels.map(|(v, label, _)| label_hash(v, label)))
}

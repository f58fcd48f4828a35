//! The tight loops of a window: elements into the pane of their time, and entries that were merged before.

use super::base::{Item, ItemOf, Row};
use super::late::Policy;
use super::panes::Panes;
use crate::aggregate::{Aggregate, Algebra, Overflow};
use crate::op::KeyFn;
use crate::state::{Mode, Pane};
use std::vec::IntoIter;

/// Elements whose look-ups are begun together, where the table is larger than the caches.
const CHUNK: usize = 64;

/// Adds the first of `n` items, as long as they are for open panes that have not fired; returns how many it took.
///
/// # Errors
/// When the aggregate leaves its range.
#[inline(never)]
pub fn add_run<X, F, A, P, M>(
    panes: &mut Panes<F::Key, A::Acc, M>,
    items: &mut IntoIter<ItemOf<X, F, A, P>>,
    n: usize,
    key: &F,
    aggregate: &A,
) -> Result<usize, Overflow>
where
    F: KeyFn<X>,
    A: Aggregate<F::Value>,
    P: Policy<Row<X, F, A>, F::Value>,
    M: Mode,
{
    let mut left = n;
    while left > 0 {
        let Some((slot, low, reach)) = panes.spans.unfired() else { break };
        let ahead = &items.as_slice()[..left.min(CHUNK)];
        let mut run = 0;
        while run < ahead.len() && (ahead[run].time.0.wrapping_sub(low) as u64) <= reach {
            run += 1;
        }
        if run == 0 {
            // Perhaps it is for another pane that is open.
            let time = ahead[0].time;
            if panes.spans.turn_to(time) { continue } else { break }
        }
        let Some(table) = panes.table(slot) else { break };
        // The table is asked once for room, so that no look-up has to be ready for one that grows.
        let (mut table, run) = table.run(run, &|k| key.hash(k));
        if table.is_large() {
            for item in &ahead[..run] {
                table.prefetch(item.hash);
            }
        }
        for Item { hash, time, route, load } in items.by_ref().take(run) {
            let x = P::lifted(load, |rest| aggregate.lift_at(key.peek(&route, rest), time));
            let insert = || (key.key(&route), aggregate.start());
            let (_, acc) = table.entry(hash, |k| key.is(&route, k), insert);
            aggregate.add(acc, x)?;
        }
        left -= run;
    }
    Ok(n - left)
}

/// Moves entries, with the hashes of their keys, to `table`.
///
/// # Errors
/// When the aggregate leaves its range.
#[inline(never)]
pub fn merge_part<X, F, A, M>(
    table: &mut Pane<F::Key, A::Acc, M>,
    entries: &mut Vec<(u64, F::Key, A::Acc)>,
    key: &F,
    aggregate: &A,
) -> Result<(), Overflow>
where
    F: KeyFn<X>,
    A: Aggregate<F::Value>,
    M: Mode,
{
    let mut entries = entries.drain(..);
    while !entries.as_slice().is_empty() {
        let (mut table, room) = table.run(entries.len().min(CHUNK), &|k| key.hash(k));
        for entry in &entries.as_slice()[..room] {
            table.prefetch(entry.0);
        }
        for (hash, k, acc) in entries.by_ref().take(room) {
            let start = || (k.clone(), aggregate.start());
            let (_, sum) = table.entry(hash, |other| key.same(other, &k), start);
            A::Algebra::merge(aggregate, sum, acc)?;
        }
    }
    Ok(())
}

/// Takes the entries out of a table, in their order, with the hashes of their keys.
pub fn entries<K, A>(table: &mut Pane<K, A>, hash_of: impl Fn(&K) -> u64) -> Vec<(u64, K, A)> {
    let mut entries = Vec::with_capacity(table.len());
    while let Some((key, acc)) = table.pop() {
        entries.push((hash_of(&key), key, acc));
    }
    entries
}

//! The tight loops of a window: elements into the pane of their time, and entries that were merged before.

use super::base::Item;
use super::panes::Panes;
use crate::aggregate::{Aggregate, Algebra, Overflow};
use crate::op::KeyFn;
use crate::state::Pane;

/// Elements whose look-ups are begun together, where the table is larger than the caches.
const CHUNK: usize = 64;

/// Adds the first of `n` items, as long as they are for open panes that have not fired; returns how many it took. `lifted` makes
/// what the aggregate adds of what an item carries.
///
/// # Errors
/// When the aggregate leaves its range.
#[inline(never)]
pub fn add_run<X, F, A, L, I>(
    panes: &mut Panes<F::Key, A::Acc>,
    items: &mut I,
    n: usize,
    key: &F,
    aggregate: &A,
    lifted: impl Fn(L, &F::Route) -> A::In,
) -> Result<usize, Overflow>
where
    F: KeyFn<X>,
    A: Aggregate<F::Value>,
    I: Iterator<Item = Item<F::Route, L>> + AsRef<[Item<F::Route, L>]>,
{
    let mut left = n;
    while left > 0 {
        let Some((pane, low, reach)) = panes.last() else { break };
        if pane.fired {
            break;
        }
        // The table is asked once for room, so that no look-up has to be ready for one that grows.
        let (mut table, room) = pane.table.run(left.min(CHUNK), |k| key.hash(k));
        let within = |item: &Item<_, _>| (item.time.0.wrapping_sub(low) as u64) <= reach;
        let ahead = &items.as_ref()[..room];
        let run = ahead.iter().position(|item| !within(item)).unwrap_or(room);
        if run == 0 {
            // Perhaps it is for another pane that is open.
            let time = ahead[0].time;
            if panes.turn_to(time) { continue } else { break }
        }
        if table.is_large() {
            ahead[..run].iter().for_each(|item| table.prefetch(item.hash));
        }
        for Item { hash, route, load, .. } in items.by_ref().take(run) {
            let x = lifted(load, &route);
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
pub fn merge_part<X, F, A>(
    table: &mut Pane<F::Key, A::Acc>,
    entries: &mut Vec<(u64, F::Key, A::Acc)>,
    key: &F,
    aggregate: &A,
) -> Result<(), Overflow>
where
    F: KeyFn<X>,
    A: Aggregate<F::Value>,
{
    let mut entries = entries.drain(..);
    while !entries.as_slice().is_empty() {
        let (mut table, room) = table.run(entries.len().min(CHUNK), |k| key.hash(k));
        entries.as_slice()[..room].iter().for_each(|e| table.prefetch(e.0));
        for (hash, k, acc) in entries.by_ref().take(room) {
            let start = || (k.clone(), aggregate.start());
            let (_, sum) = table.entry(hash, |other| key.same(other, &k), start);
            A::Algebra::merge(aggregate, sum, acc)?;
        }
    }
    Ok(())
}

/// Moves the entries of `from` to `table`, in their order.
///
/// # Errors
/// When the aggregate leaves its range.
pub fn merge_whole<X, F, A>(
    table: &mut Pane<F::Key, A::Acc>,
    from: &mut Pane<F::Key, A::Acc>,
    key: &F,
    aggregate: &A,
) -> Result<(), Overflow>
where
    F: KeyFn<X>,
    A: Aggregate<F::Value>,
{
    let mut part = Vec::with_capacity(CHUNK);
    while !from.is_empty() {
        part.extend(std::iter::from_fn(|| from.pop()).take(CHUNK).map(|(k, acc)| (key.hash(&k), k, acc)));
        merge_part(table, &mut part, key, aggregate)?;
    }
    Ok(())
}

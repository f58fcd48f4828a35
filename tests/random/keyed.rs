//! The interpreter's keyed streams and rolling operators.

use super::function::*;
use super::plan::{Form, Roll};
use super::port::{El, Event, Port, Strand, scatter_all};
use crate::mode::IS_BATCH;
use std::collections::{BTreeMap, HashMap, HashSet};

/// The stream with its key; without a form the key is 0.
pub fn keyed(input: &Port, form: Option<Form>) -> Port {
    input.each(|el| {
        let r = el.rec;
        let (key, rec) = match form {
            None => (0, Some(r)),
            Some(Form::By(n)) => (r.key % n, Some(r)),
            Some(Form::Ref) => (r.key, Some(r)),
            Some(Form::Filtered(c)) => (r.key, keep(c, &r).then_some(r)),
            Some(Form::Mapped(c)) => (r.key, Some(map(c, r))),
        };
        rec.map(|rec| El { key, rec, ..el })
    })
}

/// The strands behind an exchange by key: those of different keys may be on different instances.
pub fn by_key(timed: bool, p: usize, strands: Vec<Strand>, apart: bool, one_sender: bool) -> Port {
    let strands = if p > 1 || apart { scatter_all(&strands, |el| el.key) } else { strands };
    Port::new(timed, p, strands, one_sender)
}

/// A rolling operator over a keyed stream.
pub fn roll(input: &Port, roll: Roll, p: usize) -> Option<Port> {
    let ordered = input.ordered(|el| el.key);
    // The rows of `count` are the same in any order; without event time nothing else is to be seen of it.
    if !ordered && (roll != Roll::Count || input.timed) {
        return None;
    }
    let strands = if ordered { input.strands.clone() } else { vec![input.heap()] };
    if IS_BATCH && is_one_row(roll) {
        return Some(last_rows(input, roll, p));
    }
    let mut seen: HashMap<u8, Vec<Rec>> = HashMap::new();
    let rolled = Port { strands, ..*input }.each(|el| {
        let seen = seen.entry(el.key).or_default();
        seen.push(el.rec);
        rolled(roll, el.key, seen).map(|rec| El { rec, ..el })
    });
    Some(by_key(input.timed, p, rolled.strands, !ordered, input.single()))
}

/// Whether each of its rows is a new version of the row of its key, of which in a batch the last one counts.
fn is_one_row(roll: Roll) -> bool {
    !matches!(roll, Roll::Scan | Roll::MapWithState | Roll::Process | Roll::DedupFirst)
}

/// The last row of each key, at the time of its last record, by when the keys came first.
fn last_rows(input: &Port, roll: Roll, p: usize) -> Port {
    let mut keys: Vec<(u8, i64, Vec<Rec>)> = Vec::new();
    for el in input.elements() {
        let at = keys.iter().position(|(key, ..)| *key == el.key).unwrap_or_else(|| {
            keys.push((el.key, el.time, Vec::new()));
            keys.len() - 1
        });
        keys[at].1 = el.time;
        keys[at].2.push(el.rec);
    }
    let mut rows = Strand::new();
    for (key, time, seen) in keys {
        // What the last change of the list says is what is in it.
        let last = (1..=seen.len()).rev().find_map(|n| rolled(roll, key, &seen[..n]));
        last.into_iter().for_each(|rec| push(&mut rows, El { rec, time, key }));
    }
    by_key(input.timed, p, vec![rows], !input.single(), input.single())
}

/// What a rolling operator says to the last of all records of a key.
fn rolled(roll: Roll, key: u8, seen: &[Rec]) -> Option<Rec> {
    let values = || seen.iter().map(|r| r.val);
    let last = *seen.last()?;
    let value = match roll {
        Roll::Count => seen.len() as i64,
        Roll::Sum | Roll::WrappingSum => values().sum(),
        Roll::Min => values().min()?,
        Roll::Max => values().max()?,
        Roll::Reduce => return seen.iter().copied().reduce(reduce),
        Roll::DedupFirst => return (seen.len() == 1).then_some(last),
        Roll::TopN => {
            // Of equal values the earlier one, and a change is one of records, not of values.
            let top = |seen: &[Rec]| {
                let mut places: Vec<usize> = (0..seen.len()).collect();
                places.sort_by_key(|i| (-seen[*i].val, *i));
                places.truncate(2);
                places
            };
            let now = top(seen);
            if now == top(&seen[..seen.len() - 1]) {
                return None;
            }
            both(&now.into_iter().map(|i| seen[i]).collect::<Vec<_>>())
        }
        Roll::Fold => folded(seen),
        Roll::Scan => {
            let mut acc = 1;
            seen.iter().fold(None, |_, r| scan(&mut acc, *r))?
        }
        Roll::Process => process(last, seen.len().checked_sub(2).map(|i| seen[i]), values().max()?)?,
        Roll::MapWithState => {
            let mut before = seen.len().checked_sub(2).map_or(0, |i| seen[i].val);
            with_state(&mut before, last)
        }
    };
    Some(rec(key, value))
}

/// `fold` over all.
pub fn folded(records: &[Rec]) -> i64 {
    let mut acc = 1;
    records.iter().for_each(|r| fold(&mut acc, *r));
    acc
}

/// The sum of each key, and of all records of the other stream, told at the end of both.
pub fn beside(input: &Port, all: &Port, n: u8, p: usize) -> Option<Port> {
    let total: i64 = all.elements().map(|el| el.rec.val).sum();
    let mut sums: BTreeMap<u8, i64> = BTreeMap::new();
    input.elements().for_each(|el| *sums.entry(el.rec.key % n).or_default() += el.rec.val);
    let row = |(key, sum): (u8, i64)| Event::El(El { rec: rec(key, sum + total), time: 0, key });
    let strands = sums.into_iter().map(|one| vec![row(one)]).collect();
    (input.timed == all.timed).then(|| Port::new(false, p, strands, false))
}

/// `distinct` of whole records.
pub fn distinct(input: &Port, p: usize) -> Option<Port> {
    let ordered = input.ordered(|el| el.rec);
    if !ordered && input.timed {
        return None;
    }
    let strands = if ordered { input.strands.clone() } else { vec![input.heap()] };
    let mut seen = HashSet::new();
    let first = Port { strands, ..*input }.each(|el| seen.insert(el.rec).then_some(el));
    let strands = if p > 1 || !ordered { scatter_all(&first.strands, |el| el.rec) } else { first.strands };
    Some(Port::new(input.timed, p, strands, input.single()))
}

/// Puts an element behind a strand.
pub fn push(strand: &mut Strand, el: El) {
    strand.push(Event::El(el));
}

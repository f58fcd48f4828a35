//! States with a time to live on the watermark: a value, a map, a list, the largest value and the sum, written and shown as the names of elements say.

use crate::case::{El, number};
use crate::pipeline::Elements;
use flow_core::prelude::*;
use flow_core::process::states::{Timed, TimedEntries, WithFunction};
use flow_core::process::{AggregatingState, ListState, MapState, ReducingState, Ttl};

/// `ttl 10` or `ttl 10 read`: `w7` writes the value, `m7` an entry of the map, `l7` one of the list, `d7` takes an entry of the map out,
/// `r1` shows all three, `p1` reads the first of the list, `f1` takes it out, `e7` keeps of the list what is not 7, `o7` is `m7` where
/// there is none; `x7` adds to the largest value, `a7` to the sum, `q1` shows both; `t7` puts new ones in the places of all but the
/// value, that have only 7, `c1` clears the key.
pub fn ttl(stream: Elements, words: &[&str]) -> Elements {
    let ttl = Ttl::new(Millis(number(words[1]))).on_watermark();
    let ttl = if words.get(2) == Some(&"read") { ttl.renewed_by_reading() } else { ttl };
    let new_sum = || AggregatingState::new(|a| a.sum(|n: &i64| *n));
    let states = (
        Timed::new(|| None::<i64>, ttl),
        (
            TimedEntries::new(MapState::<i64, ()>::new, ttl),
            (
                TimedEntries::new(ListState::<i64>::new, ttl),
                (
                    WithFunction(TimedEntries::new(|| ReducingState::new(|a: i64, b| a.max(b)), ttl)),
                    (WithFunction(TimedEntries::new(new_sum, ttl)), ()),
                ),
            ),
        ),
    );
    let shown = stream.key_by(|el| el.key.clone()).declare(states).on_event(
        move |(mut value, (map, (list, (largest, (sum, ()))))), el: El, ctx| {
            let (kind, n) = el.name.split_at(1);
            let n = number(n);
            match kind {
                "w" => *value = Some(n),
                "m" => {
                    map.insert(n, ());
                }
                "d" => {
                    map.remove(&n);
                }
                "l" => list.push(n),
                "x" => largest.add(n),
                "a" => sum.add(&n).expect("small numbers"),
                "q" => {
                    let name = shown(largest.get().copied(), None, sum.get());
                    ctx.emit(El { name, ..el });
                }
                "p" => {
                    list.iter().next();
                }
                "f" => {
                    list.pop_front();
                }
                "e" => list.retain(|m| *m != n),
                "o" => *map.or_insert_with(n, || ()) = (),
                "t" => {
                    (*list, *map) = (ListState::new(), MapState::new());
                    (*largest, *sum) = (ReducingState::new(i64::max), new_sum());
                    largest.add(n);
                    sum.add(&n).expect("small numbers");
                    list.push(n);
                    map.insert(n, ());
                }
                "c" => ctx.clear(),
                _ => {
                    let mut keys: Vec<i64> = map.iter().map(|entry| *entry.0).collect();
                    keys.sort_unstable();
                    let name = shown(*value, keys, list.iter().copied());
                    ctx.emit(El { name, ..el });
                }
            }
        },
    );
    shown.done().boxed()
}

/// `7,1+2,3`: the value, the keys of the map, the list.
pub fn shown(
    value: Option<i64>,
    map: impl IntoIterator<Item = i64>,
    list: impl IntoIterator<Item = i64>,
) -> String {
    let text = |all: Vec<i64>| all.iter().map(i64::to_string).collect::<Vec<_>>().join("+");
    let (map, list) = (map.into_iter().collect(), list.into_iter().collect());
    [text(value.into_iter().collect()), text(map), text(list)]
        .map(|t| if t.is_empty() { "-".into() } else { t })
        .join(",")
}

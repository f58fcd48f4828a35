//! Random writes and reads of states with a time to live, against a model that keeps everything with its time.

use crate::case::{Arrival, Case, El};
use crate::random::config;
use crate::ttl::shown;
use proptest::prelude::*;
use std::collections::BTreeMap;

/// What was written, and when: before the first watermark at the record's own time.
type Written = (i64, i64);

#[derive(Default, Clone)]
struct Key {
    value: Vec<Written>,
    map: Vec<Written>,
    list: Vec<Written>,
    largest: Vec<Written>,
    sum: Vec<Written>,
}

/// One more value of a state that lives as a whole.
fn add(all: &mut Vec<Written>, one: Written) {
    all.push(one);
    all.iter_mut().for_each(|of| of.1 = one.1);
}

fn case(ttl: i64, renews: bool, input: Vec<Arrival>) -> Case {
    let mut keys: BTreeMap<String, Key> = BTreeMap::new();
    let (mut now, mut rows) = (None::<i64>, Vec::new());
    for arrival in &input {
        match arrival {
            Arrival::Watermark(w) => {
                now = now.max(Some(*w));
                for key in keys.values_mut() {
                    for all in [&mut key.value, &mut key.map, &mut key.list, &mut key.largest, &mut key.sum] {
                        all.retain(|one| Some(one.1 + ttl) > now);
                    }
                }
            }
            Arrival::Item(el) => {
                let key = keys.entry(el.key.clone()).or_default();
                let (n, written) = (el.name[1..].parse().expect("a number"), now.unwrap_or(el.time));
                match &el.name[..1] {
                    "w" => key.value = vec![(n, written)],
                    "m" => {
                        key.map.retain(|one| one.0 != n);
                        key.map.push((n, written));
                    }
                    "d" => key.map.retain(|one| one.0 != n),
                    "l" => key.list.push((n, written)),
                    "x" => add(&mut key.largest, (n, written)),
                    "a" => add(&mut key.sum, (n, written)),
                    "q" => {
                        let largest = key.largest.iter().map(|one| one.0).max();
                        let sum = (!key.sum.is_empty()).then(|| key.sum.iter().map(|one| one.0).sum());
                        rows.push(format!("{}/{}", el.key, shown(largest, None, sum)));
                        if renews {
                            let both = key.largest.iter_mut().chain(&mut key.sum);
                            both.for_each(|one| one.1 = written);
                        }
                    }
                    _ => {
                        let all = |of: &[Written]| of.iter().map(|one| one.0).collect::<Vec<_>>();
                        let mut map = all(&key.map);
                        map.sort_unstable();
                        let value = key.value.first().map(|one| one.0);
                        rows.push(format!("{}/{}", el.key, shown(value, map, all(&key.list))));
                        if renews {
                            for all in [&mut key.value, &mut key.map, &mut key.list] {
                                all.iter_mut().for_each(|one| one.1 = written);
                            }
                        }
                    }
                }
            }
            _ => {}
        }
    }
    let step = format!("ttl {ttl}{}", if renews { " read" } else { "" });
    let id = format!("random: {step} {input:?}");
    let steps = vec![step.split(' ').map(str::to_owned).collect()];
    Case { id, steps, inputs: vec![input], rows, ..Case::default() }
}

fn commands() -> impl Strategy<Value = Vec<Arrival>> {
    let kinds = prop::sample::select(vec![
        "w", "m", "m", "d", "l", "x", "x", "a", "a", "q", "q", "r", "r", "r", "W", "W",
    ]);
    prop::collection::vec((kinds, 0..3, 0i64..6, -9i64..9), 0..40).prop_map(|steps| {
        let mut now = -10;
        let arrival = |(kind, key, n, ahead): (&str, i32, i64, i64)| {
            if kind == "W" {
                now += n;
                return Arrival::Watermark(now);
            }
            let (key, name) = (format!("k{key}"), format!("{kind}{n}"));
            Arrival::Item(El { key, name, time: now + ahead, window: None })
        };
        steps.into_iter().map(arrival).collect()
    })
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn states_live_as_long_as_in_the_model(ttl in 1i64..15, renews in any::<bool>(), input in commands()) {
        let answer = crate::runner::check(&case(ttl, renews, input));
        prop_assert!(answer.is_ok(), "{}", answer.unwrap_err());
    }
}

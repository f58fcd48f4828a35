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
}

fn case(ttl: i64, renews: bool, input: Vec<Arrival>) -> Case {
    let mut keys: BTreeMap<String, Key> = BTreeMap::new();
    let (mut now, mut rows, mut expired) = (None::<i64>, Vec::new(), 0);
    for arrival in &input {
        match arrival {
            Arrival::Watermark(w) => {
                now = now.max(Some(*w));
                for key in keys.values_mut() {
                    for all in [&mut key.value, &mut key.map, &mut key.list] {
                        let before = all.len();
                        all.retain(|one| one.1.checked_add(ttl).is_none_or(|end| Some(end) > now));
                        expired += before - all.len();
                    }
                }
            }
            Arrival::Item(el) => {
                let key = keys.entry(el.key.clone()).or_default();
                let (n, written) = (el.name[1..].parse().expect("a number"), now.unwrap_or(el.time));
                match &el.name[..1] {
                    "w" => key.value = vec![(n, written)],
                    "o" if key.map.iter().any(|one| one.0 == n) => {
                        key.map
                            .iter_mut()
                            .filter(|one| one.0 == n)
                            .for_each(|one| one.1 = one.1.max(written));
                    }
                    "m" | "o" => {
                        key.map.retain(|one| one.0 != n);
                        key.map.push((n, written));
                    }
                    "d" => key.map.retain(|one| one.0 != n),
                    "l" => key.list.push((n, written)),
                    "p" if renews => key.list.iter_mut().take(1).for_each(|one| one.1 = one.1.max(written)),
                    "p" => {}
                    "q" => drop(key.list.drain(..key.list.len().min(1))),
                    "e" => key.list.retain(|one| one.0 != n),
                    "t" => (key.map, key.list) = (vec![(n, written)], vec![(n, written)]),
                    "c" => *key = Key::default(),
                    _ => {
                        let all = |of: &[Written]| of.iter().map(|one| one.0).collect::<Vec<_>>();
                        let mut map = all(&key.map);
                        map.sort_unstable();
                        let value = key.value.first().map(|one| one.0);
                        rows.push(format!("{}/{}", el.key, shown(value, map, all(&key.list))));
                        if renews {
                            for all in [&mut key.value, &mut key.map, &mut key.list] {
                                all.iter_mut().for_each(|one| one.1 = one.1.max(written));
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
    let expired = Some(i64::try_from(expired).expect("few entries"));
    Case { id, steps, inputs: vec![input], rows, expired, ..Case::default() }
}

fn commands() -> impl Strategy<Value = Vec<Arrival>> {
    let kinds =
        vec!["w", "m", "m", "d", "l", "l", "o", "p", "q", "e", "t", "c", "r", "r", "r", "W", "W", "W"];
    let steps = prop::collection::vec((prop::sample::select(kinds), 0..3, 0i64..6, -9i64..9), 0..40);
    // At most 200 go by, and an element is at most 8 ahead: that is the end of time.
    let from = prop::sample::select(vec![-10, i64::MIN + 19, i64::MAX - 209]);
    (from, steps).prop_map(|(mut now, steps)| {
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

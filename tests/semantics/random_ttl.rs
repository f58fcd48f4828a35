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

/// One more value of a state that lives as a whole, from the last that was written on.
fn add(all: &mut Vec<Written>, one: Written) {
    let last = all.iter().map(|of| of.1).fold(one.1, i64::max);
    all.push(one);
    all.iter_mut().for_each(|of| of.1 = last);
}

impl Key {
    /// Does what `command` says, at `written`. What is shown.
    fn obey(&mut self, command: &str, written: i64, renews: bool) -> Option<String> {
        let (n, mut row) = (command[1..].parse().expect("a number"), None);
        match &command[..1] {
            "w" => self.value = vec![(n, written)],
            "o" if self.map.iter().any(|one| one.0 == n) => {
                self.map.iter_mut().filter(|one| one.0 == n).for_each(|one| one.1 = one.1.max(written));
            }
            "m" | "o" => {
                self.map.retain(|one| one.0 != n);
                self.map.push((n, written));
            }
            "d" => self.map.retain(|one| one.0 != n),
            "l" => self.list.push((n, written)),
            "x" => add(&mut self.largest, (n, written)),
            "a" => add(&mut self.sum, (n, written)),
            "q" => {
                let largest = self.largest.iter().map(|one| one.0).max();
                let sum = (!self.sum.is_empty()).then(|| self.sum.iter().map(|one| one.0).sum());
                row = Some(shown(largest, None, sum));
                if renews {
                    let both = self.largest.iter_mut().chain(&mut self.sum);
                    both.for_each(|one| one.1 = one.1.max(written));
                }
            }
            "p" if renews => self.list.iter_mut().take(1).for_each(|one| one.1 = one.1.max(written)),
            "p" => {}
            "f" => drop(self.list.drain(..self.list.len().min(1))),
            "e" => self.list.retain(|one| one.0 != n),
            "t" => {
                for all in [&mut self.map, &mut self.list, &mut self.largest, &mut self.sum] {
                    *all = vec![(n, written)];
                }
            }
            "c" => *self = Key::default(),
            _ => {
                let all = |of: &[Written]| of.iter().map(|one| one.0).collect::<Vec<_>>();
                let mut map = all(&self.map);
                map.sort_unstable();
                let value = self.value.first().map(|one| one.0);
                row = Some(shown(value, map, all(&self.list)));
                if renews {
                    for all in [&mut self.value, &mut self.map, &mut self.list] {
                        all.iter_mut().for_each(|one| one.1 = one.1.max(written));
                    }
                }
            }
        }
        row
    }
}

fn case(ttl: i64, renews: bool, input: Vec<Arrival>) -> Case {
    let mut keys: BTreeMap<String, Key> = BTreeMap::new();
    let (mut now, mut rows, mut expired) = (None::<i64>, Vec::new(), 0);
    for arrival in &input {
        match arrival {
            Arrival::Watermark(w) => {
                now = now.max(Some(*w));
                let lives = |one: &Written| one.1.checked_add(ttl).is_none_or(|end| Some(end) > now);
                for key in keys.values_mut() {
                    let folded = [&mut key.largest, &mut key.sum];
                    for all in [&mut key.value, &mut key.map, &mut key.list] {
                        let before = all.len();
                        all.retain(|one| lives(one));
                        expired += before - all.len();
                    }
                    // What has been made of many values is one.
                    for all in folded.into_iter().filter(|all| all.first().is_some_and(|one| !lives(one))) {
                        all.clear();
                        expired += 1;
                    }
                }
            }
            Arrival::Item(el) => {
                let key = keys.entry(el.key.clone()).or_default();
                let row = key.obey(&el.name, now.unwrap_or(el.time), renews);
                rows.extend(row.map(|row| format!("{}/{row}", el.key)));
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
    let kinds = vec![
        "w", "m", "m", "d", "l", "l", "o", "p", "f", "e", "t", "c", "x", "x", "a", "a", "q", "q", "r", "r",
        "r", "W", "W", "W",
    ];
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

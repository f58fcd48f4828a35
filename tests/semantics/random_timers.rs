//! Random commands to timers, against a model that lets the watermark rise by single milliseconds.

use crate::case::{Arrival, Case, El};
use crate::random::config;
use crate::timers::command;
use proptest::prelude::*;

/// A timer that is set: key, time, length of its interval.
type Timer = (String, i64, i64);

#[derive(Default)]
struct Model {
    /// In the order in which they were set.
    set: Vec<Timer>,
    /// Key, timer, what it sets.
    then: Vec<(String, i64, Vec<i64>)>,
    seen: std::collections::BTreeMap<String, u32>,
    rows: Vec<String>,
    watermark: Option<i64>,
}

impl Model {
    fn set(&mut self, timer: Timer) {
        if !self.set.contains(&timer) {
            self.set.push(timer);
        }
    }

    fn item(&mut self, el: &El) {
        *self.seen.entry(el.key.clone()).or_default() += 1;
        let (kind, numbers) = command(&el.name);
        let (key, first) = (el.key.clone(), numbers[0]);
        match kind {
            "t" => {
                self.then.push((key.clone(), first, numbers[1..].to_vec()));
                self.set((key, first, 0));
            }
            "d" => self.set.retain(|timer| *timer != (key.clone(), first, 0)),
            "i" => {
                let from = self.watermark.map_or(el.time, |w| w.max(el.time));
                if !self.set.iter().any(|(k, _, every)| *k == key && *every == first) {
                    self.set((key, (from.div_euclid(first) + 1) * first, first));
                }
            }
            "e" => self.set.retain(|(k, _, every)| *k != key || *every != first),
            _ => {
                self.seen.remove(&key);
                self.then.retain(|(k, ..)| *k != key);
            }
        }
    }

    /// The watermark rises to `w`; when that is the end of the input nothing is set any more.
    fn rise(&mut self, w: i64, end: bool) {
        let Some(first) = self.set.iter().map(|timer| timer.1).min() else {
            self.watermark = self.watermark.max(Some(w));
            return;
        };
        let before = self.watermark.unwrap_or(w.min(first) - 1);
        for now in before + 1..=w {
            let mut due: Vec<Timer> = self.set.iter().filter(|timer| timer.1 <= now).cloned().collect();
            due.sort_by_key(|timer| timer.1);
            for timer in due {
                self.set.retain(|other| *other != timer);
                self.fire(timer, now, end);
            }
        }
        self.watermark = self.watermark.max(Some(w));
    }

    fn fire(&mut self, (key, at, every): Timer, now: i64, end: bool) {
        if every > 0 && !end {
            self.set((key.clone(), at + every, every));
        }
        let seen = self.seen.entry(key.clone()).or_insert(0);
        let elements = if *seen == 1 { String::new() } else { format!("#{seen}") };
        let w = if now == at { String::new() } else { format!("w{now}") };
        self.rows.push(format!("{key}/{at}{elements}{w}"));
        let mut next = None;
        self.then.retain(|(k, of, sets)| {
            let is = *k == key && *of == at;
            if is && next.is_none() {
                next = Some(sets.clone());
            }
            !is
        });
        if let Some((first, rest)) = next.as_deref().and_then(<[i64]>::split_first) {
            self.then.push((key.clone(), *first, rest.to_vec()));
            if !end {
                self.set((key, *first, 0));
            }
        }
    }
}

fn case(input: Vec<Arrival>) -> Case {
    let mut model = Model::default();
    for arrival in &input {
        match arrival {
            Arrival::Item(el) => model.item(el),
            Arrival::Watermark(w) if model.watermark.is_none_or(|before| *w > before) => {
                model.rise(*w, false);
            }
            _ => {}
        }
    }
    let last = model.set.iter().map(|timer| timer.1).chain(model.watermark).max().unwrap_or(0);
    model.rise(last + 1, true);
    let id = format!("random: timers {input:?}");
    let steps = vec![vec!["timers".to_owned()]];
    Case { id, steps, inputs: vec![input], rows: model.rows, ..Case::default() }
}

/// Commands around a watermark that rises by small steps.
fn commands() -> impl Strategy<Value = Vec<Arrival>> {
    let near = || -6i64..12;
    let what = prop_oneof![
        4 => prop::collection::vec(near(), 1..4).prop_map(|n| ("t", n)),
        2 => near().prop_map(|n| ("d", vec![n])),
        1 => (1i64..7).prop_map(|n| ("i", vec![n])),
        1 => (1i64..7).prop_map(|n| ("e", vec![n])),
        1 => Just(("f", vec![1])),
        3 => (0i64..9).prop_map(|n| ("W", vec![n])),
    ];
    prop::collection::vec((what, 0..3, near()), 0..30).prop_map(|steps| {
        let mut now = -10;
        let arrival = |((kind, numbers), key, ahead): ((&str, Vec<i64>), i32, i64)| {
            if kind == "W" {
                now += numbers[0];
                return Arrival::Watermark(now);
            }
            let times = matches!(kind, "t" | "d");
            let numbers: Vec<_> =
                numbers.iter().map(|n| (if times { now + n } else { *n }).to_string()).collect();
            let name = format!("{kind}{}", numbers.join(":"));
            Arrival::Item(El { key: format!("k{key}"), name, time: now + ahead, window: None })
        };
        steps.into_iter().map(arrival).collect()
    })
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn timers_are_those_of_the_model(input in commands()) {
        let answer = crate::runner::check(&case(input));
        prop_assert!(answer.is_ok(), "{}", answer.unwrap_err());
    }
}

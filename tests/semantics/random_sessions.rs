//! Random inputs through sessions, against a model that keeps every element and makes the sessions anew each time.

use crate::case::{Arrival, Case, El, instant};
use crate::random::{arrivals, config, on_time};
use proptest::prelude::*;
use std::collections::BTreeMap;

/// An element of the model, and when it arrived.
#[derive(Debug, Clone)]
struct Element {
    el: El,
    gap: i128,
    arrived: usize,
}

impl Element {
    fn end(&self) -> i128 {
        i128::from(self.el.time) + self.gap
    }
}

/// A session: a chain of neighbours.
struct Chain {
    key: String,
    els: Vec<Element>,
}

impl Chain {
    fn start(&self) -> i64 {
        self.els.iter().map(|e| e.el.time).min().expect("a session has elements")
    }
    fn end(&self) -> i128 {
        self.els.iter().map(Element::end).max().expect("a session has elements")
    }
    fn arrived(&self) -> usize {
        self.els.iter().map(|e| e.arrived).min().expect("a session has elements")
    }
    fn row(&self) -> String {
        let mut names: Vec<&str> = self.els.iter().map(|e| e.el.name.as_str()).collect();
        names.sort_unstable();
        let end = i64::try_from(self.end()).unwrap_or(i64::MAX);
        let slash = if self.key.is_empty() { "" } else { "/" };
        format!("[{},{}) {}{slash}{}", self.start(), instant(end), self.key, names.join(","))
    }
}

/// Sessions as the rules describe them.
struct Model {
    lateness: i128,
    watermark: i128,
    kept: BTreeMap<String, Vec<Element>>,
    arrived: usize,
    rows: Vec<String>,
    late: Vec<String>,
}

impl Model {
    /// The sessions of a key: elements by time, each in that of one before it that reaches it.
    fn chains(&self, key: &str) -> Vec<Chain> {
        let mut els = self.kept.get(key).cloned().unwrap_or_default();
        els.sort_by_key(|e| (e.el.time, e.arrived));
        let mut chains: Vec<Chain> = Vec::new();
        for e in els {
            match chains.last_mut() {
                Some(last) if last.end() >= e.el.time.into() => last.els.push(e),
                _ => chains.push(Chain { key: key.to_owned(), els: vec![e] }),
            }
        }
        chains
    }

    fn item(&mut self, el: &El, gap: i64) {
        let new = Element { el: el.clone(), gap: gap.into(), arrived: self.arrived };
        self.arrived += 1;
        let arrived = new.arrived;
        self.kept.entry(el.key.clone()).or_default().push(new);
        let all = self.chains(&el.key);
        let of_it = |c: &&Chain| c.els.iter().any(|e| e.arrived == arrived);
        let joined = all.iter().find(of_it).expect("it is in a session");
        let late_by = self.watermark - joined.end() - self.lateness;
        if late_by >= 0 {
            self.kept.get_mut(&el.key).expect("it is there").pop();
            self.late.push(format!("{el} by {late_by}"));
        } else if joined.end() <= self.watermark {
            self.rows.push(joined.row());
        }
    }

    fn watermark(&mut self, w: i128) {
        let before = self.watermark;
        self.watermark = before.max(w);
        let keys: Vec<String> = self.kept.keys().cloned().collect();
        let mut due: Vec<Chain> = keys.iter().flat_map(|key| self.chains(key)).collect();
        due.retain(|chain| (before + 1..=self.watermark).contains(&chain.end()));
        due.sort_by_key(|chain| (chain.end(), chain.arrived()));
        self.rows.extend(due.iter().map(Chain::row));
        for key in keys {
            let kept = self.chains(&key).into_iter().filter(|c| c.end() + self.lateness > self.watermark);
            let kept = kept.flat_map(|c| c.els).collect();
            self.kept.insert(key, kept);
        }
    }
}

/// What is said about sessions: one gap for all, or each element's own, which it has as its name.
#[derive(Debug, Clone, Copy)]
struct Sessions {
    gap: Option<i64>,
    lateness: i64,
    keyed: bool,
    disorder: Option<i64>,
}

fn case(of: Sessions, mut input: Vec<Arrival>) -> Case {
    if of.gap.is_none() {
        // Gaps of 1 to 9, from where the element lies.
        for arrival in &mut input {
            if let Arrival::Item(el) = arrival {
                el.name = (1 + (el.time * 7).rem_euclid(9)).to_string();
            }
        }
    }
    let mut model = Model {
        lateness: of.lateness.into(),
        watermark: i128::from(i64::MIN),
        kept: BTreeMap::new(),
        arrived: 0,
        rows: Vec::new(),
        late: Vec::new(),
    };
    for arrival in &input {
        match (arrival, of.disorder) {
            (Arrival::Item(el), disorder) => {
                let gap = of.gap.unwrap_or_else(|| el.number().expect("the name is the gap"));
                model.item(el, gap);
                if let Some(disorder) = disorder {
                    model.watermark(i128::from(el.time) - i128::from(disorder) - 1);
                }
            }
            (Arrival::Watermark(w), None) => model.watermark((*w).into()),
            _ => {}
        }
    }
    model.watermark(i64::MAX.into());
    let session = of.gap.map_or("session_by".to_owned(), |gap| format!("session {gap}"));
    let by_key = if of.keyed { " keyed" } else { "" };
    let window = format!("{session} lateness {}{by_key} late side sorted", of.lateness);
    let from = of.disorder.map(|d| format!("disorder {d}"));
    let steps = from.iter().chain([&window]).map(|s| s.split(' ').map(str::to_owned).collect()).collect();
    let id = format!("random: {steps:?} {input:?}");
    Case { id, steps, inputs: vec![input], rows: model.rows, late: model.late, ..Case::default() }
}

/// Counts by key and session, of all inputs together: whatever meets when, nothing is late and no session is cut.
fn counts(gap: i64, union: bool, inputs: Vec<Vec<Arrival>>) -> Case {
    let mut times: BTreeMap<&str, Vec<i64>> = BTreeMap::new();
    for arrival in inputs.iter().flatten() {
        if let Arrival::Item(el) = arrival {
            times.entry(&el.key).or_default().push(el.time);
        }
    }
    let mut rows = Vec::new();
    for (key, mut times) in times {
        times.sort_unstable();
        let sessions = times.chunk_by(|a, b| b - a <= gap);
        rows.extend(sessions.map(|s| format!("[{},{}) {key}/{}", s[0], s[s.len() - 1] + gap, s.len())));
    }
    let window = format!("session {gap} keyed count");
    let steps = union.then_some("union").into_iter().chain([window.as_str()]);
    let steps = steps.map(|s| s.split(' ').map(str::to_owned).collect()).collect();
    let id = format!("random: {steps:?} {inputs:?}");
    Case { id, steps, inputs, rows, ..Case::default() }
}

prop_compose! {
    fn sessions()(
        gap in proptest::option::weighted(0.7, 1i64..12),
        lateness in prop_oneof![Just(0), 0i64..15, Just(i64::MAX)],
        keyed in any::<bool>(),
        disorder in proptest::option::of(0i64..12),
    ) -> Sessions {
        Sessions { gap, lateness, keyed, disorder }
    }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn sessions_are_those_of_the_model(
        (sessions, input) in sessions().prop_flat_map(|s| (Just(s), arrivals(s.keyed))),
    ) {
        let answer = crate::runner::check(&case(sessions, input));
        prop_assert!(answer.is_ok(), "{}", answer.unwrap_err());
    }

    #[test]
    fn whatever_meets_when_no_session_is_cut(
        gap in 1i64..12,
        union in any::<bool>(),
        inputs in proptest::collection::vec(arrivals(true).prop_map(on_time), 2..4),
    ) {
        let answer = crate::runner::check(&counts(gap, union, inputs));
        prop_assert!(answer.is_ok(), "{}", answer.unwrap_err());
    }
}

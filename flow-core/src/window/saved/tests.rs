//! Panes that are written while elements join them, and while they fire and go.

use super::{begin_save, restore, save_more};
use crate::checkpoint::records::{apart, merge};
use crate::checkpoint::{Groups, Had};
use crate::exchange::{KEY_GROUPS, hash_key};
use crate::state::{Durable, Pane};
use crate::window::panes::Panes;
use crate::window::spec::Span;
use proptest::prelude::*;
use std::collections::BTreeMap;

/// By the beginning of a pane: whether it has fired, and its entries.
type Model = BTreeMap<i128, (bool, BTreeMap<u16, String>)>;

#[derive(Debug, Clone)]
enum Do {
    Take(i128, Vec<u16>),
    /// A pane that its sender has merged.
    Adopt(i128, Vec<u16>),
    /// The first pane has fired, and stays.
    Fire,
    /// The first pane gives out some entries, then it goes.
    Forget(usize),
    Begin(bool),
    Slice(usize),
}

fn actions() -> impl Strategy<Value = Vec<Do>> {
    let keys = || prop::collection::vec(0..200u16, 1..60);
    prop::collection::vec(
        prop_oneof![
            6 => (0..5i128, keys()).prop_map(|(at, keys)| Do::Take(at, keys)),
            2 => (0..5i128, keys()).prop_map(|(at, keys)| Do::Adopt(at, keys)),
            1 => Just(Do::Fire),
            2 => (0..80usize).prop_map(Do::Forget),
            3 => any::<bool>().prop_map(Do::Begin),
            6 => (0..150usize).prop_map(Do::Slice),
        ],
        0..50,
    )
}

#[derive(Default)]
struct Both {
    panes: Panes<u16, String, Durable>,
    model: Model,
    flight: Option<(Groups, Model)>,
    history: BTreeMap<usize, Vec<Vec<u8>>>,
    checkpoints: usize,
    steps: usize,
}

fn span(at: i128) -> Span {
    Span { start: at * 10 - 7, end: at * 10 + 3 }
}

impl Both {
    fn act(&mut self, action: Do) {
        match action {
            Do::Take(at, keys) => {
                let table = self.panes.select(span(at), false);
                let model = &mut self.model.entry(span(at).start).or_default().1;
                for key in keys {
                    self.steps += 1;
                    let insert = || (key, String::new());
                    let value = &mut table.entry(hash_key(&key), |k| *k == key, insert, &|k| hash_key(k)).1;
                    value.push_str(&self.steps.to_string());
                    model.insert(key, value.clone());
                }
            }
            Do::Adopt(at, keys) => {
                let mut merged = Pane::default();
                for key in keys {
                    self.steps += 1;
                    let insert = || (key, String::new());
                    merged.entry(hash_key(&key), |k| *k == key, insert, &|k| hash_key(k)).1 += "merged";
                }
                let home = self.panes.select(span(at), false);
                if home.is_empty() {
                    let model = &mut self.model.entry(span(at).start).or_default().1;
                    model.extend(merged.iter().cloned());
                    home.adopt(&mut merged);
                    assert!(merged.is_empty());
                }
            }
            Do::Fire => {
                if let Some(mut first) = self.model.first_entry() {
                    self.panes.spans.set_fired(0);
                    first.get_mut().0 = true;
                }
            }
            Do::Forget(n) => {
                if self.model.pop_first().is_some() {
                    let slot = self.panes.spans.iter().next().unwrap().slot;
                    let table = self.panes.table(slot).unwrap();
                    for _ in 0..n {
                        table.pop();
                    }
                    self.panes.forget(0);
                }
            }
            Do::Begin(whole) => {
                while !self.slice(usize::MAX) {}
                let whole = whole || self.checkpoints == 0;
                self.checkpoints += 1;
                let groups = Groups::in_memory(whole, &(0..KEY_GROUPS).collect::<Vec<_>>(), Had::default());
                begin_save(&mut self.panes, &groups, hash_key).unwrap();
                if whole {
                    self.history.clear();
                }
                self.flight = Some((groups, self.model.clone()));
            }
            Do::Slice(n) => drop(self.slice(n)),
        }
    }

    /// Whether nothing is in flight any more.
    fn slice(&mut self, n: usize) -> bool {
        if !save_more(&mut self.panes, &mut n.clone()) {
            return false;
        }
        let Some((groups, expected)) = self.flight.take() else { return true };
        for (group, bytes) in groups.finish().unwrap() {
            self.history.entry(group).or_default().push(bytes);
        }
        let mut restored = Panes::<u16, String, Durable>::default();
        for history in self.history.values() {
            let parts = apart(&merge(history).unwrap()).unwrap();
            let hash = |k: &u16| hash_key(k);
            restore(&mut restored, &parts.head, hash, |_| unreachable!("all is in panes")).unwrap();
        }
        let mut found = Model::new();
        for (open, table) in restored.iter() {
            assert_eq!(open.span.end - open.span.start, 10);
            found.insert(open.span.start, (open.fired, table.iter().cloned().collect()));
        }
        assert_eq!(found, expected);
        true
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_is_written_is_what_was_open_at_the_barrier(actions in actions()) {
        let mut both = Both::default();
        actions.into_iter().for_each(|action| both.act(action));
        both.act(Do::Begin(false));
        both.act(Do::Slice(usize::MAX));
        prop_assert!(both.flight.is_none());
    }
}

//! Panes that are written while elements join them, and while they fire and go. With and without a state backend to which most of
//! their entries have gone.

use super::{begin_save, restore, save_more};
use crate::checkpoint::records::{apart, merge};
use crate::checkpoint::{Groups, Had};
use crate::exchange::{KEY_GROUPS, hash_key};
use crate::state::{Durable, Pane, Space, StateBackend};
use crate::testing::MapBackend;
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
    /// The first pane shows its entries: it has fired, and stays.
    Fire,
    /// The first pane gives out some entries, then it goes.
    Forget(usize),
    Begin(bool),
    Slice(usize),
    /// The panes are made again from the last checkpoint.
    Restore,
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
            1 => Just(Do::Restore),
        ],
        0..50,
    )
}

/// Where entries go, and how many bytes of them stay in memory.
type Beyond<'a> = Option<(&'a dyn StateBackend, usize)>;

struct Both<'a> {
    width: u16,
    beyond: Beyond<'a>,
    panes: Panes<u16, String, Durable>,
    model: Model,
    flight: Option<(Groups, Model)>,
    history: BTreeMap<usize, Vec<Vec<u8>>>,
    /// What the model was at the last checkpoint.
    last: Model,
    checkpoints: usize,
    steps: usize,
}

/// A hash that tells `width` classes of keys apart; 0 stands for the real one.
fn hash(width: u16, key: u16) -> u64 {
    if width == 0 { hash_key(&key) } else { u64::from(key % width).rotate_left(29) }
}

fn open(width: u16, beyond: Beyond<'_>) -> Panes<u16, String, Durable> {
    let mut panes = Panes::default();
    let space = beyond.map(|(backend, share)| {
        let store = backend.begin("tested", 1).unwrap().open("panes").unwrap();
        Space::new(store, share, |error| panic!("{error}"))
    });
    panes.spill(space, move |k| hash(width, *k)).unwrap();
    panes
}

/// All entries of a pane, which stay.
fn shown(table: &mut Pane<u16, String, Durable>) -> BTreeMap<u16, String> {
    table.settle();
    let mut found = BTreeMap::new();
    let mut add = |(key, value): (u16, String)| assert_eq!(found.insert(key, value), None, "twice");
    let mut at = 0;
    while let Some(entry) = table.at(at).cloned() {
        at += 1;
        add(entry);
    }
    while let Some(entry) = table.show() {
        add(entry);
    }
    found
}

fn span(at: i128) -> Span {
    Span { start: at * 10 - 7, end: at * 10 + 3 }
}

impl<'a> Both<'a> {
    fn new(width: u16, beyond: Beyond<'a>) -> Self {
        let (panes, model, last) = (open(width, beyond), Model::new(), Model::new());
        let history = BTreeMap::new();
        Both { width, beyond, panes, model, flight: None, history, last, checkpoints: 0, steps: 0 }
    }

    fn act(&mut self, action: Do) {
        let width = self.width;
        match action {
            Do::Take(at, keys) => {
                let table = self.panes.select(span(at), false);
                let model = &mut self.model.entry(span(at).start).or_default().1;
                for key in keys {
                    self.steps += 1;
                    let insert = || (key, String::new());
                    let hash_of: &dyn Fn(&u16) -> u64 = &|k| hash(width, *k);
                    let value = &mut table.entry(hash_of(&key), |k| *k == key, insert, hash_of).1;
                    assert_eq!(Some(&*value), model.get(&key).or(Some(&String::new())));
                    value.push_str(&self.steps.to_string());
                    model.insert(key, value.clone());
                }
            }
            Do::Adopt(at, keys) => self.adopt(at, keys),
            Do::Fire => {
                if let Some(mut first) = self.model.first_entry() {
                    let slot = self.panes.spans.iter().next().unwrap().slot;
                    assert_eq!(shown(self.panes.table(slot).unwrap()), first.get().1);
                    self.panes.spans.set_fired(0);
                    first.get_mut().0 = true;
                }
            }
            Do::Forget(n) => self.forget(n),
            Do::Begin(whole) => {
                while !self.slice(usize::MAX) {}
                let whole = whole || self.checkpoints == 0;
                self.checkpoints += 1;
                let groups = Groups::in_memory(whole, &(0..KEY_GROUPS).collect::<Vec<_>>(), Had::default());
                begin_save(&mut self.panes, &groups, move |k| hash(width, *k)).unwrap();
                if whole {
                    self.history.clear();
                }
                self.flight = Some((groups, self.model.clone()));
            }
            Do::Slice(n) => drop(self.slice(n)),
            Do::Restore => {
                while !self.slice(usize::MAX) {}
                self.panes = self.restored(self.beyond);
                (self.model, self.checkpoints) = (self.last.clone(), 0);
            }
        }
        let entries: usize = self.model.values().map(|pane| pane.1.len()).sum();
        assert_eq!(self.panes.entries(), entries);
    }

    fn adopt(&mut self, at: i128, keys: Vec<u16>) {
        let width = self.width;
        let mut merged = Pane::default();
        for key in keys {
            self.steps += 1;
            let insert = || (key, String::new());
            let hash_of: &dyn Fn(&u16) -> u64 = &|k| hash(width, *k);
            merged.entry(hash_of(&key), |k| *k == key, insert, hash_of).1 += "merged";
        }
        let home = self.panes.select(span(at), false);
        if home.is_empty() {
            let model = &mut self.model.entry(span(at).start).or_default().1;
            model.extend(merged.iter().cloned());
            home.adopt(&mut merged);
            assert!(merged.is_empty());
        }
    }

    fn forget(&mut self, n: usize) {
        if let Some((_, (_, mut left))) = self.model.pop_first() {
            let slot = self.panes.spans.iter().next().unwrap().slot;
            let table = self.panes.table(slot).unwrap();
            assert_eq!(table.len(), left.len());
            for _ in 0..n {
                let Some((key, value)) = table.pop() else {
                    assert_eq!(left, BTreeMap::new());
                    break;
                };
                assert_eq!(left.remove(&key), Some(value));
            }
            self.panes.forget(0);
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
        self.last = expected;
        self.last.retain(|_, pane| !pane.1.is_empty());
        for beyond in [None, self.beyond] {
            let mut restored = self.restored(beyond);
            let opens: Vec<_> = restored.spans.iter().copied().collect();
            let mut found = Model::new();
            for open in opens {
                assert_eq!(open.span.end - open.span.start, 10);
                let entries = shown(restored.table(open.slot).unwrap());
                found.insert(open.span.start, (open.fired, entries));
            }
            assert_eq!(found, self.last);
        }
        true
    }

    /// Panes as they were at the last checkpoint.
    fn restored(&self, beyond: Beyond<'_>) -> Panes<u16, String, Durable> {
        let width = self.width;
        let mut restored = open(width, beyond);
        for history in self.history.values() {
            let parts = apart(&merge(history).unwrap()).unwrap();
            let hash_of = |k: &u16| hash(width, *k);
            restore(&mut restored, &parts.head, hash_of, |_| unreachable!("all is in panes")).unwrap();
        }
        restored
    }
}

fn what_is_written_is_what_was_open(width: u16, beyond: Beyond<'_>, actions: Vec<Do>) {
    let mut both = Both::new(width, beyond);
    actions.into_iter().for_each(|action| both.act(action));
    both.act(Do::Begin(false));
    both.act(Do::Slice(usize::MAX));
    assert!(both.flight.is_none());
}

/// How many classes of hashes there are: few, some with several of the keys, or one for each.
fn widths() -> impl Strategy<Value = u16> {
    prop_oneof![0..4u16, Just(70)]
}

/// Bytes that stay in memory: none, and as many as some of the keys take.
fn shares() -> impl Strategy<Value = usize> {
    prop_oneof![Just(0), 1_000..60_000usize]
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_is_written_is_what_was_open_at_the_barrier(width in widths(), actions in actions()) {
        what_is_written_is_what_was_open(width, None, actions);
    }

    #[test]
    fn panes_beyond_memory_are_the_same(width in widths(), share in shares(), actions in actions()) {
        what_is_written_is_what_was_open(width, Some((&MapBackend::with_limit(0), share)), actions);
    }
}

#[cfg(feature = "fjall")]
proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(24) })]

    #[test]
    fn panes_on_the_disk_are_the_same(width in widths(), share in shares(), actions in actions()) {
        let folder = tempfile::tempdir().unwrap();
        let backend = crate::state::Fjall::at(folder.path()).memory_limit(16 << 20);
        what_is_written_is_what_was_open(width, Some((&backend, share)), actions);
    }
}

/// What a sender has merged is news also for a pane that a checkpoint has seen empty, and leaves the memory as such.
#[test]
fn a_pane_that_was_empty_adopts() {
    let backend = MapBackend::with_limit(0);
    let mut both = Both::new(0, Some((&backend, 0)));
    let adopted = (0..150).collect();
    let actions = [Do::Take(0, vec![]), Do::Begin(true), Do::Slice(usize::MAX), Do::Adopt(0, adopted)];
    actions.into_iter().for_each(|action| both.act(action));
    for action in [Do::Take(0, vec![200]), Do::Begin(false), Do::Slice(usize::MAX)] {
        both.act(action);
    }
    assert_eq!(both.last.values().map(|pane| pane.1.len()).sum::<usize>(), 151);
}

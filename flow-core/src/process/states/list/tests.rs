//! Long lists, whose pages lie in checkpoints and with a state backend: they are what a plain list would be, and an update costs the same however long
//! they are.

mod cost;
mod reading;

use super::super::{Entries, Moment};
use super::{ListState, Now, Ttl};
use crate::checkpoint::records::{Part, Record, Records, apart, merge};
use crate::checkpoint::{Groups, Had, each_entry};
use crate::exchange::{KEY_GROUPS, hash_key, key_group};
use crate::state::pages::{Limits, PAGES, with_limits};
use crate::state::{Durable, KeyTable, Space, StateBackend, read_all};
use crate::testing::MapBackend;
use crate::time::Millis;
use proptest::prelude::*;
use std::collections::{BTreeMap, VecDeque};

type Table = KeyTable<u64, (ListState<u64>, u64), Durable>;

/// The name of the section of entries.
const STATES: &[u8] = &[0];

#[derive(Debug, Clone)]
enum Do {
    Push(u64, usize),
    Pop(u64, usize),
    Iter(u64),
    /// What has expired goes, and nothing else happens.
    Look(u64),
    /// Those that are even, or most.
    Retain(u64, bool),
    Clear(u64),
    /// Another list in its place.
    Replace(u64),
    /// The key goes.
    Remove(u64),
    /// What is in memory goes to the store.
    Leave,
    Pass(i64),
    /// A checkpoint begins; what is left of the one before is written first.
    Begin(bool),
    Slice(usize),
    /// All is made again from the last checkpoint, in so many instances, with a store or without.
    Restore(usize, bool),
}

fn actions() -> impl Strategy<Value = Vec<Do>> {
    let key = || 0..4u64;
    let action = prop_oneof![
        10 => (key(), 0..40usize).prop_map(|(k, n)| Do::Push(k, n)),
        6 => (key(), 0..30usize).prop_map(|(k, n)| Do::Pop(k, n)),
        2 => key().prop_map(Do::Iter),
        3 => key().prop_map(Do::Look),
        2 => (key(), any::<bool>()).prop_map(|(k, most)| Do::Retain(k, most)),
        1 => key().prop_map(Do::Clear),
        1 => key().prop_map(Do::Replace),
        1 => key().prop_map(Do::Remove),
        8 => Just(Do::Leave),
        3 => (1..30i64).prop_map(Do::Pass),
        5 => any::<bool>().prop_map(Do::Begin),
        6 => (0..200usize).prop_map(Do::Slice),
        2 => (1..4usize, any::<bool>()).prop_map(|(n, store)| Do::Restore(n, store)),
    ];
    prop::collection::vec(action, 0..60)
}

/// A list as it should be: values and when they were written.
type Model = BTreeMap<u64, VecDeque<(u64, i64)>>;

/// Two keys are in one group.
fn hash(key: &u64) -> u64 {
    if *key < 2 { hash_key(key) & !0xff } else { hash_key(key) }
}

/// A table, and its store if it has one.
fn table(store: bool) -> (Table, Option<Space>) {
    let space = store.then(|| {
        let store = MapBackend::with_limit(0).begin("tested", 1).unwrap().open("table").unwrap();
        Space::new(store, 0, |error| panic!("{error}"))
    });
    let mut table = Table::default();
    table.page(space.clone(), hash).unwrap();
    (table, space)
}

struct Both {
    ttl: Option<Ttl>,
    now: i64,
    tables: Vec<(Table, Option<Space>)>,
    model: Model,
    flight: Option<(Vec<Groups>, Model)>,
    history: BTreeMap<usize, Vec<Vec<u8>>>,
    last: Model,
    /// Of these tables.
    checkpoints: usize,
    next: u64,
}

impl Both {
    fn new(ttl: Option<Ttl>, instances: usize, store: bool) -> Self {
        Both {
            ttl,
            now: 100,
            tables: (0..instances).map(|_| table(store)).collect(),
            model: Model::new(),
            flight: None,
            history: BTreeMap::new(),
            last: Model::new(),
            checkpoints: 0,
            next: 0,
        }
    }

    fn table(&mut self, key: u64) -> &mut Table {
        let instances = self.tables.len();
        &mut self.tables[key_group(hash(&key)) % instances].0
    }

    /// Does something with the list of a key and the same with the model's.
    fn with<R>(
        &mut self,
        key: u64,
        f: impl FnOnce(&mut ListState<u64>, &mut VecDeque<(u64, i64)>, i64) -> R,
    ) -> R {
        let (ttl, now) = (self.ttl, self.now);
        let mut own = self.model.remove(&key).unwrap_or_default();
        let table = self.table(key);
        table.reserve(1, hash);
        let (list, count) =
            &mut table.entry(hash(&key), |k| *k == key, |a, b| a == b, || key, Default::default).1;
        *count += 1;
        if let Some(ttl) = ttl {
            let before = own.len();
            own.retain(|entry| !ttl.is_over(entry.1, now));
            assert_eq!(list.at(ttl, Now { read: now, write: now }), (before - own.len()) as u64);
        }
        let done = f(list, &mut own, if ttl.is_some() { now } else { i64::MIN });
        assert_eq!((list.len(), list.is_empty()), (own.len(), own.is_empty()));
        if ttl.is_some() {
            let oldest = own.iter().map(|entry| entry.1).min();
            // It may be asked before it is necessary.
            assert_eq!(list.first().is_some(), oldest.is_some());
            assert!(list.first() <= oldest.and_then(|at| ttl.unwrap().end(at)));
        }
        self.model.insert(key, own);
        done
    }

    fn act(&mut self, action: Do) {
        match action {
            Do::Push(key, n) => {
                let from = self.next;
                self.next += n as u64;
                self.with(key, |list, own, now| {
                    for value in from..from + n as u64 {
                        list.push(value);
                        own.push_back((value, now));
                    }
                });
            }
            Do::Pop(key, n) => self.with(key, |list, own, _| {
                (0..n).for_each(|_| assert_eq!(list.pop_front(), own.pop_front().map(|e| e.0)));
            }),
            Do::Iter(key) => self.compare(key),
            Do::Look(key) => self.with(key, |_, _, _| ()),
            Do::Retain(key, most) => self.with(key, |list, own, _| {
                let keep = |value: u64| if most { !value.is_multiple_of(9) } else { value.is_multiple_of(2) };
                list.retain(|value| keep(*value));
                own.retain(|entry| keep(entry.0));
            }),
            Do::Clear(key) => self.with(key, |list, own, _| {
                list.clear();
                own.clear();
            }),
            Do::Replace(key) => self.with(key, |list, own, _| {
                *list = ListState::new();
                own.clear();
            }),
            Do::Remove(key) => {
                self.table(key).remove(hash(&key), |k| *k == key, hash);
                self.model.remove(&key);
            }
            Do::Leave => self.tables.iter_mut().for_each(|table| table.0.reserve(1, hash)),
            Do::Pass(time) => self.now += time,
            Do::Begin(whole) => self.begin(whole),
            Do::Slice(n) => drop(self.slice(n)),
            Do::Restore(instances, store) => {
                while !self.slice(usize::MAX) {}
                self.tables = self.restored(instances, store);
                (self.model, self.checkpoints) = (self.last.clone(), 0);
            }
        }
    }

    fn compare(&mut self, key: u64) {
        let renews = self.ttl.is_some_and(|ttl| ttl.renews);
        self.with(key, |list, own, now| {
            let listed: Vec<u64> = list.iter().copied().collect();
            assert_eq!(listed, own.iter().map(|e| e.0).collect::<Vec<_>>());
            if renews {
                own.iter_mut().for_each(|entry| entry.1 = now);
            }
        });
    }

    fn begin(&mut self, whole: bool) {
        while !self.slice(usize::MAX) {}
        let whole = whole || self.checkpoints == 0;
        self.checkpoints += 1;
        let all: Vec<usize> = (0..KEY_GROUPS).collect();
        let mut parts = Vec::new();
        for (table, _) in &mut self.tables {
            let groups = Groups::in_memory(whole, &all, Had::default());
            table.begin_save_as(&groups, Part::Head, STATES, hash).unwrap();
            parts.push(groups);
        }
        if whole {
            self.history.clear();
        }
        self.flight = Some((parts, self.model.clone()));
    }

    /// Whether nothing is in flight any more.
    fn slice(&mut self, n: usize) -> bool {
        if !self.tables.iter_mut().all(|table| table.0.save_more(&mut n.clone())) {
            return false;
        }
        let Some((parts, expected)) = self.flight.take() else { return true };
        for (group, bytes) in parts.iter().flat_map(|groups| groups.finish().unwrap()) {
            self.history.entry(group).or_default().push(bytes);
        }
        self.last = expected;
        let mut restored =
            Both { tables: self.restored(1, false), model: self.last.clone(), ..Both::new(None, 1, false) };
        let keys: Vec<u64> = restored.model.keys().copied().collect();
        for key in keys {
            restored.compare(key);
            restored.with(key, |list, own, _| {
                let written = list.entries.iter().map(|entry| entry.1.get());
                assert!(written.eq(own.iter().map(|entry| entry.1)), "times");
            });
        }
        true
    }

    /// Tables as they were at the last checkpoint.
    fn restored(&self, instances: usize, store: bool) -> Vec<(Table, Option<Space>)> {
        let mut tables: Vec<_> = (0..instances).map(|_| table(store)).collect();
        for (group, history) in &self.history {
            let bytes = apart(&merge(history).unwrap()).unwrap().head;
            let table = &mut tables[group % instances].0;
            let mut pages = table.restoring(*group).unwrap();
            let page = |name: &[u8], key: &[u8], value: &[u8]| {
                if name == PAGES { pages.page(key, value) } else { Ok(()) }
            };
            each_entry(&bytes, &mut { page }).unwrap();
            let mut add = |name: &[u8], key: &[u8], value: &[u8]| {
                if name == STATES {
                    let key = read_all::<Durable, u64>(key)?;
                    let mut value: (ListState<u64>, u64) = pages.read(|| read_all::<Durable, _>(value))?;
                    if let Some(ttl) = self.ttl {
                        assert_eq!(value.0.at(ttl, Moment::ANEW.on(ttl)), 0);
                    }
                    table.reserve(1, hash);
                    table.insert(hash(&key), (key, value));
                }
                Ok(())
            };
            each_entry(&bytes, &mut add).unwrap();
            assert_eq!(pages.finish(), 0, "pages that are nobody's");
        }
        tables
    }

    /// Nothing is left when all keys have gone: not in the stores, and not in checkpoints.
    fn end(mut self) {
        self.act(Do::Begin(false));
        while !self.slice(usize::MAX) {}
        let keys: Vec<u64> = self.model.keys().copied().collect();
        for key in keys {
            self.compare(key);
            self.act(Do::Leave);
            self.act(Do::Remove(key));
        }
        self.act(Do::Begin(false));
        while !self.slice(usize::MAX) {}
        for history in self.history.values() {
            let merged = merge(history).unwrap();
            assert_eq!(Records(&merged).filter(|r| matches!(r, Ok(Record::Put { .. }))).count(), 0);
        }
        for (_, space) in &self.tables {
            let mut left = 0;
            let mut count = |_: &[u8], _: &[u8]| {
                left += 1;
                true
            };
            if let Some(space) = space {
                space.store.scan(&[0], &[4], &mut count).unwrap();
            }
            assert_eq!(left, 0, "entries, pages or notes");
        }
    }
}

/// Pages of few elements.
const SMALL: Limits = Limits { few: 3, inline: 60, page: 40, elements: (2, 7), large: 2 };

fn lists_are_the_same(ttl: Option<Ttl>, instances: usize, store: bool, actions: Vec<Do>) {
    with_limits(SMALL, || {
        let mut both = Both::new(ttl, instances, store);
        actions.into_iter().for_each(|action| both.act(action));
        both.end();
    });
}

fn ttls() -> impl Strategy<Value = Option<Ttl>> {
    let ttl = Ttl::new(Millis(40));
    prop_oneof![2 => Just(None), 2 => Just(Some(ttl)), 1 => Just(Some(ttl.renewed_by_reading()))]
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_list_in_pages_is_the_same(ttl in ttls(), instances in 1..3usize, store in any::<bool>(), actions in actions()) {
        lists_are_the_same(ttl, instances, store, actions);
    }
}

/// A page that comes back because something might have expired in it, and has not, is in the next checkpoint as it had left.
#[test]
fn a_page_that_was_looked_at_is_not_lost() {
    let whole = [Do::Begin(true), Do::Slice(usize::MAX)];
    let changes = [Do::Begin(false), Do::Slice(usize::MAX)];
    let filled = [Do::Push(0, 20), Do::Pass(10), Do::Push(0, 20), Do::Leave];
    // The first page is in the store, without some of its elements.
    let popped = [Do::Pop(0, 20), Do::Leave, Do::Pass(35), Do::Look(0)];
    let actions = whole.into_iter().chain(filled).chain(changes.clone()).chain(popped).chain(changes);
    lists_are_the_same(Some(Ttl::new(Millis(40))), 1, true, actions.collect());
}

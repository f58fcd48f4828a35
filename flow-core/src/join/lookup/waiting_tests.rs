//! Elements that wait and are written while they come and go: what is written is what waited when that began.

use super::waiting::{Waiting, read};
use crate::checkpoint::records::{apart, merge};
use crate::checkpoint::{Groups, Had, each_entry};
use crate::exchange::{KEY_GROUPS, hash_key};
use crate::state::Durable;
use crate::time::Timestamp;
use crate::window::base::Item;
use proptest::prelude::*;
use std::collections::{BTreeMap, VecDeque};

#[derive(Debug, Clone)]
enum Do {
    Push(u8),
    Pop(u8),
    /// The first is taken and put back.
    Look,
    /// One comes that has to wait in front although nothing waits.
    First,
    Begin(bool),
    Slice(usize),
}

fn actions() -> impl Strategy<Value = Vec<Do>> {
    let action = prop_oneof![
        4 => (0..9u8).prop_map(Do::Push),
        2 => (0..9u8).prop_map(Do::Pop),
        1 => Just(Do::Look),
        1 => Just(Do::First),
        2 => prop::bool::weighted(0.2).prop_map(Do::Begin),
        4 => (0..60usize).prop_map(Do::Slice),
    ];
    prop::collection::vec(action, 0..60)
}

#[derive(Default)]
struct Both {
    waiting: Waiting<u64, String, Durable>,
    model: VecDeque<u64>,
    flight: Option<(Groups, VecDeque<u64>)>,
    history: BTreeMap<usize, Vec<Vec<u8>>>,
    checkpoints: usize,
    next: u64,
}

fn item(n: u64) -> Item<u64, String> {
    Item { hash: hash_key(&n), time: Timestamp(-(n as i64)), route: n, load: n.to_string() }
}

impl Both {
    fn act(&mut self, action: Do) {
        match action {
            Do::Push(n) => {
                for _ in 0..n {
                    self.next += 1;
                    self.waiting.push(item(self.next));
                    self.model.push_back(self.next);
                }
            }
            Do::Pop(n) => {
                for _ in 0..n {
                    assert_eq!(self.waiting.pop().map(|item| item.route), self.model.pop_front());
                }
            }
            Do::Look => {
                if let Some(first) = self.waiting.pop() {
                    self.waiting.put_back(first);
                }
            }
            Do::First if self.model.is_empty() => {
                self.next += 1;
                self.waiting.put_back(item(self.next));
                self.model.push_back(self.next);
            }
            Do::First => {}
            Do::Begin(whole) => {
                while !self.slice(usize::MAX) {}
                // The first one is always whole.
                let whole = whole || self.checkpoints == 0;
                self.checkpoints += 1;
                let groups = Groups::in_memory(whole, &(0..KEY_GROUPS).collect::<Vec<_>>(), Had::default());
                self.waiting.begin_save(&groups, &[1]).unwrap();
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
        if !self.waiting.save_more(&mut n.clone()) {
            return false;
        }
        let Some((groups, expected)) = self.flight.take() else { return true };
        for (group, bytes) in groups.finish().unwrap() {
            self.history.entry(group).or_default().push(bytes);
        }
        let mut found = Vec::new();
        for history in self.history.values() {
            let head = apart(&merge(history).unwrap()).unwrap().head;
            each_entry(&head, &mut |section, key, value| {
                assert_eq!(section, [1]);
                let (number, left) = read::<Durable, u64, String>(key, value, hash_key)?;
                assert_eq!(
                    (&left.load, left.time),
                    (&left.route.to_string(), Timestamp(-(left.route as i64)))
                );
                found.push((number, left.route));
                Ok(())
            })
            .unwrap();
        }
        found.sort_unstable();
        assert_eq!(found.iter().map(|found| found.1).collect::<VecDeque<_>>(), expected);
        true
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_is_written_is_what_waited_at_the_barrier(actions in actions()) {
        let mut both = Both::default();
        actions.into_iter().for_each(|action| both.act(action));
        both.act(Do::Begin(false));
        both.act(Do::Slice(usize::MAX));
        prop_assert!(both.flight.is_none());
    }
}

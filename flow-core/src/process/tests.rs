//! What an instance keeps beside the states of its keys.

use super::head::ProcessHead;
use super::states::{Held, Timed, TimedEntries};
use super::{ListState, Ttl};
use crate::exchange::hash_key;
use crate::join::testing::Writer;
use crate::op::key_fn::ByPair;
use crate::op::kind::Volatile;
use crate::op::rolling::Item;
use crate::prelude::*;
use crate::stage::meta::Meta;
use crate::stage::{Fire, Head};
use crate::testing::{Step, script};

type Key = Option<u8>;

/// Takes records of keys, each at its own time, a hundred between two watermarks; returns the most that was watched behind a
/// watermark, and how much of that and how many keys there are at last. Keys have two values and a list that live for an hour: `clear` forgets them, `replace` puts a
/// new list in the place of the list, anything else writes all.
fn most_watched(records: impl Iterator<Item = (Key, &'static str)>) -> (usize, usize) {
    type Seen<'a> = (Held<'a, u32>, (&'a mut ListState<u32>, (Held<'a, u32>, ())));
    let ttl = Ttl::new(Millis(3_600_000)).on_watermark();
    let list = TimedEntries::new(ListState::<u32>::new, ttl);
    let states = (Timed::new(|| 0, ttl), (list, (Timed::new(|| 0, ttl), ())));
    let process = script(Vec::<Step<(Key, &'static str)>>::new()).key_by(|x| x.0).declare(states).on_event(
        |(mut value, (list, (mut other, ()))): Seen<'_>, (key, what): (Key, &'static str), ctx| {
            match what {
                "clear" => ctx.clear(),
                "replace" => *list = ListState::new(),
                "emit" => ctx.emit((key, 0)),
                _ => (*value, *other) = (1, 1),
            }
            list.push(1);
        },
    );
    type Of = ByPair<Key, (Key, &'static str)>;
    let meta = Meta::new("process");
    let mut head = ProcessHead::<_, Of, _, Timestamp, _, Volatile>::new(
        Of::new(),
        process.closures,
        Writer::new().0,
        meta,
    );
    let (mut most, mut now) = (0, 0);
    let records: Vec<_> = records.collect();
    for some in records.chunks(100) {
        let items = some.iter().map(|(key, what)| (hash_key(key), *key, (*key, *what), Timestamp(now)));
        let items: Vec<Item<(Key, (Key, &'static str)), Of, Timestamp>> = items.collect();
        head.items(0, &mut items.into_iter(), some.len());
        now += 1;
        head.watermark(Timestamp(now));
        while head.fire() == Fire::Paused {}
        most = most.max(head.kept().0);
    }
    // An hour later all has expired.
    head.watermark(Timestamp(now + 3_600_000));
    while head.fire() == Fire::Paused {}
    let (watched, keys) = head.kept();
    (most, watched + keys)
}

/// What there is room for without looking.
const ROOM: usize = 1024 + 100 * 3;

#[test]
fn a_key_that_is_written_and_cleared_again_and_again_is_watched_as_one() {
    let records = (0..200_000).map(|i| (Some(1), if i % 2 == 0 { "write" } else { "clear" }));
    let (most, last) = most_watched(records);
    assert!(most <= ROOM + 2 * 3, "{most} of one key with three states");
    assert_eq!(last, 0, "nothing is watched of what has gone");
}

#[test]
fn a_state_that_is_replaced_again_and_again_is_watched_once() {
    let (most, last) = most_watched((0..50_000).map(|_| (Some(1), "replace")));
    assert!(most <= ROOM + 2, "{most} of one key with one state");
    assert_eq!(last, 0);
}

#[test]
fn keys_that_stay_are_watched_among_many_that_do_not() {
    let of = |i: u32| match i % 4 {
        0 => (Some((i / 4 % 100) as u8), "write"),
        1 => (Some((100 + i / 4 % 100) as u8), "replace"),
        2 => (Some(200), "write"),
        _ => (Some(200), "clear"),
    };
    let (most, last) = most_watched((0..100_000).map(of));
    assert!(most <= ROOM + 2 * 201 * 3, "{most} of 201 keys with three states");
    assert_eq!(last, 0, "what stayed has expired too");
}

//! Random elements of both sides on a clock that moves between them, against a model that keeps all and looks at their ages.

use super::head::ForeverHead;
use crate::checkpoint::records::apart;
use crate::checkpoint::{Groups, Had};
use crate::exchange::KEY_GROUPS;
use crate::join::testing::{Arrival, Writer, arrivals, cases, item};
use crate::op::kind::Volatile;
use crate::stage::Head;
use crate::stage::meta::Meta;
use crate::state::Durable;
use crate::time::{Millis, Timestamp, VirtualClock};
use proptest::prelude::*;
use std::sync::Arc;

/// The rows, and how many elements have expired, where each watermark stands for a moment of the clock.
fn model(ttl: Option<i64>, arrivals: &[Arrival]) -> (Vec<String>, usize) {
    let (mut rows, mut now, mut kept) = (Vec::new(), 0, Vec::<(i64, Arrival)>::new());
    for arrival in arrivals {
        let Arrival::Element { left, key, time, name } = *arrival else {
            now += 4;
            continue;
        };
        for (since, other) in &kept {
            let Arrival::Element { left: on_left, key: of, time: at, name: called } = *other else {
                continue;
            };
            let alive = ttl.is_none_or(|ttl| since + ttl > now);
            if left != on_left && key == of && key.is_some() && alive {
                let (l, r) = if left { (name, called) } else { (called, name) };
                rows.push(format!("{key:?} {l}+{r} at {}", time.max(at)));
            }
        }
        if key.is_some() {
            kept.push((now, *arrival));
        }
    }
    let expired = kept.iter().filter(|(since, _)| ttl.is_some_and(|ttl| since + ttl <= now)).count();
    (rows, expired)
}

/// After a restart with a shorter time to live what is younger may go first: that it has not been taken out does not matter.
#[test]
fn what_has_lived_long_enough_meets_nobody() {
    let head = |ttl, clock: &Arc<VirtualClock>| {
        let (writer, shown) = Writer::new();
        let mut head = ForeverHead::<Option<u8>, u32, u32, Timestamp, _, Durable>::new(
            Some(Millis(ttl)),
            writer,
            Meta::new("forever"),
        );
        let mut cx = crate::stage::tests::open_cx_of(&[1, 1]);
        cx.clock = clock.clone();
        head.open(&mut cx).expect("it opens");
        (head, shown)
    };
    let element = |left, name| item(Arrival::Element { left, key: Some(1), time: 3, name }).into_iter();
    let clock = Arc::new(VirtualClock::new());
    let (mut before, _) = head(100, &clock);
    before.items(0, &mut element(true, 7).collect::<Vec<_>>().into_iter(), 1);
    let (mut after, shown) = head(5, &clock);
    let groups = Groups::in_memory(true, &(0..KEY_GROUPS).collect::<Vec<_>>(), Had::default());
    before.begin_save(&groups).expect("it is written");
    assert!(before.save_more(&mut usize::MAX.clone()));
    for (group, bytes) in groups.finish().expect("it is written") {
        after.restore(group, &apart(&bytes).expect("records").head).expect("it is read");
    }
    after.items(0, &mut element(true, 8).collect::<Vec<_>>().into_iter(), 1);
    clock.advance_to(5);
    after.items(0, &mut element(false, 9).collect::<Vec<_>>().into_iter(), 1);
    assert_eq!(*shown.lock().expect("no writer panics"), ["Some(1) 7+9 at 3"]);
}

proptest! {
    #![proptest_config(cases())]

    #[test]
    fn joins_for_ever_are_those_of_the_model(ttl in proptest::option::of(1i64..20), arrivals in arrivals()) {
        let (writer, shown) = Writer::new();
        let meta = Meta::new("forever");
        let mut head = ForeverHead::<Option<u8>, u32, u32, Timestamp, _, Volatile>::new(ttl.map(Millis), writer, meta);
        let clock = Arc::new(VirtualClock::new());
        let mut cx = crate::stage::tests::open_cx_of(&[1, 1]);
        cx.clock = clock.clone();
        head.open(&mut cx).expect("it opens");
        let mut now = 0;
        for arrival in &arrivals {
            match item(*arrival) {
                Some(item) => head.items(0, &mut vec![item].into_iter(), 1),
                None => {
                    now += 4;
                    clock.advance_to(now);
                }
            }
        }
        head.overdue();
        let expired = cx.metrics().counter(&format!("{}.expired", meta.id())).get();
        let (rows, gone) = model(ttl, &arrivals);
        prop_assert_eq!(&*shown.lock().expect("no writer panics"), &rows);
        prop_assert_eq!(expired as usize, gone);
    }
}

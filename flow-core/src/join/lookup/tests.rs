//! Random elements of both sides against a model that has the whole table before it looks.

use super::head::LookupHead;
use crate::batch::{Batch, Mark};
use crate::join::form::{Inner, Leading, LeftOuter};
use crate::join::side::Crossing;
use crate::join::testing::{Arrival, Shown, Writer, arrivals, cases, item};
use crate::op::kind::Volatile;
use crate::stage::meta::Meta;
use crate::stage::{Fire, Head, HeadStage, Stage, Step};
use crate::time::Timestamp;
use proptest::prelude::*;

/// The rows of all left elements in their order, whatever of the table came when.
fn model(outer: bool, arrivals: &[Arrival]) -> Vec<String> {
    let elements = |on_left: bool| {
        arrivals.iter().filter_map(move |arrival| match *arrival {
            Arrival::Element { left, key, time, name } if left == on_left => Some((key, time, name)),
            _ => None,
        })
    };
    let mut rows = Vec::new();
    for (key, time, name) in elements(true) {
        let found = elements(false).filter(|(k, ..)| *k == key && key.is_some());
        let found: Vec<String> = found.map(|(.., right)| right.to_string()).collect();
        let none = if outer && found.is_empty() { vec!["-".to_owned()] } else { Vec::new() };
        rows.extend(found.iter().chain(&none).map(|right| format!("{key:?} {name}+{right} at {time}")));
    }
    rows
}

/// What the head makes of the elements of both inputs, of which the right one ends behind so many arrivals of either (or last).
fn drive<F: Leading<u32, u32, Out: Shown>>(arrivals: &[Arrival], end: usize) -> Vec<String> {
    let (writer, shown) = Writer::new();
    let mut head =
        LookupHead::<Option<u8>, u32, u32, F, Timestamp, _, Volatile>::new(writer, Meta::new("lookup"));
    head.open(&mut crate::stage::tests::open_cx_of(&[1, 1])).expect("it opens");
    let is_right = |arrival: &Arrival| matches!(arrival, Arrival::Element { left: false, .. });
    let end = end.max(arrivals.iter().rposition(is_right).map_or(0, |last| last + 1));
    let fire = |head: &mut LookupHead<_, _, _, F, _, _, _>| {
        if head.overdue() {
            while head.fire() == Fire::Paused {}
        }
    };
    for (i, arrival) in arrivals.iter().enumerate() {
        if i == end {
            head.ended(1);
            fire(&mut head);
        }
        match *arrival {
            Arrival::Watermark(w) => {
                head.watermark(Timestamp(w));
                while head.fire() == Fire::Paused {}
                let passes = head.passes(Timestamp(w));
                head.tail().mark(Mark::Watermark(passes));
            }
            Arrival::Other => while head.fire() == Fire::Paused {},
            element => head.items(0, &mut vec![item(element).expect("an element")].into_iter(), 1),
        }
    }
    if end >= arrivals.len() {
        head.ended(1);
        fire(&mut head);
    }
    let shown = shown.lock().expect("no writer panics").clone();
    // Each watermark that is passed on stands behind the elements that came before it: their rows are counted.
    shown.into_iter().filter(|row| !row.starts_with('W')).collect()
}

proptest! {
    #![proptest_config(cases())]

    #[test]
    fn lookups_are_those_of_the_model(outer in any::<bool>(), arrivals in arrivals(), end in 0usize..50) {
        let shown = if outer { drive::<LeftOuter>(&arrivals, end) } else { drive::<Inner>(&arrivals, end) };
        prop_assert_eq!(shown, model(outer, &arrivals));
    }
}

/// Left elements wait for the table, so it is not said that both inputs are idle before they have left.
#[test]
fn a_lookup_is_not_idle_while_elements_wait() {
    let (writer, shown) = Writer::new();
    let head = LookupHead::<Option<u8>, u32, u32, LeftOuter, Timestamp, _, Volatile>::new(
        writer,
        Meta::new("lookup"),
    );
    let mut stage = HeadStage::new::<Crossing<Option<u8>, u32, u32>, _>(head);
    stage.open(&mut crate::stage::tests::open_cx_of(&[1, 1])).expect("it opens");
    let mut offer = |input, arrival: Option<Arrival>, marks: &[Mark]| {
        let items: Vec<_> = arrival.and_then(item).into_iter().collect();
        let at = items.len();
        stage.offer(input, Batch::new(items, marks.iter().map(|mark| (at, *mark)).collect()));
        while !matches!(stage.step().expect("a step"), Step::Hungry | Step::Done) {}
        shown.lock().expect("no writer panics").clone()
    };
    let element = |left, name| Some(Arrival::Element { left, key: Some(1), time: 1, name });
    let w = Mark::Watermark(Timestamp(1));
    assert!(offer(0, element(true, 7), &[w, Mark::Idle]).is_empty());
    assert!(offer(1, element(false, 8), &[w, Mark::Idle]).is_empty(), "nothing has left");
    assert_eq!(offer(1, None, &[Mark::End]), ["Some(1) 7+8 at 1", "W1", "Idle"]);
}

//! Random elements of both sides against a model that has the whole table before it looks.

use super::head::LookupHead;
use crate::batch::{Batch, Mark};
use crate::join::form::{Inner, Leading, LeftOuter};
use crate::join::side::Crossing;
use crate::join::testing::{Arrival, Shown, Writer, arrivals, cases, item};
use crate::op::kind::Volatile;
use crate::stage::meta::Meta;
use crate::stage::{HeadStage, Stage, Step};
use crate::time::Timestamp;
use proptest::prelude::*;

/// What comes out: the rows of all left elements in their order, whatever of the table came when, and watermarks: before the table is
/// whole none, then behind what has waited the highest, then each that rises.
fn model(outer: bool, arrivals: &[Arrival], end: usize) -> Vec<String> {
    let right = |arrival: &Arrival| match *arrival {
        Arrival::Element { left: false, key, name, .. } => Some((key, name)),
        _ => None,
    };
    let table: Vec<_> = arrivals.iter().filter_map(right).collect();
    let (mut shown, mut highest, mut passed) = (Vec::new(), i64::MIN, i64::MIN);
    for (i, arrival) in arrivals.iter().map(Some).chain([None]).enumerate() {
        if i == end.min(arrivals.len()) && highest > passed {
            passed = highest;
            shown.push(format!("W{highest}"));
        }
        match arrival {
            Some(Arrival::Watermark(w)) => highest = highest.max(*w),
            Some(Arrival::Element { left: true, key, time, name }) => {
                let found = table.iter().filter(|(k, _)| k == key && key.is_some());
                let found: Vec<String> = found.map(|(_, right)| right.to_string()).collect();
                let none = if outer && found.is_empty() { vec!["-".to_owned()] } else { Vec::new() };
                let rows = found.iter().chain(&none);
                shown.extend(rows.map(|right| format!("{key:?} {name}+{right} at {time}")));
            }
            _ => {}
        }
        if i >= end && highest > passed {
            passed = highest;
            shown.push(format!("W{highest}"));
        }
    }
    shown.extend([format!("W{}", i64::MAX), "End".to_owned()]);
    shown
}

/// What the stage makes of both inputs, of which the right one ends behind so many arrivals of either; where something else arrives
/// the right one is idle, until its next element.
fn drive<F: Leading<u32, u32, Out: Shown>>(arrivals: &[Arrival], end: usize) -> Vec<String> {
    let (writer, shown) = Writer::new();
    let head =
        LookupHead::<Option<u8>, u32, u32, F, Timestamp, _, Volatile>::new(writer, Meta::new("lookup"));
    let mut stage = HeadStage::new::<Crossing<Option<u8>, u32, u32>, _>(head);
    stage.open(&mut crate::stage::tests::open_cx_of(&[1, 1])).expect("it opens");
    let mut offer = |input, arrival: Option<Arrival>, marks: &[Mark]| {
        let items: Vec<_> = arrival.and_then(item).into_iter().collect();
        // Before the element it is active again, behind it is what else is said.
        let at = |mark: &Mark| if *mark == Mark::Active { 0 } else { items.len() };
        let marks = marks.iter().map(|mark| (at(mark), *mark)).collect();
        stage.offer(input, Batch::new(items, marks));
        while !matches!(stage.step().expect("a step"), Step::Hungry | Step::Done) {}
    };
    let mut idle = false;
    for (i, arrival) in arrivals.iter().enumerate() {
        if i == end {
            offer(1, None, &[Mark::End]);
        }
        match *arrival {
            Arrival::Watermark(w) => offer(0, None, &[Mark::Watermark(Timestamp(w))]),
            Arrival::Other if i < end => {
                if !std::mem::replace(&mut idle, true) {
                    offer(1, None, &[Mark::Idle]);
                }
            }
            Arrival::Other => {}
            Arrival::Element { left: true, .. } => offer(0, Some(*arrival), &[]),
            Arrival::Element { left: false, .. } => {
                let active: &[Mark] = if std::mem::take(&mut idle) { &[Mark::Active] } else { &[] };
                offer(1, Some(*arrival), active);
            }
        }
    }
    if end >= arrivals.len() {
        offer(1, None, &[Mark::End]);
    }
    offer(0, None, &[Mark::End]);
    let shown = shown.lock().expect("no writer panics").clone();
    last_of_each_run(shown)
}

/// Without watermarks that another follows at once: one that came while the right side was idle says nothing beside a higher one.
fn last_of_each_run(shown: Vec<String>) -> Vec<String> {
    let watermark = |row: &String| row.strip_prefix('W').map(|w| w.parse::<i64>().expect("a watermark"));
    let follows = |i: usize| match (watermark(&shown[i]), shown.get(i + 1).and_then(watermark)) {
        (Some(w), Some(next)) => {
            assert!(w < next, "W{next} follows W{w}");
            true
        }
        _ => false,
    };
    (0..shown.len()).filter(|i| !follows(*i)).map(|i| shown[i].clone()).collect()
}

proptest! {
    #![proptest_config(cases())]

    #[test]
    fn lookups_are_those_of_the_model(outer in any::<bool>(), arrivals in arrivals(), end in 0usize..50) {
        let is_right = |arrival: &Arrival| matches!(arrival, Arrival::Element { left: false, .. });
        let end = end.max(arrivals.iter().rposition(is_right).map_or(0, |last| last + 1));
        let shown = if outer { drive::<LeftOuter>(&arrivals, end) } else { drive::<Inner>(&arrivals, end) };
        prop_assert_eq!(shown, last_of_each_run(model(outer, &arrivals, end)));
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

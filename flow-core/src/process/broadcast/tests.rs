//! Random arrivals of both streams in one order, against a model that looks for the next timer among all.

use super::head::{BroadcastHead, Crossing};
use super::{BroadcastContext, BroadcastProcess};
use crate::exchange::hash_key;
use crate::join::testing::{Arrival, Writer, arrivals, cases};
use crate::op::Either;
use crate::op::kind::Volatile;
use crate::op::operator::OpError;
use crate::process::{Context, EventTimers};
use crate::stage::meta::Meta;
use crate::stage::{Fire, Head};
use crate::time::{Millis, Timestamp};
use proptest::prelude::*;
use std::collections::BTreeMap;

type Key = Option<u8>;

/// Adds up the records of a key; what all get depends on their order.
#[derive(Clone)]
struct Sums;

const fn shuffled(shared: u32, name: u32) -> u32 {
    shared.wrapping_mul(31).wrapping_add(name + 1)
}

impl BroadcastProcess<Key, u32, u32> for Sums {
    type State = u32;
    type Shared = u32;
    type Out = (Key, (u32, u32));
    type Timers = EventTimers;
    fn state(&self) -> u32 {
        0
    }
    fn shared(&self) -> u32 {
        7
    }
    fn event(
        &mut self,
        name: u32,
        sum: &mut u32,
        shared: &u32,
        ctx: &mut Context<'_, Key, Self::Out>,
    ) -> Result<(), OpError> {
        *sum += name;
        ctx.emit((*ctx.key(), (*sum, *shared)));
        ctx.set_timer(ctx.timestamp() + Millis(5));
        Ok(())
    }
    fn broadcast(&mut self, name: u32, shared: &mut u32, _: &BroadcastContext) -> Result<(), OpError> {
        *shared = shuffled(*shared, name);
        Ok(())
    }
    fn timer(
        &mut self,
        _: Timestamp,
        sum: &mut u32,
        shared: &u32,
        ctx: &mut Context<'_, Key, Self::Out>,
    ) -> Result<(), OpError> {
        *sum += 1_000;
        ctx.emit((*ctx.key(), (*sum, *shared)));
        Ok(())
    }
}

fn model(arrivals: &[Arrival]) -> Vec<String> {
    let (mut sums, mut shared, mut rows) = (BTreeMap::<Key, u32>::new(), 7, Vec::new());
    // When it is due, its key and time, in the order in which they were set.
    let mut timers: Vec<(i64, Key, i64)> = Vec::new();
    let mut watermark = i64::MIN;
    for arrival in arrivals.iter().copied().chain([Arrival::Watermark(i64::MAX)]) {
        match arrival {
            Arrival::Element { left: false, name, .. } => shared = shuffled(shared, name),
            Arrival::Element { key, time, name, .. } => {
                let sum = sums.entry(key).or_default();
                *sum += name;
                rows.push(format!("{key:?} {sum}+{shared} at {time}"));
                let at = time + 5;
                if !timers.iter().any(|timer| (timer.1, timer.2) == (key, at)) {
                    timers.push((at.max(watermark.saturating_add(1)), key, at));
                }
            }
            Arrival::Other => {}
            Arrival::Watermark(w) => {
                watermark = watermark.max(w);
                let first = |timers: &[(i64, Key, i64)]| {
                    let due = timers.iter().enumerate().filter(|(_, timer)| timer.0 <= w);
                    due.min_by_key(|(set, timer)| (timer.0, timer.2, *set)).map(|(set, _)| set)
                };
                while let Some(first) = first(&timers) {
                    let (_, key, at) = timers.remove(first);
                    let sum = sums.entry(key).or_default();
                    *sum += 1_000;
                    rows.push(format!("{key:?} {sum}+{shared} at {at}"));
                }
            }
        }
    }
    rows
}

fn drive(arrivals: &[Arrival]) -> Vec<String> {
    let (writer, shown) = Writer::new();
    let mut head =
        BroadcastHead::<Key, u32, u32, Sums, Timestamp, _, Volatile>::new(Sums, writer, Meta::new("process"));
    for arrival in arrivals.iter().copied().chain([Arrival::Watermark(i64::MAX)]) {
        match arrival {
            // The head is asked although time has not gone on.
            Arrival::Other => while head.fire() == Fire::Paused {},
            Arrival::Watermark(w) => {
                head.watermark(Timestamp(w));
                while head.fire() == Fire::Paused {}
            }
            Arrival::Element { left, key, time, name } => {
                let load = if left { Either::A((hash_key(&key), key, name)) } else { Either::B(name) };
                let item: Crossing<Key, u32, u32, Timestamp> = (Timestamp(time), load);
                head.items(0, &mut vec![item].into_iter(), 1);
            }
        }
    }
    let shown = shown.lock().expect("no writer panics");
    shown.clone()
}

proptest! {
    #![proptest_config(cases())]

    #[test]
    fn what_a_process_sees_is_what_has_come(arrivals in arrivals()) {
        // The model counts in plain numbers: the ends of time are left to the joins.
        let plain = |time: i64| time.unsigned_abs() < 1 << 40;
        let arrivals: Vec<Arrival> = arrivals.into_iter().filter(|one| match one {
            Arrival::Element { time, .. } | Arrival::Watermark(time) => plain(*time),
            Arrival::Other => true,
        }).collect();
        prop_assert_eq!(drive(&arrivals), model(&arrivals));
    }
}

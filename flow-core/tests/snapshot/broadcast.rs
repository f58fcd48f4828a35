//! The even values of each key beside all odd ones: both sides are one stream.

use crate::Fed;
use crate::{Record, Shown, show};
use flow_core::op::operator::OpError;
use flow_core::prelude::*;

/// Sums of what is not after a timer.
#[derive(Clone)]
struct Sums;

type Row = (u16, i64, i64, i64);

fn until(at: i64, records: &[(i64, i64)]) -> i64 {
    records.iter().filter(|r| r.0 <= at).map(|r| r.1).sum()
}

impl BroadcastProcess<u16, Record, Record> for Sums {
    type State = Vec<(i64, i64)>;
    type Shared = Vec<(i64, i64)>;
    type Out = Row;
    type Timers = EventTimers;
    fn state(&self) -> Self::State {
        Vec::new()
    }
    fn shared(&self) -> Self::Shared {
        Vec::new()
    }
    fn event(
        &mut self,
        (_, value, time): Record,
        own: &mut Self::State,
        _: &Self::Shared,
        ctx: &mut ProcessContext<'_, u16, Row>,
    ) -> std::result::Result<(), OpError> {
        own.push((time, value));
        ctx.set_timer(Timestamp(time) + Millis(200));
        Ok(())
    }
    fn broadcast(
        &mut self,
        (_, value, time): Record,
        all: &mut Self::Shared,
        _: &BroadcastContext,
    ) -> std::result::Result<(), OpError> {
        all.push((time, value));
        Ok(())
    }
    fn timer(
        &mut self,
        at: Timestamp,
        own: &mut Self::State,
        all: &Self::Shared,
        ctx: &mut ProcessContext<'_, u16, Row>,
    ) -> std::result::Result<(), OpError> {
        let at = at.millis();
        ctx.emit((*ctx.key(), at, until(at, own), until(at, all)));
        Ok(())
    }
}

pub fn beside_all(job: &mut Job, records: Fed, shown: Shown) {
    let timed = source(records).at_least_once().event_time(|r| r.2).disorder(Millis(50));
    let even = timed.root().filter(|r| r.1 % 2 == 0).key_by(|r| r.0);
    let odd = timed.root().filter(|r| r.1 % 2 != 0);
    let (left, right, both) = even.connect_broadcast(odd).apart();
    job.add(timed.tee(|o| o.both(left, right)));
    job.add(both.process(Sums).for_each(show(&shown)));
}

//! Joins of the even values of each key with the odd ones: both sides are one stream.

use crate::Fed;
use crate::{Record, Shown, show};
use flow_core::prelude::*;

/// The key, which some have not.
fn key(r: &Record) -> Option<u16> {
    Some(r.0).filter(|key| key % 5 != 0)
}

macro_rules! joined {
    ($($name:ident: $join:ident, |$joined:ident| $rows:expr;)*) => {$(
        pub fn $name(job: &mut Job, records: Fed, shown: Shown) {
            let timed = source(records).at_least_once().take(u64::MAX).event_time(|r| r.2).disorder(Millis(50));
            let even = timed.root().filter(|r| r.1 % 2 == 0).key_by(key);
            let odd = timed.root().filter(|r| r.1 % 2 != 0).key_by(key);
            let (left, right, $joined) = even.$join(odd).apart();
            let rows = $rows.for_each(show(&shown));
            job.add(timed.tee(|o| o.both(left, right)));
            job.add(rows);
        }
    )*};
}
joined! {
    in_windows: full_join, |joined| joined.window(tumbling(Millis(100)));
    in_sessions: left_join, |joined| joined.window(session(Millis(40)));
    within: full_join, |joined| joined.within(Millis(-60), Millis(90));
    as_of: left_join, |joined| joined.as_of();
    looked_up: left_join, |joined| joined.lookup();
    forever: join, |joined| joined.forever().map(|(key, (a, b))| (key, a.1, b.1));
    for_long: join, |joined| joined.forever().ttl(Millis(1_000_000)).map(|(key, (a, b))| (key, a.1, b.1));
}

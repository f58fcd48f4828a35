//! W4 and W5: event-time windows; count and sum per key and window.
//!
//! Renoir tells neither the bounds of a window nor aligns them to the epoch, so the checksum is of the counts and sums
//! alone and cannot agree with the others'.

use peer_common::elements::{DISORDER_MS, Ev, event, mix};
use peer_common::{Answer, Run};
use renoir::prelude::*;

use crate::run::{BATCH, context, strided, sum};

/// How far the watermark moves at a time, in milliseconds.
const STEP_MS: i64 = 100;

/// The watermark is given at each step of 100 ms.
pub fn run(run: &Run, window: EventTimeWindow) -> Answer {
    let (context, n) = (context(run), run.n);
    let hashes = context
        .stream_par_iter(move |first: u64, step: u64| strided(n, first, step))
        .batch_mode(BatchMode::fixed(BATCH))
        .map(event)
        .add_timestamps(|e| e.ts, {
            let (mut max, mut last) = (i64::MIN, None);
            move |_, ts: &i64| {
                max = max.max(*ts);
                let watermark = max - DISORDER_MS;
                let passed = *last.get_or_insert(watermark) + STEP_MS <= watermark;
                passed.then(|| {
                    last = Some(watermark);
                    watermark - 1
                })
            }
        })
        .group_by(|e| e.key)
        .window(window)
        .fold((0u64, 0u64), |sums: &mut (u64, u64), e: &Ev| {
            sums.0 += 1;
            sums.1 += e.val;
        })
        .unkey()
        .map(|(key, (count, sum))| mix(key ^ mix(count) ^ sum));
    sum(context, hashes)
}

//! The elements of the workloads W2 to W5 and W10.
//!
//! Generators are random access: element `i` does not depend on element `i − 1`, so any number of source partitions
//! gives the same elements.

/// A good hash of `i` (the finalizer of SplitMix64): the elements of W2, and the randomness of all others.
#[inline(always)]
pub fn mix(i: u64) -> u64 {
    let mut z = i.wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

/// W2, the first map.
#[inline(always)]
pub fn m1(x: u64) -> u64 {
    x.wrapping_mul(3).wrapping_add(1)
}

/// W2, the filter: three of four pass.
#[inline(always)]
pub fn p1(x: &u64) -> bool {
    (*x >> 7) & 3 != 0
}

/// W2, the second map.
#[inline(always)]
pub fn m2(x: u64) -> u64 {
    x ^ (x >> 33)
}

/// How many keys W3 has.
pub const KEYED_KEYS: u64 = 1_000_000;

/// W3: element `i` as (key, value).
#[inline(always)]
pub fn keyed(i: u64) -> (u64, u64) {
    let key = ((mix(i) >> 32) * KEYED_KEYS) >> 32;
    (key, (key.wrapping_mul(31) + 7) & 0xffff)
}

/// W10: the hash of one key's result, for the checksum.
#[inline(always)]
pub fn group_hash(key: u64, count: u64, sum: u64) -> u64 {
    window_hash(key, 0, count, sum)
}

/// W4 and W5: the timestamp of the first event, in milliseconds.
const FIRST_TS: i64 = 1_000_000;
/// W4 and W5: events per millisecond.
const EVENTS_PER_MS: u64 = 200;
/// W4 and W5: how many keys there are.
const EVENT_KEYS: u64 = 10_000;
/// W4 and W5: the watermark is the highest timestamp less this, in milliseconds; the jitter stays below it.
pub const DISORDER_MS: i64 = 100;
/// W4: the size of a window, in milliseconds.
pub const TUMBLING_MS: i64 = 1_000;
/// W5: the size of a window, in milliseconds.
pub const SLIDING_MS: i64 = 10_000;
/// W5: the slide of a window, in milliseconds.
pub const SLIDE_MS: i64 = 100;

/// An event of W4 and W5.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ev {
    /// One of ten thousand, by a cubic power law: low keys are frequent.
    pub key: u64,
    /// Event time in milliseconds.
    pub ts: i64,
    /// What is summed.
    pub val: u64,
}

/// W4 and W5: event `i`, up to 99 ms out of order.
#[inline(always)]
pub fn event(i: u64) -> Ev {
    let h = mix(i);
    let u = h >> 40;
    let cube = (((u * u) >> 24) * u) >> 24;
    let jitter = ((h & 0x3ff) % 100) as i64;
    Ev {
        key: (cube * EVENT_KEYS) >> 24,
        ts: FIRST_TS + (i / EVENTS_PER_MS) as i64 + jitter,
        val: (h >> 10) & 0xff,
    }
}

/// The hash of one window's result, for the checksum.
#[inline(always)]
pub fn window_hash(key: u64, window_start: i64, count: u64, sum: u64) -> u64 {
    mix(key
        .wrapping_mul(0x9E37_79B9)
        .wrapping_add((window_start as u64).wrapping_mul(0x85EB_CA6B))
        .wrapping_add(count.wrapping_mul(0xC2B2_AE35))
        .wrapping_add(sum.wrapping_mul(0x27D4_EB2F)))
}

/// The elements `first, first + step, …` below `n`: what one of `step` sources generates.
pub fn strided(first: u64, step: u64, n: u64) -> impl Iterator<Item = u64> + Clone + Send + 'static {
    let len = (n + step - 1 - first) / step;
    (0..len).map(move |k| k * step + first)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_element_is_in_exactly_one_stride() {
        for (n, step) in [(0, 1), (1, 3), (10, 1), (10, 3), (11, 4)] {
            let mut all: Vec<u64> = (0..step).flat_map(|first| strided(first, step, n)).collect();
            all.sort_unstable();
            assert_eq!(all, (0..n).collect::<Vec<_>>(), "n {n}, step {step}");
        }
    }

    #[test]
    fn no_event_is_late() {
        let mut max = i64::MIN;
        for ts in (0..100_000).map(|i| event(i).ts) {
            assert!(ts > max.saturating_sub(DISORDER_MS), "{ts} came after {max}");
            max = max.max(ts);
        }
    }
}

//! The hash of a key: it decides the key's group and so its instance, in every process of one build. For integers and strings it
//! is the same on every machine and with every compiler; for other types it is as portable as what their `Hash` writes, which std
//! does not promise to keep.
//!
//! Version 1. The state is 64 bits and starts at `SEED`; its last value is the hash. A word `x` is taken in by `state = fold(state ^ x, MULTIPLIER)`, where
//! `fold(a, b)` is the 128-bit product of both with its halves xored (the "folded multiply" of wyhash and foldhash).
//! Of a byte string the 64-bit words are taken in, little-endian, and then what is left of it, with the lowest byte of its length
//! above. The byte 0xff directly behind it, which `str` adds, is left out: the length says as much. Integers shorter
//! than a word are extended with zeros; `usize` counts as `u64`.

use crate::short_string::word;
use std::hash::{Hash, Hasher};

/// The version of the algorithm above, to be stored with whatever depends on it.
pub const HASH_VERSION: u32 = 1;

const SEED: u64 = 0x243f_6a88_85a3_08d3;
/// Chosen among some hundred thousand random odd numbers as the one with which the integers of the test `every_bit_of_a_key_matters`
/// spread most evenly.
const MULTIPLIER: u64 = 0xb351_15bb_a0d1_2fdf;

#[inline(always)]
fn fold(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    (product as u64) ^ ((product >> 64) as u64)
}

/// The hash of a key.
///
/// ```
/// use flow_core::exchange::hash_key;
/// assert_eq!(hash_key(&7u64), hash_key(&7u64));
/// assert_eq!(hash_key("JFK"), hash_key(&String::from("JFK")), "borrowed and owned keys agree");
/// ```
#[inline(always)]
pub fn hash_key<K: Hash + ?Sized>(key: &K) -> u64 {
    let mut hasher = KeyHasher { state: SEED, after_bytes: false };
    key.hash(&mut hasher);
    hasher.finish()
}

/// The state between two words.
struct KeyHasher {
    state: u64,
    /// Whether a byte string came last.
    after_bytes: bool,
}

impl KeyHasher {
    #[inline(always)]
    fn word(&mut self, x: u64) {
        self.state = fold(self.state ^ x, MULTIPLIER);
        self.after_bytes = false;
    }
}

impl Hasher for KeyHasher {
    #[inline(always)]
    fn write(&mut self, bytes: &[u8]) {
        let (words, rest) = bytes.as_chunks::<8>();
        for word in words {
            self.word(u64::from_le_bytes(*word));
        }
        self.word(word(rest) | (bytes.len() as u64) << 56);
        self.after_bytes = true;
    }

    #[inline(always)]
    fn write_u8(&mut self, x: u8) {
        if x != 0xff || !self.after_bytes {
            self.word(u64::from(x));
        }
        self.after_bytes = false;
    }

    #[inline(always)]
    fn write_u16(&mut self, x: u16) {
        self.word(u64::from(x));
    }

    #[inline(always)]
    fn write_u32(&mut self, x: u32) {
        self.word(u64::from(x));
    }

    #[inline(always)]
    fn write_u64(&mut self, x: u64) {
        self.word(x);
    }

    #[inline(always)]
    fn write_u128(&mut self, x: u128) {
        self.word(x as u64);
        self.word((x >> 64) as u64);
    }

    #[inline(always)]
    fn write_usize(&mut self, x: usize) {
        self.word(x as u64);
    }

    #[inline(always)]
    fn finish(&self) -> u64 {
        self.state
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exchange::key_group;

    /// Golden values: from the first release on a change of the algorithm has to be a new version.
    #[test]
    fn version_1_is_stable() {
        assert_eq!(HASH_VERSION, 1);
        assert_eq!((hash_key(&0u64), hash_key(&1u64)), (0xcf38_4c95_849e_e15e, 0x3a69_5ad9_246d_b17d));
        assert_eq!(hash_key(&1u32), hash_key(&1u64), "short integers are extended");
        assert_eq!(hash_key("JFK"), 0xc1fd_9dee_3438_089a);
        let jfk = fold(SEED ^ (u64::from_le_bytes(*b"JFK\0\0\0\0\0") | 3 << 56), MULTIPLIER);
        assert_eq!(hash_key("JFK"), jfk, "the byte 0xff, which `Hash for str` adds, is left out");
        let words = [u64::from_le_bytes(*b"Honolulu"), u64::from_le_bytes(*b", HI\0\0\0\0") | 12 << 56];
        assert_eq!(hash_key("Honolulu, HI"), words.iter().fold(SEED, |s, w| fold(s ^ w, MULTIPLIER)));
        assert_eq!(hash_key(&("JFK", 1u8)), fold(jfk ^ 1, MULTIPLIER));
    }

    /// What differs in one byte, in length or in where one string ends differs in its hash.
    #[test]
    fn strings_that_differ_do_so_in_their_hashes() {
        let text = "abcdefghijklmnopqrstuvwxyz\u{0}\u{0}";
        let mut all = std::collections::HashSet::new();
        for n in 0..=text.len() {
            for other in 0..=n {
                assert!(all.insert(hash_key(&(&text[..other], &text[other..n]))), "{n} {other}");
            }
        }
    }

    /// Whatever bits integers differ in, they spread over the values of those bits of the hash that are used: the lowest eight choose
    /// the instance, the upper half a table's bucket, those below it are tags in tables. The bounds are what random numbers
    /// stay below; with many more keys of some strides (65,536 hours in milliseconds) single groups have half more than their share.
    #[test]
    fn every_bit_of_a_key_matters() {
        let shifts = (0..44).map(|shift| 1u64 << shift);
        for stride in shifts.chain([3, 10, 100, 1000, 1_000_003]) {
            for (from, bits, each, most) in [(0, 8, 16, 40), (25, 7, 16, 45), (32, 8, 5, 20), (32, 16, 5, 20)]
            {
                let mut classes = vec![0u32; 1 << bits];
                for i in 0..each << bits {
                    classes[(hash_key(&stride.wrapping_mul(i)) >> from) as usize % (1 << bits)] += 1;
                }
                let fullest = classes.iter().max().copied().unwrap_or(0);
                assert!(fullest <= most, "i * {stride}, {bits} bits from {from} on: {fullest} in one class");
            }
        }
    }

    /// Dense integers, the commonest keys, have to spread evenly over the key groups.
    #[test]
    fn dense_keys_spread_over_groups() {
        let mut groups = [0u32; 256];
        for key in 0..256_000u64 {
            groups[key_group(hash_key(&key))] += 1;
        }
        let (min, max) = (groups.iter().min().copied(), groups.iter().max().copied());
        assert!(min > Some(800) && max < Some(1_200), "{min:?} {max:?}");
    }
}

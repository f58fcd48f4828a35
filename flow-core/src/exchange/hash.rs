//! The hash of a key: it decides the key's group and so its instance, in every process and every release.
//!
//! Version 1. The state is 64 bits and starts at `SEED`; its last value is the hash. A word `x` is taken in by `state = fold(state ^ x, MULTIPLIER)`, where
//! `fold(a, b)` is the 128-bit product of both with its halves xored (the "folded multiply" of wyhash and foldhash).
//! Byte strings are read as little-endian 64-bit words, the last one padded with zeros, then their length.
//! Integers shorter than a word are extended with zeros; `usize` counts as `u64`.

use std::hash::{Hash, Hasher};

/// The version of the algorithm above, to be stored with whatever depends on it.
pub const HASH_VERSION: u32 = 1;

const SEED: u64 = 0x243f_6a88_85a3_08d3;
const MULTIPLIER: u64 = 0x9e37_79b9_7f4a_7c15;

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
    let mut hasher = KeyHasher(SEED);
    key.hash(&mut hasher);
    hasher.finish()
}

/// The state between two words.
struct KeyHasher(u64);

impl KeyHasher {
    #[inline(always)]
    fn word(&mut self, x: u64) {
        self.0 = fold(self.0 ^ x, MULTIPLIER);
    }
}

impl Hasher for KeyHasher {
    #[inline]
    fn write(&mut self, bytes: &[u8]) {
        let (words, rest) = bytes.as_chunks::<8>();
        for word in words {
            self.word(u64::from_le_bytes(*word));
        }
        if !rest.is_empty() {
            let mut last = [0; 8];
            last[..rest.len()].copy_from_slice(rest);
            self.word(u64::from_le_bytes(last));
        }
        self.word(bytes.len() as u64);
    }

    #[inline(always)]
    fn write_u8(&mut self, x: u8) {
        self.word(u64::from(x));
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
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Golden values: a change of the algorithm has to be a new version.
    #[test]
    fn version_1_is_stable() {
        assert_eq!(HASH_VERSION, 1);
        assert_eq!(hash_key(&0u64), fold(SEED, MULTIPLIER));
        assert_eq!(hash_key(&1u32), hash_key(&1u64), "short integers are extended");
        let words = [u64::from_le_bytes(*b"JFK\0\0\0\0\0"), 3, 0xff];
        let expected = words.iter().fold(SEED, |state, word| fold(state ^ word, MULTIPLIER));
        assert_eq!(hash_key("JFK"), expected, "str adds the byte 0xff, as `Hash for str` does");
    }

    /// Whatever bits the keys differ in, they spread over the values of those bits of the hash that are used: the low ones choose
    /// the instance, the upper half begins with the bucket and the middle has the tags. Of 4,096 random values in 256 classes the
    /// fullest has about 30.
    #[test]
    fn every_bit_of_a_key_matters() {
        let families = (0..52).map(|shift| (format!("i << {shift}"), 1u64 << shift));
        let strides = [3, 10, 100, 1000, 1_000_003, 0x9e37_79b9, u64::MAX / 3, u64::MAX / 4096, MULTIPLIER]
            .map(|stride| (format!("i * {stride}"), stride));
        for (family, stride) in families.chain(strides) {
            for from in [0, 32, 40, 25] {
                let mut classes = [0u32; 256];
                for i in 0..4096u64 {
                    classes[(hash_key(&i.wrapping_mul(stride)) >> from) as usize % 256] += 1;
                }
                let fullest = classes.iter().max().copied().unwrap_or(0);
                assert!(
                    fullest <= 45,
                    "{family}, bits from {from} on: {fullest} of 4096 in one of 256 classes"
                );
            }
        }
    }

    /// Dense integers, the commonest keys, have to spread evenly over the key groups.
    #[test]
    fn dense_keys_spread_over_groups() {
        let mut groups = [0u32; 256];
        for key in 0..256_000u64 {
            groups[(hash_key(&key) % 256) as usize] += 1;
        }
        let (min, max) = (groups.iter().min().copied(), groups.iter().max().copied());
        assert!(min > Some(800) && max < Some(1_200), "{min:?} {max:?}");
    }
}

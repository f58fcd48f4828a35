//! A float as a key.

use serde_core::{Deserialize, Deserializer, Serialize, Serializer};
use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};

/// A float that can be a key: 0.0 and −0.0 are one key, and so are all NaNs. In order, NaN comes last.
///
/// ```
/// use flow_core::prelude::*;
/// let out = Collected::new();
/// let job = Job::build("prices", |job| {
///     let prices = source(from_vec(vec![0.0, -0.0, f64::NAN, 1.5, -f64::NAN]));
///     job.add(prices.key_by(|p| FloatKey::new(*p)).count().map(|(p, n)| (p.to_string(), n)).collect(&out));
/// });
/// job.run().unwrap();
/// let row = |p: &str, n| (p.to_string(), n);
/// assert_eq!(out.take(), [row("0", 1), row("0", 2), row("NaN", 1), row("1.5", 1), row("NaN", 2)]);
/// ```
#[derive(Clone, Copy)]
pub struct FloatKey<F>(F);

/// `f32` and `f64`.
pub trait Float: Copy + Send + 'static {
    /// −0.0 as 0.0, every NaN as one.
    #[must_use]
    fn canonical(self) -> Self;
    /// The bits of a canonical float.
    fn bits(self) -> u64;
    /// The total order of IEEE 754.
    fn order(&self, other: &Self) -> Ordering;
}

macro_rules! floats {
    ($($f:ident),*) => {$(
        impl Float for $f {
            #[inline]
            fn canonical(self) -> Self {
                if self.is_nan() { $f::NAN } else { self + 0.0 }
            }
            #[inline]
            fn bits(self) -> u64 {
                u64::from(self.to_bits())
            }
            fn order(&self, other: &Self) -> Ordering {
                self.total_cmp(other)
            }
        }
    )*};
}
floats!(f32, f64);

impl<F: Float> FloatKey<F> {
    /// `f` as a key.
    #[inline]
    pub fn new(f: F) -> Self {
        FloatKey(f.canonical())
    }

    /// The float: 0.0 for −0.0, the canonical NaN for any.
    #[inline]
    pub fn get(self) -> F {
        self.0
    }
}

impl<F: Float> PartialEq for FloatKey<F> {
    #[inline]
    fn eq(&self, other: &Self) -> bool {
        self.0.bits() == other.0.bits()
    }
}
impl<F: Float> Eq for FloatKey<F> {}

impl<F: Float> Hash for FloatKey<F> {
    #[inline]
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(self.0.bits());
    }
}

impl<F: Float> Ord for FloatKey<F> {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.order(&other.0)
    }
}
impl<F: Float> PartialOrd for FloatKey<F> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<F: Float> From<F> for FloatKey<F> {
    fn from(f: F) -> Self {
        FloatKey::new(f)
    }
}

impl<F: fmt::Debug> fmt::Debug for FloatKey<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
impl<F: fmt::Display> fmt::Display for FloatKey<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl<F: Serialize> Serialize for FloatKey<F> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(to)
    }
}
impl<'de, F: Float + Deserialize<'de>> Deserialize<'de> for FloatKey<F> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        F::deserialize(from).map(FloatKey::new)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exchange::hash_key;
    use crate::state::{Durable, Keep};

    #[test]
    fn zeros_and_nans_are_one_key_each() {
        let nans = [f64::NAN, -f64::NAN, f64::from_bits(0x7ff0_0000_0000_0001)].map(FloatKey::new);
        let zeros = [0.0, -0.0].map(FloatKey::<f64>::new);
        for group in [&nans[..], &zeros[..]] {
            assert!(group.iter().all(|k| *k == group[0] && hash_key(k) == hash_key(&group[0])));
            assert!(group.iter().all(|k| k.cmp(&group[0]).is_eq()));
        }
        assert_ne!(FloatKey::new(1.0f32), FloatKey::new(1.5f32));
        assert!(nans[0] > FloatKey::new(f64::INFINITY) && zeros[0] > FloatKey::new(f64::MIN));
    }

    #[test]
    fn what_is_read_back_is_canonical() {
        let mut bytes = Vec::new();
        Keep::<Durable>::write(&-0.0f64, &mut bytes).unwrap();
        let key = <FloatKey<f64> as Keep<Durable>>::read(&mut &bytes[..]).unwrap();
        assert_eq!(hash_key(&key), hash_key(&FloatKey::new(0.0f64)));
    }
}

//! Tables in which a key is the place of its value, for keys that are whole numbers and leave few of them out: nothing is hashed, compared or stored of the key, and
//! who goes through the keys in their order goes through the memory in its.

use super::slots::prefetch;
use std::any::Any;

/// So many keys at least are worth a table of their own: fewer lie in the nearest cache in any table.
const KEYS_MIN: usize = 1 << 10;
/// Of so many numbers one at least has to be a key.
const SPARSE: usize = 4;

/// Runs `$each` for the types whose values may be places.
macro_rules! each_number {
    ($each:ident) => {
        $each!(u8 u16 u32 u64 usize i8 i16 i32 i64 isize)
    };
}

/// The key as a place, where its type is a whole number. Of which type a key is is known at compile time, so this is a conversion or nothing.
#[inline(always)]
pub(crate) fn place_of<K: 'static>(key: &K) -> Option<usize> {
    let key: &dyn Any = key;
    macro_rules! of {
        ($($number:ty)*) => {$(
            if let Some(n) = key.downcast_ref::<$number>() {
                return usize::try_from(*n).ok();
            }
        )*};
    }
    each_number!(of);
    None
}

/// Whether keys of a type may be places.
#[inline(always)]
pub(crate) fn is_place<K: 'static>() -> bool {
    key_at::<K>(0).is_some()
}

/// The key of a place; see [`place_of`].
#[inline(always)]
pub(crate) fn key_at<K: 'static>(place: usize) -> Option<K> {
    let mut key: Option<K> = None;
    let any: &mut dyn Any = &mut key;
    macro_rules! of {
        ($($number:ty)*) => {$(
            if let Some(key) = any.downcast_mut::<Option<$number>>() {
                *key = <$number>::try_from(place).ok();
            }
        )*};
    }
    each_number!(of);
    key
}

/// How many keys there are, and the highest place of one: what says whether a table may be dense.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Spread {
    keys: usize,
    /// Some are no places.
    others: bool,
    highest: usize,
}

impl Spread {
    #[inline(always)]
    pub fn add<K: 'static>(&mut self, key: &K) {
        self.keys += 1;
        match place_of(key) {
            Some(place) => self.highest = self.highest.max(place),
            None => self.others = true,
        }
    }

    /// How many places a table of these keys has, if that is worth it.
    pub fn places(self) -> Option<usize> {
        let many = self.keys >= KEYS_MIN && is_dense(self.highest, self.keys);
        (many && !self.others).then(|| self.highest + 1)
    }
}

/// Whether so many keys, or rows of keys, are enough for a table of all places up to `highest`.
pub(crate) fn is_dense(highest: usize, entries: usize) -> bool {
    highest / SPARSE < entries
}

/// Values by key, for the keys below a number.
pub(crate) struct Dense<V> {
    /// Those of keys that are not there are as they were made.
    values: Vec<V>,
    /// A bit for each key that is there.
    there: Vec<u64>,
}

impl<V> Default for Dense<V> {
    fn default() -> Self {
        Dense { values: Vec::new(), there: Vec::new() }
    }
}

impl<V> Dense<V> {
    /// How many places there are.
    #[inline(always)]
    pub fn places(&self) -> usize {
        self.values.len()
    }

    /// From now on there are `places`, if these are more; `make` makes their values.
    pub fn extend(&mut self, places: usize, make: impl FnMut() -> V) {
        if places > self.places() {
            self.values.resize_with(places, make);
            self.there.resize(places.div_ceil(64), 0);
        }
    }

    /// The value of the key at `place`, which is there from now on.
    ///
    /// # Panics
    /// Where there is no such place.
    #[inline(always)]
    pub fn entry(&mut self, place: usize) -> &mut V {
        self.there[place / 64] |= 1 << (place % 64);
        &mut self.values[place]
    }

    /// Asks for the memory of a place.
    #[inline(always)]
    pub fn prefetch(&self, place: usize) {
        prefetch(self.values.as_ptr().wrapping_add(place));
    }

    /// Takes out the first key that is there from place `hand` on, and its value, in whose stead there is `other`; `hand` moves there.
    #[inline]
    pub fn pop<K: 'static>(&mut self, hand: &mut usize, other: impl FnOnce() -> V) -> Option<(K, V)> {
        let (at, bits) = self.there.iter_mut().enumerate().skip(*hand / 64).find(|(_, bits)| **bits != 0)?;
        *hand = at * 64 + bits.trailing_zeros() as usize;
        *bits &= *bits - 1;
        let value = self.values.get_mut(*hand)?;
        Some((key_at(*hand)?, std::mem::replace(value, other())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    #[test]
    fn only_whole_numbers_are_places() {
        assert_eq!((place_of(&7u8), place_of(&7i64), place_of(&-7i32)), (Some(7), Some(7), None));
        assert_eq!(
            (place_of(&u64::MAX), place_of(&"7"), place_of(&(7u32,))),
            (usize::try_from(u64::MAX).ok(), None, None)
        );
        assert_eq!((key_at::<u8>(7), key_at::<u8>(256), key_at::<i16>(7)), (Some(7), None, Some(7)));
        assert_eq!(key_at::<&str>(7), None);
    }

    #[test]
    fn a_table_is_dense_where_keys_are() {
        let places = |keys: &mut dyn Iterator<Item = i64>| {
            let mut spread = Spread::default();
            keys.for_each(|key| spread.add(&key));
            spread.places()
        };
        let many = KEYS_MIN as i64;
        assert_eq!(places(&mut (0..many)), Some(KEYS_MIN));
        assert_eq!(places(&mut (0..many - 1)), None);
        assert_eq!(places(&mut (-1..many)), None);
        assert_eq!(places(&mut (0..many).map(|key| 3 * key)), Some(3 * KEYS_MIN - 2));
        assert_eq!(places(&mut (0..many).map(|key| 5 * key)), None);
        let mut spread = Spread::default();
        [0, u64::MAX].iter().for_each(|key| spread.add(key));
        assert_eq!(spread.places(), None);
        assert_eq!(places(&mut [0, i64::MAX].into_iter().cycle().take(KEYS_MIN)), None);
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        /// As a map in order of the keys.
        #[test]
        fn all_come_out_as_they_went_in(rounds in prop::collection::vec(prop::collection::vec((0..300u16, 1..9u64), 0..200), 0..4)) {
            let mut dense = Dense::default();
            for (round, changes) in rounds.iter().enumerate() {
                dense.extend(100 + 100 * round, || 0);
                let mut model = BTreeMap::new();
                for (key, more) in changes {
                    if usize::from(*key) >= dense.places() {
                        continue;
                    }
                    *dense.entry(place_of(key).unwrap()) += more;
                    *model.entry(*key).or_insert(0) += more;
                }
                let mut hand = 0;
                let out: Vec<(u16, u64)> = std::iter::from_fn(|| dense.pop(&mut hand, || 0)).collect();
                dense.extend(10, || panic!("there are more"));
                prop_assert_eq!(out, model.into_iter().collect::<Vec<_>>());
            }
        }
    }
}

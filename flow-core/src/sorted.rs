//! A small map in order. It is a vector: to put something into the middle moves what is behind it, so it is for what is little, or comes in
//! order. std's `BTreeMap` is compiled again for each pair of types, at ten times the price, and all of a library's users wait for that.

/// A map whose entries lie in the order of their keys.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Sorted<K, V = ()>(Vec<(K, V)>);

impl<K, V> Default for Sorted<K, V> {
    fn default() -> Self {
        Sorted(Vec::new())
    }
}

impl<K: Ord, V> Sorted<K, V> {
    /// Where `key` is, or belongs. What comes in order is found at once.
    fn find<Q: Ord + ?Sized>(&self, key: &Q) -> Result<usize, usize>
    where
        K: std::borrow::Borrow<Q>,
    {
        match self.0.last() {
            Some((last, _)) if last.borrow() >= key => {}
            _ => return Err(self.0.len()),
        }
        let (mut low, mut high) = (0, self.0.len());
        while low < high {
            let middle = low.midpoint(high);
            match self.0[middle].0.borrow().cmp(key) {
                std::cmp::Ordering::Less => low = middle + 1,
                std::cmp::Ordering::Equal => return Ok(middle),
                std::cmp::Ordering::Greater => high = middle,
            }
        }
        Err(low)
    }

    pub fn get<Q: Ord + ?Sized>(&self, key: &Q) -> Option<&V>
    where
        K: std::borrow::Borrow<Q>,
    {
        Some(&self.0[self.find(key).ok()?].1)
    }

    pub fn get_mut<Q: Ord + ?Sized>(&mut self, key: &Q) -> Option<&mut V>
    where
        K: std::borrow::Borrow<Q>,
    {
        let at = self.find(key).ok()?;
        Some(&mut self.0[at].1)
    }

    pub fn has(&self, key: &K) -> bool {
        self.find(key).is_ok()
    }

    /// What was there before.
    pub fn insert(&mut self, key: K, value: V) -> Option<V> {
        match self.find(&key) {
            Ok(at) => Some(std::mem::replace(&mut self.0[at].1, value)),
            Err(at) => {
                self.0.insert(at, (key, value));
                None
            }
        }
    }

    pub fn remove(&mut self, key: &K) -> Option<V> {
        let at = self.find(key).ok()?;
        Some(self.0.remove(at).1)
    }

    /// What is there, or is put there now.
    pub fn or_insert_with(&mut self, key: K, value: impl FnOnce() -> V) -> &mut V {
        let at = self.find(&key).unwrap_or_else(|at| {
            self.0.insert(at, (key, value()));
            at
        });
        &mut self.0[at].1
    }
}

impl<K, V> Sorted<K, V> {
    pub fn len(&self) -> usize {
        self.0.len()
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn iter(&self) -> std::slice::Iter<'_, (K, V)> {
        self.0.iter()
    }
    /// Keeps those of which `keep` says so.
    pub fn retain(&mut self, mut keep: impl FnMut(&K, &V) -> bool) {
        self.0.retain(|(key, value)| keep(key, value));
    }
}

impl<K> Sorted<K> {
    pub fn into_keys(self) -> Vec<K> {
        self.0.into_iter().map(|entry| entry.0).collect()
    }
}

impl<K, V> IntoIterator for Sorted<K, V> {
    type Item = (K, V);
    type IntoIter = std::vec::IntoIter<(K, V)>;
    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

#[cfg(test)]
mod tests {
    use super::Sorted;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    proptest! {
        #[test]
        fn it_is_a_map_in_order(steps in proptest::collection::vec((0u8..5, 0u8..32, any::<u16>()), 0..200)) {
            let (mut mine, mut std) = (Sorted::<u8, u16>::default(), BTreeMap::<u8, u16>::new());
            for (what, key, value) in steps {
                match what {
                    0 => prop_assert_eq!(mine.insert(key, value), std.insert(key, value)),
                    1 => prop_assert_eq!(mine.remove(&key), std.remove(&key)),
                    2 => prop_assert_eq!(mine.or_insert_with(key, || value), std.entry(key).or_insert(value)),
                    3 => {
                        mine.retain(|k, v| k % 4 != key % 4 || v > &value);
                        std.retain(|k, v| k % 4 != key % 4 || *v > value);
                    }
                    _ => {
                        prop_assert_eq!(mine.get(&key), std.get(&key));
                        prop_assert_eq!(mine.get_mut(&key), std.get_mut(&key));
                        prop_assert_eq!(mine.has(&key), std.contains_key(&key));
                    }
                }
                prop_assert_eq!(mine.len(), std.len());
                prop_assert_eq!(mine.is_empty(), std.is_empty());
                prop_assert!(mine.iter().map(|(key, value)| (key, value)).eq(&std));
            }
            prop_assert!(mine.into_iter().eq(std));
        }
    }
}

//! A state backend that keeps everything in maps.

use crate::error::Result;
use crate::state::{Changes, StateBackend, StateRead, StateStore, StateStores};
use std::collections::BTreeMap;
use std::ops::Bound;
use std::sync::Arc;

/// A state backend in memory: with a small limit a test of a pipeline sees its state leave and come back all the time. It works in
/// simulations too.
///
/// ```
/// use flow_core::prelude::*;
/// use flow_core::testing::MapBackend;
/// let out = Collected::new();
/// let job = Job::build("sums", |job| {
///     let numbers = source(from_iter(1..=4)).durable();
///     job.add(numbers.key_by(|n| n % 2).sum(|n| *n).collect(&out));
/// });
/// job.state_backend(MapBackend::with_limit(0)).simulate(7).unwrap();
/// assert_eq!(out.take(), [(1, 1), (0, 2), (1, 4), (0, 6)]);
/// ```
#[derive(Debug, Clone)]
#[must_use = "it is used when a job is given it"]
pub struct MapBackend {
    limit: usize,
}

impl MapBackend {
    /// So many bytes of state may be in the memory of operators, of all together.
    pub fn with_limit(bytes: usize) -> Self {
        MapBackend { limit: bytes }
    }
}

impl StateBackend for MapBackend {
    fn begin(&self, _: &str, tables: usize) -> Result<Arc<dyn StateStores>> {
        Ok(Arc::new(Maps { share: self.limit / tables.max(1) }))
    }
}

struct Maps {
    share: usize,
}

impl StateStores for Maps {
    fn share(&self) -> usize {
        self.share
    }

    fn open(&self, _: &str) -> Result<Box<dyn StateStore>> {
        Ok(Box::new(Map::default()))
    }
}

/// A snapshot is the same map, which is copied when it changes.
#[derive(Clone, Default)]
struct Map(Arc<BTreeMap<Vec<u8>, Vec<u8>>>);

impl StateRead for Map {
    fn get(&self, key: &[u8], found: &mut Vec<u8>) -> Result<bool> {
        let value = self.0.get(key);
        found.clear();
        found.extend_from_slice(value.map(Vec::as_slice).unwrap_or_default());
        Ok(value.is_some())
    }

    fn scan(&self, from: &[u8], to: &[u8], each: &mut dyn FnMut(&[u8], &[u8]) -> bool) -> Result<()> {
        if from >= to {
            return Ok(());
        }
        for (key, value) in self.0.range::<[u8], _>((Bound::Included(from), Bound::Excluded(to))) {
            if !each(key, value) {
                break;
            }
        }
        Ok(())
    }
}

impl StateStore for Map {
    fn write(&mut self, changes: &Changes) -> Result<()> {
        let map = Arc::make_mut(&mut self.0);
        for (key, value) in changes.iter() {
            match value {
                Some(value) => drop(map.insert(key.to_vec(), value.to_vec())),
                None => drop(map.remove(key)),
            }
        }
        Ok(())
    }

    fn snapshot(&self) -> Result<Box<dyn StateRead>> {
        Ok(Box::new(self.clone()))
    }
}

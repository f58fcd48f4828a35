//! How the state of a process is written down, key group by key group.
//!
//! ```text
//! entries ( key state )^entries  timers  timers of the clock         timers: count ( key time interval )^count
//! ```
//!
//! Counts are little-endian u32, times and intervals i64. Timers stand in the order in which they would fire, which is kept within
//! a group.

use super::around::{Around, In};
use super::core::Keys;
use crate::checkpoint::Pieces;
use crate::error::Result;
use crate::state::{Keep, KeyTable, Timers, write_key};
use crate::time::Timestamp;
use crate::window::take_bytes as take;

/// Writes the state and the timers of all keys.
pub fn snapshot<M, K: Keep<M>, St: Keep<M>>(
    table: &KeyTable<K, St>,
    around: &Around<K>,
    out: &mut Pieces,
    hash_of: impl Fn(&K) -> u64,
) -> Result<()> {
    if table.is_empty() && around.event.is_empty() && around.processing.is_empty() {
        return Ok(());
    }
    K::kept(|| {
        out.list(table.iter().map(|e| (hash_of(&e.0), e)), |(key, state), out| {
            write_key(key, &hash_of, out)?;
            state.write(out)
        })?;
        timers::<M, K>(&around.event, out)?;
        timers::<M, K>(&around.processing, out)
    })
}

fn timers<M, K: Keep<M>>(timers: &Timers<K>, out: &mut Pieces) -> Result<()> {
    out.list(timers.iter().map(|timer| (timer.0, timer)), |(_, key, at, every), out| {
        key.write(out)?;
        out.extend_from_slice(&at.0.to_le_bytes());
        out.extend_from_slice(&every.to_le_bytes());
        Ok(())
    })
}

/// Adds what [`snapshot`] wrote; `watch` looks at each state.
pub fn restore<M, K, St, Same, Hash>(
    table: &mut KeyTable<K, St>,
    around: &mut Around<K>,
    mut bytes: &[u8],
    keys: &Keys<Same, Hash>,
    watch: impl Fn(&mut St, u64, &mut Around<K>),
) -> Result<()>
where
    K: Keep<M> + Clone,
    St: Keep<M>,
    Same: Fn(&K, &K) -> bool,
    Hash: Fn(&K) -> u64,
{
    if bytes.is_empty() {
        return Ok(());
    }
    K::kept(|| {
        for _ in 0..u32::from_le_bytes(take(&mut bytes)?) {
            let (key, mut state) = (K::read(&mut bytes)?, St::read(&mut bytes)?);
            let hash = (keys.hash)(&key);
            watch(&mut state, hash, around);
            table.reserve(1, &keys.hash);
            table.entry(hash, |_| false, || (key, state));
        }
        for time in [In::Event, In::Processing] {
            for _ in 0..u32::from_le_bytes(take(&mut bytes)?) {
                let key = K::read(&mut bytes)?;
                let at = Timestamp(i64::from_le_bytes(take(&mut bytes)?));
                let every = i64::from_le_bytes(take(&mut bytes)?);
                let passed = around.passed(time);
                around.timers(time).set_every(((keys.hash)(&key), &key, &keys.same), at, passed, every);
            }
        }
        Ok(())
    })
}

//! How the state of a process is written down: a section for each kind of thing.
//!
//! ```text
//! name of a section    entries
//! 0                    key -> state
//! 1                    timers in event time, as `state/timer_track.rs` writes them
//! 2                    timers of the clock
//! 3                    nothing -> what every instance has: of a process beside a stream for all
//! 4                    pages of what is large in a state, as `state/pages/mod.rs` says
//! ```
//!
//! Timers come back in the order of their numbers, which is that in which they were set; it is kept within a group.

use super::around::{Around, In};
use super::core::Keys;
use crate::checkpoint::records::{Part, broken};
use crate::checkpoint::{Groups, each_entry, is_restored};
use crate::error::{Error, Result};
use crate::state::pages::PAGES;
use crate::state::{Keep, KeyTable, Mode, read_all, read_timer};
use crate::time::Timestamp;

const STATES: &[u8] = &[0];
const TIMERS: [(In, &[u8]); 2] = [(In::Event, &[1]), (In::Processing, &[2])];
/// The name of the section of what every instance has.
pub const SHARED: &[u8] = &[3];

/// Begins to write the state and the timers of all keys.
pub fn begin_save<M: Mode, K: Keep<M>, St: Keep<M>>(
    table: &mut KeyTable<K, St, M>,
    around: &mut Around<K>,
    out: &Groups,
    hash_of: impl Fn(&K) -> u64 + Send + 'static,
) -> Result<()> {
    table.begin_save_as(out, Part::Head, STATES, hash_of)?;
    TIMERS.into_iter().try_for_each(|(time, name)| around.timers(time).begin_save(out, Part::Head, name))
}

/// Goes on with it, as far as `left` allows; whether all is written.
pub fn save_more<M: Mode, K, St>(
    table: &mut KeyTable<K, St, M>,
    around: &mut Around<K>,
    left: &mut usize,
) -> bool {
    table.save_more(left) && TIMERS.into_iter().all(|(time, _)| around.timers(time).save_more(left))
}

/// A timer as it was read: its number, its key, its time and its interval.
type Read<K> = (u64, K, Timestamp, i64);

/// Adds what [`begin_save`] wrote of a key group; `watch` looks at each state, `shared` is given what every instance has.
pub fn restore<M, K, St, Same, Hash>(
    table: &mut KeyTable<K, St, M>,
    around: &mut Around<K>,
    (group, bytes): (usize, &[u8]),
    keys: &Keys<Same, Hash>,
    watch: impl Fn(&mut St, u64, &mut Around<K>),
    mut shared: impl FnMut(&[u8]) -> Result<()>,
) -> Result<()>
where
    M: Mode,
    K: Keep<M> + Clone,
    St: Keep<M>,
    Same: Fn(&K, &K) -> bool,
    Hash: Fn(&K) -> u64,
{
    K::kept(|| {
        let mut timers: [Vec<Read<K>>; 2] = [Vec::new(), Vec::new()];
        let mut pages = table.restoring(group);
        // They are at hand when the states are read, wherever they stand.
        each_entry(bytes, &mut |name, key, elements| match &mut pages {
            Some(pages) if name == PAGES => pages.page(key, elements),
            _ => Ok(()),
        })?;
        each_entry(bytes, &mut |name, key, value| {
            match name {
                STATES => {
                    let key = read_all::<M, K>(key)?;
                    let read = || read_all::<M, St>(value);
                    let mut state = if let Some(pages) = &mut pages { pages.read(read) } else { read() }?;
                    let hash = (keys.hash)(&key);
                    is_restored(hash);
                    watch(&mut state, hash, around);
                    table.reserve(1, &keys.hash);
                    table.insert(hash, (key, state));
                }
                SHARED => shared(value)?,
                PAGES => {}
                _ => {
                    let of = TIMERS.iter().position(|(_, timers)| *timers == name).ok_or_else(foreign)?;
                    timers[of].push(read_timer(key, value)?);
                }
            }
            Ok(())
        })?;
        if let Some(pages) = pages {
            pages.finish();
        }
        for ((time, _), mut timers) in TIMERS.into_iter().zip(timers) {
            timers.sort_unstable_by_key(|timer| timer.0);
            for (_, key, at, every) in timers {
                let (passed, hash) = (around.passed(time), (keys.hash)(&key));
                is_restored(hash);
                around.timers(time).set_every((hash, &key, &keys.same), at, passed, every);
            }
        }
        Ok(())
    })
}

/// What is written is of another operator.
#[cold]
pub fn foreign() -> Error {
    broken("it is not of a process, or of one of another kind")
}

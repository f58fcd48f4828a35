//! How open sessions are written down, key group by key group.
//!
//! ```text
//! ( key count ( start end born fired accumulator )^count )*      little-endian: i64, i128, u64, u8; count as u32
//! ```

use super::head::State;
use super::open::{Keys, Open, insert};
use super::queue::Entry;
use crate::checkpoint::Pieces;
use crate::error::Result;
use crate::state::{Keep, write_key};
use crate::time::Timestamp;
use crate::window::saved::take;
use crate::window::spec::saturate;
use std::collections::VecDeque;

/// Writes the sessions of all keys.
pub fn snapshot<M, K: Keep<M>, A: Keep<M>>(
    keys: &Keys<K, Open<A>>,
    out: &mut Pieces,
    hash_of: impl Fn(&K) -> u64,
) -> Result<()> {
    let mut slots = keys.iter().peekable();
    if slots.peek().is_none() {
        return Ok(());
    }
    K::kept(|| {
        slots.try_for_each(|(hash, slot)| {
            let out = out.of(hash);
            write_key(&slot.key, &hash_of, out)?;
            let count = u32::try_from(slot.value.len()).unwrap_or(u32::MAX);
            out.extend_from_slice(&count.to_le_bytes());
            slot.value.iter().try_for_each(|session| {
                bounds(session.start, session.end, session.born, session.fired, out);
                session.acc.write(out)
            })
        })
    })
}

fn bounds(start: Timestamp, end: i128, born: u64, fired: bool, out: &mut Vec<u8>) {
    out.extend_from_slice(&start.0.to_le_bytes());
    out.extend_from_slice(&end.to_le_bytes());
    out.extend_from_slice(&born.to_le_bytes());
    out.push(u8::from(fired));
}

/// Adds what [`snapshot`] wrote. Returns how far the watermark had surely come: to the last end that has fired. (That of a session
/// that has not fired lies behind it, so the same bound tells the two apart as before.)
pub fn restore<M, K: Keep<M>, A: Keep<M>>(
    state: &mut State<K, A>,
    lateness: i64,
    mut bytes: &[u8],
    hash_of: impl Fn(&K) -> u64,
    is_apart: impl Fn(&K) -> bool,
) -> Result<Timestamp> {
    let mut passed = Timestamp::MIN;
    if bytes.is_empty() {
        return Ok(passed);
    }
    K::kept(|| {
        while !bytes.is_empty() {
            let key = K::read(&mut bytes)?;
            let (hash, apart) = (hash_of(&key), is_apart(&key));
            let at = insert(&mut state.keys, hash, key, apart);
            let count = u32::from_le_bytes(take(&mut bytes)?);
            let sessions = (0..count).map(|_| Ok(take_bounds(&mut bytes)?.with(A::read(&mut bytes)?)));
            let mut sessions = sessions.collect::<Result<VecDeque<Open<A>>>>()?;
            for session in &mut sessions {
                session.queued = session.due(lateness);
                state.queue.push(Entry { time: session.queued, born: session.born, slot: at, inside: () });
                // Instances that are one now may have given the same numbers; those given from here on are new.
                state.arrived = state.arrived.max(session.born.saturating_add(1));
                if session.fired {
                    passed = passed.max(saturate(session.end));
                }
            }
            if let Some(slot) = state.keys.get(at) {
                slot.value = sessions;
            }
        }
        Ok(())
    })?;
    Ok(passed)
}

fn take_bounds(bytes: &mut &[u8]) -> Result<Open<()>> {
    let start = Timestamp(i64::from_le_bytes(take(bytes)?));
    let end = i128::from_le_bytes(take(bytes)?);
    let born = u64::from_le_bytes(take(bytes)?);
    let [fired] = take(bytes)?;
    Ok(Open { fired: fired != 0, ..Open::new(start, end, born, ()) })
}

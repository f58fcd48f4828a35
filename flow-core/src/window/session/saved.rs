//! How open sessions are written down.
//!
//! ```text
//! key -> ( start end born fired accumulator )*      little-endian: i64, i128, u64, u8; the slot behind the key as `state/slot_track.rs` says
//! ```

use super::head::State;
use super::open::Open;
use super::queue::Entry;
use crate::checkpoint::each_entry;
use crate::error::Result;
use crate::state::{Form, Keep, Mode};
use crate::time::Timestamp;
use crate::window::saved::take;
use crate::window::spec::saturate;
use std::collections::VecDeque;

/// Writes the sessions of a key.
pub fn write<M, A: Keep<M>>(sessions: &VecDeque<Open<A>>, out: &mut Vec<u8>) -> Result<()> {
    sessions.iter().try_for_each(|session| {
        bounds(session.start, session.end, session.born, session.fired, out);
        session.acc.write(out)
    })
}

fn bounds(start: Timestamp, end: i128, born: u64, fired: bool, out: &mut Vec<u8>) {
    out.extend_from_slice(&start.0.to_le_bytes());
    out.extend_from_slice(&end.to_le_bytes());
    out.extend_from_slice(&born.to_le_bytes());
    out.push(u8::from(fired));
}

/// How the sessions of a key are written down where they leave the memory: when they are looked at next beside it.
pub fn form<M, A: Keep<M>>() -> Form<VecDeque<Open<A>>> {
    Form {
        write: write::<M, A>,
        beside: |sessions, out| {
            sessions.iter().for_each(|session| out.extend_from_slice(&session.queued.to_le_bytes()));
        },
        read: |value, mut beside| {
            let mut sessions = read::<M, A>(value)?;
            for session in &mut sessions {
                session.queued = i128::from_le_bytes(take(&mut beside)?);
            }
            Ok(sessions)
        },
    }
}

/// Reads what [`write`] wrote.
fn read<M, A: Keep<M>>(mut value: &[u8]) -> Result<VecDeque<Open<A>>> {
    let mut sessions = VecDeque::new();
    while !value.is_empty() {
        let session: Open<A> = take_bounds(&mut value)?.with(A::read(&mut value)?);
        sessions.push_back(session);
    }
    Ok(sessions)
}

/// Adds the keys of a group. Returns how far the watermark had surely come: to the last end that has fired. (That of a session
/// that has not fired lies behind it, so the same bound tells the two apart as before.)
pub fn restore<M: Mode, K: Keep<M>, A: Keep<M>>(
    state: &mut State<K, A, M>,
    lateness: i64,
    bytes: &[u8],
    hash_of: impl Fn(&K) -> u64,
) -> Result<Timestamp> {
    let mut passed = Timestamp::MIN;
    K::kept(|| {
        each_entry(bytes, &mut |_, key, value| {
            let mut sessions = read::<M, A>(value)?;
            for session in &mut sessions {
                session.queued = session.due(lateness);
                // Instances that are one now may have given the same numbers; those given from here on are new.
                state.arrived = state.arrived.max(session.born.saturating_add(1));
                if session.fired {
                    passed = passed.max(saturate(session.end));
                }
            }
            let entries: Vec<(i128, u64)> = sessions.iter().map(|s| (s.queued, s.born)).collect();
            let slot = state.keys.put_back(key, &hash_of, sessions)?;
            for (time, born) in entries {
                state.queue.push(Entry { time, born, slot, inside: () });
            }
            Ok(())
        })
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

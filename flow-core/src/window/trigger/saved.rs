//! How open windows with a trigger are written down, key group by key group.
//!
//! ```text
//! reached ( key count ( start end due born unshown passed early clock accumulator )^count )*
//!                                     little-endian: i64, i128 (times), u64, u8; count as u32
//! ```

use super::head::State;
use super::open::Open;
use crate::checkpoint::Pieces;
use crate::error::Result;
use crate::state::{Keep, write_key};
use crate::time::{Millis, Timestamp};
use crate::window::saved::take;
use crate::window::session::Entry;
use crate::window::spec::{Span, saturate};
use std::collections::VecDeque;

/// Writes the windows of all keys.
pub fn snapshot<M, K: Keep<M>, A: Keep<M>>(
    state: &State<K, A>,
    out: &mut Pieces,
    hash_of: impl Fn(&K) -> u64,
) -> Result<()> {
    let mut slots = state.keys.iter().peekable();
    // How far the watermark was is kept although a group has no windows: those that it will have begin behind it.
    if slots.peek().is_none() && state.reached == Timestamp::MIN {
        return Ok(());
    }
    K::kept(|| {
        out.each().for_each(|piece| piece.extend_from_slice(&state.reached.0.to_le_bytes()));
        slots.try_for_each(|(hash, slot)| {
            let out = out.of(hash);
            write_key(&slot.key, &hash_of, out)?;
            let count = u32::try_from(slot.value.len()).unwrap_or(u32::MAX);
            out.extend_from_slice(&count.to_le_bytes());
            slot.value.iter().try_for_each(|window| {
                bounds(window, out);
                window.acc.write(out)
            })
        })
    })
}

fn bounds<A>(window: &Open<A>, out: &mut Vec<u8>) {
    let Open { span, due, born, unshown, passed, early, clock, .. } = window;
    for time in [span.start, span.end, *due, *early, *clock] {
        out.extend_from_slice(&time.to_le_bytes());
    }
    out.extend_from_slice(&born.to_le_bytes());
    out.extend_from_slice(&unshown.to_le_bytes());
    out.push(u8::from(*passed));
}

/// Adds what [`snapshot`] wrote. Returns how far the watermark had surely come: to the last end that it has passed.
pub fn restore<M, K: Keep<M>, A: Keep<M>>(
    state: &mut State<K, A>,
    lateness: Millis,
    mut bytes: &[u8],
    hash_of: impl Fn(&K) -> u64,
) -> Result<Timestamp> {
    let mut passed = Timestamp::MIN;
    if bytes.is_empty() {
        return Ok(passed);
    }
    state.reached = state.reached.max(Timestamp(i64::from_le_bytes(take(&mut bytes)?)));
    K::kept(|| {
        while !bytes.is_empty() {
            let key = K::read(&mut bytes)?;
            let slot = state.keys.insert(hash_of(&key), key, VecDeque::new());
            let count = u32::from_le_bytes(take(&mut bytes)?);
            let windows = (0..count).map(|_| Ok(take_bounds(&mut bytes)?.with(A::read(&mut bytes)?)));
            let mut windows = windows.collect::<Result<VecDeque<Open<A>>>>()?;
            for window in &mut windows {
                (window.queued, window.ticking) = (window.next(lateness), window.clock);
                let (born, inside) = (window.born, window.span.start);
                state.queue.push(Entry { time: window.queued, born, slot, inside });
                if window.clock < super::open::NEVER {
                    state.clocked.push(Entry { time: window.clock, born, slot, inside });
                }
                // Instances that are one now may have given the same numbers; those given from here on are new.
                state.opened = state.opened.max(window.born);
                if window.passed {
                    passed = passed.max(saturate(window.due));
                }
            }
            if let Some(slot) = state.keys.get(slot) {
                slot.value = windows;
            }
        }
        Ok(())
    })?;
    Ok(passed)
}

fn time(bytes: &mut &[u8]) -> Result<i128> {
    Ok(i128::from_le_bytes(take(bytes)?))
}

fn take_bounds(bytes: &mut &[u8]) -> Result<Open<()>> {
    let (start, end, due, early, clock) =
        (time(bytes)?, time(bytes)?, time(bytes)?, time(bytes)?, time(bytes)?);
    let (born, unshown) = (u64::from_le_bytes(take(bytes)?), u64::from_le_bytes(take(bytes)?));
    let [passed] = take(bytes)?;
    let open = Open::new(Span { start, end }, due, born, ());
    Ok(Open { unshown, passed: passed != 0, early, clock, ..open })
}

//! How open windows with a trigger are written down: a section for each kind of thing.
//!
//! ```text
//! name of a section    entries
//! 0                    key -> ( start end due early clock born unshown passed accumulator )*
//! 1                    nothing -> reached                 little-endian: i64, i128 (times), u64, u8
//! ```

use super::head::State;
use super::open::Open;
use crate::checkpoint::records::Part;
use crate::checkpoint::{Groups, each_entry};
use crate::error::Result;
use crate::state::{Form, Keep, Mode};
use crate::time::{Millis, Timestamp};
use crate::window::saved::take;
use crate::window::session::Entry;
use crate::window::spec::{Span, saturate};
use std::collections::VecDeque;

const WINDOWS: &[u8] = &[0];
const REACHED: &[u8] = &[1];

/// Begins to write the windows of all keys.
pub fn begin_save<M: Mode, K: Keep<M>, A: Keep<M>>(
    state: &mut State<K, A, M>,
    out: &Groups,
    hash_of: impl Fn(&K) -> u64 + Send + 'static,
) -> Result<()> {
    state.keys.begin_save(out, WINDOWS, hash_of, write::<M, A>)?;
    // How far the watermark was is kept although a group has no windows: those that it will have begin behind it.
    if out.is_whole() || state.saved < state.reached {
        state.saved = state.reached;
        let reached = state.reached.0.to_le_bytes();
        out.put_everywhere(&out.section(Part::Head, REACHED, &[]), &[], &reached);
    }
    Ok(())
}

/// How the windows of a key are written down where they leave the memory: when they are looked at next beside it.
pub fn form<M, A: Keep<M>>() -> Form<VecDeque<Open<A>>> {
    Form {
        write: write::<M, A>,
        beside: |windows, out| {
            let times = windows.iter().flat_map(|window| [window.queued, window.ticking]);
            times.for_each(|time| out.extend_from_slice(&time.to_le_bytes()));
        },
        read: |value, mut beside| {
            let mut windows = read::<M, A>(value)?;
            for window in &mut windows {
                (window.queued, window.ticking) = (time(&mut beside)?, time(&mut beside)?);
            }
            Ok(windows)
        },
    }
}

/// Reads what [`write`] wrote.
fn read<M, A: Keep<M>>(mut value: &[u8]) -> Result<VecDeque<Open<A>>> {
    let mut windows = VecDeque::new();
    while !value.is_empty() {
        let window: Open<A> = take_bounds(&mut value)?.with(A::read(&mut value)?);
        windows.push_back(window);
    }
    Ok(windows)
}

fn write<M, A: Keep<M>>(windows: &VecDeque<Open<A>>, out: &mut Vec<u8>) -> Result<()> {
    windows.iter().try_for_each(|window| {
        bounds(window, out);
        window.acc.write(out)
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

/// Adds the keys of a group. Returns how far the watermark had surely come: to the last end that it has passed.
pub fn restore<M: Mode, K: Keep<M>, A: Keep<M>>(
    state: &mut State<K, A, M>,
    lateness: Millis,
    bytes: &[u8],
    hash_of: impl Fn(&K) -> u64,
) -> Result<Timestamp> {
    let mut passed = Timestamp::MIN;
    K::kept(|| {
        each_entry(bytes, &mut |section, key, mut value| {
            if section == REACHED {
                let reached = Timestamp(i64::from_le_bytes(take(&mut value)?));
                state.reached = state.reached.max(reached);
                return Ok(());
            }
            let windows = read::<M, A>(value)?;
            let slot = state.keys.put_back(key, &hash_of, windows)?;
            let Some(windows) = state.keys.get(slot) else { return Ok(()) };
            for window in &mut windows.value {
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
            Ok(())
        })
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

//! How count windows are written down.
//!
//! ```text
//! key -> born seen shown full last ( start accumulator )*      little-endian: u64, i64
//! ```
//!
//! Keys come back in the order in which they came, which is kept within a group.

use super::open::Windows;
use crate::checkpoint::each_entry;
use crate::error::Result;
use crate::state::{Form, Keep, Mode, Pane, read_all};
use crate::time::Timestamp;
use crate::window::saved::take;
use std::collections::{HashSet, VecDeque};

/// Writes the windows of a key.
pub fn write<M, A: Keep<M>>(windows: &Windows<A>, out: &mut Vec<u8>) -> Result<()> {
    let Windows { open, seen, shown, full, last, born } = windows;
    [born, seen, shown, full].iter().for_each(|n| out.extend_from_slice(&n.to_le_bytes()));
    out.extend_from_slice(&last.0.to_le_bytes());
    open.iter().try_for_each(|(start, acc)| {
        out.extend_from_slice(&start.0.to_le_bytes());
        acc.write(out)
    })
}

/// How the windows of a key are written down where they leave the memory.
pub fn form<M, A: Keep<M>>() -> Form<Windows<A>> {
    Form { write: write::<M, A>, beside: |_, _| (), read: |value, _| read::<M, A>(value) }
}

/// Reads what [`write`] wrote.
fn read<M, A: Keep<M>>(mut value: &[u8]) -> Result<Windows<A>> {
    let [born, seen, shown, full, last] = numbers(&mut value)?;
    let last = Timestamp(last.cast_signed());
    let mut open = VecDeque::new();
    while !value.is_empty() {
        let start = Timestamp(i64::from_le_bytes(take(&mut value)?));
        open.push_back((start, A::read(&mut value)?));
    }
    Ok(Windows { open, seen, shown, full, last, born })
}

/// Adds the keys of a group.
pub fn restore<M: Mode, K: Keep<M>, A: Keep<M>>(
    keys: &mut Pane<K, Windows<A>, M>,
    bytes: &[u8],
    hash_of: impl Fn(&K) -> u64,
) -> Result<()> {
    K::kept(|| {
        let mut all = Vec::new();
        each_entry(bytes, &mut |_, key, value| {
            all.push((read_all::<M, K>(key)?, read::<M, A>(value)?));
            Ok(())
        })?;
        // All keys with one hash are of one key group, so they come together.
        let mut hashes = HashSet::new();
        all.sort_unstable_by_key(|(_, windows)| windows.born);
        for (key, windows) in all {
            let (hash, born) = (hash_of(&key), keys.len() as u64);
            if !hashes.insert(hash) {
                keys.share(hash);
            }
            keys.push(hash, key, Windows { born, ..windows }, &hash_of);
        }
        Ok(())
    })
}

fn numbers<const N: usize>(bytes: &mut &[u8]) -> Result<[u64; N]> {
    let mut numbers = [0; N];
    for number in &mut numbers {
        *number = u64::from_le_bytes(take(bytes)?);
    }
    Ok(numbers)
}

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
use crate::state::{Keep, Mode, Pane, read_all};
use crate::time::Timestamp;
use crate::window::saved::take;
use std::collections::VecDeque;

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

/// Adds the keys of a group.
pub fn restore<M: Mode, K: Keep<M>, A: Keep<M>>(
    keys: &mut Pane<K, Windows<A>, M>,
    bytes: &[u8],
    hash_of: impl Fn(&K) -> u64,
) -> Result<()> {
    K::kept(|| {
        let mut all = Vec::new();
        each_entry(bytes, &mut |_, key, mut value| {
            let key = read_all::<M, K>(key)?;
            let [born, seen, shown, full, last] = numbers(&mut value)?;
            let last = Timestamp(last.cast_signed());
            let mut open = VecDeque::new();
            while !value.is_empty() {
                let start = Timestamp(i64::from_le_bytes(take(&mut value)?));
                open.push_back((start, A::read(&mut value)?));
            }
            all.push((key, Windows { open, seen, shown, full, last, born }));
            Ok(())
        })?;
        all.sort_unstable_by_key(|(_, windows)| windows.born);
        for (key, windows) in all {
            let born = keys.len() as u64;
            keys.push(hash_of(&key), key, Windows { born, ..windows }, &hash_of);
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

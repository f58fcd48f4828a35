//! How count windows are written down, key group by key group.
//!
//! ```text
//! ( key seen shown full last count ( start accumulator )^count )*      little-endian: u64, i64; count as u32
//! ```

use super::open::Windows;
use crate::checkpoint::Pieces;
use crate::error::Result;
use crate::state::{Keep, Pane, write_key};
use crate::time::Timestamp;
use crate::window::saved::take;

/// Writes the windows of all keys.
pub fn snapshot<M, K: Keep<M>, A: Keep<M>>(
    keys: &Pane<K, Windows<A>>,
    out: &mut Pieces,
    hash_of: impl Fn(&K) -> u64,
) -> Result<()> {
    if keys.is_empty() {
        return Ok(());
    }
    K::kept(|| {
        keys.iter().try_for_each(|(key, windows)| {
            let out = out.of(hash_of(key));
            write_key(key, &hash_of, out)?;
            let Windows { open, seen, shown, full, last } = windows;
            [seen, shown, full].iter().for_each(|n| out.extend_from_slice(&n.to_le_bytes()));
            out.extend_from_slice(&last.0.to_le_bytes());
            out.extend_from_slice(&u32::try_from(open.len()).unwrap_or(u32::MAX).to_le_bytes());
            open.iter().try_for_each(|(start, acc)| {
                out.extend_from_slice(&start.0.to_le_bytes());
                acc.write(out)
            })
        })
    })
}

/// Adds what [`snapshot`] wrote.
pub fn restore<M, K: Keep<M>, A: Keep<M>>(
    keys: &mut Pane<K, Windows<A>>,
    mut bytes: &[u8],
    hash_of: impl Fn(&K) -> u64,
) -> Result<()> {
    if bytes.is_empty() {
        return Ok(());
    }
    K::kept(|| {
        while !bytes.is_empty() {
            let key = K::read(&mut bytes)?;
            let [seen, shown, full, last] = numbers(&mut bytes)?;
            let last = Timestamp(last.cast_signed());
            let count = u32::from_le_bytes(take(&mut bytes)?);
            let open = (0..count).map(|_| {
                let start = Timestamp(i64::from_le_bytes(take(&mut bytes)?));
                Ok((start, A::read(&mut bytes)?))
            });
            let open = open.collect::<Result<_>>()?;
            let windows = Windows { open, seen, shown, full, last };
            keys.push(hash_of(&key), key, windows, &hash_of);
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

//! How a window operator's panes are written down, key group by key group.
//!
//! ```text
//! ( start end fired count ( key accumulator )^count )*      bounds as little-endian i128, count as u32
//! ```

use super::panes::Panes;
use super::spec::Span;
use crate::error::{Error, ErrorKind, Result};
use crate::exchange::key_group;
use crate::state::Keep;

/// Writes the entries of one key group.
pub(super) fn snapshot<M, K: Keep<M>, A: Keep<M>>(
    panes: &Panes<K, A>,
    group: usize,
    out: &mut Vec<u8>,
    hash_of: impl Fn(&K) -> u64,
) -> Result<()> {
    if panes.entries() == 0 {
        return Ok(());
    }
    K::kept(|| {
        for (open, table) in panes.iter() {
            let of_group = || table.iter().filter(|e| key_group(hash_of(&e.0)) == group);
            let count = u32::try_from(of_group().count()).unwrap_or(u32::MAX);
            if count == 0 {
                continue;
            }
            bounds(&open.span, open.fired, count, out);
            for (key, value) in of_group() {
                key.write(out)?;
                value.write(out)?;
            }
        }
        Ok(())
    })
}

fn bounds(span: &Span, fired: bool, count: u32, out: &mut Vec<u8>) {
    out.extend_from_slice(&span.start.to_le_bytes());
    out.extend_from_slice(&span.end.to_le_bytes());
    out.push(u8::from(fired));
    out.extend_from_slice(&count.to_le_bytes());
}

/// Adds what [`snapshot`] wrote.
pub(super) fn restore<M, K: Keep<M>, A: Keep<M>>(
    panes: &mut Panes<K, A>,
    mut bytes: &[u8],
    hash_of: impl Fn(&K) -> u64,
) -> Result<()> {
    if bytes.is_empty() {
        return Ok(());
    }
    K::kept(|| {
        while !bytes.is_empty() {
            let (span, fired, count) = take_bounds(&mut bytes)?;
            let table = panes.select(span, fired);
            for _ in 0..count {
                let (key, value) = (K::read(&mut bytes)?, A::read(&mut bytes)?);
                table.push(hash_of(&key), key, value, &hash_of);
            }
        }
        Ok(())
    })
}

fn take_bounds(bytes: &mut &[u8]) -> Result<(Span, bool, u32)> {
    let start = i128::from_le_bytes(take(bytes)?);
    let end = i128::from_le_bytes(take(bytes)?);
    let [fired] = take(bytes)?;
    Ok((Span { start, end }, fired != 0, u32::from_le_bytes(take(bytes)?)))
}

/// The next `N` bytes.
pub(crate) fn take<const N: usize>(bytes: &mut &[u8]) -> Result<[u8; N]> {
    let Some((head, rest)) = bytes.split_first_chunk::<N>() else {
        return Err(Error::new(ErrorKind::State, "the state of a window is cut short"));
    };
    *bytes = rest;
    Ok(*head)
}

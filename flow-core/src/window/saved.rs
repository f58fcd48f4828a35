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
    for pane in panes.iter() {
        let of_group = || pane.table.iter().filter(|e| key_group(hash_of(&e.0)) == group);
        let count = u32::try_from(of_group().count()).unwrap_or(u32::MAX);
        if count == 0 {
            continue;
        }
        out.extend(pane.span.start.to_le_bytes());
        out.extend(pane.span.end.to_le_bytes());
        out.push(u8::from(pane.fired));
        out.extend(count.to_le_bytes());
        for (key, value) in of_group() {
            key.write(out)?;
            value.write(out)?;
        }
    }
    Ok(())
}

/// Adds what [`snapshot`] wrote.
pub(super) fn restore<M, K: Keep<M>, A: Keep<M>>(
    panes: &mut Panes<K, A>,
    mut bytes: &[u8],
    hash_of: impl Fn(&K) -> u64,
) -> Result<()> {
    while !bytes.is_empty() {
        let start = i128::from_le_bytes(take(&mut bytes)?);
        let end = i128::from_le_bytes(take(&mut bytes)?);
        let [fired] = take(&mut bytes)?;
        let count = u32::from_le_bytes(take(&mut bytes)?);
        let pane = panes.select(Span { start, end }, fired != 0);
        for _ in 0..count {
            let (key, value) = (K::read(&mut bytes)?, A::read(&mut bytes)?);
            pane.table.push(hash_of(&key), key, value, &hash_of);
        }
    }
    Ok(())
}

fn take<const N: usize>(bytes: &mut &[u8]) -> Result<[u8; N]> {
    let Some((head, rest)) = bytes.split_first_chunk::<N>() else {
        return Err(Error::new(ErrorKind::State, "the state of a window is cut short"));
    };
    *bytes = rest;
    Ok(*head)
}

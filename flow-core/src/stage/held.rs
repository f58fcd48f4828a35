//! How an operator writes down the records that it holds back, and the watermarks between them.
//!
//! ```text
//! passed length types^length   ( 0 stamp record | 1 watermark )*      times as little-endian i64, length as u32, records as their codec says
//! ```
//!
//! `types` is what records look like, in UTF-8: those of another type are refused, which would be read as something else.
//! `passed` is the last watermark that has gone on. Whether an input is idle is not kept, nor that it has ended: whoever said so says it again.

use super::Stamp;
use super::own::{take, take_i64};
use crate::error::{Error, ErrorKind, Result};
use crate::state::Keep;
use crate::time::Timestamp;

/// Something that is held back.
pub(crate) enum Held<T, S> {
    Record(T, S),
    Watermark(Timestamp),
}

/// Writes down what is held back behind the watermark `passed`.
pub(crate) fn write<'a, M, T: Keep<M>, S: Stamp>(
    passed: Timestamp,
    types: &str,
    held: impl Iterator<Item = Held<&'a T, S>>,
) -> Result<Vec<u8>> {
    let mut out = passed.0.to_le_bytes().to_vec();
    out.extend_from_slice(&u32::try_from(types.len()).unwrap_or(u32::MAX).to_le_bytes());
    out.extend_from_slice(types.as_bytes());
    for one in held {
        match one {
            Held::Record(record, stamp) => {
                out.push(0);
                out.extend_from_slice(&stamp.time().0.to_le_bytes());
                record.write(&mut out)?;
            }
            Held::Watermark(w) => {
                out.push(1);
                out.extend_from_slice(&w.0.to_le_bytes());
            }
        }
    }
    Ok(out)
}

/// Gives `each` what [`write`] wrote, and returns the watermark that had passed.
pub(crate) fn read<M, T: Keep<M>, S: Stamp>(
    bytes: &mut &[u8],
    types: &str,
    mut each: impl FnMut(Held<T, S>),
) -> Result<Timestamp> {
    let passed = Timestamp(take_i64(bytes)?);
    let length = u32::from_le_bytes(take(bytes)?) as usize;
    let Some(before) = bytes.split_off(..length) else {
        return Err(Error::new(ErrorKind::State, "it is cut short"));
    };
    if before != types.as_bytes() {
        let before = String::from_utf8_lossy(before);
        let what = format!("its records were `{before}` and are `{types}` now");
        return Err(Error::new(ErrorKind::State, what));
    }
    while !bytes.is_empty() {
        let [kind] = take(bytes)?;
        let time = Timestamp(take_i64(bytes)?);
        each(match kind {
            0 => Held::Record(T::read(bytes)?, S::of(time)),
            1 => Held::Watermark(time),
            _ => return Err(Error::new(ErrorKind::State, "neither a record nor a watermark")),
        });
    }
    Ok(passed)
}

//! How an operator writes down the records that it holds back, and the watermarks between them.
//!
//! ```text
//! passed    ( 0 stamp record | 1 watermark )*      times as little-endian i64, records as their codec says
//! ```
//!
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
    held: impl Iterator<Item = Held<&'a T, S>>,
) -> Result<Vec<u8>> {
    let mut out = passed.0.to_le_bytes().to_vec();
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
    mut each: impl FnMut(Held<T, S>),
) -> Result<Timestamp> {
    let passed = Timestamp(take_i64(bytes)?);
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

//! The entries that an operator gets back.

use super::records::{Record, Records, broken};
use crate::error::Result;

/// Calls `f` with the name of its section, the key and the value of each entry in what [`apart`](super::records::apart) gave.
///
/// # Errors
/// When that is not what there is, and what `f` reports.
pub(crate) fn each_entry(bytes: &[u8], f: &mut dyn FnMut(&[u8], &[u8], &[u8]) -> Result<()>) -> Result<()> {
    let mut section = None;
    for record in Records(bytes) {
        match (record?, section) {
            (Record::Section { name, .. }, _) => section = Some(name),
            (Record::Put { key, value }, Some(name)) => f(name, key, value)?,
            (Record::Put { .. }, None) => return Err(broken("an entry is in no section")),
            (Record::Removed { .. } | Record::Dropped { .. }, _) => return Err(broken("something is gone")),
        }
    }
    Ok(())
}

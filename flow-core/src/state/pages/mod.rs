//! What is large in an entry of a table lies in pages of its own: so a change of one element writes a page, and not all of a list.
//!
//! An entry is written as one value. Where a table [pages](super::KeyTable::page) its entries, who is written as a part of one may ask
//! what is being done with it, [`Task`], and hand out pages instead of writing everything into the value: then its value says where they
//! are. Outside of a task (the user's own serialisation, values inside records) there are no pages, and all is in the value.
//!
//! **A page is in one place**, as an entry is (`spill.rs`): in the memory of its owner, or in the store of the state backend. An owner that
//! has been read from the store has its pages there until it asks for them, one by one. Without a backend all pages are in memory.
//! Where an owner takes one after the other out, those that follow are read together, as copies that are good until their page changes.
//!
//! **Checkpoints** have pages in a section of their own, beside that of the entries, in the key group of the owner's key:
//!
//! ```text
//! section 4 of a process    owner page  ->  elements      two little-endian u64s; the codec's sequence of what the owner keeps
//! ```
//!
//! Of a checkpoint of changes those that have changed, and where there is a store what lies there beside them. Owners have numbers, which are unique in a key group: larger than all that an
//! instance has seen. Whoever goes, whether forgotten, replaced or taken out of the table, says by being dropped that its pages are gone. The store has them by
//! several as `2 group^2 owner^8 several^8`, with notes as in `flight.rs` (`store.rs`).

mod pager;
mod store;
mod task;

pub(super) use pager::{GonePages, write_gone};
pub(crate) use pager::{Home, Pager, Together};
#[cfg(test)]
pub(crate) use pager::{Limits, with_limits};
pub(super) use task::{Collected, during, section};
pub(crate) use task::{Restoring, Task, give_back, take_task};

use super::codec;
use crate::checkpoint::records::broken;
use crate::error::{Error, ErrorKind, Result};
use serde_core::Serialize;
use serde_core::de::DeserializeOwned;

/// The section of pages.
pub(crate) const PAGES: &[u8] = &[4];

/// Writes what lies in a page.
///
/// # Errors
/// When it cannot be written.
pub(crate) fn encode<T: Serialize>(value: &T, out: &mut Vec<u8>) -> Result<()> {
    codec::append(value, out)
        .map_err(|error| Error::new(ErrorKind::State, format!("a page cannot be written: {error}")))
}

/// Reads what [`encode`] wrote.
///
/// # Errors
/// When it is of another type.
pub(crate) fn decode<T: DeserializeOwned>(bytes: &[u8]) -> Result<T> {
    match codec::take(bytes) {
        Ok((value, [])) => Ok(value),
        Ok(_) => Err(broken("something stands behind the elements of a page")),
        Err(error) => Err(broken(&format!("the elements of a page are not what they should be: {error}"))),
    }
}

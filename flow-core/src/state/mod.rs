//! Keyed state: tables from key to value, and how their entries are written down.
//!
//! * [`KeyTable`]: for rolling operators: any order, one look-up an element;
//! * [`Pane`]: for windows: keys come out in the order in which they first appeared;
//! * [`Timers`]: what a key has asked to be told later;
//! * [`KeySlots`]: for sessions and joins, whose keys come and go;
//! * [`Keep`]: what the pipeline's mode asks of the types of state.

mod codec;
mod group;
mod keep;
mod key_slots;
mod pane;
mod schema;
mod slots;
mod table;
mod timers;
mod track;

pub use keep::{AtLeastOnce, Durable, Keep, Mode, Volatile, Written};
pub(crate) use keep::{Only, schema_in, schema_of, schema_of_two, write_key};
pub use key_slots::{KeySlot, KeySlots};
pub use pane::Pane;
pub use schema::schema;
pub use table::KeyTable;
pub(crate) use table::read_all;
pub use timers::{Owner, Timer, Timers};

#[cfg(test)]
mod tests;

#[cfg(test)]
mod save_tests;

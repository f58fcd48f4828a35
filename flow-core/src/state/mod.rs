//! Keyed state: tables from key to value, and how their entries are written down.
//!
//! * [`KeyTable`]: for rolling operators: any order, one look-up an element;
//! * [`Pane`]: for windows: keys come out in the order in which they first appeared;
//! * [`Timers`]: what a key has asked to be told later;
//! * [`KeySlots`]: for sessions and joins, whose keys come and go;
//! * [`StateBackend`]: where state goes that does not fit into memory;
//! * [`Keep`]: what the pipeline's mode asks of the types of state.

mod backend;
mod beyond;
mod codec;
mod dense;
mod flight;
mod group;
mod keep;
mod key_slots;
pub(crate) mod pages;
mod pane;
mod schema;
pub(crate) mod shape;
mod slot_spill;
mod slot_track;
mod slots;
mod spill;
mod spilled;
mod table;
mod timer_track;
mod timers;
mod track;

#[cfg(feature = "fjall")]
pub use backend::Fjall;
pub(crate) use backend::Space;
pub use backend::{Changes, StateBackend, StateRead, StateStore, StateStores};
pub(crate) use beyond::Beyond;
pub(crate) use dense::{Dense, Spread, is_dense, is_place, key_at, place_of};
pub use keep::{AtLeastOnce, Durable, Exported, Keep, Mode, Volatile, Written};
pub(crate) use keep::{Only, and_schema, is_written, schema_of, schema_of_states, schema_of_two, write_key};
pub use key_slots::{KeySlot, KeySlots};
pub use pane::Pane;
pub use schema::schema;
pub(crate) use slot_spill::Form;
pub(crate) use slots::prefetch;
pub use table::KeyTable;
pub(crate) use table::read_all;
pub(crate) use timer_track::read_timer;
pub use timers::{Owner, Timer, Timers};

#[cfg(test)]
mod tests;

#[cfg(test)]
mod save_tests;

#[cfg(test)]
mod slot_tests;

#[cfg(test)]
mod timer_tests;

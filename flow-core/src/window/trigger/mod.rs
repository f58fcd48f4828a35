//! Triggers: what fires a window before its end.
//!
//! * `spec`: the typed handle and the conditions that it takes;
//! * `places`: into which windows an element goes;
//! * `open`: an open window of a key, and when something is to be done about it; pure;
//! * `head`: the operator; `saved`: its state, written down;
//! * `chain`: how it is put behind a stream.

mod chain;
mod head;
mod open;
mod places;
mod saved;
mod spec;

pub use chain::{TriggerAgg, Triggered};
pub use places::{Places, TakesTrigger};
pub use spec::{AnyTime, ByEventTime, FiresOn, Or, Rules, Silent, Trigger, When};

//! Sessions: windows that grow with their elements, and end where for the length of a gap none comes.
//!
//! * `spec`: the description, and the gap of an element;
//! * `open`: the open sessions of one key, and how an element joins them; pure;
//! * `state::KeySlots`: the keys that have open sessions; `queue`: when which session is looked at next;
//! * `head`: the operator: elements, watermark, firing as a cursor; `saved`: its state, written down;
//! * `chain`: how the operator is put behind a stream.

mod chain;
pub(crate) mod head;
mod open;
mod queue;
mod saved;
mod spec;

pub use chain::SessionAgg;
pub(super) use head::SessionHead;

pub(super) use open::Keys;
pub(super) use queue::{Entry, Queue, is_due};
pub use spec::{ByRecord, Fixed, Gap, Session, session, session_by};

#[cfg(test)]
mod tests;

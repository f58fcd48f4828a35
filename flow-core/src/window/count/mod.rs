//! Count windows: of so many elements, whenever they happened.
//!
//! * `spec`: the description; `lifting`: how an element gets into the windows that hold it;
//! * `open`: the windows of one key; pure;
//! * `head`: the operator; `saved`: its state, written down;
//! * `chain`: how the operator is put behind a stream.

mod chain;
mod head;
mod lifting;
mod open;
mod saved;
mod spec;

pub use chain::CountAgg;
pub use lifting::{Apart, Lifting, Overlapping};
pub use spec::{Counted, count};

#[cfg(test)]
mod tests;

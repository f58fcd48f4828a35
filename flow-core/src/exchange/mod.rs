//! How records get from the instances of one stage to those of the next.
//!
//! * [`hash`]: key → 64-bit hash, the same in every process;
//! * [`groups`]: hash → key group → instance;
//! * [`coalesce`]: the watermark of several inputs, a pure state machine;
//! * [`align`]: checkpoint barriers of several inputs, a pure state machine.
//!
//! Everything here is pure; the sender's end of an edge is [`crate::stage::Outs`].

pub mod align;
pub mod coalesce;
pub mod groups;
pub mod hash;

pub use align::Aligner;
pub use coalesce::Coalescer;
pub use groups::{KEY_GROUPS, instance_of, key_group};
pub use hash::hash_key;

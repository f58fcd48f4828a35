//! Loops in supersteps.
//!
//! ```text
//! input ─► entry ─► body ─► exit ─► result
//!            ▲                │
//!            └── the workset ─┘   handed over in memory, between supersteps: no ring is in the cycle
//! ```
//!
//! Inside of a loop the watermark is the number of the superstep: when all of a superstep has left, each instance of the entry tells watermark k, which
//! passes through the body as any other, over fan-ins as their minimum. So each stage of the body knows when it has seen all of superstep k, and
//! what gives results "at the end" there gives them at the end of each superstep, and begins anew. When watermark k has
//! come to all instances of the exit, whichever sees it last decides for all whether there is another superstep ([`turns`]), and wakes the
//! entries. Nobody else coordinates.
//!
//! | to see | look at |
//! |---|---|
//! | who decides what; pure but for its lock | [`turns`] |
//! | the stage that gives the workset to the body | `entry.rs` |
//! | the stage that takes what the body returns | `exit.rs` |
//! | how they are put around a body | `chain.rs` |

mod chain;
mod entry;
mod exit;
mod turns;

pub use chain::{Iterated, LoopStart};

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
//! come to all instances of the exit, whichever sees it last decides for all whether there is another superstep (`turns.rs`), and wakes the
//! entries. Nobody else coordinates.
//!
//! **A condition** (`until.rs`) is looked at by each exit for what comes back to it, put together as exits see the end of the superstep, and tested by the last.
//!
//! **Loops in loops.** To the inner loop a superstep of the outer one is all there is: when an entry is told that it is over, its input has come. When the loop is over, the entries do not end but tell
//! that, behind all they have given; the exits give the result and tell the outer superstep on, and all of them begin anew, with numbers that go on. There is nothing between them then.
//! The outer superstep is not over before, so nothing of the next can come meanwhile.
//!
//! **Checkpoints.** While the input comes its barriers pass through entry, body and exit as everywhere. When it has ended none comes any more, so the entries take the
//! coordinator's orders as sources do: each lets the barrier pass in the same superstep, in whatever place of it. That they are in the same one is seen to by
//! `turns.rs`: a superstep with a barrier on its way is not over before all exits have seen it. So at a barrier what was handed over lies with the exits that
//! handed it over, no ring is in the cycle, and nothing is between exits and entries. Entries write down what they have not given, the body what it keeps, exits what has come
//! back; a job that starts from there goes on in the middle of that superstep, and none before it is run again. To the entries of an inner loop the
//! barrier comes from the outer one. It may come behind the end of the outer superstep, when the inner loop is under way; so they read their inputs while they wait for each other, and take it
//! as an order. A loop that is brought back in that place begins as that end is told once more.
//!
//! | to see | look at |
//! |---|---|
//! | who decides what; pure but for its lock | `turns.rs` |
//! | the records on their way, in memory and beyond | `workset.rs`, `handed.rs` |
//! | the stage that gives the workset to the body | `entry.rs` |
//! | the stage that takes what the body returns | `exit.rs`, and what is common to both kinds of loop `back.rs` |
//! | what the body may return | `returns.rs` |
//! | the number of the superstep, as a time and for the body | `number.rs`, `numbered.rs` |
//! | when a loop is over although something comes back | `until.rs` |
//! | the solution set of a delta loop | `solution.rs` |
//! | how they are put around a body | `chain.rs`, `delta.rs` |

mod back;
mod chain;
mod delta;
mod entry;
mod exit;
mod handed;
mod number;
mod numbered;
mod returns;
mod solution;
#[cfg(test)]
mod tests;
mod turns;
mod until;
mod workset;

pub use chain::{InLoop, Iterated, Left, Loop, LoopStart};
pub use delta::{DeltaBody, DeltaIterated, DeltaLoop, DeltaStart};
pub use numbered::Numbered;
pub use returns::{Body, Feeds, Leaves, Says};
pub use until::{Never, Until, When};

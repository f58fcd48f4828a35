//! `join(…).lookup()`: the right side is read whole, then each left element finds what there is of its key.

mod chain;
mod grouped;
mod head;
mod packed;
mod table;
#[cfg(test)]
mod tests;
mod waiting;

pub use chain::{Lookup, LookupJoin, ReadWhole};

#[cfg(test)]
mod waiting_tests;

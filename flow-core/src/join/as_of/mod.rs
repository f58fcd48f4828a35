//! `join(…).as_of()`: the temporal join. The right side is a table of versions; a left element meets the one that held at its time.

mod chain;
#[cfg(test)]
mod tests;
mod way;

pub use chain::{AsOf, AsOfJoin};

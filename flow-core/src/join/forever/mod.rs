//! `join(…).forever()`: each element meets all of its key on the other side, before it and after it, as long as they are kept.

mod chain;
mod head;
#[cfg(test)]
mod tests;

pub use chain::{Forever, ForeverJoin, Matching};

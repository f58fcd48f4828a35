//! `join(…).within(lower, upper)`: the interval join. A left element at t matches the right ones from t + lower to t + upper.

mod bounds;
mod chain;
#[cfg(test)]
mod tests;
mod way;

pub use bounds::Bounds;
pub use chain::{Within, WithinJoin};

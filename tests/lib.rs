//! The tests of flow.

pub mod crashing;
pub mod process;

/// The README's example compiles.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
pub struct Readme;

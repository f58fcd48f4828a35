//! The tests of flow.

pub mod census;
pub mod crashing;
pub mod process;

/// The README's example compiles.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
pub struct Readme;

/// The examples of the page on state run.
#[cfg(doctest)]
#[doc = include_str!("../docs/state.md")]
pub struct State;

/// The examples of the page on pipelines that change run.
#[cfg(doctest)]
#[doc = include_str!("../docs/evolving.md")]
pub struct Evolving;

//! State in checkpoints: that of older types, of an older version of this library, and as text.

#![allow(clippy::duplicate_mod, reason = "the same pipelines with versions of their types")]

mod evolve;
mod exported;
mod golden;
mod pipelines;
mod running;

//! State in checkpoints: that of older types, of an older version of this library, and as text.

mod evolve;
mod exported;
mod golden;
mod pipelines;
mod running;

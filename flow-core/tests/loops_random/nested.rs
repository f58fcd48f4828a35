//! Loops in loops.

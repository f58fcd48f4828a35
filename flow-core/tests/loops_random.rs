//! Bulk and delta loops, and loops in loops, over random graphs, against what a few lines over maps make of them: on every host, at every parallelism.

#![allow(clippy::unwrap_used, reason = "a test that unwraps fails where it should")]

mod loops_random {
    pub mod model;
    pub mod nested;
    pub mod runner;
    pub mod single;
}

//! flow: dataflow pipelines in Rust.

pub mod channel;

//! flow: dataflow pipelines in Rust.

//! Random pipelines as batches, the same ones: see `random/mod.rs`. No element is late, and of each key and window the last row leaves, at the end.

/// How a pipeline begins: as a batch.
mod mode {
    pub type Bounds = flow_core::op::kind::Batch;
    pub const IS_BATCH: bool = true;

    macro_rules! begun {
        ($source:expr) => {
            $source.at_least_once().batch()
        };
    }
    pub(crate) use begun;
}

#[path = "random/mod.rs"]
mod pipelines;

//! Random pipelines as streams: see `random/mod.rs`.

/// How a pipeline begins: as a stream.
mod mode {
    pub type Bounds = flow_core::op::kind::Bounded;
    pub const IS_BATCH: bool = false;

    macro_rules! begun {
        ($source:expr) => {
            $source.at_least_once()
        };
    }
    pub(crate) use begun;
}

#[path = "random/mod.rs"]
mod pipelines;

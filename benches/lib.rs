//! The benches of flow.

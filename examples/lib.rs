//! The examples of flow.

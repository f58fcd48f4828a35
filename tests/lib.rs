//! The tests of flow.

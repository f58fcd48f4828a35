//! Rows as they were at first.

pub mod types {
    use serde::{Deserialize, Serialize};
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
    pub struct Row {
        n: u64,
    }
    pub fn row(n: u64) -> Row {
        Row { n }
    }
    pub fn n_of(row: &Row) -> u64 {
        row.n
    }
}
#[path = "pipelines.rs"]
pub mod pipelines;

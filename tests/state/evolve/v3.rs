//! Rows with less in them.

pub mod types {
    use serde::{Deserialize, Serialize};
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
    pub struct Row(pub i128);
    pub fn row(n: u64) -> Row {
        Row(-i128::from(n))
    }
    pub fn n_of(row: &Row) -> u64 {
        (-row.0) as u64
    }
}
#[path = "pipelines.rs"]
pub mod pipelines;

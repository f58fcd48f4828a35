//! Rows with a new field, and what was a number is a text.

pub mod types {
    use serde::{Deserialize, Serialize};
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
    pub struct Row {
        pub text: String,
        pub tag: Option<Tag>,
    }
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
    pub enum Tag {
        Upgraded,
        Since(u8),
    }
    pub fn row(n: u64) -> Row {
        Row { text: n.to_string(), tag: Some(Tag::Since(2)) }
    }
    pub fn n_of(row: &Row) -> u64 {
        row.text.parse().expect("a number")
    }
}
#[path = "pipelines.rs"]
pub mod pipelines;

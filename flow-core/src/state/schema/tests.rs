//! Schemas, and types that could not be restored.

use super::{schema, tried};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::num::NonZeroU8;

#[derive(Deserialize)]
#[expect(dead_code, reason = "only its schema matters")]
enum Side {
    Buy,
    Limit(u64),
    Between { low: i32, high: i32 },
}

#[derive(Deserialize)]
#[expect(dead_code, reason = "only its schema matters")]
struct Order {
    id: u64,
    side: Side,
    tags: BTreeMap<String, Option<NonZeroU8>>,
}

#[derive(Deserialize)]
#[expect(dead_code, reason = "only its schema matters")]
enum Tree {
    Node(Box<Tree>, Box<Tree>),
    Leaf(u8),
}

#[derive(Deserialize)]
#[expect(dead_code, reason = "only its schema matters")]
struct Chain(Option<Box<Chain>>, Vec<Chain>);

#[test]
fn all_of_a_type_is_in_its_schema() {
    assert_eq!(schema::<(i64, [f32; 2], char)>(), "(i64, (f32, f32), char)");
    assert_eq!(
        schema::<Order>(),
        "Order { id: u64, side: Side, tags: map<string, option<u8>> }; \
         Side = Buy | Limit(u64) | Between { low: i32, high: i32 }"
    );
}

#[derive(Serialize, Deserialize)]
#[expect(dead_code, reason = "only its schema matters")]
struct Plain {
    #[serde(skip)]
    known: u64,
    #[serde(default, alias = "b")]
    a: Option<u8>,
}

#[derive(Serialize, Deserialize)]
#[expect(dead_code, reason = "only its schema matters")]
enum Last {
    One(u8),
    Two(u8),
    #[serde(skip)]
    None,
}

macro_rules! unlike {
    ($($name:ident $body:tt)*) => {$(#[derive(Serialize, Deserialize)] #[allow(dead_code, reason = "only its schema matters")] struct $name $body)*};
}
unlike! {
    Unread { #[serde(skip_deserializing)] a: u64, b: u64 }
    Unwritten { #[serde(skip_serializing)] a: u64, b: u64 }
    Flat { a: u64, #[serde(flatten)] more: BTreeMap<String, u64> }
}

#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Untagged {
    A(u64),
    B(String),
}

#[derive(Serialize, Deserialize)]
#[serde(tag = "kind")]
enum Tagged {
    A { a: u64 },
    B,
}

#[derive(Serialize, Deserialize)]
#[expect(dead_code, reason = "only its schema matters")]
enum Between {
    One(u8),
    #[serde(skip)]
    None,
    Two(u8),
    Three(u8),
}

#[test]
fn what_cannot_be_restored_is_found_without_a_value() {
    assert_eq!(tried::<Plain>().unwrap(), "Plain { a: option<u8> }");
    assert!(tried::<Last>().is_ok());
    assert!(tried::<(String, Vec<BTreeMap<char, [f64; 3]>>, i128, Option<()>)>().is_ok());
    for (why, part) in [
        (tried::<Unread>(), "not what is read"),
        (tried::<Unwritten>(), "not what is read"),
        (tried::<Vec<Option<Between>>>(), "behind one with"),
        (tried::<Flat>(), "the format does not say"),
        (tried::<Untagged>(), "the format does not say"),
        (tried::<BTreeMap<u8, Tagged>>(), "the format does not say"),
        (tried::<serde_json::Value>(), "the format does not say"),
    ] {
        let why = why.expect_err(part);
        assert!(why.contains(part), "{part}: {why}");
    }
}

#[test]
fn a_type_that_holds_itself_has_an_end() {
    assert!(schema::<Tree>().ends_with("; Tree = Node(Tree, Tree) | Leaf(u8)"), "{}", schema::<Tree>());
    let chain = schema::<Chain>();
    assert!(chain.starts_with("Chain(option<Chain(") && chain.len() < 10_000, "{chain}");
}

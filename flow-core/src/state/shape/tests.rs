use super::json::{Json, parse};
use super::*;
use crate::state::{Durable, Keep, schema};
use proptest::prelude::*;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
enum Side {
    Buy,
    Limit(u64),
    Pair(i8, Option<Box<Side>>),
    Between { low: i32, high: i128 },
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Unit;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Meters(f64);

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Order {
    id: u64,
    sides: Vec<Side>,
    #[serde(rename = "per unit")]
    meters: BTreeMap<String, Meters>,
    tags: BTreeMap<i16, (bool, char)>,
    note: Option<String>,
    unit: Unit,
    nothing: (),
    small: (u8, i8, u16, i16, u32, f32),
    large: (u128, i128, i64),
    outcome: Result<u8, String>,
    other: Result<String, ()>,
}

fn sides() -> impl Strategy<Value = Side> {
    let leaf = prop_oneof![
        Just(Side::Buy),
        any::<u64>().prop_map(Side::Limit),
        (any::<i32>(), any::<i64>()).prop_map(|(low, high)| Side::Between { low, high: high.into() }),
    ];
    leaf.prop_recursive(3, 8, 1, |inner| {
        (any::<i8>(), prop::option::of(inner.prop_map(Box::new))).prop_map(|(n, side)| Side::Pair(n, side))
    })
}

fn orders() -> impl Strategy<Value = Order> {
    let metres = prop::collection::btree_map(".{0,6}", any::<f64>().prop_map(Meters), 0..3);
    let tags = prop::collection::btree_map(any::<i16>(), any::<(bool, char)>(), 0..3);
    let large = (any::<u64>(), any::<i64>(), any::<i64>()).prop_map(|(a, b, c)| (a.into(), b.into(), c));
    let others = (any::<Result<u8, String>>(), any::<Result<String, ()>>());
    let first = (any::<u64>(), prop::collection::vec(sides(), 0..3), metres, tags);
    let second = (prop::option::of(".*"), any::<(u8, i8, u16, i16, u32, f32)>(), large, others);
    (first, second).prop_map(|((id, sides, meters, tags), (note, small, large, (outcome, other)))| Order {
        id,
        sides,
        meters,
        tags,
        note,
        unit: Unit,
        nothing: (),
        small,
        large,
        outcome,
        other,
    })
}

/// The value as JSON, by its schema; and that it comes back as the same bytes.
fn json_of<T: Keep<Durable>>(value: &T) -> String {
    let (node, defs) = type_of(&<T as Keep<Durable>>::schema().unwrap().unwrap()).unwrap();
    let mut bytes = Vec::new();
    value.write(&mut bytes).unwrap();
    let (mut out, mut rest) = (String::new(), &bytes[..]);
    decode(&node, &defs, &mut rest, &mut out).unwrap();
    assert!(rest.is_empty());
    let mut back = Vec::new();
    encode(&node, &defs, &parse(&out).unwrap(), &mut back).unwrap();
    assert_eq!(back, bytes, "{out}");
    out
}

/// A number may be written in more than one way; that none is another is seen by the bytes that come back.
fn canonical(json: Json) -> Json {
    match json {
        Json::Number(text) if text.contains(['.', 'e']) => {
            Json::Number(format!("{:?}", text.parse::<f32>().unwrap()))
        }
        Json::List(all) => Json::List(all.into_iter().map(canonical).collect()),
        Json::Object(fields) => {
            Json::Object(fields.into_iter().map(|(name, json)| (name, canonical(json))).collect())
        }
        other => other,
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_value_is_the_json_that_serde_makes(order in orders()) {
        let theirs = parse(&serde_json::to_string(&order).unwrap()).unwrap();
        prop_assert_eq!(canonical(parse(&json_of(&order)).unwrap()), canonical(theirs));
    }

    #[test]
    fn json_is_read_as_serde_reads_it(text in r#"[\[\]{}:,"0-9a-z\\.\- eE+u]{0,30}"#) {
        let theirs = serde_json::from_str::<serde_json::Value>(&text);
        // Numbers beyond a double are numbers here.
        let beyond = theirs.as_ref().is_err_and(|error| error.to_string().contains("out of range"));
        prop_assert!(beyond || parse(&text).is_ok() == theirs.is_ok(), "{}", text);
    }

    #[test]
    fn foreign_bytes_end(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let (node, defs) = type_of(&schema::<Order>()).unwrap();
        let mut rest = &bytes[..];
        if skip(&node, &defs, &mut rest).is_ok() {
            let _ = <Order as Keep<Durable>>::read(&mut &bytes[..]);
        }
    }
}

#[test]
fn what_json_has_no_words_for() {
    let nan = f64::from_bits(0x7ff8_0000_0000_0001);
    assert_eq!(
        json_of(&[f64::NAN, nan, f64::INFINITY, f64::NEG_INFINITY, -0.0]),
        r#"["NaN","NaN:7ff8000000000001","inf","-inf",-0.0]"#
    );
    assert_eq!(json_of(&(f32::NAN, f32::MAX)), r#"["NaN",3.4028235e38]"#);
    assert_eq!(json_of(&[None, Some(None), Some(Some(3u8))]), "[null,[null],[3]]");
    assert_eq!(json_of(&(Some(()), None::<()>, Some(7))), "[[null],null,7]");
    assert_eq!(json_of(&BTreeMap::from([((1u8, 'a'), true)])), r#"[[[1,"a"],true]]"#);
    assert_eq!(json_of(&BTreeMap::from([(false, ()), (true, ())])), r#"{"false":null,"true":null}"#);
    assert_eq!(json_of(&(u128::MAX, i128::MIN)), format!("[{},{}]", u128::MAX, i128::MIN));
    assert_eq!(json_of(&String::from("a\"\\\u{1}\n😀")), r#""a\"\\\u0001\n😀""#);
}

#[test]
fn enums_of_one_name_are_told_apart() {
    let (node, defs) = type_of(&schema::<(Result<u8, String>, Result<String, ()>)>()).unwrap();
    assert_eq!(
        text(&node, &defs),
        "(Result, Result#2); Result = Ok(u8) | Err(string); Result#2 = Ok(string) | Err(())"
    );
}

#[test]
fn a_schema_that_is_read_is_written_the_same() {
    let whole = schema::<Order>();
    let (node, defs) = type_of(&whole).unwrap();
    let again = text(&node, &defs);
    let (node_2, defs_2) = type_of(&again).unwrap();
    assert!(same((&node, &defs), (&node_2, &defs_2), true), "{whole}\n{again}");
    assert!(whole.contains("\"per unit\": map<string, Meters(f64)>"), "{whole}");
}

#[test]
fn a_schema_that_is_none_is_refused() {
    for (schema, what) in [
        ("", "does not say all"),
        ("option<…>", "does not say all"),
        ("(u64, string", "does not say all"),
        ("Side", "does not say all"),
        ("u64 u64", "something follows at ` u64`"),
        ("seq<u64)", "`>` is missing at `)`"),
    ] {
        let error = type_of(schema).unwrap_err();
        assert!(error.contains(what), "{schema}: {error}");
    }
    assert!(type_of(&"(".repeat(1_000)).is_err());
}

#[test]
fn json_of_another_type_is_refused_where_it_is_wrong() {
    let (node, defs) = type_of(&schema::<(Vec<Side>, BTreeMap<String, u8>)>()).unwrap();
    let wrong = |json: &str| encode(&node, &defs, &parse(json).unwrap(), &mut Vec::new()).unwrap_err();
    for (json, what) in [
        (r#"[[],{"a":256}]"#, "at `[1].a`: 256 is no number of u8"),
        (r#"[[],{"a":-1}]"#, "at `[1].a`: -1 is no number of u8"),
        (r#"[["Buy","Sell"],{}]"#, "at `[0][1]`: `Side` has no variant `Sell`"),
        (r#"[[{"Limit":"x"}],{}]"#, "at `[0][0].Limit`: an integer is expected, and there is \"x\""),
        (r#"[[{"Between":{"low":1}}],{}]"#, "at `[0][0].Between`: the field `high` is missing"),
        (r#"[[{"Between":{"low":1,"high":2,"mid":3}}],{}]"#, "there is no field `mid`"),
        (r#"[["Limit"],{}]"#, "the variant `Limit` has fields"),
        ("[[]]", "2 values are expected, and there are 1"),
        ("{}", "a list is expected, and there is an object"),
    ] {
        let error = wrong(json);
        assert!(error.contains(what), "{json}: {error}");
    }
}

#[test]
fn the_state_of_a_stage_is_read() {
    let of = state("string -> u64").unwrap();
    assert_eq!((of.kind, of.values.len()), (Kind::Table, 1));
    let schema = format!("{} -> {}, {}", schema::<Side>(), schema::<Side>(), schema::<Option<u8>>());
    let of = state(&Kind::Join.of(schema)).unwrap();
    assert_eq!(
        (of.kind, of.key, of.values[0].name, of.values[1].name),
        (Kind::Join, Node::Enum(0), "left", "right")
    );
    assert!(state("join of string -> u64").is_err());
    let states = states_of(schema_of_pairs(), &["count".to_owned(), "last (5 s)".to_owned()]);
    assert_eq!(states, "{ count: u64, last: (Side, option<i64>) }; Side = Buy | Sell");
    assert!(matches!(state(&format!("process of u8 -> {states}")).unwrap().values[0].node, Node::Struct(..)));
}

#[test]
fn names_are_put_into_what_is_a_schema_of_pairs() {
    let of = |schema: &str, names: &[&str]| {
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        states_of(schema.to_owned(), &names)
    };
    let quoted = r#"("a, (\"b)" { "x, ": map<u8, (u8, u8)> }, (seq<(A, u8)>, ())); A = "(; " | X(u8, u8)"#;
    let named = of(quoted, &["first (1 h)", "then, this"]);
    let expected = r#"{ first: "a, (\"b)" { "x, ": map<u8, (u8, u8)> }, "then, this": seq<(A, u8)> }; A = "(; " | X(u8, u8)"#;
    assert_eq!(named, expected);
    // What reads schemas agrees on what it is.
    let (node, defs) = type_of(&named).unwrap();
    assert_eq!(text(&node, &defs), named);
    for (other, names) in [
        (quoted, &["one"][..]),
        (quoted, &["one", "two", "three"]),
        (quoted, &[]),
        ("(u8, (u8, u8, ()))", &["one", "two"]),
        ("(u8, (…, ()))", &["one", "two"]),
        ("u64", &["one"]),
    ] {
        assert_eq!(of(other, names), other);
    }
}

fn schema_of_pairs() -> String {
    "(u64, ((Side, option<i64>), ())); Side = Buy | Sell".to_owned()
}

#[test]
fn json_says_where_it_is_none() {
    for (text, what) in [
        ("{\"a\":1", "`,` or `}` is missing at character 7"),
        ("[1,]", "a value is missing at character 4"),
        ("01", "a number begins with 0"),
        ("1 2", "something follows at character 3"),
    ] {
        let error = parse(text).unwrap_err();
        assert!(error.contains(what), "{text}: {error}");
    }
    assert!(parse(&"[".repeat(100_000)).is_err());
    assert_eq!(parse(r#""\ud83d\ude00\/""#).unwrap(), Json::Text("😀/".into()));
}

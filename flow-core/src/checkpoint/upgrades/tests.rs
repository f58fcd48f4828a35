use super::*;
use crate::checkpoint::records::{Part, Record, Records, framed, section};
use crate::state::shape::{Kind, put, take};
use serde::{Deserialize, Serialize, de::DeserializeOwned};

fn upgrade<A: DeserializeOwned + 'static, B: Serialize + DeserializeOwned>(
    of: &str,
    convert: impl Fn(A) -> B + Send + Sync + 'static,
) -> Upgrade {
    Upgrade::new(of.to_owned(), move |old| Ok(convert(old)))
}

#[derive(Serialize, Deserialize)]
struct OrderV1 {
    id: u64,
}

#[derive(Serialize, Deserialize, Debug, PartialEq)]
struct Order {
    id: u64,
    note: Option<String>,
}

fn bytes(value: &impl Serialize) -> Vec<u8> {
    let mut out = Vec::new();
    put(value, &mut out).unwrap();
    out
}

fn values(bytes: &[u8]) -> Vec<Vec<u8>> {
    let put = |record| match record {
        Record::Put { value, .. } => Some(value.to_vec()),
        _ => None,
    };
    Records(bytes).map(Result::unwrap).filter_map(put).collect()
}

fn group(name: &[u8], entries: &[(Vec<u8>, Vec<u8>)]) -> Vec<u8> {
    let mut out = Vec::new();
    section(name, b"", &mut out);
    for (key, value) in entries {
        framed(1, key, &mut out);
        framed(1, value, &mut out);
    }
    out
}

fn of(upgrades: &[Upgrade], before: &str, now: &str) -> Result<Option<Upgrading>, Vec<String>> {
    Upgrades::new(upgrades, [("a/op", now)].into_iter()).unwrap().of("a/op", before, now)
}

#[test]
fn values_are_found_wherever_they_have_changed() {
    let to_order = || upgrade("a/op", |old: OrderV1| Order { id: old.id + 1, note: None });
    let old = "(u8, seq<Order { id: u64 }>, map<string, Order { id: u64 }>)";
    let order = "Order { id: u64, note: option<string> }";
    let new = format!("(u8, seq<{order}>, map<string, {order}>)");
    let upgrading =
        of(&[to_order()], &format!("string -> {old}"), &format!("string -> {new}")).unwrap().unwrap();
    let value = bytes(&(
        7u8,
        vec![OrderV1 { id: 1 }, OrderV1 { id: 300 }],
        [("k", OrderV1 { id: 5 })].into_iter().collect::<std::collections::BTreeMap<_, _>>(),
    ));
    let converted = upgrading.group(3, &group(&[Part::Head as u8], &[(bytes(&"a"), value)])).unwrap();
    type New = (u8, Vec<Order>, std::collections::BTreeMap<String, Order>);
    let (back, _): (New, ()) = (take(&mut &values(&converted)[0][..]).unwrap(), ());
    assert_eq!(back.0, 7);
    assert_eq!(back.1.iter().map(|order| order.id).collect::<Vec<_>>(), [2, 301]);
    assert_eq!(back.2["k"].id, 6);
    // What has not changed is not converted, though it is of the type.
    let upgrade = upgrade("a", |old: u64| (old, 0i64));
    let upgrading = of(&[upgrade], "u8 -> (u64, u64)", "u8 -> (u64, (u64, i64))").unwrap().unwrap();
    let converted =
        upgrading.group(3, &group(&[Part::Head as u8], &[(bytes(&1u8), bytes(&(1u64, 2u64)))])).unwrap();
    assert_eq!(values(&converted), [bytes(&(1u64, (2u64, 0i64)))]);
}

#[test]
fn versions_lead_on_from_each_other() {
    let chain = || [upgrade("a/op", |old: u64| format!("{old}")), upgrade("a/op", |old: String| (old, true))];
    let one = |before: &str, value: Vec<u8>| {
        let upgrading = of(&chain(), before, "u8 -> (string, bool)").unwrap().unwrap();
        let converted = upgrading.group(0, &group(&[Part::Head as u8], &[(bytes(&1u8), value)])).unwrap();
        values(&converted)
    };
    let expected = [bytes(&("12", true))];
    assert_eq!(one("u8 -> u64", bytes(&12u64)), expected);
    assert_eq!(one("u8 -> string", bytes(&"12")), expected);
    assert!(of(&chain(), "u8 -> (string, bool)", "u8 -> (string, bool)").unwrap().is_none());
    let Err(notes) = of(&chain(), "u8 -> i8", "u8 -> (string, bool)") else { panic!("it has no upgrade") };
    assert_eq!(notes, ["no upgrade leads from `i8` to `(string, bool)`"]);
}

#[test]
fn values_are_found_in_what_operators_write_around_them() {
    // A join: rows of both sides; only those of the left one have changed.
    let (before, now) = (Kind::Join.of("u8 -> u64, u64".into()), Kind::Join.of("u8 -> string, u64".into()));
    let to_text = upgrade("a/op/left", |old: u64| old.to_string());
    let upgrading = of(&[to_text], &before, &now).unwrap().unwrap();
    let side = |value: &[u8]| [&1u32.to_le_bytes()[..], &[1; 16], value].concat();
    let row = |left: &[u8]| [side(left), side(&bytes(&3u64))].concat();
    let rows =
        |left: &[u8]| group(&[Part::Head as u8], &[(vec![9], row(left)), (vec![9, 1, 0, 0, 0], row(left))]);
    assert_eq!(upgrading.group(0, &rows(&bytes(&500u64))).unwrap(), rows(&bytes(&"500")));
    // Of a process's states the one that is named; timers stay.
    let (before, now) = (
        Kind::Process.of("u8 -> { a: u64, b: u64 }".into()),
        Kind::Process.of("u8 -> { a: u64, b: string }".into()),
    );
    let upgrading = of(&[upgrade("a/op/b", |old: u64| old.to_string())], &before, &now).unwrap().unwrap();
    let process = |b: &[u8]| {
        let mut all = group(&[Part::Head as u8, 0], &[(vec![9], [&[8], b].concat())]);
        all.extend(group(&[Part::Head as u8, 1], &[(vec![9; 17], vec![7; 8])]));
        all
    };
    assert_eq!(upgrading.group(0, &process(&bytes(&7u64))).unwrap(), process(&bytes(&"7")));
    // What is written in one piece.
    let (before, now) = (Kind::Total.of("() -> u64".into()), Kind::Total.of("() -> string".into()));
    let upgrading = of(&[upgrade("a", |old: u64| old.to_string())], &before, &now).unwrap().unwrap();
    let piece = |value: &[u8]| group(&[Part::Piece as u8], &[(Vec::new(), [&[1], value].concat())]);
    assert_eq!(upgrading.group(0, &piece(&bytes(&7u64))).unwrap(), piece(&bytes(&"7")));
    // Sections that are nobody's of these, and the next window of sliding ones, stay as they are.
    let (before, now) =
        (Kind::SlidingWindows.of("u8 -> u64".into()), Kind::SlidingWindows.of("u8 -> string".into()));
    let upgrading = of(&[upgrade("a", |old: u64| old.to_string())], &before, &now).unwrap().unwrap();
    let panes = |value: Vec<u8>| {
        let pane = bytes(&(0i128, 10i128));
        let mut all = group(&[&[Part::Head as u8][..], &pane].concat(), &[(vec![9], value)]);
        all.extend(group(&[Part::Head as u8], &[(Vec::new(), vec![7; 16])]));
        all.extend(group(&[Part::Behind as u8], &[(vec![1], vec![2])]));
        all
    };
    assert_eq!(upgrading.group(0, &panes(bytes(&7u64))).unwrap(), panes(bytes(&"7")));
}

#[test]
fn what_fails_is_told_with_its_key() {
    let small = Upgrade::new("a/op".into(), |old: i64| u64::try_from(old).map_err(|error| error.to_string()));
    let upgrading = of(&[small], "string -> i64", "string -> u64").unwrap().unwrap();
    let entries = [(bytes(&"fine"), bytes(&1i64)), (bytes(&"k7"), bytes(&-1i64))];
    let error = upgrading.group(17, &group(&[Part::Head as u8], &entries)).unwrap_err();
    let text = format!("{error}");
    for part in
        ["a/op", "from `string -> i64` to `string -> u64`", "out of range", "key group 17, key \"k7\""]
    {
        assert!(text.contains(part), "{part}: {text}");
    }
    let cut = upgrading.group(0, &group(&[Part::Head as u8], &[(bytes(&"k"), vec![0x80])])).unwrap_err();
    assert!(cut.to_string().contains("key \"k\""), "{cut}");
}

#[test]
fn keys_and_kinds_do_not_change() {
    let any = || [upgrade("a/op", |old: u64| old.to_string())];
    let Err(notes) = of(&any(), "u64 -> u64", "string -> string") else { panic!("keys do not change") };
    assert!(notes[0].starts_with("keys cannot be changed"), "{notes:?}");
    assert!(of(&any(), "u64 -> u64", "sessions of u64 -> string").is_err());
    let now = "process of u8 -> { a: string, c: u8 }";
    let Err(notes) = of(&any(), "process of u8 -> { a: u64, b: u8 }", now) else { panic!("other states") };
    assert_eq!(notes[0], "its states were `a`, `b` and are `a`, `c` now");
}

#[test]
fn states_of_a_process_come_and_go() {
    let before = "process of u8 -> { a: u64, gone: u8, b: (string, option<i64>) }";
    let now = "process of u8 -> { b: (string, option<i64>), a: u64, new: option<bool> }";
    type B = (String, Option<i64>);
    let all = upgrade("a/op", |(a, _, b): (u64, u8, B)| (b, a, Some(true)));
    let upgrading = of(&[all], before, now).unwrap().unwrap();
    let old = group(&[Part::Head as u8, 0], &[(vec![9], bytes(&(7u64, (1u8, (("x", Some(3i64)), ())))))]);
    let new =
        group(&[Part::Head as u8, 0], &[(vec![9], bytes(&(("x", Some(3i64)), (7u64, (Some(true), ())))))]);
    assert_eq!(upgrading.group(0, &old).unwrap(), new);
}

#[test]
fn upgrades_that_can_never_be_right_are_refused() {
    let stages = [("a/op", "process of u8 -> { a: string, b: u8 }"), ("b/take", "")];
    let refused = |upgrades: &[Upgrade]| {
        let Err(error) = Upgrades::new(upgrades, stages.into_iter()) else { panic!("it is accepted") };
        error.to_string()
    };
    let to_text = |of: &str| upgrade(of, |old: u64| old.to_string());
    assert!(Upgrades::new(&[to_text("a/op/a"), to_text("a")], stages.into_iter()).is_ok());
    for (upgrades, what) in [
        (
            vec![to_text("c/op")],
            "no operator of this name, or state of one, with keyed state: there are a/op",
        ),
        (vec![to_text("b/take")], "there is an upgrade of `b/take`"),
        (vec![to_text("a/op/b")], "leads to `string`, which is not in its state"),
        (vec![upgrade("a", |old: u64| old as i8)], "leads to `i8`"),
        (
            vec![to_text("a"), upgrade("a", |old: u64| (old, old))],
            "two upgrades from `u64`: to `string` and to `(u64, u64)`",
        ),
    ] {
        let error = refused(&upgrades);
        assert!(error.contains(what), "{what}: {error}");
    }
}

/// A list that is written as `ListState` was before it had pages, and as it is.
#[test]
fn lists_get_pages_and_pages_are_not_converted() {
    let list = |of: &str| format!("(seq<({of}, i64)>, option<(u64, u64, u64, u64, i64, bool)>)");
    let process = |a: &str, b: &str| Kind::Process.of(format!("u8 -> {{ a: {a}, b: {b} }}"));
    let old = (vec![(7u64, 1i64), (300, 2)], 9u8);
    let one = |value: Vec<u8>| group(&[Part::Head as u8, 0], &[(vec![9], value)]);
    let upgrading =
        of(&[], &process("seq<(u64, i64)>", "u8"), &process(&list("u64"), "u8")).unwrap().unwrap();
    let converted = upgrading.group(0, &one(bytes(&old))).unwrap();
    type Header = Option<(u64, u64, u64, u64, i64, bool)>;
    let now = bytes(&((old.0.clone(), Header::None), 9u8));
    assert_eq!(values(&converted)[0], now);
    // Its elements change, too.
    let to_text = || [upgrade("a/op/a", |old: u64| old.to_string())];
    let upgrading =
        of(&to_text(), &process("seq<(u64, i64)>", "u8"), &process(&list("string"), "u8")).unwrap().unwrap();
    let texts = (vec![("7", 1i64), ("300", 2)], Header::None);
    assert_eq!(values(&upgrading.group(0, &one(bytes(&old))).unwrap()), [bytes(&(texts.clone(), 9u8))]);
    // As it is now: where there are pages they stay what they are, and are refused where they should not.
    let paged = |value: Vec<u8>| {
        let mut all = one(value);
        all.extend(group(&[Part::Head as u8, 4], &[(vec![1; 16], bytes(&vec![(1u64, 2i64)]))]));
        all
    };
    let upgrading =
        of(&to_text(), &process(&list("u64"), "u8"), &process(&list("string"), "u8")).unwrap().unwrap();
    assert_eq!(values(&upgrading.group(0, &one(now.clone())).unwrap()), [bytes(&(texts, 9u8))]);
    let error = upgrading.group(0, &paged(now.clone())).unwrap_err().to_string();
    assert!(error.contains("lies in pages"), "{error}");
    let other = [upgrade("a/op/b", |old: u8| old.to_string())];
    let upgrading =
        of(&other, &process(&list("u64"), "u8"), &process(&list("u64"), "string")).unwrap().unwrap();
    let expected = bytes(&((old.0, Header::None), "9"));
    assert_eq!(upgrading.group(0, &paged(now)).unwrap(), paged(expected));
}

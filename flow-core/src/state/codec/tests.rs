//! The same bytes as postcard's, there and back, and no panic whatever the bytes.

use super::{append, take};
use proptest::prelude::*;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
enum Shape {
    Empty,
    Round(f32),
    Flat(i16, Option<u8>),
    Named { name: String, tags: Vec<char> },
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct All {
    flag: bool,
    unsigned: (u8, u16, u32, u64, u128, usize),
    signed: (i8, i16, i32, i64, i128, isize),
    float: f64,
    shapes: Vec<Shape>,
    map: BTreeMap<String, Option<Unit>>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Unit;

fn shape() -> impl Strategy<Value = Shape> {
    prop_oneof![
        Just(Shape::Empty),
        (-9e9f32..9e9).prop_map(Shape::Round),
        any::<(i16, Option<u8>)>().prop_map(|(a, b)| Shape::Flat(a, b)),
        (".{0,9}", prop::collection::vec(any::<char>(), 0..4))
            .prop_map(|(name, tags)| Shape::Named { name, tags }),
    ]
}

fn all() -> impl Strategy<Value = All> {
    let map = prop::collection::btree_map(".{0,3}", prop::option::of(Just(Unit)), 0..5);
    (any::<bool>(), any::<[u64; 8]>(), -1e300..1e300, prop::collection::vec(shape(), 0..5), map).prop_map(
        |(flag, n, float, shapes, map)| {
            // Of every length: from a few bits to all.
            let n = n.map(|n| n >> (n % 64));
            let wide = u128::from(n[4]) << (n[5] % 64);
            let unsigned = (n[0] as u8, n[1] as u16, n[2] as u32, n[3], wide, n[6] as usize);
            let signed =
                (n[0] as i8, n[1] as i16, n[2] as i32, -(n[3] as i64 >> 1), !(wide as i128), n[7] as isize);
            All { flag, unsigned, signed, float, shapes, map }
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_bytes_are_those_of_postcard(value in all()) {
        let mut bytes = vec![7];
        append(&value, &mut bytes).unwrap();
        prop_assert_eq!(&bytes[1..], &postcard::to_stdvec(&value).unwrap()[..]);
        bytes.push(9);
        let (back, rest) = take::<All>(&bytes[1..]).unwrap();
        prop_assert_eq!((back, rest), (value, &[9][..]));
        for cut in 1..bytes.len() - 1 {
            prop_assert!(take::<All>(&bytes[1..cut]).is_err());
        }
    }

    #[test]
    fn foreign_bytes_are_read_as_by_postcard(bytes in prop::collection::vec(prop_oneof![0..4u8, any::<u8>()], 0..60)) {
        let ours = take::<All>(&bytes).ok().map(|(value, rest)| (format!("{value:?}"), rest));
        let theirs = postcard::take_from_bytes::<All>(&bytes).ok().map(|(value, rest)| (format!("{value:?}"), rest));
        prop_assert_eq!(ours, theirs);
        let ours = take::<(i16, i128, u32)>(&bytes).ok();
        prop_assert_eq!(ours, postcard::take_from_bytes(&bytes).ok());
    }
}

#[test]
fn the_bounds_of_all_integers() {
    let low = (u64::MIN, u128::MIN, i16::MIN, i64::MIN, i128::MIN, u16::MAX);
    let high = (u64::MAX, u128::MAX, i16::MAX, i64::MAX, i128::MAX, u32::MAX);
    let mut bytes = Vec::new();
    append(&(low, high), &mut bytes).unwrap();
    assert_eq!(bytes, postcard::to_stdvec(&(low, high)).unwrap());
    assert_eq!(take(&bytes).unwrap(), ((low, high), &[][..]));
}

#[test]
fn numbers_of_every_length() {
    let near = |n: u64| [n.wrapping_sub(1), n, n.wrapping_add(1)];
    let numbers: Vec<u64> = (0..64).flat_map(|bits| near(1 << bits)).chain(near(0)).collect();
    for n in numbers {
        let mut bytes = vec![7];
        append(&(n, -1i64), &mut bytes).unwrap();
        assert_eq!(bytes[1..], postcard::to_stdvec(&(n, -1i64)).unwrap(), "{n:x}");
        assert_eq!(take::<(u64, i64)>(&bytes[1..]).unwrap(), ((n, -1), &[][..]), "{n:x}");
    }
}

/// Bytes that are none of ours end in an error, and in time: whatever they say of depth and length.
#[test]
fn foreign_bytes_have_no_end() {
    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct List(Option<Box<List>>);
    assert!(take::<List>(&[1; 100_000]).unwrap_err().to_string().contains("nested"));
    let list = |n| (0..n).fold(List(None), |list, _| List(Some(Box::new(list))));
    let mut bytes = Vec::new();
    append(&list(60), &mut bytes).unwrap();
    assert_eq!(take(&bytes).unwrap(), (list(60), &[][..]));
    assert!(append(&list(100), &mut bytes).is_err(), "what could not be read is not written");
    let length = [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1];
    assert!(take::<Vec<()>>(&length).unwrap_err().to_string().contains("elements"));
}

/// Positions are all that the bytes have: a field that is missing would be read from what follows.
#[test]
fn a_field_cannot_be_left_out() {
    #[derive(Serialize)]
    struct Sparse {
        #[serde(skip_serializing_if = "Option::is_none")]
        a: Option<u8>,
        b: u8,
    }
    append(&Sparse { a: Some(1), b: 2 }, &mut Vec::new()).unwrap();
    let error = append(&Sparse { a: None, b: 2 }, &mut Vec::new()).unwrap_err().to_string();
    assert!(error.contains("`skip_serializing_if` leaves out the field `a`"), "{error}");
}

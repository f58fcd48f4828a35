//! Every aggregate against a naive computation, whole and merged from parts.

use super::{Agg, Aggregate, Algebra, Invertible};
use proptest::prelude::*;
use std::fmt::Debug;

/// A record: a number that is there, and one that may be missing.
type Record = (i32, Option<i32>);

fn whole<T, A: Aggregate<T>>(a: &A, records: &[T]) -> A::Acc {
    let mut acc = a.start();
    for record in records {
        a.add(&mut acc, a.lift(record)).unwrap();
    }
    acc
}

fn merged<'a, T: 'a, A: Aggregate<T>>(a: &A, parts: impl Iterator<Item = &'a [T]>) -> A::Acc {
    let mut acc = a.start();
    for part in parts {
        A::Algebra::merge(a, &mut acc, whole(a, part)).unwrap();
    }
    acc
}

/// `a` makes `expected` of the records, however it gets there.
fn check<A>(a: A, records: &[Record], part: usize, expected: Option<A::Out>)
where
    A: Aggregate<Record, Out: Debug + Close>,
{
    let name = a.name();
    let same = |way: &str, got: Option<A::Out>| {
        assert!(expected.close(&got), "{name} {way}: {got:?} instead of {expected:?} of {records:?}");
    };
    same("one by one", a.result(&whole(&a, records)));
    same("when it is given away", a.take_result(whole(&a, records)));
    if A::Algebra::MERGES {
        same("merged", a.result(&merged(&a, records.chunks(part))));
    }
    if A::Algebra::COMMUTES {
        same("merged backwards", a.result(&merged(&a, records.chunks(part).rev())));
    }
}

/// Taking the first records out again leaves the others.
fn check_inverse<A: Invertible<Record, Out: Debug + Close>>(a: A, records: &[Record], at: usize) {
    let (first, rest) = records.split_at(at.min(records.len()));
    let mut acc = whole(&a, records);
    a.remove(&mut acc, &whole(&a, first)).unwrap();
    let (got, expected) = (a.result(&acc), a.result(&whole(&a, rest)));
    assert!(expected.close(&got), "{}: {got:?} instead of {expected:?}", a.name());
}

/// Equal, floats up to rounding.
trait Close {
    fn close(&self, other: &Self) -> bool;
}
impl Close for f64 {
    fn close(&self, other: &f64) -> bool {
        (self - other).abs() <= 1e-9 * (1.0 + self.abs().max(other.abs()))
    }
}
impl<T: Close> Close for Option<T> {
    fn close(&self, other: &Self) -> bool {
        match (self, other) {
            (Some(a), Some(b)) => a.close(b),
            (a, b) => a.is_none() == b.is_none(),
        }
    }
}
macro_rules! exact {
    ($($t:ty),*) => {$(
        impl Close for $t {
            fn close(&self, other: &$t) -> bool {
                self == other
            }
        }
    )*};
}
exact!(u64, i64, i32, i8, Record, Vec<Record>, String);
impl<A: Close, B: Close, C: Close, D: Close> Close for (A, B, C, D) {
    fn close(&self, other: &Self) -> bool {
        self.0.close(&other.0) && self.1.close(&other.1) && self.2.close(&other.2) && self.3.close(&other.3)
    }
}

fn mean(numbers: &[i64]) -> Option<f64> {
    (!numbers.is_empty()).then(|| numbers.iter().sum::<i64>() as f64 / numbers.len() as f64)
}

/// In two passes.
fn variance(numbers: &[i64]) -> Option<f64> {
    let mean = mean(numbers)?;
    let squares: f64 = numbers.iter().map(|n| (*n as f64 - mean).powi(2)).sum();
    (numbers.len() > 1).then(|| squares / (numbers.len() - 1) as f64)
}

fn largest(records: &[Record], k: usize) -> Vec<Record> {
    let mut with: Vec<Record> = records.iter().copied().filter(|r| r.1.is_some()).collect();
    with.sort_by_key(|r| std::cmp::Reverse(r.1));
    with.truncate(k);
    with
}

proptest! {
    #[test]
    fn each_is_what_it_says(
        records in proptest::collection::vec((-9i32..9, proptest::option::of(-1000i32..1000)), 0..40),
        part in 1usize..9,
    ) {
        let a = Agg::<Record>::new();
        let plain: Vec<i64> = records.iter().map(|r| r.0.into()).collect();
        let there: Vec<i64> = records.iter().filter_map(|r| r.1).map(i64::from).collect();
        let there32 = || records.iter().filter_map(|r| r.1);

        check(a.count(), &records, part, Some(records.len() as u64));
        check(a.sum(|r| i64::from(r.0)), &records, part, Some(plain.iter().sum()));
        check(a.sum(|r| r.1.map(i64::from)), &records, part, Some(there.iter().sum()));
        let wrapped = there.iter().fold(0i8, |sum, n| sum.wrapping_add(*n as i8));
        check(a.wrapping_sum(|r| r.1.map(|n| n as i8)), &records, part, Some(wrapped));
        check(a.min(|r| r.0), &records, part, records.iter().map(|r| r.0).min());
        check(a.max(|r| r.0), &records, part, records.iter().map(|r| r.0).max());
        check(a.min(|r| r.1), &records, part, Some(there32().min()));
        check(a.max(|r| r.1), &records, part, Some(there32().max()));
        check(a.mean(|r| r.0), &records, part, mean(&plain));
        check(a.mean(|r| r.1), &records, part, Some(mean(&there)));
        check(a.variance(|r| r.0), &records, part, Some(variance(&plain)));
        check(a.variance(|r| r.1), &records, part, Some(variance(&there)));
        check(a.first(), &records, part, records.first().copied());
        check(a.last(), &records, part, records.last().copied());
        check(a.collect(), &records, part, Some(records.clone()));
        check(a.top_k(3, |r| r.1), &records, part, Some(largest(&records, 3)));
        check(a.top_k(0, |r| r.1), &records, part, Some(Vec::new()));
        let different: std::collections::BTreeSet<i32> = records.iter().map(|r| r.0).collect();
        check(a.count_distinct(|r| r.0), &records, part, Some(different.len() as u64));
        let text = records.iter().map(|r| r.0.to_string()).collect::<String>();
        check(a.fold(String::new(), |s, r| s.push_str(&r.0.to_string())), &records, part, Some(text));
        let folded = records.iter().copied().reduce(|x, y| (x.0 - y.0, y.1));
        check(a.reduce(|x, y| (x.0 - y.0, y.1)), &records, part, folded);
        let together = (a.count(), a.mean(|r| r.1), a.min(|r| r.1), a.variance(|r| r.1));
        let expected = (records.len() as u64, mean(&there), there32().min(), variance(&there));
        check(together, &records, part, Some(expected));
    }

    #[test]
    fn what_was_added_can_be_taken_out(
        records in proptest::collection::vec((-9i32..9, proptest::option::of(-1000i32..1000)), 0..40),
        at in 0usize..40,
    ) {
        let a = Agg::<Record>::new();
        check_inverse(a.count(), &records, at);
        check_inverse(a.sum(|r| r.1.map(i64::from)), &records, at);
        check_inverse(a.wrapping_sum(|r| r.1.map(|n| n as i8)), &records, at);
        check_inverse(a.mean(|r| r.1), &records, at);
    }
}

#[test]
fn overflow_is_an_error_one_by_one_and_merged() {
    let sum = Agg::<i8>::new().sum(|n| *n);
    let mut acc = whole(&sum, &[100]);
    assert!(sum.add(&mut acc, Some(28)).is_err());
    assert!(<super::Inverts as Algebra<i8, _>>::merge(&sum, &mut acc, whole(&sum, &[28])).is_err());
    assert_eq!(sum.result(&acc), Some(100), "what does not fit is not added");
    let mean = Agg::<i8>::new().mean(|n| *n);
    assert_eq!(mean.result(&whole(&mean, &[100; 3])), Some(100.0), "a mean is widened");
}

#[test]
fn floats_do_not_invert() {
    fn inverts<A: Aggregate<f64>>(_: A) -> bool {
        A::Algebra::INVERTS
    }
    let a = Agg::<f64>::new();
    assert!(inverts((a.count(), a.sum(|x| *x as i64))));
    // 1e20 + 1 − 1e20 is 0.
    assert!(!inverts(a.sum(|x| *x)) && !inverts(a.mean(|x| *x)) && !inverts((a.count(), a.sum(|x| *x))));
    assert!(!inverts((a.count(), a.max(|x| *x as i64))));
}

#[test]
fn pairs_are_there_when_both_parts_are() {
    let records = [(3, Some(1)), (2, None), (2, Some(7))];
    let a = Agg::<Record>::new();
    let least = a.min(|r| (r.0, r.1));
    assert_eq!(least.result(&whole(&least, &records)), Some(Some((2, 7))));
    let plain = a.min(|r| (r.0, -r.0));
    assert_eq!(plain.result(&whole(&plain, &records)), Some((2, -2)));
}

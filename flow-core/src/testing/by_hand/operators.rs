//! Operators that count or accumulate.

use super::{Feed, Kept, Shown, both, config, cut, dealt, end, text};
use crate::checkpoint::Slot;
use crate::job::Job;
use crate::op::edges::Partitioner;
use crate::op::operator::{OpError, Operator};
use crate::source::source;
use proptest::prelude::*;

fn take_three(job: &mut Job, feed: Feed<i64>, shown: Shown) {
    job.add(source(feed).durable().take(3).map(text).collect(&shown.out));
}

fn skip_three(job: &mut Job, feed: Feed<i64>, shown: Shown) {
    job.add(source(feed).durable().skip(3).map(text).collect(&shown.out));
}

#[test]
fn take_and_skip_go_on_counting() {
    let parts = dealt(&[1, 2, 3, 4, 5], 1);
    for at in 0..=5 {
        let (whole, two) = both(take_three, &parts, at, 1, 1);
        assert_eq!((whole.rows(), two.rows()), (texts(&[1, 2, 3]), texts(&[1, 2, 3])), "cut at {at}");
        let (whole, two) = both(skip_three, &parts, at, 1, 1);
        assert_eq!((whole.rows(), two.rows()), (texts(&[4, 5]), texts(&[4, 5])), "cut at {at}");
    }
}

fn texts(numbers: &[i64]) -> Vec<String> {
    numbers.iter().map(ToString::to_string).collect()
}

/// One partition ends before the checkpoint: what it has counted counts.
#[test]
fn take_counts_what_an_ended_instance_has_taken() {
    let parts = std::sync::Arc::new(vec![vec![1, 2], vec![3, 4, 5, 6]]);
    let (whole, two) = both(take_four, &parts, 2, 1, 1);
    assert_eq!((whole.rows().len(), two.rows().len()), (4, 4));
    // Of the two sources, of which one has ended, each has taken one.
    let shown = Shown::default();
    let kept = cut(take_four, 1, &std::sync::Arc::new(vec![vec![1], vec![3, 4, 5, 6]]), 1, None, &shown);
    assert_eq!(kept.parts.keys().filter(|part| part.0 == "take").count(), 2, "{kept:?}");
}

fn take_four(job: &mut Job, feed: Feed<i64>, shown: Shown) {
    job.add(source(feed).durable().take(4).map(text).collect(&shown.out));
}

/// Numbers its records; each instance by itself.
#[derive(Clone, Default)]
struct Numbered(u64);

impl Operator<i64> for Numbered {
    type Out = (u64, i64);
    const KEEPS: bool = true;
    fn name(&self) -> &'static str {
        "numbered"
    }
    fn item<O: FnMut((u64, i64))>(&mut self, item: i64, out: &mut O) -> Result<(), OpError> {
        out((self.0, item));
        self.0 += 1;
        Ok(())
    }
    fn save(&self, out: &mut Vec<u8>) {
        out.extend(self.0.to_le_bytes());
    }
    fn restore(&mut self, states: Vec<Vec<u8>>) -> Result<(), OpError> {
        for state in states {
            self.0 += u64::from_le_bytes(state.try_into().map_err(|_| "not a number")?);
        }
        Ok(())
    }
}

fn numbered(job: &mut Job, feed: Feed<i64>, shown: Shown) {
    job.add(source(feed).durable().apply(Numbered::default()).map(text).collect(&shown.out));
}

/// An operator behind an exchange, dealt out to another number of instances; in all they have counted as many.
fn numbered_behind(job: &mut Job, feed: Feed<i64>, shown: Shown) {
    job.add(source(feed).durable().rebalance().apply(Numbered::default()).map(text).collect(&shown.out));
}

#[test]
fn an_operator_of_the_users_goes_on() {
    let (whole, two) = both(numbered, &dealt(&[7, 8, 9], 1), 2, 1, 1);
    assert_eq!(whole.rows(), two.rows());
    assert_eq!(two.rows(), ["(0, 7)", "(1, 8)", "(2, 9)"]);
}

#[test]
fn what_instances_keep_is_dealt_out_to_others() {
    let parts = dealt(&(0..40).collect::<Vec<i64>>(), 1);
    for (p, q) in [(3, 1), (1, 3), (4, 2), (2, 4)] {
        let shown = Shown::default();
        let kept = cut(numbered_behind, p, &parts, 30, None, &shown);
        let again = cut(numbered_behind, q, &parts, 30, Some(kept.clone()), &shown);
        let sum = |kept: &Kept| -> u64 {
            let own = kept.parts.iter().filter(|part| part.0.0 == "numbered");
            own.map(|part| u64::from_le_bytes(part.1[..].try_into().unwrap())).sum()
        };
        assert_eq!((sum(&kept), sum(&again)), (30, 30), "{p} to {q}");
    }
}

#[test]
fn bytes_of_others_are_an_error_that_names_the_operator() {
    let parts = dealt(&[1, 2, 3], 1);
    let names: [(&str, fn(&mut Job, Feed<i64>, Shown)); 5] = [
        ("take", take_three),
        ("skip", skip_three),
        ("numbered", numbered),
        ("rebalance (senders)", in_turn),
        ("sum", total),
    ];
    for (name, pipeline) in names {
        let mut kept = cut(pipeline, 1, &parts, 2, None, &Shown::default());
        let of_it = kept.parts.iter_mut().filter(|part| part.0.0 == name);
        let slots: Vec<Slot> = of_it
            .map(|(key, bytes)| {
                bytes.push(7);
                key.1
            })
            .collect();
        assert_eq!(slots.len(), 1, "{name} keeps something");
        let error = end(pipeline, 1, &parts, Some(kept), &Shown::default()).unwrap_err();
        let id = name.split(" (").next().unwrap();
        assert!(error.to_string().contains(id), "{name}: {error}");
        assert_eq!(error.kind(), crate::error::ErrorKind::State, "{error}");
    }
}

fn in_turn(job: &mut Job, feed: Feed<i64>, shown: Shown) {
    job.add(
        source(feed)
            .durable()
            .rebalance()
            .map_init(|cx| cx.instance(), |i, n| (*i, n))
            .map(text)
            .collect(&shown.out),
    );
}

fn at_random(job: &mut Job, feed: Feed<i64>, shown: Shown) {
    job.add(
        source(feed)
            .durable()
            .shuffle(9)
            .map_init(|cx| cx.instance(), |i, n| (*i, n))
            .map(text)
            .collect(&shown.out),
    );
}

/// To every third in turn.
#[derive(Clone, Default)]
struct Thirds(usize);

impl Partitioner<i64> for Thirds {
    fn partition(&mut self, _: &i64, _: usize) -> usize {
        self.0 += 3;
        self.0
    }
    const KEEPS: bool = true;
    fn save(&self, out: &mut Vec<u8>) {
        out.extend((self.0 as u64).to_le_bytes());
    }
    fn restore(&mut self, states: Vec<Vec<u8>>) -> Result<(), OpError> {
        for state in states {
            self.0 = u64::from_le_bytes(state.try_into().map_err(|_| "not a number")?) as usize;
        }
        Ok(())
    }
}

fn in_thirds(job: &mut Job, feed: Feed<i64>, shown: Shown) {
    let dealt = source(feed).durable().partition_by(Thirds::default());
    job.add(dealt.map_init(|cx| cx.instance(), |i, n| (*i, n)).map(text).collect(&shown.out));
}

fn total(job: &mut Job, feed: Feed<i64>, shown: Shown) {
    job.add(source(feed).durable().sum(|n| *n).map(text).collect(&shown.out));
}

/// Neither commutes.
fn totals_in_order(job: &mut Job, feed: Feed<i64>, shown: Shown) {
    let totals = source(feed).durable().aggregate(|a| (a.first(), a.last(), a.collect()));
    job.add(totals.map(text).collect(&shown.out));
}

fn folded(job: &mut Job, feed: Feed<i64>, shown: Shown) {
    job.add(
        source(feed)
            .durable()
            .fold(100, |sum, n| *sum = i64::wrapping_mul(*sum, 3) + n)
            .map(text)
            .collect(&shown.out),
    );
}

fn reduced(job: &mut Job, feed: Feed<i64>, shown: Shown) {
    job.add(source(feed).durable().reduce(|a, b| a.max(b)).map(text).collect(&shown.out));
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn as_without_a_cut(
        records in prop::collection::vec(-99i64..99, 0..60),
        at in 0usize..60, partitions in 1usize..4, p in 1usize..4,
    ) {
        let parts = dealt(&records, partitions);
        for pipeline in [in_turn, at_random, in_thirds, total, reduced, numbered] {
            let (whole, two) = both(pipeline, &parts, at, p, p);
            prop_assert_eq!(whole.sorted(), two.sorted());
        }
        let parts = dealt(&records, 1);
        for pipeline in [take_three, skip_three, totals_in_order, folded] {
            let (whole, two) = both(pipeline, &parts, at, p, p);
            prop_assert_eq!(whole.rows(), two.rows());
        }
    }

    #[test]
    fn counts_hold_over_all_instances(
        records in prop::collection::vec(-99i64..99, 0..60),
        at in 0usize..60, partitions in 1usize..4, p in 1usize..4, q in 1usize..4,
    ) {
        let parts = dealt(&records, partitions);
        for pipeline in [taken_of_many, skipped_of_many, total] {
            let (whole, two) = both(pipeline, &parts, at, p, q);
            prop_assert_eq!(whole.rows().len(), two.rows().len());
        }
    }
}

fn taken_of_many(job: &mut Job, feed: Feed<i64>, shown: Shown) {
    job.add(source(feed).durable().rebalance().take(20).map(text).collect(&shown.out));
}

fn skipped_of_many(job: &mut Job, feed: Feed<i64>, shown: Shown) {
    job.add(source(feed).durable().rebalance().skip(20).map(text).collect(&shown.out));
}

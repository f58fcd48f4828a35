//! Operators that hold records back: `rate_limit` and `async_map`.

use super::{Feed, Shown, both, config, cut, dealt, end, text};
use crate::job::Job;
use crate::source::source;
use crate::time::Millis;
use crate::window::tumbling;
use proptest::prelude::*;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::Poll;

type Record = (u16, i64);

fn limited(job: &mut Job, feed: Feed<Record>, shown: Shown) {
    job.add(source(feed).durable().rate_limit(1_000).map(text).collect(&shown.out));
}

/// Watermarks wait among the records, and what is late stays late.
fn limited_windows(job: &mut Job, feed: Feed<Record>, shown: Shown) {
    let timed = source(feed).durable().event_time(|r| r.1).disorder(Millis(5)).rate_limit(1_000);
    job.add(
        timed.window(tumbling(Millis(10))).count().map(|w| (w.start, w.value)).map(text).collect(&shown.out),
    );
}

/// The end of a branch overtakes no barrier: what is held in it is kept.
fn limited_branch(job: &mut Job, feed: Feed<Record>, shown: Shown) {
    let sides = source(feed).durable().partition(|r| r.0 % 2 == 0);
    let (even, odd) = sides.roots();
    let ends = (
        even.take(20).rate_limit(100).map(text).collect(&shown.out),
        odd.rate_limit(1_000).map(text).collect(&shown.aside),
    );
    job.add(sides.fork(ends));
}

#[test]
fn a_barrier_does_not_wait_for_what_is_held() {
    let parts = dealt(&(0..100).map(|n| (n, 0)).collect::<Vec<Record>>(), 1);
    let shown = Shown::default();
    let kept = cut(limited, 1, &parts, 50, None, &shown);
    let before = shown.rows().len();
    assert!(before < 20, "{before} records at once, of 50 that were read");
    end(limited, 1, &parts, Some(kept), &shown).unwrap();
    let all: Vec<String> = (0..100).map(|n| format!("({n}, 0)")).collect();
    assert_eq!(shown.rows(), all, "in order, none lost, none twice");
}

#[test]
fn what_a_branch_holds_that_has_ended_is_kept() {
    let parts = dealt(&(0..100).map(|n| (n, 0)).collect::<Vec<Record>>(), 1);
    let (whole, two) = both(limited_branch, &parts, 60, 1, 1);
    assert_eq!(whole.sorted(), two.sorted());
    assert_eq!(two.rows().len(), 70);
}

#[test]
fn bytes_of_others_are_an_error_that_names_the_operator() {
    let parts = dealt(&(0..100).map(|n| (n, 0)).collect::<Vec<Record>>(), 1);
    let mut kept = cut(limited, 1, &parts, 50, None, &Shown::default());
    let bytes = kept.parts.iter_mut().find(|part| part.0.0 == "rate_limit").expect("it keeps something").1;
    for change in [3, 22, bytes.len() - 1] {
        let mut broken = kept.clone();
        let bytes = broken.parts.iter_mut().find(|part| part.0.0 == "rate_limit").unwrap().1;
        if change == 22 {
            bytes[22] = 77
        } else {
            bytes.truncate(change)
        }
        let run = end(limited, 1, &parts, Some(broken), &Shown::default());
        let error = run.unwrap_err().to_string();
        assert!(error.contains("`rate_limit`") && error.contains("drop_state"), "{error}");
    }
}

/// Whether some answers are held.
static HELD: AtomicBool = AtomicBool::new(false);

fn asked(job: &mut Job, feed: Feed<Record>, shown: Shown) {
    let timed = source(feed).durable().event_time(|r| r.1).disorder(Millis(5));
    let answers = timed.async_map(answer, Millis(1_000)).capacity(8);
    let counts = answers.window(tumbling(Millis(10))).aggregate(|a| (a.count(), a.collect()));
    job.add(counts.map(|w| (w.start, w.value)).map(text).collect(&shown.out));
}

/// Every third takes for ever while some are held; else all are there at once.
fn answer(record: Record) -> impl Future<Output = (u16, i64)> {
    std::future::poll_fn(move |_| {
        let enough = !HELD.load(Ordering::Relaxed);
        if enough || !record.0.is_multiple_of(3) { Poll::Ready(record) } else { Poll::Pending }
    })
}

fn asked_in_no_order(job: &mut Job, feed: Feed<Record>, shown: Shown) {
    let answers = source(feed).durable().async_map(answer, Millis(1_000)).unordered();
    job.add(answers.map(text).collect(&shown.out));
}

#[test]
fn requests_under_way_are_made_again() {
    let records: Vec<Record> = (0..90).map(|n| (n, i64::from(n) * 7 % 50 + i64::from(n))).collect();
    for pipeline in [asked, asked_in_no_order] {
        let (whole, two) = (Shown::default(), Shown::default());
        let parts = dealt(&records, 1);
        end(pipeline, 1, &parts, None, &whole).unwrap();
        HELD.store(true, Ordering::Relaxed);
        let kept = cut(pipeline, 1, &parts, 40, None, &two);
        HELD.store(false, Ordering::Relaxed);
        assert!(two.rows().len() < 40);
        assert!(kept.parts.iter().any(|part| part.0.0 == "async_map" && part.1.len() > 8));
        end(pipeline, 1, &parts, Some(kept), &two).unwrap();
        assert_eq!(whole.sorted(), two.sorted());
    }
}

/// One of two has saved and then ended, and the other, which is at its end, has not: the checkpoint waits for that one.
#[test]
fn what_an_instance_holds_that_comes_to_its_end_is_waited_for() {
    let (whole, two) = both(limited, &dealt(&[(0, 0); 15], 2), 9, 2, 2);
    assert_eq!(whole.sorted(), two.sorted());
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn as_without_a_cut(
        records in prop::collection::vec((0u16..9, 0i64..300), 0..120),
        at in 0usize..120, partitions in 1usize..3, q in 1usize..4,
    ) {
        let parts = dealt(&records, partitions);
        let (whole, two) = both(limited, &parts, at, 2, 2);
        prop_assert_eq!(whole.sorted(), two.sorted());
        let (whole, two) = both(limited_branch, &dealt(&records, 1), at, 1, 1);
        prop_assert_eq!(whole.sorted(), two.sorted());
        let (whole, two) = both(behind_an_exchange, &parts, at, 2, q);
        prop_assert_eq!(whole.sorted(), two.sorted());
        let (whole, two) = both(limited_windows, &dealt(&records, 1), at, 1, 1);
        prop_assert_eq!(whole.rows(), two.rows());
    }
}

/// What is held is dealt out to another number of instances.
fn behind_an_exchange(job: &mut Job, feed: Feed<Record>, shown: Shown) {
    job.add(source(feed).durable().rebalance().rate_limit(2_000).map(text).collect(&shown.out));
}

//! Batches: of each key and window the last row, at the end.

use flow_core::prelude::*;
use proptest::prelude::*;

/// Runs a pipeline over these records, and gives what it gives.
macro_rules! run {
    ($records:expr, $parallelism:expr, |$stream:ident| $rest:expr) => {{
        let out = Collected::new();
        let job = Job::build("batch", |job| {
            let $stream = source(from_vec($records)).batch();
            job.add($rest.collect(&out));
        });
        job.parallelism($parallelism).run().unwrap();
        out.take()
    }};
}

#[test]
fn a_key_has_one_row_with_the_time_of_its_last_record_in_the_order_in_which_keys_came() {
    let events = vec![("b", 7, 1i64), ("a", 1, 2), ("b", 3, 4), ("c", 9, 8)];
    let sums =
        run!(events.clone(), 1, |s| s.event_time(|e| e.1).disorder(Millis(0)).key_by(|e| e.0).sum(|e| e.2));
    assert_eq!(sums, [("b", 5), ("a", 2), ("c", 8)], "nothing is late");
    let windows = run!(events, 1, |s| s
        .event_time(|e| e.1)
        .disorder(Millis(0))
        .key_by(|e| e.0)
        .sum(|e| e.2)
        .window(tumbling(Millis(4)))
        .aggregate(|a| a.collect())
        .map(|w| (w.start.0, w.value)));
    assert_eq!(windows, [(0, vec![("b", 5), ("a", 2)]), (8, vec![("c", 8)])]);
}

#[test]
fn what_gives_a_record_for_each_still_does() {
    let letters = vec![(1, 'a'), (2, 'b'), (1, 'c')];
    let scanned = run!(letters.clone(), 1, |s| s.key_by(|l| l.0).scan(0, |n, _| {
        *n += 1;
        Some(*n)
    }));
    assert_eq!(scanned, [(1, 1), (2, 1), (1, 2)]);
    let mut distinct = run!(letters, 2, |s| s.map(|l| l.0).distinct());
    distinct.sort_unstable();
    assert_eq!(distinct, [1, 2]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    /// Case A5 for the rolling operators: the last row of each key of the streaming program.
    #[test]
    fn it_is_the_last_row_of_each_key_of_streaming(records in prop::collection::vec((0u8..5, -9i64..9), 0..60), p in 1usize..4) {
        macro_rules! same {
            (|$s:ident| $rest:expr) => {{
                let mut batch = run!(records.clone(), p, |$s| $rest);
                let out = Collected::new();
                let job = Job::build("streaming", |job| {
                    let $s = source(from_vec(records.clone()));
                    job.add($rest.collect(&out));
                });
                job.parallelism(p).run().unwrap();
                let mut last = Vec::new();
                for (key, row) in out.take() {
                    last.retain(|(other, _)| *other != key);
                    last.push((key, row));
                }
                batch.sort();
                last.sort();
                prop_assert_eq!(batch, last);
            }};
        }
        same!(|s| s.key_by(|r| r.0).count());
        same!(|s| s.key_by(|r| r.0).sum(|r| r.1));
        same!(|s| s.key_by(|r| r.0).wrapping_sum(|r| r.1));
        same!(|s| s.key_by(|r| r.0).min(|r| r.1));
        same!(|s| s.key_by(|r| r.0).max(|r| (r.1 > 0).then_some(r.1)));
        same!(|s| s.key_by(|r| r.0).reduce(|a, b| (a.0, a.1 * 3 + b.1)));
        same!(|s| s.key_by(|r| r.0).fold(Vec::new(), |all, r| all.push(r.1)));
        same!(|s| s.key_by(|r| r.0).top_n(3, |r| r.1));
    }
}

/// What there is no room for at once leaves later: ten thousand records into small rings.
#[test]
fn a_sort_waits_for_room() {
    for seed in 0..5 {
        let out = Collected::new();
        let job = Job::build("sorted", |job| {
            let numbers = source(from_iter(0..10_000u64)).map(|n| (n * 7_919) % 10_007);
            job.add(numbers.sort_by_key(|n| *n).boundary().collect(&out));
        });
        job.batch_size(16).simulate(seed).unwrap();
        let rows = out.take();
        assert!(rows.len() == 10_000 && rows.is_sorted(), "{} rows", rows.len());
    }
}

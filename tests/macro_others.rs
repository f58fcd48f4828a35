//! Pipelines written in `dataflow!` with watermark strategies, and the named arguments of the smaller operators.

use flow_core::op::event_time::WatermarkStrategy;
use flow_core::prelude::*;

/// An event: its time, the watermark it carries, its name.
type Event = (i64, Option<i64>, char);

fn events() -> Vec<Event> {
    vec![(1, None, 'a'), (12, Some(9), 'b'), (2, None, 'c'), (13, None, 'd')]
}

/// The timestamp of the newest event.
#[derive(Clone)]
struct Newest(i64);

impl WatermarkStrategy<Event> for Newest {
    fn on_event(&mut self, event: &Event, time: Timestamp) {
        assert_eq!(event.0, time.0);
        self.0 = time.0;
    }
    fn watermark(&self) -> Timestamp {
        Timestamp(self.0)
    }
}

dataflow! {
    fn strategies(events: Vec<Event>, offset: i64, own: Newest, out: Collected<(u8, u64)>) {
        let all = source(from_vec(events));
        let ascending = all.event_time(|e| e.0, idle = 5s, monotonic = true, max_ahead = 1d).window(tumbling(10ms)).count();
        let punctuated = all.event_time(|e| e.0, punctuated = |e| e.1.map(|w| w + offset)).window(tumbling(10ms)).count();
        let mine = all.event_time(|e| e.0, watermarks = own, idle = 1min).window(tumbling(10ms)).count();
        ascending.map(|w| (1, w.value)).collect(&out);
        punctuated.map(|w| (2, w.value)).collect(&out);
        mine.map(|w| (3, w.value)).collect(&out);
    }

    fn aligned(out: Collected<u64>) {
        let slow = source(generate(10, |i| i as i64 * 10)).event_time(|t| *t, monotonic = true, align = 20ms);
        let fast = source(generate(100, |i| i as i64)).event_time(|t| *t, disorder = 0ms, align = 20ms);
        slow.union(fast).window(tumbling(50ms)).count().map(|w| w.value).collect(&out);
    }
}

#[test]
fn watermark_strategies() {
    let out = Collected::new();
    let report = strategies(events(), 0, Newest(0), out.clone()).run().expect("a run");
    let mut rows = out.take();
    rows.sort_unstable();
    // `monotonic` believes the third of three: 'c' is the one behind, and on time.
    assert_eq!(rows, [(1, 2), (1, 2), (2, 1), (2, 2), (3, 1), (3, 2)]);
    assert_eq!(report.late(), 2);
}

#[test]
fn sources_that_stay_together() {
    let out = Collected::new();
    aligned(out.clone()).run().expect("a run");
    assert_eq!(out.take(), [55, 55]);
}

dataflow! {
    #[max_shuffles(3)]
    fn widths(n: usize, out: Collected<(&'static str, usize)>) {
        let numbers = source(generate(4, |i| i)).rate_limit(1_000_000);
        let dealt = numbers.rebalance(parallelism = 3);
        dealt.map_init(|cx| cx.parallelism(), |n, _| ("dealt", *n)).collect(&out);
        numbers.key_by(|i| i % 2, parallelism = n).count().map_init(|cx| cx.parallelism(), |n, _| ("keyed", *n)).collect(&out);
        numbers.shuffle(seed = 1, parallelism = 1).map_init(|cx| cx.parallelism(), |n, _| ("shuffled", *n)).collect(&out);
    }
}

#[test]
fn exchanges_say_how_many_instances_follow() {
    let out = Collected::new();
    widths(2, out.clone()).parallelism(4).run().expect("a run");
    let mut rows = out.take();
    rows.sort_unstable();
    assert_eq!(rows, [("dealt", 3), ("keyed", 2), ("shuffled", 1)].map(|row| [row; 4]).concat());
}

dataflow! {
    fn inbox(folder: std::path::PathBuf, n: u64, out: Collected<String>) {
        let seen = source(lines(folder).watch(10ms)).take(n);
        seen.key_by(|line| line.len()).dedup_first(ttl = 1d).map(|(_, line)| line).collect(&out);
    }

    fn best(out: Collected<(u64, Vec<u64>)>, last: Collected<(u64, u64)>) {
        let numbers = source(from_vec(vec![3u64, 8, 5, 6, 2, 9]));
        numbers.key_by(|n| n % 2).top_n(2, |n| *n).collect(&out);
        numbers.key_by(|n| n % 2).dedup_last().collect(&last);
    }
}

#[test]
fn a_watched_folder_without_duplicates() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("b.txt"), "xx\nyyy\n").expect("a file");
    std::fs::write(folder.path().join("a.txt"), "x\nzz\n").expect("a file");
    let out = Collected::new();
    inbox(folder.path().to_path_buf(), 4, out.clone()).simulate(1).expect("a run");
    assert_eq!(out.take(), ["x", "zz", "yyy"]);
}

#[test]
fn the_best_and_the_last() {
    let (out, last) = (Collected::new(), Collected::new());
    best(out.clone(), last.clone()).run().expect("a run");
    let expected = [(1, vec![3]), (0, vec![8]), (1, vec![5, 3]), (0, vec![8, 6]), (1, vec![9, 5])];
    assert_eq!(out.take(), expected);
    assert_eq!(last.take(), [(1, 9), (0, 2)]);
}

dataflow! {
    fn requests(prices: std::sync::Arc<Vec<u64>>, out: Collected<(u64, Option<u64>)>) {
        let ids = source(generate(4, |i| i)).event_time(|i| *i as i64, monotonic = true);
        let found = ids.async_map(
            |id| {
                let prices = prices.clone();
                async move {
                    match prices.get(id as usize) {
                        Some(price) => (id, Some(*price)),
                        None => std::future::pending().await,
                    }
                }
            },
            timeout = 20ms,
            instead = |id| (id, None),
            retries = 1,
            capacity = 2,
        );
        found.collect(&out);
    }
}

#[test]
fn requests_that_are_not_answered() {
    let out = Collected::new();
    let report = requests(vec![7, 8, 9].into(), out.clone()).run().expect("a run");
    assert_eq!(out.take(), [(0, Some(7)), (1, Some(8)), (2, Some(9)), (3, None)]);
    assert_eq!(
        (report.counter("found/async_map.timeouts"), report.counter("found/async_map.retries")),
        (2, 1)
    );
}

//! Joins written in `dataflow!`.

use flow_core::prelude::*;
use flow_core::window::{Late, Windowed};

#[derive(Clone, Debug, PartialEq)]
struct Order {
    id: u64,
    at: i64,
    city: &'static str,
}

#[derive(Clone, Debug, PartialEq)]
struct Payment {
    order: u64,
    at: i64,
}

fn orders() -> Vec<Order> {
    (0..40).map(|id| Order { id, at: id as i64 * 500, city: ["Rome", "Oslo"][id as usize % 2] }).collect()
}

/// Every third order is never paid, the others up to three seconds later.
fn payments() -> Vec<Payment> {
    let paid = orders().into_iter().filter(|order| order.id % 3 != 0);
    paid.map(|order| Payment { order: order.id, at: order.at + (order.id as i64 * 700) % 3000 }).collect()
}

type Paired = Windowed<u64, (Order, Option<Payment>)>;
type Halves = Windowed<&'static str, (Vec<Order>, Vec<Order>)>;

dataflow! {
    pub fn paid(orders: Vec<Order>, payments: Vec<Payment>, rows: Collected<Paired>, missed: Collected<Late<Either<Order, Payment>>>) {
        let orders = source(from_vec(orders)).event_time(|o| o.at, disorder = 0s);
        let payments = source(from_vec(payments)).event_time(|p| p.at, disorder = 3s);
        let (paid, late) = orders
            .key_by(|o| o.id)
            .left_join(payments.key_by(|p| p.order))
            .window(tumbling(2s, offset = 1s), lateness = 0s, late = side);
        paid.collect(&rows);
        late.collect(&missed);
    }

    /// Interval and temporal joins of one stream with itself: diamonds.
    fn diamonds(orders: Vec<Order>, near: Collected<(u64, u64)>, before: Collected<(u64, Option<u64>)>, missed: Collected<u64>) {
        let orders = source(from_vec(orders)).event_time(|o| o.at, disorder = 0s);
        let (pairs, late) = orders
            .key_by(|o| o.city)
            .join(orders.key_by(|o| o.city))
            .within(-1s, 1s, lower_bound_exclusive = true, late = side);
        pairs.map(|(_, (a, b))| (a.id, b.id)).collect(&near);
        late.map(|late| match late.value { Either::A(o) | Either::B(o) => o.id }).collect(&missed);
        let versions = orders.filter(|o| o.id % 4 == 0).key_by(|o| o.city);
        let known = orders.key_by(|o| o.city).left_join(versions).as_of(late = drop);
        known.map(|(_, (o, version))| (o.id, version.map(|v| v.id))).collect(&before);
    }

    /// Both sides of a lookup are one stream: the left one waits.
    fn looked_up(orders: Vec<Order>, rows: Collected<(u64, Option<u64>)>) {
        let orders = source(from_vec(orders)).event_time(|o| o.at, disorder = 0s);
        let evens = orders.filter(|o| o.id % 4 == 0).map(|o| o.id);
        let found = orders.key_by(|o| o.id).left_join(evens.key_by(|id| *id + 1)).lookup();
        found.map(|(id, (_, before))| (id, before)).collect(&rows);
    }

    /// A diamond: both sides are one stream.
    fn halves(orders: Vec<Order>, rows: Collected<Halves>) {
        let orders = source(from_vec(orders)).event_time(|o| o.at, disorder = 0s);
        let early = orders.filter(|o| o.id < 20).key_by(|o| o.city);
        let joined = early.co_group(orders.filter(|o| o.id >= 20).key_by(|o| o.city));
        joined.window(session(5s)).collect(&rows);
    }

    /// Three inputs, one behind the other.
    fn chained(numbers: Vec<i64>, rows: Collected<(i64, i64, i64, i64)>) {
        let numbers = source(from_vec(numbers)).event_time(|n| *n, disorder = 0s);
        let twos = numbers.key_by(|n| n % 10).join(numbers.key_by(|n| n % 10)).window(tumbling(10ms), late = drop);
        let threes = twos.key_by(|w| w.key).join(numbers.key_by(|n| n % 10)).window(tumbling(10ms), late = drop);
        threes.map(|w| (w.key, w.value.0.value.0, w.value.0.value.1, w.value.1)).collect(&rows);
    }
}

#[test]
fn every_order_with_its_payment_or_none() {
    for parallelism in [1, 2, 4] {
        let (rows, missed) = (Collected::new(), Collected::new());
        let job = paid(orders(), payments(), rows.clone(), missed.clone());
        let report = job.parallelism(parallelism).run().expect("a run");
        let rows = rows.take();
        assert_eq!((report.late(), missed.take().len()), (0, 0));
        let window = |t: i64| (t - 1000).div_euclid(2000);
        let both = |o: &Order, p: &Payment| o.id == p.order && window(o.at) == window(p.at);
        let mut expected: Vec<(u64, Option<i64>)> = Vec::new();
        for order in orders() {
            expected.push((order.id, payments().iter().find(|p| both(&order, p)).map(|p| p.at)));
        }
        let mut found: Vec<_> =
            rows.iter().map(|r| (r.value.0.id, r.value.1.as_ref().map(|p| p.at))).collect();
        found.sort();
        assert_eq!(found, expected);
        assert!(found.iter().any(|row| row.1.is_some()) && found.iter().any(|row| row.1.is_none()));
    }
}

#[test]
fn diamonds_of_event_time() {
    for parallelism in [1, 2, 4] {
        let (near, before, missed) = (Collected::new(), Collected::new(), Collected::new());
        let job = diamonds(orders(), near.clone(), before.clone(), missed.clone());
        assert_eq!(job.parallelism(parallelism).run().expect("a run").late(), 0);
        let (mut near, mut before) = (near.take(), before.take());
        near.sort_unstable();
        before.sort_unstable();
        let all = orders();
        let pairs = all.iter().flat_map(|a| all.iter().map(move |b| (a, b)));
        let pairs = pairs.filter(|(a, b)| a.city == b.city && b.at - a.at > -1000 && b.at - a.at <= 1000);
        assert_eq!(near, pairs.map(|(a, b)| (a.id, b.id)).collect::<Vec<_>>());
        let version = |o: &Order| (0..=o.id).rev().find(|id| id % 4 == 0 && id % 2 == o.id % 2);
        assert_eq!(before, all.iter().map(|o| (o.id, version(o))).collect::<Vec<_>>());
        assert!(missed.take().is_empty());
    }
}

#[test]
fn a_lookup_of_one_stream_in_itself() {
    for (parallelism, ring) in [(1, 1), (1, 8), (2, 1), (4, 8)] {
        let rows = Collected::new();
        let many: Vec<Order> = (0..3_000).map(|id| Order { id, at: id as i64, city: "Rome" }).collect();
        let job = looked_up(many, rows.clone()).parallelism(parallelism).ring_batches(ring).batch_size(7);
        let report = job.run().expect("a run");
        let mut rows = rows.take();
        rows.sort_unstable();
        let expected: Vec<_> = (0..3_000).map(|id| (id, (id % 4 == 1).then(|| id - 1))).collect();
        assert_eq!(rows, expected);
        assert!(report.counter("found/lookup.waited") > 0, "the left side has waited");
    }
}

#[test]
fn both_sides_of_one_stream() {
    for parallelism in [1, 2, 4] {
        let rows = Collected::new();
        halves(orders(), rows.clone()).parallelism(parallelism).run().expect("a run");
        let mut found: Vec<_> =
            rows.take().into_iter().map(|w| (w.key, w.value.0.len(), w.value.1.len())).collect();
        found.sort_unstable();
        assert_eq!(found, [("Oslo", 10, 10), ("Rome", 10, 10)], "one session of each city");
    }
}

#[test]
fn three_inputs_are_a_chain() {
    let rows = Collected::new();
    chained((0..30).collect(), rows.clone()).parallelism(2).run().expect("a run");
    let mut found = rows.take();
    found.sort_unstable();
    let expected: Vec<_> = (0..30).map(|n| (n % 10, n, n, n)).collect::<Vec<_>>();
    let mut expected = expected;
    expected.sort_unstable();
    assert_eq!(found, expected);
}

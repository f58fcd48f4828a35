//! Exchanges that say in how many instances what follows runs.

use flow_core::op::boxed::{Boxed, NoRoot};
use flow_core::op::kind::{Bounded, Replayable, Volatile};
use flow_core::prelude::*;
use proptest::prelude::*;

type Numbers = Stream<u64, flow_core::op::Is<(), Bounded, Replayable, Volatile>, Boxed<u64, (), NoRoot>>;

/// An exchange to so many instances, or to as many as the job says.
#[derive(Debug, Clone, Copy)]
enum Route {
    Rebalance(Option<usize>),
    Shuffle(Option<usize>),
    Broadcast(Option<usize>),
    PartitionBy(Option<usize>),
    KeyBy(Option<usize>),
    Global,
    Boundary,
}

macro_rules! wide {
    ($stream:expr, $n:expr) => {
        match $n {
            Some(n) => $stream.parallelism(n).boxed(),
            None => $stream.boxed(),
        }
    };
}

impl Route {
    fn apply(self, s: Numbers) -> Numbers {
        match self {
            Route::Rebalance(n) => wide!(s.rebalance(), n),
            Route::Shuffle(n) => wide!(s.shuffle(7), n),
            Route::Broadcast(n) => wide!(s.broadcast(), n),
            Route::PartitionBy(n) => wide!(s.partition_by(|i: &u64, n: usize| *i as usize % n), n),
            Route::KeyBy(n) => match n {
                Some(n) => s
                    .key_by(|i| i % 5)
                    .parallelism(n)
                    .filter(|_| true)
                    .scan((), |(), i| Some(i))
                    .map(|r| r.1)
                    .boxed(),
                None => s.key_by(|i| i % 5).scan((), |(), i| Some(i)).map(|r| r.1).boxed(),
            },
            Route::Global => s.global().boxed(),
            Route::Boundary => s.boundary().boxed(),
        }
    }

    /// How many instances follow, and how often each record comes.
    fn model(self, job: usize, (before, times): (usize, usize)) -> (usize, usize) {
        match self {
            Route::Rebalance(n) | Route::Shuffle(n) | Route::PartitionBy(n) | Route::KeyBy(n) => {
                (n.unwrap_or(job), times)
            }
            Route::Broadcast(n) => (n.unwrap_or(job), times * n.unwrap_or(job)),
            Route::Global => (1, times),
            Route::Boundary => (before, times),
        }
    }
}

fn route() -> impl Strategy<Value = Route> {
    let n = || prop::option::of(1usize..5);
    prop_oneof![
        n().prop_map(Route::Rebalance),
        n().prop_map(Route::Shuffle),
        n().prop_map(Route::Broadcast),
        n().prop_map(Route::PartitionBy),
        n().prop_map(Route::KeyBy),
        Just(Route::Global),
        Just(Route::Boundary),
    ]
}

fn config() -> ProptestConfig {
    let cases = std::env::var("FLOW_RANDOM_CASES").map_or(100, |text| text.parse().expect("a number"));
    ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn each_stage_has_the_instances_that_the_exchange_before_it_says(
        routes in proptest::collection::vec(route(), 0..4), splits in 1usize..4, job in 1usize..4, seed in any::<u64>(),
    ) {
        let out = Collected::new();
        let built = Job::build("width", |job| {
            let numbers = source(from_vec((0..40u64).collect()).splits(splits)).boxed();
            let routed = routes.iter().fold(numbers, |s, route| route.apply(s));
            job.add(routed.map_init(|cx| cx.parallelism(), |n, i| (i, *n)).collect(&out));
        });
        built.parallelism(job).simulate(seed).expect("it ends");
        let (instances, times) = routes.iter().fold((splits, 1), |at, route| route.model(job, at));
        let mut rows = out.take();
        rows.sort_unstable();
        let expected: Vec<_> = (0..40).flat_map(|i| vec![(i, instances); times]).collect();
        prop_assert_eq!(rows, expected);
    }
}

fn refused(build: impl FnOnce(&mut Job)) -> String {
    Job::build("refused", build).run().expect_err("it cannot be").to_string()
}

#[test]
fn what_cannot_be_is_told_before_any_record_is_read() {
    let numbers = || source(generate(10, |i| i).splits(1));
    let panics = |_: u64| -> () { panic!("a record was read") };
    let none = refused(|job| job.add(numbers().rebalance().parallelism(0).for_each(panics)));
    assert!(
        none.contains("rebalance")
            && none.contains("a parallelism of 0: it has to be at least 1 and at most 256"),
        "{none}"
    );
    let many = refused(|job| job.add(numbers().key_by(|i| *i).parallelism(257).count().for_each(|_| ())));
    assert!(many.contains("a parallelism of 257") && many.contains("width.rs:"), "{many}");
    let global = refused(|job| job.add(numbers().global().parallelism(2).for_each(panics)));
    assert!(
        global.contains("`global` has a parallelism of its own: use `rebalance` for another"),
        "{global}"
    );
    let boundary = refused(|job| job.add(numbers().boundary().parallelism(2).for_each(panics)));
    assert!(boundary.contains("`boundary` has a parallelism of its own"), "{boundary}");
}

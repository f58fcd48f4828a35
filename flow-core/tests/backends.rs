//! Jobs with a state backend.

#![allow(clippy::unwrap_used, reason = "a test that unwraps fails where it should")]

use flow_core::host::HostKind;
use flow_core::prelude::*;
use flow_core::state::StateBackend;
use flow_core::testing::MapBackend;
use std::fmt::Debug;
use std::sync::Arc;

/// State of any type cannot leave the memory.
#[test]
fn a_volatile_pipeline_has_no_use_for_a_backend() {
    let out = Collected::new();
    let job = Job::build("volatile", |job| {
        job.add(source(from_iter(1..=4)).key_by(|n| n % 2).sum(|n| *n).collect(&out));
    });
    let error = job.state_backend(MapBackend::with_limit(0)).run().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Plan);
    let text = error.to_string();
    assert!(
        text.contains("#[checkpointed]") && text.contains("from_iter") && text.contains("backends.rs"),
        "{text}"
    );
}

#[derive(Clone)]
struct Any(Arc<dyn StateBackend>);

impl StateBackend for Any {
    fn begin(&self, job: &str, tables: usize) -> Result<Arc<dyn flow_core::state::StateStores>> {
        self.0.begin(job, tables)
    }
}

/// All that there are, with the folder of those that have one.
fn backends() -> (tempfile::TempDir, Vec<(&'static str, Any)>) {
    let folder = tempfile::tempdir().unwrap();
    let all = vec![
        ("nothing in memory", Any(Arc::new(MapBackend::with_limit(0)))),
        ("some in memory", Any(Arc::new(MapBackend::with_limit(40_000)))),
        ("all in memory", Any(Arc::new(MapBackend::with_limit(usize::MAX / 4)))),
        #[cfg(feature = "fjall")]
        ("on the disk", Any(Arc::new(Fjall::at(folder.path()).memory_limit(16 << 20)))),
    ];
    (folder, all)
}

/// The rows of a job are the same with each backend as without one: in a simulation and on threads.
fn same_with_all<T: Ord + Debug + Clone + Send + 'static>(pipeline: impl Fn(&mut Job, &Collected<T>)) {
    let (_folder, backends) = backends();
    let run = |backend: Option<&Any>, seed: Option<u64>| {
        let out = Collected::new();
        let mut job = Job::build("tested", |job| pipeline(job, &out)).parallelism(2).batch_size(64);
        if let Some(backend) = backend {
            job = job.state_backend(backend.clone());
        }
        match seed {
            Some(seed) => job.simulate(seed).unwrap(),
            None => job.host(HostKind::Threads).run().unwrap(),
        };
        let mut rows = out.take();
        rows.sort();
        rows
    };
    let expected = run(None, Some(1));
    assert!(expected.len() > 100);
    for (name, backend) in &backends {
        assert!(run(Some(backend), Some(7)) == expected, "{name}, in a simulation");
        assert!(run(Some(backend), None) == expected, "{name}, on threads");
    }
}

/// A number of a key, some of them often.
fn key(n: u64) -> u64 {
    let mixed = n.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40;
    if n.is_multiple_of(3) { mixed % 10 } else { mixed % 3_000 }
}

const COUNT: u64 = 12_000;

#[test]
fn rolling_operators_are_the_same() {
    same_with_all(|job, out| {
        let numbers = source(generate(COUNT, |n| n)).durable();
        job.add(numbers.key_by(|n| key(*n)).sum(|n| *n).collect(out));
    });
    same_with_all(|job, out| {
        let names = source(generate(COUNT, |n| n)).durable().key_by(|n| format!("key {}", key(*n)));
        let texts = names.fold(String::new(), |text, n| {
            text.push_str(&n.to_string());
            text.drain(..text.len().saturating_sub(40));
        });
        job.add(texts.collect(out));
    });
}

#[test]
fn the_first_and_the_last_are_the_same() {
    same_with_all(|job, out| {
        let numbers = source(generate(COUNT, |n| n)).durable();
        job.add(numbers.key_by(|n| key(*n)).dedup_first().collect(out));
    });
    same_with_all(|job, out| {
        let numbers = source(generate(COUNT, |n| n)).durable();
        job.add(numbers.key_by(|n| key(*n)).dedup_last().collect(out));
    });
}

/// The order in which keys first came is that of the results also where their state had gone.
#[test]
fn the_last_come_in_the_order_of_their_keys() {
    for (name, backend) in backends().1.into_iter().take(3) {
        let out = Collected::new();
        let job = Job::build("ordered", |job| {
            let numbers = source(generate(COUNT, |n| n)).durable();
            job.add(numbers.key_by(|n| key(*n)).dedup_last().collect(&out));
        });
        job.state_backend(backend).run().unwrap();
        let mut seen = std::collections::HashSet::new();
        let order: Vec<u64> = (0..COUNT).map(key).filter(|key| seen.insert(*key)).collect();
        assert!(out.take().iter().map(|row| row.0).eq(order), "{name}");
    }
}

#[test]
fn state_of_whole_window_functions_is_the_same() {
    same_with_all(|job, out| {
        let numbers =
            source(generate(COUNT, |n| n)).durable().event_time(|n| Timestamp(*n as i64)).monotonic();
        let windows = numbers.key_by(|n| key(*n)).window(tumbling(Millis(500)));
        let totals = windows.aggregate_window(
            |a| a.sum(|n| *n),
            0u64,
            |w, sum| {
                *w.state() += sum;
                let row = (*w.key(), w.start().millis(), *w.state());
                w.emit(row);
                if *w.key() % 7 == 0 {
                    w.forget();
                }
            },
        );
        job.add(totals.collect(out));
    });
}

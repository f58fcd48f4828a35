//! The backends, and jobs that have to give the same rows with each.

use flow_core::host::HostKind;
use flow_core::prelude::*;
use flow_core::state::StateBackend;
use flow_core::testing::{MapBackend, NothingInMemory, Step};
use std::fmt::Debug;
use std::sync::Arc;

pub type Any = Arc<dyn StateBackend>;

/// All that there are, with the folder of those that have one.
pub fn backends() -> (tempfile::TempDir, Vec<(&'static str, Any)>) {
    let folder = tempfile::tempdir().unwrap();
    let all: Vec<(_, Any)> = vec![
        ("some in memory", Arc::new(MapBackend::with_limit(40_000))),
        ("all in memory", Arc::new(MapBackend::with_limit(usize::MAX / 4))),
        #[cfg(feature = "fjall")]
        ("on the disk", Arc::new(Fjall::at(folder.path()).memory_limit(16 << 20))),
    ];
    (folder, all)
}

/// The rows of a job are the same with each backend as without one: in a simulation and on threads.
pub fn same_with_all<T: Ord + Debug + Clone + Send + 'static>(pipeline: impl Fn(&mut Job, &Collected<T>)) {
    same_with_all_but(pipeline, |_| {});
}

/// The same, after `but` with the rows.
pub fn same_with_all_but<T: Ord + Debug + Clone + Send + 'static>(
    pipeline: impl Fn(&mut Job, &Collected<T>),
    but: impl Fn(&mut Vec<T>),
) {
    let (_folder, mut backends) = backends();
    let nothing = NothingInMemory::of(MapBackend::with_limit(0));
    backends.push(("nothing in memory", Arc::new(nothing.clone())));
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
        but(&mut rows);
        rows
    };
    let expected = run(None, Some(1));
    assert!(expected.len() > 100);
    for (name, backend) in &backends {
        assert!(run(Some(backend), Some(7)) == expected, "{name}, in a simulation");
        assert!(run(Some(backend), None) == expected, "{name}, on threads");
    }
    assert!(nothing.puts() > 1_000, "all state leaves the memory");
}

/// A number of a key, some of them often.
pub fn key(n: u64) -> u64 {
    let mixed = n.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40;
    if n.is_multiple_of(3) { mixed % 10 } else { mixed % 3_000 }
}

pub const COUNT: u64 = 12_000;

/// Numbers at their own times, with a watermark behind each hundred.
pub fn steps(count: u64) -> Vec<Step<u64>> {
    let of = |n: u64| {
        let watermark = n.is_multiple_of(100).then_some(Step::Watermark(Timestamp(n as i64)));
        [Some(Step::Item(n, Timestamp(n as i64))), watermark].into_iter().flatten()
    };
    (0..count).flat_map(of).collect()
}

pub fn timed(n: u64) -> Timestamp {
    Timestamp(n as i64)
}

/// So many numbers by [`key`], each at its own time; they come in order.
macro_rules! in_order {
    ($count:expr) => {
        source(generate($count, |n| n)).durable().event_time(|n| timed(*n)).monotonic().key_by(|n| key(*n))
    };
}

/// So many numbers by [`key`], at times below [`COUNT`] which come in no order; the watermark is so far behind.
macro_rules! disordered {
    ($count:expr, $behind:expr) => {
        source(generate($count, |n| n))
            .durable()
            .event_time(|n| timed((*n * 7919) % COUNT))
            .disorder($behind)
            .key_by(|n| key(*n))
    };
}
pub(crate) use {disordered, in_order};

/// Of what a window has shown again and again the last, in the order of `Ord`.
pub fn last_of_each<V>(rows: &mut Vec<(u64, i64, V)>) {
    rows.reverse();
    rows.dedup_by_key(|row| (row.0, row.1));
}

//! The backends, and jobs that have to give the same rows with each.

use flow_core::host::HostKind;
use flow_core::prelude::*;
use flow_core::state::{Changes, StateBackend, StateRead, StateStore, StateStores};
use flow_core::testing::{MapBackend, Step};
use std::fmt::Debug;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

#[derive(Clone)]
pub struct Any(pub Arc<dyn StateBackend>);

impl StateBackend for Any {
    fn begin(&self, job: &str, tables: usize) -> Result<Arc<dyn StateStores>> {
        self.0.begin(job, tables)
    }
}

/// Counts what it is given, and in how many tables.
#[derive(Clone)]
pub struct Counted {
    backend: MapBackend,
    pub tables: Arc<AtomicUsize>,
    pub puts: Arc<AtomicUsize>,
}

impl Counted {
    pub fn with_limit(bytes: usize) -> Self {
        Counted { backend: MapBackend::with_limit(bytes), tables: Arc::default(), puts: Arc::default() }
    }
}

impl StateBackend for Counted {
    fn begin(&self, job: &str, tables: usize) -> Result<Arc<dyn StateStores>> {
        self.tables.store(tables, Relaxed);
        Ok(Arc::new(CountedStores(self.backend.begin(job, tables)?, Arc::clone(&self.puts))))
    }
}

pub struct CountedStores(Arc<dyn StateStores>, Arc<AtomicUsize>);

impl StateStores for CountedStores {
    fn share(&self) -> usize {
        self.0.share()
    }
    fn open(&self, name: &str) -> Result<Box<dyn StateStore>> {
        Ok(Box::new(CountedStore(self.0.open(name)?, Arc::clone(&self.1))))
    }
}

pub struct CountedStore(Box<dyn StateStore>, Arc<AtomicUsize>);

impl StateRead for CountedStore {
    fn get(&self, key: &[u8], found: &mut Vec<u8>) -> Result<bool> {
        self.0.get(key, found)
    }
    fn scan(&self, from: &[u8], to: &[u8], each: &mut dyn FnMut(&[u8], &[u8]) -> bool) -> Result<()> {
        self.0.scan(from, to, each)
    }
}

impl StateStore for CountedStore {
    fn write(&mut self, changes: &Changes) -> Result<()> {
        self.1.fetch_add(changes.iter().filter(|change| change.1.is_some()).count(), Relaxed);
        self.0.write(changes)
    }
    fn snapshot(&self) -> Result<Box<dyn StateRead>> {
        self.0.snapshot()
    }
}

/// All that there are, with the folder of those that have one.
pub fn backends() -> (tempfile::TempDir, Vec<(&'static str, Any)>) {
    let folder = tempfile::tempdir().unwrap();
    let all = vec![
        ("some in memory", Any(Arc::new(MapBackend::with_limit(40_000)))),
        ("all in memory", Any(Arc::new(MapBackend::with_limit(usize::MAX / 4)))),
        #[cfg(feature = "fjall")]
        ("on the disk", Any(Arc::new(Fjall::at(folder.path()).memory_limit(16 << 20)))),
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
    let nothing = Counted::with_limit(0);
    backends.push(("nothing in memory", Any(Arc::new(nothing.clone()))));
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
    assert!(nothing.puts.load(Relaxed) > 1_000, "all state leaves the memory");
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

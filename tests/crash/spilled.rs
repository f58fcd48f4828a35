//! A place for state that is full, under whole jobs in the simulation.

use flow_core::prelude::*;
use flow_core::state::{Changes, StateBackend, StateRead, StateStore, StateStores};
use flow_core::testing::{MapBackend, SimFs};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// Nothing stays in memory, and after so many writes there is no room for more.
struct Full(Arc<AtomicUsize>);

struct Stores(Arc<dyn StateStores>, Arc<AtomicUsize>);

struct Store(Box<dyn StateStore>, Arc<AtomicUsize>);

impl StateBackend for Full {
    fn begin(&self, job: &str, tables: usize) -> Result<Arc<dyn StateStores>> {
        Ok(Arc::new(Stores(MapBackend::with_limit(0).begin(job, tables)?, Arc::clone(&self.0))))
    }
}

impl StateStores for Stores {
    fn share(&self) -> usize {
        self.0.share()
    }
    fn open(&self, name: &str) -> Result<Box<dyn StateStore>> {
        Ok(Box::new(Store(self.0.open(name)?, Arc::clone(&self.1))))
    }
}

impl StateRead for Store {
    fn get(&self, key: &[u8], found: &mut Vec<u8>) -> Result<bool> {
        self.0.get(key, found)
    }
    fn scan(&self, from: &[u8], to: &[u8], each: &mut dyn FnMut(&[u8], &[u8]) -> bool) -> Result<()> {
        self.0.scan(from, to, each)
    }
}

impl StateStore for Store {
    fn write(&mut self, changes: &Changes) -> Result<()> {
        if self.1.fetch_update(Relaxed, Relaxed, |left| left.checked_sub(1)).is_err() {
            return Err(Error::new(ErrorKind::State, "no space left on device"));
        }
        self.0.write(changes)
    }
    fn snapshot(&self) -> Result<Box<dyn StateRead>> {
        self.0.snapshot()
    }
}

const COUNT: u64 = 3_000;

type Rows = Collected<(u64, u64)>;

fn job(disk: &SimFs, out: &Rows, writes: usize) -> Job {
    let job = Job::build("counts", |job| {
        let numbers = source(generate(COUNT, |i| i)).durable();
        job.add(numbers.key_by(|n| n % 50).count().named("counted").collect(out));
    });
    let job = job.checkpoints(Checkpoints::in_storage(Arc::new(disk.clone()))).parallelism(2).batch_size(16);
    job.state_backend(Full(Arc::new(AtomicUsize::new(writes))))
}

/// The job ends, and says where and why; what it has committed counts, and the next start does the rest.
#[test]
fn f_d2_spilled_state_finds_no_room() {
    let mut ended = 0;
    for seed in 0..20 {
        let (disk, out) = (SimFs::new(), Rows::new());
        let mut writes = 10;
        while let Err(error) = job(&disk, &out, writes).simulate(seed) {
            ended += 1;
            assert_eq!(error.kind(), ErrorKind::State);
            let text = error.to_string();
            assert!(
                text.contains("no space left on device")
                    && text.contains("counted")
                    && text.contains("spilled.rs"),
                "{text}"
            );
            writes *= 3;
        }
        let mut rows = out.take();
        rows.sort_unstable();
        let mut expected: Vec<_> = (0..COUNT).map(|n| (n % 50, n / 50 + 1)).collect();
        expected.sort_unstable();
        assert!(rows == expected, "seed {seed}: {} rows", rows.len());
    }
    assert!(ended > 40, "{ended} ends");
}

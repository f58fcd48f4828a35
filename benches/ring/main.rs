//! Our ring beside rtrb, our waiting channel beside crossbeam-channel: `cargo bench -p flow-benches --bench ring`.
//!
//! For a comparison that a busy machine does not blur take `ring_ratios`, which interleaves the two sides.

mod work;

use std::time::Duration;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};

/// Iterations that make up the work of one run of `ring_ratios`. Each has a hundredth of its items.
const ITERATIONS: u64 = 100;

fn rings(criterion: &mut Criterion) {
    for pair in &work::PAIRS {
        let items = pair.items / ITERATIONS;
        let mut group = criterion.benchmark_group(pair.name);
        group.throughput(Throughput::Elements(items));
        group
            .sample_size(20)
            .measurement_time(Duration::from_secs(2))
            .warm_up_time(Duration::from_millis(500));
        for (name, run) in [("flow", pair.run_ours), (pair.theirs, pair.run_theirs)] {
            group.bench_function(name, |bencher| bencher.iter_custom(|iterations| run(iterations * items)));
        }
        group.finish();
    }
}

criterion_group!(benches, rings);
criterion_main!(benches);

//! Jobs with a state backend.

use flow_core::prelude::*;
use flow_core::testing::MapBackend;

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

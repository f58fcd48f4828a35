//! What the instances of an operator share in one run of a job: a job may begin again by itself, and then counts anew.

use std::any::Any;
use std::sync::Arc;

/// What has been made for a run, by the address of what stands for it in the pipeline, which outlives the building.
#[derive(Default)]
pub struct OfRun(Vec<(usize, Box<dyn Any>)>);

impl OfRun {
    /// What all instances of this run have in the place of `original`; the first makes it.
    pub(crate) fn of<T: Send + Sync + 'static>(
        &mut self,
        original: &Arc<T>,
        make: impl FnOnce() -> T,
    ) -> Arc<T> {
        let address = Arc::as_ptr(original).addr();
        let known = self.0.iter().find(|known| known.0 == address);
        if let Some(known) = known.and_then(|known| known.1.downcast_ref::<Arc<T>>()) {
            return Arc::clone(known);
        }
        let made = Arc::new(make());
        self.0.push((address, Box::new(Arc::clone(&made))));
        made
    }
}

#[test]
fn instances_of_a_run_share_it_and_runs_do_not() {
    let original = Arc::new(7);
    let (mut first, mut second) = (OfRun::default(), OfRun::default());
    let one = first.of(&original, || 8);
    assert!(Arc::ptr_eq(&one, &first.of(&original, || 9)));
    assert!(!Arc::ptr_eq(&one, &first.of(&Arc::new(7), || 8)));
    assert!(!Arc::ptr_eq(&one, &second.of(&original, || 8)));
}

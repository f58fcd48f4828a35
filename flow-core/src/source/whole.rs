//! Sources of batches.

use super::Src;
use super::lasting::Lasting;
use crate::op::kind::EndsByItself;
use crate::op::{Kind, Stream};

/// Directly behind `source(…)`, or behind what says that it is checkpointed.
pub trait AtSource {}
impl<X> AtSource for Src<X> {}
impl<C> AtSource for Lasting<C> {}

impl<T: 'static, K: Kind, C: AtSource> Stream<T, K, C> {
    /// The same stream as the beginning of a batch: what `dataflow!` does under `#[batch]`. Nobody looks at results before all input has come, so
    /// of each key and each window only the last row leaves, at the end: `sum` gives a row for each key, and not for each record. It is streaming with a perfect
    /// watermark, which comes at the end: nothing is late, and whatever bounds disorder says nothing. Timers of a process fire at the end.
    ///
    /// All sources of a batch say it; of two streams of which one does not, what is put together streams.
    ///
    /// ```
    /// # use flow_core::prelude::*;
    /// # let out = Collected::new();
    /// # let job = Job::build("doc", |job| {
    /// let words = source(from_vec(vec!["a", "b", "a"])).batch();
    /// job.add(words.key_by(|w| *w).count().collect(&out));
    /// # });
    /// # job.run().unwrap();
    /// assert_eq!(out.take(), [("a", 2), ("b", 1)]);
    /// ```
    pub fn batch(self) -> Stream<T, K::Whole, C>
    where
        K: EndsByItself,
    {
        Stream::of(self.chain)
    }
}

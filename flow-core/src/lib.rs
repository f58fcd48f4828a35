//! flow: dataflow pipelines as statically typed, monomorphized operator threads.

extern crate self as flow_core;

#[doc(hidden)]
pub mod __rt;
pub mod aggregate;
pub mod batch;
pub mod channel;
pub mod error;
pub mod exchange;
pub mod graph;
pub mod host;
pub mod job;
pub mod metrics;
pub mod op;
pub mod prelude;
pub mod sink;
pub mod source;
pub mod stage;
pub mod state;
pub mod testing;
pub mod time;
pub mod window;

pub use error::{Error, ErrorKind, Result};
/// ```
/// use flow_core::prelude::*;
///
/// dataflow! {
///     /// How often each word comes.
///     pub fn count_words(words: Vec<&'static str>, counts: Collected<(&'static str, u64)>) {
///         let words = source(from_vec(words)).filter(|word| !word.is_empty());
///         let counted = words.key_by(|word| *word).count();
///         counted.collect(&counts);
///     }
/// }
///
/// let counts = Collected::new();
/// count_words(vec!["a", "b", "", "a"], counts.clone()).run()?;
/// assert_eq!(counts.take(), [("a", 1), ("b", 1), ("a", 2)]);
/// assert_eq!(count_words::GRAPH.exchanges().count(), 1);
/// # Ok::<(), flow_core::Error>(())
/// ```
///
pub use flow_macros::dataflow;
pub use job::Job;

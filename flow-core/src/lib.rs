//! flow: dataflow pipelines as statically typed, monomorphized operator threads.
//!
//! A pipeline is declared in [`dataflow!`], or by hand with the methods of [`op::Stream`], and run as a [`Job`]. Begin with
//! [`prelude`], the example at [`dataflow!`], and the table in `docs/operators.md`.
//!
//! | to write | look at |
//! |---|---|
//! | a pipeline | [`source`] → [`op`] (one file an operator) → [`window`] with [`aggregate`] → [`sink`] |
//! | your own source, sink | [`source::Source`], [`sink::Sink`] |
//! | state and timers for each key | [`process::Process`] |
//! | your own operator, aggregate, partitioner | [`op::Operator`], [`aggregate::Aggregate`], [`op::edges::Partitioner`] |
//! | a function over streams | [`op::Flow`], [`op::Kind`] |
//! | a test with watermarks in exact places | [`testing`] |
//! | records and keys with short text | [`short_string::ShortString`], without an allocation |
//! | what runs, and how it went | [`job`], [`metrics::Report`], [`graph`] |
//!
//! Underneath: a chain of operators becomes a [`stage`], an object without threads; stages are connected by rings of
//! batches ([`batch`], [`channel`], [`exchange`]), keep what they know of keys in [`state`], and are stepped by a [`host`]. How
//! state lies on the disk is in [`checkpoint`].
//!
//! # Checkpoints
//!
//! A pipeline that says `#[checkpointed]`, and is told where, survives its process: the next start goes on from the newest complete checkpoint, and each
//! result counts once. What the compiler asks of sources, sinks and state then is in `docs/operators.md` under "Checkpointed pipelines".
//!
//! ```
//! use flow_core::prelude::*;
//!
//! dataflow! {
//!     #[checkpointed]
//!     pub fn sums(till: u64, out: Collected<(u64, u64)>) {
//!         let numbers = source(generate(till, |n| n));
//!         let sums = numbers.key_by(|n| n % 2).sum(|n| *n);
//!         sums.collect(&out);
//!     }
//! }
//!
//! let (folder, out) = (tempfile::tempdir().unwrap(), Collected::new());
//! let checkpoints = Checkpoints::to(folder.path()).every(Millis(30_000));
//! sums(4, out.clone()).checkpoints(checkpoints).run().unwrap();
//! assert_eq!(out.take(), [(0, 0), (1, 1), (0, 2), (1, 4)]);
//! ```
//!
//! It is not distributed and not SQL.

extern crate self as flow_core;

#[doc(hidden)]
pub mod __rt;
pub mod aggregate;
pub mod batch;
pub mod channel;
pub mod checkpoint;
pub mod error;
pub mod exchange;
pub mod external;
pub mod graph;
pub mod host;
pub mod job;
pub mod join;
pub mod metrics;
pub mod op;
pub mod prelude;
pub mod process;
pub mod short_string;
pub mod sink;
mod sorted;
pub mod source;
mod spawn;
pub mod stage;
pub mod state;
pub mod testing;
pub mod time;
mod unpack;
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

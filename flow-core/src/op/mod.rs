//! Streams and operators: what a pipeline is written with.
//!
//! * [`stream`]: [`Stream`], a pipeline's typed handle; [`kind`]: what its type says beside the record;
//! * [`chain`]: what a stream is made of and how it builds itself; [`tee`], [`fork`], [`boxed`]: where chains branch and
//!   where their types end;
//! * [`operator`]: the one-to-one operator, built in or the user's own; one file each: `map`, `filter`, …;
//! * [`keyed`]: streams with a key ([`key_fn`]: how it is found, [`float_key`]: a float as one), [`rolling`] operators over them;
//! * [`edges`]: exchanges without a key ([`width`]: to how many instances), [`merge`]: fan-in;
//! * [`event_time`]: timestamps and watermarks; [`rate_limit`]; [`async_map`]: requests; [`dead`]: records that go aside.

pub mod async_map;
pub mod boxed;
pub mod chain;
pub mod dead;
pub mod edges;
pub mod event_time;
pub mod float_key;
pub mod fork;
pub mod iterate;
pub mod key_fn;
pub mod keyed;
pub mod kind;
pub mod merge;
pub mod operator;
pub mod proved;
pub mod rate_limit;
pub mod reduce_group;
pub mod rolling;
pub mod sort;
pub mod stateless;
pub mod stream;
pub mod take;
pub mod tee;
pub mod tries;
pub mod unkeyed;
pub mod width;

pub use chain::{Chain, Flow, Terminal, Visit};
pub use dead::Dead;
pub use float_key::FloatKey;
pub use fork::{Either, Either3, Either4, Forked};
pub use key_fn::{Key, KeyFn, KeyTypes};
pub use keyed::KeyedStream;
pub use kind::{Bounded, Is, Kind, Unbounded};
pub use operator::Operator;
pub use proved::Proved;
pub use stream::Stream;

//! The workloads as loops written by hand: what an expert would write without a library. Each is a program of its own.
//!
//! On one thread each is the plain loop. On several, W1 and W2 cut the input; W3 to W5 exchange by key between two
//! threads ([`exchange`]), and W8 stays on one.

pub mod exchange;

/// The hash table of every workload: the fastest general one known, with a fast hash.
pub type Table<K, V> = hashbrown::HashMap<K, V, foldhash::fast::FixedState>;

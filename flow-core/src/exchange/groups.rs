//! Key groups: the unit in which keyed state is assigned to instances, and moved when their number changes.

/// How many key groups there are, and so the largest parallelism behind `key_by`.
pub const KEY_GROUPS: usize = 256;

/// The key group of a key's hash.
#[inline(always)]
pub fn key_group(hash: u64) -> usize {
    hash as usize % KEY_GROUPS
}

/// The instance, of `instances`, that owns the key group of `hash`. Each owns a contiguous range.
///
/// ```
/// use flow_core::exchange::{instance_of, KEY_GROUPS};
/// let owners: Vec<_> = (0..KEY_GROUPS as u64).map(|group| instance_of(group, 3)).collect();
/// assert!(owners.is_sorted());
/// assert_eq!((owners[0], owners[255]), (0, 2));
/// ```
#[inline(always)]
pub fn instance_of(hash: u64, instances: usize) -> usize {
    key_group(hash) * instances / KEY_GROUPS
}

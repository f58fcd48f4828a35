//! What of a job lies on the disk, and how it gets there.
//!
//! A checkpoint is a **state file** and a **manifest**. The state file holds what the operators had to save; the manifest says what
//! belongs to the checkpoint, and its rename is the only moment at which a checkpoint comes to be:
//!
//! 1. [`Store::begin`]: `chk-ID-EPOCH.state` is created. Before the manifest has its name nobody looks at it.
//! 2. [`Writing::part`], [`Writing::sync`]: blocks, index, fsync.
//! 3. [`Store::commit`]: `chk-ID-EPOCH.manifest.tmp` is written, fsync; the folder is synced, so that both names are on the disk; the lock is looked
//!    at, so that a process that another one has taken over from stops here; **rename**; the folder is synced again.
//! 4. The sinks commit what the manifest says is staged. Not here: it is why the outcome of 3 has to be known, see [`CommitError`].
//! 5. [`Store::collect_garbage`]: manifests that are not retained go, the folder is synced, files that no manifest lists go.
//!
//! What breaks if a step is left out: without the fsync of 2 or 3 a manifest can be whole and what it lists torn; without the first sync of
//! the folder the rename can survive a power failure and the name of the state file not; without the second one the sinks commit what
//! the next start does not know of. [`Store::open`] syncs the folder too: what a killed process had renamed may be in memory only.
//!
//! What is damaged is said, never passed over: falling back to an older checkpoint by itself would write again what sinks have already
//! committed. So `open` gives the newest checkpoint or an error, and an older one is an explicit choice ([`Store::open_at`]).
//!
//! | to see | look at |
//! |---|---|
//! | the operations used, and their real implementation | [`Storage`], [`Folder`]; [`SimFs`](crate::testing::SimFs) crashes at every one of them |
//! | what stands in a manifest | [`Manifest`] |
//! | what stands in a state file | `state_file.rs` |
//! | the protocol | [`Store`] |
//! | state of types that have changed (feature `state-processor`) | `upgrades` |
//! | checkpoints for people and tests, as lines of JSON and back (feature `state-processor`) | `read`, `import` |

mod acknowledge;
mod bytes;
mod commit;
mod committers;
mod complete;
mod coordinator;
mod current;
mod damage;
mod disk;
mod entries;
pub(crate) mod failpoint;
mod garbage;
mod groups;
mod in_flight;
mod in_group;
mod known;
mod listing;
mod manifest;
mod manifest_file;
mod names;
mod orders;
mod parts;
#[cfg(feature = "state-processor")]
mod reading;
pub(crate) mod records;
mod renames;
mod restored;
mod savepoints;
mod saves;
pub(crate) mod schemas;
mod settings;
mod state_file;
mod storage;
mod store;
#[cfg(test)]
mod tests;
#[cfg(feature = "state-processor")]
pub(crate) mod upgrades;
#[cfg(not(feature = "state-processor"))]
#[path = "upgrades_off.rs"]
pub(crate) mod upgrades;
mod writing;

pub use acknowledge::Acknowledge;
pub(crate) use acknowledge::Acknowledgers;
pub use commit::{CommitError, Committed};
pub use committers::Committer;
pub(crate) use committers::Committers;
pub(crate) use complete::Outside;
pub(crate) use coordinator::{Coordinator, cut_short};
pub use disk::Folder;
pub(crate) use entries::each_entry;
pub(crate) use groups::Had;
pub use groups::{Groups, Pieces, Section};
pub(crate) use in_flight::Tracked;
pub(crate) use in_group::{in_group, is_restored};
pub use manifest::{Manifest, OperatorState, StagedOutput, StateFile};
pub(crate) use orders::Orders;
pub use parts::Parts;
#[cfg(feature = "state-processor")]
pub(crate) use reading::Keyed;
#[cfg(feature = "state-processor")]
pub use reading::{Reader, Snapshot, import, import_into, read};
pub(crate) use renames::Renames;
pub(crate) use restored::Restored;
pub(crate) use savepoints::Savepoints;
pub(crate) use saves::Inbox;
#[cfg(test)]
pub(crate) use saves::News;
pub use saves::Saves;
pub use settings::Checkpoints;
pub use storage::{LOCK, Storage, StorageFile};
pub(crate) use storage::{lock_text, locked};
pub use store::Store;
pub use writing::{Slot, Writing};

/// The key group of a key: where its entries are in checkpoints.
///
/// ```
/// assert_eq!(flow_core::checkpoint::group_of("JFK"), flow_core::checkpoint::group_of(&"JFK".to_owned()));
/// ```
pub fn group_of<K: std::hash::Hash + ?Sized>(key: &K) -> usize {
    crate::exchange::key_group(crate::exchange::hash_key(key))
}

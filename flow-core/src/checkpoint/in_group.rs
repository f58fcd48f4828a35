//! Each key that is restored has to be one of its key group: another instance owns it elsewhere, and what later checkpoints say of it
//! would not belong to what they go on from.
//!
//! It is looked at where entries come into their tables, which know the hash and not what they are restored from; so the group stands in
//! the thread.

use crate::error::{Error, ErrorKind, Result};
use crate::exchange::key_group;
use std::cell::Cell;

/// A key group that is being restored.
#[derive(Clone, Copy)]
struct Restoring {
    group: usize,
    /// The group of the first key that is of another.
    foreign: Option<usize>,
}

thread_local! {
    static NOW: Cell<Option<Restoring>> = const { Cell::new(None) };
}

/// It is over, also where the user's code has panicked.
struct Over;

impl Drop for Over {
    fn drop(&mut self) {
        NOW.take();
    }
}

/// Restores a key group by `restore`.
///
/// # Errors
/// What `restore` reports, and when a key is of another group.
pub(crate) fn in_group(group: usize, restore: impl FnOnce() -> Result<()>) -> Result<()> {
    let _over = Over;
    NOW.set(Some(Restoring { group, foreign: None }));
    restore()?;
    match NOW.take().and_then(|restoring| restoring.foreign) {
        Some(other) => Err(foreign(group, other)),
        None => Ok(()),
    }
}

/// A key with this hash has come into a table.
#[inline]
pub(crate) fn is_restored(hash: u64) {
    if let Some(restoring) = NOW.get() {
        let own = restoring.group == key_group(hash);
        let foreign = restoring.foreign.or((!own).then(|| key_group(hash)));
        NOW.set(Some(Restoring { foreign, ..restoring }));
    }
}

#[cold]
fn foreign(group: usize, other: usize) -> Error {
    let what = format!("in key group {group} of the checkpoint there is a key of group {other}");
    Error::new(ErrorKind::State, what).note(
        "where the checkpoint was made by `import`, give each entry the group that `checkpoint::group_of` says of its key; otherwise the `Hash` of the key's type is not what it was, or not the same in every process: it has to be",
    )
}

#[test]
fn the_first_key_of_another_group_is_told() {
    let restore = |keys: &[u64]| {
        in_group(7, || {
            keys.iter().for_each(|hash| is_restored(*hash));
            Ok(())
        })
    };
    restore(&[7, 256 + 7]).unwrap();
    let error = restore(&[7, 8, 9]).unwrap_err().to_string();
    assert!(
        error.contains("key group 7 ") && error.contains("of group 8") && error.contains("group_of"),
        "{error}"
    );
    is_restored(9);
    restore(&[]).unwrap();
}

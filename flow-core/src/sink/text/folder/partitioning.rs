//! Which sub-folder a record goes into.

use std::fmt::{self, Display, Write};

/// Says the sub-folder of records `T`, where there are sub-folders.
pub trait Partition<T>: Clone + Send + 'static {
    /// Whether there are.
    const PARTITIONED: bool;
    /// Shows the record's partition; `to` is empty before.
    ///
    /// # Errors
    /// When its `Display` fails.
    fn show(&self, record: &T, to: &mut String) -> fmt::Result;
}

/// All files are in the folder itself.
#[derive(Debug, Clone, Copy, Default)]
pub struct Whole(());

impl<T> Partition<T> for Whole {
    const PARTITIONED: bool = false;
    #[inline]
    fn show(&self, _: &T, _: &mut String) -> fmt::Result {
        Ok(())
    }
}

/// Made by [`partition_by`](super::Files::partition_by).
#[derive(Clone)]
pub struct By<F>(pub(super) F);

impl<F> fmt::Debug for By<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("By(…)")
    }
}

#[diagnostic::do_not_recommend]
impl<T, D: Display, F: Fn(&T) -> D + Clone + Send + 'static> Partition<T> for By<F> {
    const PARTITIONED: bool = true;
    #[inline]
    fn show(&self, record: &T, to: &mut String) -> fmt::Result {
        write!(to, "{}", (self.0)(record))
    }
}

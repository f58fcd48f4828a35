//! Keeps what two threads write out of each other's cache lines.

use std::ops::Deref;

/// A value in cache lines of its own: two of 64 bytes, since processors fetch them in pairs.
#[derive(Debug, Default)]
#[repr(align(128))]
pub(super) struct CachePadded<T>(T);

impl<T> CachePadded<T> {
    pub const fn new(value: T) -> Self {
        CachePadded(value)
    }
}

impl<T> Deref for CachePadded<T> {
    type Target = T;
    #[inline(always)]
    fn deref(&self) -> &T {
        &self.0
    }
}

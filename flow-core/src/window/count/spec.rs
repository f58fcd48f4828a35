//! What a count window is: its description.

use super::lifting::{Apart, Overlapping};
use crate::error::{Error, ErrorKind, Result};
use crate::op::Kind;
use crate::window::late::Lates;
use crate::window::spec::{Closing, Over};
use std::marker::PhantomData;

/// Windows that an element may be in at most: each costs it an addition.
const OVERLAPPING_MAX: u64 = 100_000;

/// Windows of so many elements: [`count`].
#[derive(Debug)]
pub struct Counted<L> {
    pub(super) size: u64,
    pub(super) every: u64,
    pub(super) exact: bool,
    gaps: bool,
    lifting: PhantomData<fn() -> L>,
}

impl<L> Clone for Counted<L> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<L> Copy for Counted<L> {}

/// Windows of `size` elements, one after the other, for each key. At the end of a bounded input what is left is a window too.
///
/// ```
/// # use flow_core::prelude::*;
/// # let out = Collected::new();
/// # let job = Job::build("doc", |job| {
/// let numbers = source(from_iter(1..=7));
/// job.add(numbers.window(count(3)).aggregate(|a| a.collect()).map(|w| w.value).collect(&out));
/// # });
/// # job.run().unwrap();
/// assert_eq!(out.take(), [vec![1, 2, 3], vec![4, 5, 6], vec![7]]);
/// ```
pub fn count(size: u64) -> Counted<Apart> {
    Counted { size, every: size, exact: false, gaps: false, lifting: PhantomData }
}

impl<L> Counted<L> {
    /// A window begins with the first element and then with every so many: fewer than the size, and windows overlap.
    ///
    /// ```
    /// # use flow_core::prelude::*;
    /// # let out = Collected::new();
    /// # let job = Job::build("doc", |job| {
    /// let numbers = source(from_iter(1..=6));
    /// job.add(numbers.window(count(3).every(2)).aggregate(|a| a.collect()).map(|w| w.value).collect(&out));
    /// # });
    /// # job.run().unwrap();
    /// assert_eq!(out.take(), [vec![1, 2, 3], vec![3, 4, 5], vec![5, 6]]);
    /// ```
    #[must_use]
    pub fn every(self, every: u64) -> Counted<Overlapping> {
        let Counted { size, exact, gaps, .. } = self;
        Counted { size, every, exact, gaps, lifting: PhantomData }
    }

    /// Whether a window that is not full at the end of the input is left out.
    #[must_use]
    pub fn exact(self, exact: bool) -> Self {
        Counted { exact, ..self }
    }

    /// Whether there may be more elements from one beginning to the next than in a window: those between two are in none.
    #[must_use]
    pub fn gaps(self, gaps: bool) -> Self {
        Counted { gaps, ..self }
    }

    /// Whether the description makes sense.
    ///
    /// # Errors
    /// When it does not, with what to write instead.
    pub(super) fn check(&self) -> Result<()> {
        let Counted { size, every, gaps, .. } = *self;
        let wrong = |what: String| Err(Error::new(ErrorKind::Plan, what));
        if size == 0 {
            return wrong("a count window of 0 elements: it holds at least one".to_owned());
        }
        if every == 0 {
            return wrong("a count window every 0 elements: one begins with every first at most".to_owned());
        }
        if every > size && !gaps {
            return wrong(format!(
                "count windows of {size} every {every} elements leave gaps: say `gaps = true` if that is meant"
            ));
        }
        if size.div_ceil(every) > OVERLAPPING_MAX {
            return wrong(format!(
                "count windows of {size} every {every} elements: no more than {OVERLAPPING_MAX} may overlap"
            ));
        }
        Ok(())
    }

    /// Its name in `explain`.
    pub(super) fn describe(&self) -> String {
        let every = if self.every == self.size { String::new() } else { format!(", every = {}", self.every) };
        let exact = if self.exact { ", exact = true" } else { "" };
        format!("count({}{every}{exact})", self.size)
    }
}

impl<K: Kind, L> Over<K> for Counted<L> {}
impl<L> Lates for Counted<L> {}
#[diagnostic::do_not_recommend]
impl<K: Kind, L> Closing<K> for Counted<L> {}

//! Merges sorted runs.

use super::file::Reading;
use super::memory::Share;
use super::{Order, Spill};
use crate::error::Result;
use std::cmp::Ordering;

/// Sorted runs as one: of equal records that of the earlier run comes first.
///
/// The runs stand as the leaves of a binary tree in which the smaller of two goes up; who is taken is replaced along its path.
/// (Knuth, The Art of Computer Programming 3, 5.4.1, "replacement selection"; here winners are kept.)
pub(crate) struct Merge<T, O> {
    order: O,
    runs: Vec<Run<T>>,
    /// `tree[1]` is the run with the smallest head, `tree[n]` the smaller of `tree[2n]` and `tree[2n + 1]`.
    tree: Vec<usize>,
    /// The memory of the run that is there.
    share: Option<Share>,
}

struct Run<T> {
    head: Option<T>,
    rest: Rest<T>,
}

enum Rest<T> {
    File(Reading<T>),
    Here(std::vec::IntoIter<T>),
}

impl<T: Spill> Run<T> {
    fn of(mut rest: Rest<T>) -> Result<Self> {
        Ok(Run { head: rest.next()?, rest })
    }
}

impl<T: Spill> Rest<T> {
    fn next(&mut self) -> Result<Option<T>> {
        match self {
            Rest::File(file) => file.next(),
            Rest::Here(records) => Ok(records.next()),
        }
    }
}

impl<T: Spill, O: Order<T>> Merge<T, O> {
    /// Of runs in files, oldest first, and one in memory, which is the newest.
    ///
    /// # Errors
    /// When a file cannot be read.
    pub fn new(files: Vec<Reading<T>>, here: Vec<T>, order: O) -> Result<Self> {
        let all = files.into_iter().map(Rest::File).chain([Rest::Here(here.into_iter())]);
        let runs = all.map(Run::of).collect::<Result<Vec<Run<T>>>>()?;
        let leaves = runs.len();
        let mut merge = Merge { order, runs, tree: vec![0; leaves * 2], share: None };
        for run in 0..leaves {
            merge.tree[leaves + run] = run;
        }
        for node in (1..leaves).rev() {
            merge.play(node);
        }
        Ok(merge)
    }

    /// The same, with the memory of the run in memory, which is given back with it.
    pub fn holding(self, share: Share) -> Self {
        Merge { share: Some(share), ..self }
    }

    fn play(&mut self, node: usize) {
        let (a, b) = (self.tree[node * 2], self.tree[node * 2 + 1]);
        self.tree[node] = if self.precedes(a, b) { a } else { b };
    }

    fn precedes(&self, a: usize, b: usize) -> bool {
        match (&self.runs[a].head, &self.runs[b].head) {
            (Some(x), Some(y)) => match self.order.order(x, y) {
                Ordering::Less => true,
                Ordering::Equal => a < b,
                Ordering::Greater => false,
            },
            (head, _) => head.is_some(),
        }
    }

    /// The next record.
    ///
    /// # Errors
    /// When a file cannot be read.
    pub fn next(&mut self) -> Result<Option<T>> {
        let leaves = self.runs.len();
        if leaves == 0 {
            return Ok(None);
        }
        let first = if leaves == 1 { 0 } else { self.tree[1] };
        let run = &mut self.runs[first];
        let Some(record) = run.head.take() else {
            self.runs.clear();
            self.share = None;
            return Ok(None);
        };
        run.head = run.rest.next()?;
        let mut node = (leaves + first) / 2;
        while node > 0 {
            self.play(node);
            node /= 2;
        }
        Ok(Some(record))
    }
}

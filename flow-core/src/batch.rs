//! What travels on an edge: a batch of records with marks at their exact places.
//!
//! The legal sequence on an edge, over all its batches:
//!
//! ```text
//! ( item | Watermark | Idle Active | Barrier )* End
//! ```
//!
//! Watermarks rise strictly, an `Idle` is followed by `Active` before the next item or watermark, nothing follows
//! `End`. A batch says how far it got with `marks`: `(position, mark)` stands before the item at that position.
//! A batch may also be a *part*, into which a sender has merged records: it stands for them in this place of the sequence, has no
//! marks, and counts at least one.
//!
//! Where the sender happened to cut its batches is not part of the sequence and has no meaning.

use crate::time::Timestamp;
use std::any::Any;
use std::vec::IntoIter;

/// What stands between items.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mark {
    /// No further on-time element has a timestamp at or below this.
    Watermark(Timestamp),
    /// This input is silent for now and holds back nobody.
    Idle,
    /// It speaks again; its last watermark counts again.
    Active,
    /// A checkpoint barrier with its number.
    Barrier(u64),
    /// Nothing follows.
    End,
}

/// A batch whose item type the two ends of the edge know and nobody between them needs to.
pub struct Batch {
    /// A `Vec<M>`, or the `Option<P>` of a part into which a sender has merged many records.
    pub items: Box<dyn Any + Send>,
    /// How many items there are, or were merged into the part.
    pub len: usize,
    /// `(position, mark)`, by position; a mark stands before the item at its position.
    pub marks: Vec<(usize, Mark)>,
}

impl std::fmt::Debug for Batch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Batch").field("len", &self.len).field("marks", &self.marks).finish_non_exhaustive()
    }
}

impl Batch {
    /// A batch of `items`.
    pub fn new<M: Send + 'static>(items: Vec<M>, marks: Vec<(usize, Mark)>) -> Self {
        let len = items.len();
        Batch { items: Box::new(items), len, marks }
    }

    /// A part into which so many records were merged; without marks.
    pub fn part<P: Send + 'static>(part: P, records: usize) -> Self {
        Batch { items: Box::new(Some(part)), len: records, marks: Vec::new() }
    }
}

/// The buffer of items that have all been taken. `collect` works in place behind a `map` and so gives back the memory that
/// is walked; were it not to, a batch would cost an allocation.
#[expect(clippy::map_identity, reason = "without the `map` an exhausted iterator's memory is not used again")]
pub(crate) fn emptied<M>(taken: IntoIter<M>) -> Vec<M> {
    taken.map(|item| item).collect()
}

#[cfg(test)]
mod tests {
    /// Batch buffers go round: a walked one keeps its memory.
    #[test]
    fn an_emptied_buffer_keeps_its_memory() {
        let mut items: Vec<String> = Vec::with_capacity(100);
        items.extend((0..60).map(|i| i.to_string()));
        let place = items.as_ptr();
        let mut taken = items.into_iter();
        taken.by_ref().take(60).for_each(drop);
        let empty = super::emptied(taken);
        assert_eq!((empty.len(), empty.capacity(), empty.as_ptr()), (0, 100, place));
    }
}

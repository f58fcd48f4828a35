//! A window of which slices are not in memory: it is composed when it fires, as the slices are read in the order in which all of them lie in the
//! store. So nothing is kept of a window beside its slices, and each of them is read from one end to the other, once for each window it is in.

use super::running::Slice;
use crate::aggregate::{Aggregate, Algebra, Overflow};
use crate::exchange::key_group;
use crate::op::KeyFn;
use crate::state::Mode;
use crate::window::base::PanesOf;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// Hashes of all slices together that are in memory, about, and of each of them at least.
const AHEAD: usize = 4096;
const AHEAD_MIN: usize = 4;

/// A window that is being given out, if there is one.
pub struct Composed<K, A>(Option<Box<Parts<K, A>>>);

impl<K, A> Default for Composed<K, A> {
    fn default() -> Self {
        Composed(None)
    }
}

impl<K, A> Composed<K, A> {
    /// The slices at these slots, the oldest first, are to be given out together; their entries are in the store.
    pub fn begin(&mut self, slots: Vec<usize>) {
        let most = (AHEAD / slots.len().max(1)).clamp(AHEAD_MIN, AHEAD / 16);
        let parts = slots.into_iter().map(|slot| Part { slot, from: Vec::new(), some: VecDeque::new() });
        let (next, ready) = (BinaryHeap::new(), Vec::new());
        self.0 = Some(Box::new(Parts { parts: parts.collect(), next, ready, most, begun: false }));
    }

    /// What is being given out.
    #[inline(always)]
    pub fn parts(&mut self) -> Option<&mut Parts<K, A>> {
        self.0.as_deref_mut()
    }

    /// All has been.
    pub fn end(&mut self) {
        self.0 = None;
    }
}

/// The slices of a window.
pub struct Parts<K, A> {
    /// The oldest first.
    parts: Vec<Part<K, A>>,
    /// Of each slice that has more the next entry's group and hash, and which slice it is: the order of stores.
    next: BinaryHeap<Reverse<(usize, u64, usize)>>,
    /// What keys with one hash have come to.
    ready: Vec<(K, A)>,
    most: usize,
    begun: bool,
}

struct Part<K, A> {
    slot: usize,
    /// From where it has not been read.
    from: Vec<u8>,
    some: VecDeque<(u64, (K, A))>,
}

impl<K: Clone + 'static, A: Clone + 'static> Parts<K, A> {
    /// The next key, and what the window has of it.
    pub fn next<X, F, B, M>(
        &mut self,
        panes: &PanesOf<X, F, B, M>,
        key: &F,
        aggregate: &B,
    ) -> Result<Option<(K, A)>, Overflow>
    where
        F: KeyFn<X, Key = K>,
        B: Aggregate<F::Value, Acc = A>,
        M: Mode,
    {
        if !std::mem::replace(&mut self.begun, true) {
            (0..self.parts.len()).for_each(|at| self.read::<X, F, B, M>(at, panes));
        }
        if let Some(entry) = self.ready.pop() {
            return Ok(Some(entry));
        }
        let Some(Reverse((_, first, _))) = self.next.peek().copied() else { return Ok(None) };
        while let Some(Reverse((_, hash, at))) = self.next.peek().copied()
            && hash == first
        {
            self.next.pop();
            while let Some((_, (k, part))) = self.parts[at].some.pop_front_if(|(hash, _)| *hash == first) {
                match self.ready.iter_mut().find(|(other, _)| key.same(other, &k)) {
                    Some((_, acc)) => B::Algebra::merge(aggregate, acc, part)?,
                    None => self.ready.push((k, part)),
                }
            }
            self.read::<X, F, B, M>(at, panes);
        }
        Ok(self.ready.pop())
    }

    /// Sees to it that the next entry of a slice is known, if there is one.
    fn read<X, F, B, M>(&mut self, at: usize, panes: &PanesOf<X, F, B, M>)
    where
        F: KeyFn<X, Key = K>,
        B: Aggregate<F::Value, Acc = A>,
        M: Mode,
    {
        let part = &mut self.parts[at];
        if part.some.is_empty()
            && let Some(slice) = panes.slice(part.slot)
        {
            let slice: &Slice<X, F, B, M> = slice;
            part.some = slice.show_some(&mut part.from, self.most).into();
        }
        if let Some((hash, _)) = part.some.front() {
            self.next.push(Reverse((key_group(*hash), *hash, at)));
        }
    }
}

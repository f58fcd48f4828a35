//! The rows of one key of a window, one after the other: there may be far more of them than elements.

use super::form::Form;
use std::marker::PhantomData;
use std::vec::IntoIter;

/// Every pair, left by left; or what there is of each side alone.
pub struct Cross<F, L, R> {
    lefts: IntoIter<L>,
    rights: IntoIter<R>,
    /// Each matches each.
    pairs: bool,
    /// With how many of the right the first of the left has been paired.
    paired: usize,
    form: PhantomData<fn() -> F>,
}

impl<F, L, R> Cross<F, L, R> {
    pub(super) fn new(lefts: Vec<L>, rights: Vec<R>, meet: bool) -> Self {
        let pairs = meet && !lefts.is_empty() && !rights.is_empty();
        let (lefts, rights) = (lefts.into_iter(), rights.into_iter());
        Cross { lefts, rights, pairs, paired: 0, form: PhantomData }
    }
}

impl<F: Form<L, R>, L: Clone, R: Clone> Iterator for Cross<F, L, R> {
    type Item = F::Out;
    #[inline]
    fn next(&mut self) -> Option<F::Out> {
        if !self.pairs {
            let left = self.lefts.by_ref().find_map(F::left);
            return left.or_else(|| self.rights.by_ref().find_map(F::right));
        }
        let (left, rights) = (self.lefts.as_slice().first()?, self.rights.as_slice());
        let row = F::pair(left.clone(), rights[self.paired].clone());
        self.paired += 1;
        if self.paired == rights.len() {
            self.paired = 0;
            self.lefts.next();
        }
        Some(row)
    }
}

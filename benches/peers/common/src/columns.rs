//! The input of W10: the elements of W3 as two columns in memory.

use crate::elements::keyed;

/// Keys and values, element by element.
#[derive(Debug)]
pub struct Columns {
    /// One of a million.
    pub keys: Vec<u64>,
    /// What is summed.
    pub values: Vec<u64>,
}

impl Columns {
    /// The first `n` elements.
    pub fn new(n: u64) -> Self {
        let (keys, values) = (0..n).map(keyed).unzip();
        Columns { keys, values }
    }

    /// Element `i`.
    #[inline(always)]
    pub fn at(&self, i: u64) -> (u64, u64) {
        (self.keys[i as usize], self.values[i as usize])
    }
}

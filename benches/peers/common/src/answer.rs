//! What a run computed, small enough to compare between programs: how many results, and a checksum that does not depend
//! on their order.

/// A count of results and the wrapping sum of their hashes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Answer {
    /// How many results there were.
    pub count: u64,
    /// The wrapping sum over the results.
    pub checksum: u64,
}

impl Answer {
    /// Takes in one result.
    #[inline(always)]
    pub fn add(&mut self, hash: u64) {
        self.count += 1;
        self.checksum = self.checksum.wrapping_add(hash);
    }

    /// Takes in what another thread counted.
    #[must_use]
    pub fn merge(self, other: Answer) -> Answer {
        Answer { count: self.count + other.count, checksum: self.checksum.wrapping_add(other.checksum) }
    }

    /// The answer of several threads together.
    pub fn total(parts: impl IntoIterator<Item = Answer>) -> Answer {
        parts.into_iter().fold(Answer::default(), Answer::merge)
    }
}

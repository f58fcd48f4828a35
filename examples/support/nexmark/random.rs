//! Random numbers that are a function of the seed and of what they are for: of no state, so that every event can be made on its own.

/// SplitMix64 (Steele, Lea, Flood 2014).
pub struct Random(u64);

impl Random {
    /// The numbers for the `number`th of the things called `what`.
    pub fn new(seed: u64, what: u64, number: u64) -> Self {
        let start = mix(mix(seed).wrapping_add(what));
        Random(mix(start.wrapping_add(number)))
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        mix(self.0)
    }

    /// From 0 up to `limit`, without it; 0 for a limit below 1.
    pub fn below(&mut self, limit: i64) -> i64 {
        let limit = u128::try_from(limit).unwrap_or(0);
        ((u128::from(self.next()) * limit) >> 64) as i64
    }

    /// `n - 1` times of `n`.
    pub fn is_usual(&mut self, n: i64) -> bool {
        self.below(n) > 0
    }

    /// From 0 to 1.
    pub fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }

    pub fn one_of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len() as i64) as usize]
    }
}

fn mix(z: u64) -> u64 {
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

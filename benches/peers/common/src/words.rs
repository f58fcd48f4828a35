//! W1 and W1B: what every program does with the counts of the words.

use std::fs::File;
use std::io::{BufWriter, Result, Write};
use std::path::Path;

use crate::Answer;
use crate::elements::mix;

/// Writes the counts, sorted by word; the answer's count is the number of words in the text.
pub fn write_counts(mut counts: Vec<(String, u64)>, path: &Path) -> Result<Answer> {
    counts.sort_unstable();
    let mut out = BufWriter::with_capacity(1 << 20, File::create(path)?);
    let mut answer = Answer::default();
    for (word, count) in &counts {
        writeln!(out, "{word} {count}")?;
        answer.count += count;
        answer.checksum = answer.checksum.wrapping_add(mix(*count ^ fnv(word.as_bytes())));
    }
    out.flush()?;
    Ok(answer)
}

/// The FNV-1a hash of some bytes.
#[inline]
pub fn fnv(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |h, b| (h ^ u64::from(*b)).wrapping_mul(0x100_0000_01b3))
}

//! The words of a line, for W1 and W1B.

use flow_core::prelude::ShortString;

/// The words of a line, in lower case; short ones lie in place, without an allocation.
pub struct Words {
    line: String,
    at: usize,
}

impl Words {
    /// Of a line.
    pub fn of(mut line: String) -> Words {
        line.make_ascii_lowercase();
        Words { line, at: 0 }
    }
}

impl Iterator for Words {
    type Item = ShortString;

    #[inline]
    fn next(&mut self) -> Option<ShortString> {
        let rest = self.line[self.at..].trim_ascii_start();
        let len = rest.bytes().position(|b| b.is_ascii_whitespace()).unwrap_or(rest.len());
        self.at = self.line.len() - rest.len() + len;
        (len > 0).then(|| ShortString::from(&rest[..len]))
    }
}

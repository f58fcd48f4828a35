//! How keyed state lies in the bytes of a key group: entries by key in sections, so that what has changed can be put over what there was
//! without knowing the types.
//!
//! ```text
//! group   := record*
//! record  := 0 name^length length header^(n-1) n      a section: the entries that follow are in it       n = 0: all sections whose names
//!                                                     begin so are gone, with their entries
//!          | n key^(n-1) m value^(m-1)                an entry, n > 0                                     m = 0: there is none any more
//! ```
//!
//! Each length stands before its bytes, as a varint: seven bits a byte, the lowest first. A later record wins over an earlier one, within a group's bytes and from
//! file to file. The first byte of a section's name says whose it is ([`Part`]); what follows is the operator's, as is all else.

use crate::error::{Error, ErrorKind, Result};
use std::collections::HashMap;

/// Whose a section is: the first byte of its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Part {
    /// Of the head of the stage, entry by entry.
    Head = 0,
    /// Of the operator directly behind it.
    Behind = 1,
    /// Of the head, in one piece: the value of an entry whose key is empty.
    Piece = 2,
}

/// A record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Record<'a> {
    /// What follows is in a section of this name.
    Section {
        name: &'a [u8],
        header: &'a [u8],
    },
    /// All sections whose names begin so are gone.
    Dropped {
        names: &'a [u8],
    },
    Put {
        key: &'a [u8],
        value: &'a [u8],
    },
    Removed {
        key: &'a [u8],
    },
}

/// The records in some bytes.
pub(crate) struct Records<'a>(pub &'a [u8]);

impl<'a> Records<'a> {
    fn number(&mut self) -> Option<usize> {
        let mut number = 0u64;
        for shift in (0..63).step_by(7) {
            let (byte, rest) = self.0.split_first()?;
            self.0 = rest;
            number |= u64::from(byte & 0x7f) << shift;
            if *byte < 0x80 {
                return usize::try_from(number).ok();
            }
        }
        None
    }

    fn bytes(&mut self, length: usize) -> Option<&'a [u8]> {
        self.0.split_off(..length)
    }

    fn record(&mut self) -> Option<Record<'a>> {
        let Some(key) = self.number()?.checked_sub(1) else {
            let length = self.number()?;
            let name = self.bytes(length)?;
            return Some(match self.number()?.checked_sub(1) {
                Some(header) => Record::Section { name, header: self.bytes(header)? },
                None => Record::Dropped { names: name },
            });
        };
        let key = self.bytes(key)?;
        Some(match self.number()?.checked_sub(1) {
            Some(value) => Record::Put { key, value: self.bytes(value)? },
            None => Record::Removed { key },
        })
    }
}

impl<'a> Iterator for Records<'a> {
    type Item = Result<Record<'a>>;
    fn next(&mut self) -> Option<Self::Item> {
        if self.0.is_empty() {
            return None;
        }
        let record = self.record();
        if record.is_none() {
            self.0 = &[];
        }
        Some(record.ok_or_else(|| broken("it is cut short")))
    }
}

/// What is wrong with the state of a key group.
#[cold]
pub(crate) fn broken(what: &str) -> Error {
    Error::new(ErrorKind::State, format!("the keyed state of an operator cannot be read: {what}"))
}

/// Appends a length.
fn length(mut n: usize, out: &mut Vec<u8>) {
    while n >= 0x80 {
        out.push(n as u8 | 0x80);
        n >>= 7;
    }
    out.push(n as u8);
}

/// Appends bytes and before them their length, `more` added.
pub(crate) fn framed(more: usize, bytes: &[u8], out: &mut Vec<u8>) {
    length(bytes.len() + more, out);
    out.extend_from_slice(bytes);
}

/// Appends what `write` writes, and before it its length plus one.
///
/// # Errors
/// What `write` reports; what it has written is taken back.
pub(crate) fn frame(out: &mut Vec<u8>, write: impl FnOnce(&mut Vec<u8>) -> Result<()>) -> Result<()> {
    let at = out.len();
    // Most lengths are of one byte.
    out.push(0);
    if let Err(error) = write(out) {
        out.truncate(at);
        return Err(error);
    }
    let n = out.len() - at;
    if n < 0x80 {
        out[at] = n as u8;
    } else {
        let mut long = Vec::new();
        length(n, &mut long);
        out.splice(at..=at, long);
    }
    Ok(())
}

/// Appends the record of a section.
pub(super) fn section(name: &[u8], header: &[u8], out: &mut Vec<u8>) {
    out.push(0);
    framed(0, name, out);
    framed(1, header, out);
}

/// Appends that sections are gone.
pub(super) fn dropped(names: &[u8], out: &mut Vec<u8>) {
    out.push(0);
    framed(0, names, out);
    out.push(0);
}

/// Appends that an entry is gone.
pub(crate) fn removed(key: &[u8], out: &mut Vec<u8>) {
    framed(1, key, out);
    out.push(0);
}

/// A section as it comes out of its history; entries in the order in which they first appeared.
#[derive(Default)]
struct Merged<'a> {
    header: &'a [u8],
    at: HashMap<&'a [u8], usize, foldhash::fast::FixedState>,
    entries: Vec<Option<(&'a [u8], &'a [u8])>>,
}

impl<'a> Merged<'a> {
    fn put(&mut self, key: &'a [u8], value: &'a [u8]) {
        let at = *self.at.entry(key).or_insert(self.entries.len());
        match self.entries.get_mut(at) {
            Some(entry) => *entry = Some((key, value)),
            None => self.entries.push(Some((key, value))),
        }
    }

    fn remove(&mut self, key: &[u8]) {
        if let Some(entry) = self.at.remove(key).and_then(|at| self.entries.get_mut(at)) {
            *entry = None;
        }
    }
}

/// The state of a key group as it was at the last of some checkpoints, each of which says what has changed since the one before.
///
/// # Errors
/// When the bytes are not records.
pub(crate) fn merge(history: &[Vec<u8>]) -> Result<Vec<u8>> {
    let mut sections: Vec<(&[u8], Merged<'_>)> = Vec::new();
    for bytes in history {
        // A record before any section's is in none: its bytes begin in the middle.
        let mut current = None;
        for record in Records(bytes) {
            match record? {
                Record::Section { name, header } => {
                    let at = sections.iter().rposition(|known| known.0 == name).unwrap_or_else(|| {
                        sections.push((name, Merged::default()));
                        sections.len() - 1
                    });
                    sections[at].1.header = header;
                    current = Some(at);
                }
                Record::Dropped { names } => {
                    sections.retain(|known| !known.0.starts_with(names));
                    current = None;
                }
                Record::Put { key, value } => of(&mut sections, current)?.put(key, value),
                Record::Removed { key } => of(&mut sections, current)?.remove(key),
            }
        }
    }
    let mut out = Vec::new();
    for (name, merged) in &sections {
        if !merged.at.is_empty() {
            section(name, merged.header, &mut out);
            for (key, value) in merged.entries.iter().flatten() {
                framed(1, key, &mut out);
                framed(1, value, &mut out);
            }
        }
    }
    Ok(out)
}

fn of<'m, 'a>(
    sections: &'m mut [(&'a [u8], Merged<'a>)],
    current: Option<usize>,
) -> Result<&'m mut Merged<'a>> {
    let section = current.and_then(|at| sections.get_mut(at));
    section.map(|section| &mut section.1).ok_or_else(|| broken("an entry is in no section"))
}

/// The parts of a group's bytes.
#[derive(Debug, Default)]
pub(crate) struct Apart {
    /// Records.
    pub head: Vec<u8>,
    /// Records.
    pub behind: Vec<u8>,
    /// No records: what the head wrote.
    pub piece: Option<Vec<u8>>,
}

/// Gives each its own, without the first byte of the names of sections.
///
/// # Errors
/// When the bytes are not records, or of something that there is not.
pub(crate) fn apart(bytes: &[u8]) -> Result<Apart> {
    let mut parts = Apart::default();
    let mut part = None;
    for record in Records(bytes) {
        let record = record?;
        if let Record::Section { name, .. } = record {
            part = name.first().copied();
        }
        let out = match part {
            Some(p) if p == Part::Head as u8 => &mut parts.head,
            Some(p) if p == Part::Behind as u8 => &mut parts.behind,
            Some(p) if p == Part::Piece as u8 => {
                if let Record::Put { value, .. } = record {
                    parts.piece = Some(value.to_vec());
                }
                continue;
            }
            _ => return Err(broken("it is of a part that this version does not know")),
        };
        match record {
            Record::Section { name, header } => section(name.get(1..).unwrap_or_default(), header, out),
            Record::Put { key, value } => {
                framed(1, key, out);
                framed(1, value, out);
            }
            Record::Removed { .. } | Record::Dropped { .. } => {
                return Err(broken("it says what has changed, and not what there is"));
            }
        }
    }
    Ok(parts)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn records(bytes: &[u8]) -> Vec<Record<'_>> {
        Records(bytes).map(Result::unwrap).collect()
    }

    #[test]
    fn a_later_record_wins_and_what_is_gone_is_gone() {
        let (mut first, mut second) = (Vec::new(), Vec::new());
        section(b"\0a", b"old", &mut first);
        for (key, value) in [(&b"k"[..], &b"1"[..]), (b"", b"2"), (b"gone", b"3")] {
            framed(1, key, &mut first);
            framed(1, value, &mut first);
        }
        section(b"\0b", b"", &mut first);
        framed(1, b"k", &mut first);
        framed(1, &[7; 300], &mut first);
        removed(b"never there", &mut second);
        assert!(merge(std::slice::from_ref(&second)).unwrap_err().to_string().contains("in no section"));
        second.clear();
        dropped(b"\0b", &mut second);
        section(b"\0a", b"new", &mut second);
        removed(b"gone", &mut second);
        framed(1, b"k", &mut second);
        frame(&mut second, |out| {
            out.extend_from_slice(&[9; 200]);
            Ok(())
        })
        .unwrap();
        let merged = merge(&[first.clone(), second]).unwrap();
        let expected = [
            Record::Section { name: b"\0a", header: b"new" },
            Record::Put { key: b"k", value: &[9; 200] },
            Record::Put { key: b"", value: b"2" },
        ];
        assert_eq!(records(&merged), expected);
        assert_eq!(merge(std::slice::from_ref(&merged)).unwrap(), merged);
        assert_eq!(merge(std::slice::from_ref(&first)).unwrap(), first);
        let parts = apart(&merged).unwrap();
        assert_eq!(records(&parts.head)[0], Record::Section { name: b"a", header: b"new" });
        assert!(parts.behind.is_empty() && parts.piece.is_none());
    }

    #[test]
    fn a_cut_is_found() {
        let mut bytes = Vec::new();
        section(b"\x02", b"", &mut bytes);
        framed(1, b"", &mut bytes);
        framed(1, b"all of it", &mut bytes);
        assert_eq!(apart(&bytes).unwrap().piece.as_deref(), Some(&b"all of it"[..]));
        let whole = [4, 5].map(|n: usize| n);
        for cut in 1..bytes.len() {
            let read = apart(&bytes[..cut]);
            assert!(read.is_err() || whole.contains(&cut), "{cut}");
        }
        bytes[2] = 9;
        assert!(apart(&bytes).unwrap_err().to_string().contains("does not know"));
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn foreign_bytes_end(history in prop::collection::vec(prop::collection::vec(prop_oneof![0..4u8, any::<u8>()], 0..60), 0..4)) {
            if let Ok(merged) = merge(&history) {
                prop_assert_eq!(merge(std::slice::from_ref(&merged)).unwrap(), merged.clone());
                let _ = apart(&merged);
            }
        }
    }
}

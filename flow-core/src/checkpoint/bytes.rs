//! Numbers and texts in the files of checkpoints: little endian, lengths in front.

use crate::unpack::Unpack;

/// Why bytes cannot be what they should.
pub(super) type Broken = &'static str;

const SHORT: Broken = "it is cut short";

/// Takes values from the front of foreign bytes.
pub(super) struct Reader<'a>(Unpack<'a>);

impl<'a> Reader<'a> {
    pub fn new(bytes: &'a [u8]) -> Self {
        Reader(Unpack::new(bytes))
    }

    pub fn bytes(&mut self, n: usize) -> Result<&'a [u8], Broken> {
        self.0.take(n).ok_or(SHORT)
    }

    pub fn u8(&mut self) -> Result<u8, Broken> {
        self.0.u8().ok_or(SHORT)
    }

    pub fn u16(&mut self) -> Result<u16, Broken> {
        self.0.u16().ok_or(SHORT)
    }

    pub fn u32(&mut self) -> Result<u32, Broken> {
        self.0.u32().ok_or(SHORT)
    }

    pub fn u64(&mut self) -> Result<u64, Broken> {
        self.0.u64().ok_or(SHORT)
    }

    /// Bytes with their length in front.
    pub fn blob(&mut self) -> Result<&'a [u8], Broken> {
        self.0.bytes().ok_or(SHORT)
    }

    /// A text with its length in front.
    pub fn text(&mut self) -> Result<String, Broken> {
        let text = std::str::from_utf8(self.blob()?).map_err(|_| "a text is not UTF-8")?;
        Ok(text.to_owned())
    }

    /// Values with their number in front. Foreign numbers make no memory be reserved: each value takes up bytes.
    pub fn list<T>(&mut self, read: impl Fn(&mut Self) -> Result<T, Broken>) -> Result<Vec<T>, Broken> {
        let n = self.u32()?;
        (0..n).map(|_| read(self)).collect()
    }

    pub fn end(self) -> Result<(), Broken> {
        if self.0.is_over() { Ok(()) } else { Err("it has bytes behind its end") }
    }
}

/// Appends bytes with their length in front.
pub(super) fn put_blob(out: &mut Vec<u8>, bytes: &[u8]) -> Result<(), Broken> {
    put_len(out, bytes.len())?;
    out.extend_from_slice(bytes);
    Ok(())
}

/// Appends the number of what follows.
pub(super) fn put_len(out: &mut Vec<u8>, len: usize) -> Result<(), Broken> {
    let len = u32::try_from(len).map_err(|_| "a part of it has 4 GiB or more")?;
    out.extend_from_slice(&len.to_le_bytes());
    Ok(())
}

/// The checksum of some bytes in a row: CRC-32 (IEEE), which sees every change of up to 32 bits next to one another.
pub(super) fn crc(parts: &[&[u8]]) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    parts.iter().for_each(|part| hasher.update(part));
    hasher.finalize()
}

/// FNV-1a with 64 bits, over an index: short, and so that what a manifest lists is not taken for another file by chance.
pub(super) fn hash(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

#[test]
fn checksums_are_the_documented_ones() {
    assert_eq!((crc(&[b"1234", b"56789"]), hash(b"")), (0xcbf4_3926, 0xcbf2_9ce4_8422_2325));
    assert_eq!(hash(b"foobar"), 0x8594_4171_f739_67e8);
}

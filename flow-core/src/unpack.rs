//! Numbers and byte strings from the front of bytes that somebody else may have written: little-endian, lengths in four bytes before them.
//!
//! There is nothing where there are not so many bytes; what that means says who asks. Nothing is allocated before it is known that they are there.

/// The first bytes of `bytes`, which go.
pub(crate) fn array<const N: usize>(bytes: &mut &[u8]) -> Option<[u8; N]> {
    bytes.split_off(..N)?.try_into().ok()
}

/// Takes bytes from the front.
#[derive(Clone, Copy)]
pub(crate) struct Unpack<'a>(&'a [u8]);

impl<'a> Unpack<'a> {
    /// Of these.
    pub fn new(bytes: &'a [u8]) -> Self {
        Unpack(bytes)
    }

    /// What `f` takes from `bytes`, if that is all there is.
    pub fn all<T>(bytes: &'a [u8], f: impl FnOnce(&mut Self) -> Option<T>) -> Option<T> {
        let mut bytes = Unpack(bytes);
        let found = f(&mut bytes)?;
        bytes.is_over().then_some(found)
    }

    /// The next `N` bytes.
    pub fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        array(&mut self.0)
    }

    /// The next `n` bytes.
    pub fn take(&mut self, n: usize) -> Option<&'a [u8]> {
        self.0.split_off(..n)
    }

    /// A byte.
    pub fn u8(&mut self) -> Option<u8> {
        self.array().map(u8::from_le_bytes)
    }

    /// Two bytes.
    pub fn u16(&mut self) -> Option<u16> {
        self.array().map(u16::from_le_bytes)
    }

    /// Four bytes.
    pub fn u32(&mut self) -> Option<u32> {
        self.array().map(u32::from_le_bytes)
    }

    /// Eight bytes.
    pub fn u64(&mut self) -> Option<u64> {
        self.array().map(u64::from_le_bytes)
    }

    /// Sixteen bytes.
    pub fn i128(&mut self) -> Option<i128> {
        self.array().map(i128::from_le_bytes)
    }

    /// So many bytes as the four before them say.
    pub fn bytes(&mut self) -> Option<&'a [u8]> {
        let length = self.u32()?;
        self.take(usize::try_from(length).ok()?)
    }

    /// How many bytes are left.
    pub fn left(&self) -> usize {
        self.0.len()
    }

    /// Whether nothing is left.
    pub fn is_over(&self) -> bool {
        self.0.is_empty()
    }
}

#[test]
fn what_is_there_is_taken_and_no_more() {
    let bytes = [1, 2, 0, 2, 0, 0, 0, b'a', b'b', 9, 0, 0, 0, 7];
    let mut rest = Unpack::new(&bytes);
    assert_eq!((rest.u8(), rest.u16(), rest.bytes()), (Some(1), Some(2), Some(&b"ab"[..])));
    let before = rest;
    assert_eq!((rest.bytes(), before.left()), (None, 5), "nine bytes are not there");
    assert_eq!(Unpack::all(&bytes, Unpack::u64), None, "there is more");
    assert_eq!(Unpack::all(&bytes[..4], Unpack::u32), Some(0x0200_0201));
}

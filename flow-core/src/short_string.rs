//! A string for records: words, codes and names without an allocation.

use serde_core::de::{self, Deserializer, Visitor};
use serde_core::{Deserialize, Serialize, Serializer};
use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::ops::Deref;

/// The longest string that lies in place, in bytes.
pub const SHORT_BYTES: usize = 23;

/// A string that holds up to 23 bytes in place; a longer one has an allocation. 24 bytes and a pointer in size.
///
/// Made for records and keys: it is moved, compared and hashed as words, with no look at its length in between. It gives access
/// to its text as `String` does; each access looks again whether the bytes are UTF-8.
///
/// ```
/// use flow_core::prelude::*;
/// let (word, long) = (ShortString::from("heron"), ShortString::from("the heron stood in the reeds"));
/// assert!(word == "heron" && word < long && long.len() == 28);
/// assert_eq!(size_of_val(&word), 24 + size_of::<usize>());
///
/// # let out = Collected::new();
/// # let job = Job::build("doc", |job| {
/// let words = source(from_vec(vec!["sun", "sea", "sun"])).map(ShortString::from);
/// job.add(words.key_by_ref(|word| word).window(global()).count().map(|w| (w.key, w.value)).collect(&out));
/// # });
/// # job.run().unwrap();
/// assert_eq!(out.take(), [("sun".into(), 2), ("sea".into(), 1)]);
/// ```
#[derive(Clone)]
pub struct ShortString {
    /// The first bytes, zeros behind them, and the number of bytes: [`LONG`] for more than fit. As arrays of bytes they can be seen
    /// as text without unsafe code; each is read and written as a word.
    words: [[u8; 8]; 3],
    /// All of a longer text. Not an enum: its variants would be moved through memory, where these words stay in registers.
    #[expect(clippy::box_collection, reason = "one word, and not three, for what is rare")]
    long: Option<Box<String>>,
}

/// The length of a text that does not fit.
const LONG: u8 = SHORT_BYTES as u8 + 1;

impl ShortString {
    /// The text.
    pub fn as_str(&self) -> &str {
        match &self.long {
            // What is in it came from a `str` as a whole. To look again costs less than another home of unsafe code.
            None => str::from_utf8(self.as_bytes()).unwrap_or_default(),
            Some(text) => text,
        }
    }

    /// The text's bytes.
    #[inline]
    pub fn as_bytes(&self) -> &[u8] {
        match &self.long {
            None => &self.words.as_flattened()[..self.words[2][7] as usize],
            Some(text) => text.as_bytes(),
        }
    }

    /// How many bytes the text has.
    #[inline]
    pub fn len(&self) -> usize {
        self.as_bytes().len()
    }

    /// Whether it is the empty string.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    #[inline(always)]
    fn words(&self) -> [u64; 3] {
        self.words.map(u64::from_le_bytes)
    }
}

/// Up to eight bytes, the first lowest, zeros above. Reads that overlap: a copy of so few bytes costs a call, and what is then read
/// as a word has to wait for it.
#[inline(always)]
pub(crate) fn word(bytes: &[u8]) -> u64 {
    let n = bytes.len();
    if let Some(whole) = bytes.first_chunk::<8>() {
        return u64::from_le_bytes(*whole);
    }
    if let (Some(low), Some(high)) = (bytes.first_chunk::<4>(), bytes.last_chunk::<4>()) {
        return u64::from(u32::from_le_bytes(*low)) | u64::from(u32::from_le_bytes(*high)) << (8 * (n - 4));
    }
    let Some(last) = bytes.last() else { return 0 };
    u64::from(bytes[0]) | u64::from(bytes[n / 2]) << (8 * (n / 2)) | u64::from(*last) << (8 * (n - 1))
}

impl ShortString {
    /// Of a text, which `own` gives as a string.
    #[inline(always)]
    fn of<T: AsRef<str>>(text: T, own: impl FnOnce(T) -> String) -> Self {
        let bytes = text.as_ref().as_bytes();
        let mut words = [word(bytes), 0, (bytes.len().min(LONG as usize) as u64) << 56];
        let mut long = None;
        if let Some(more) = bytes.get(8..) {
            words[1] = word(more);
            if let Some(more) = more.get(8..) {
                words[2] |= word(&more[..more.len().min(7)]);
            }
            if bytes.len() > SHORT_BYTES {
                long = Some(Box::new(own(text)));
            }
        }
        ShortString { words: words.map(u64::to_le_bytes), long }
    }
}

impl From<&str> for ShortString {
    #[inline(always)]
    fn from(text: &str) -> Self {
        ShortString::of(text, str::to_owned)
    }
}

impl From<String> for ShortString {
    fn from(text: String) -> Self {
        ShortString::of(text, |text| text)
    }
}

impl From<ShortString> for String {
    fn from(text: ShortString) -> Self {
        match text.long {
            None => text.as_str().into(),
            Some(long) => *long,
        }
    }
}

impl Default for ShortString {
    fn default() -> Self {
        "".into()
    }
}

impl PartialEq for ShortString {
    #[inline(always)]
    fn eq(&self, other: &Self) -> bool {
        let ([a, b, c], [d, e, f]) = (self.words(), other.words());
        (a ^ d) | (b ^ e) | (c ^ f) == 0 && (self.long.is_none() || self.long == other.long)
    }
}

impl Eq for ShortString {}

impl Hash for ShortString {
    #[inline(always)]
    fn hash<H: Hasher>(&self, state: &mut H) {
        if let Some(text) = &self.long {
            return text.hash(state);
        }
        let [a, b, c] = self.words();
        // Of a text of up to eight bytes the first word says all but the length, and that only of zeros at the end.
        state.write_u64(a);
        if (b, c >> 56) > (0, 8) {
            state.write_u64(b);
            state.write_u64(c);
        }
    }
}

impl Ord for ShortString {
    fn cmp(&self, other: &Self) -> Ordering {
        self.as_bytes().cmp(other.as_bytes())
    }
}

impl PartialOrd for ShortString {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq<str> for ShortString {
    fn eq(&self, other: &str) -> bool {
        self.as_bytes() == other.as_bytes()
    }
}

impl PartialEq<&str> for ShortString {
    fn eq(&self, other: &&str) -> bool {
        *self == **other
    }
}

impl Deref for ShortString {
    type Target = str;
    fn deref(&self) -> &str {
        self.as_str()
    }
}

impl AsRef<str> for ShortString {
    fn as_ref(&self) -> &str {
        self.as_str()
    }
}

impl fmt::Debug for ShortString {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.as_str(), f)
    }
}

impl fmt::Display for ShortString {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self.as_str(), f)
    }
}

impl Serialize for ShortString {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for ShortString {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Text;
        impl Visitor<'_> for Text {
            type Value = ShortString;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string")
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<ShortString, E> {
                Ok(text.into())
            }
            fn visit_string<E: de::Error>(self, text: String) -> Result<ShortString, E> {
                Ok(text.into())
            }
        }
        deserializer.deserialize_str(Text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exchange::hash_key;
    use proptest::prelude::*;

    #[test]
    fn words_are_little_endian_and_padded() {
        let bytes = [1, 2, 3, 4, 5, 6, 7, 8, 9];
        for n in 0..=9 {
            let mut padded = [0; 8];
            padded[..n.min(8)].copy_from_slice(&bytes[..n.min(8)]);
            assert_eq!(word(&bytes[..n]), u64::from_le_bytes(padded), "{n} bytes");
        }
    }

    /// Short and long, with zeros and letters of several bytes.
    fn text() -> impl Strategy<Value = String> {
        let letters = prop_oneof![5 => "[ab]", 2 => "\u{0}", 1 => "[äß鷺]"];
        proptest::collection::vec(letters, 0..40).prop_map(|letters| letters.concat())
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, cases: 2000, ..ProptestConfig::default() })]

        #[test]
        fn it_is_a_string(a in text(), b in text()) {
            let (x, y) = (ShortString::from(a.as_str()), ShortString::from(b.clone()));
            prop_assert_eq!((x.as_str(), x.len(), x.is_empty()), (a.as_str(), a.len(), a.is_empty()));
            prop_assert_eq!((x == y, x.cmp(&y)), (a == b, a.cmp(&b)));
            prop_assert_eq!(x == b.as_str(), a == b);
            prop_assert!(x != y || hash_key(&x) == hash_key(&y));
            prop_assert_eq!(format!("{x} {y:?}"), format!("{a} {b:?}"));
            prop_assert_eq!(String::from(y), b);
        }

        #[test]
        fn it_is_written_and_read_as_a_string(a in text()) {
            let x = ShortString::from(a.as_str());
            let bytes = postcard::to_allocvec(&x).expect("it can be written");
            prop_assert_eq!(&bytes, &postcard::to_allocvec(&a).expect("a string can be written"));
            prop_assert_eq!(postcard::from_bytes::<ShortString>(&bytes).expect("it can be read"), x);
        }
    }
}

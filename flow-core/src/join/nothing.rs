//! Keys that say that there is none: `None` never joins `None`.

use std::hash::{Hash, Hasher};

/// Whether a key says that there is none: it is the `None` of an `Option`. Such an element matches nothing, whatever comes.
///
/// A key of several parts, each of which may be missing, is the `Option` of all: `|x| x.city.zip(x.street)`.
///
/// ```
/// use flow_core::join::nothing::is_nothing;
/// assert!(is_nothing(&None::<u64>) && !is_nothing(&Some(0u64)) && !is_nothing(&0u64));
/// ```
#[inline]
pub fn is_nothing<Q: 'static>(key: &Q) -> bool {
    may_be_nothing::<Q>() && is_first_variant(key)
}

/// Whether keys of this type are `Option`s. Rust cannot ask that of a type parameter; the name of the type says it, of this
/// compiler's standard library, and a test that it still does.
#[inline]
fn may_be_nothing<Q: 'static>() -> bool {
    std::any::type_name::<Q>().starts_with("core::option::Option<")
}

/// Whether an enum is in the first of its variants, as `None` is.
fn is_first_variant<Q>(key: &Q) -> bool {
    let mut seen = Zeros(true);
    std::mem::discriminant(key).hash(&mut seen);
    seen.0
}

/// Whether all that was hashed is zeros: the discriminant of the first variant.
struct Zeros(bool);

impl Hasher for Zeros {
    fn write(&mut self, bytes: &[u8]) {
        self.0 &= bytes.iter().all(|byte| *byte == 0);
    }
    fn finish(&self) -> u64 {
        u64::from(!self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::is_nothing;

    #[derive(Clone)]
    enum Own {
        First,
    }

    #[test]
    fn only_none_is_nothing() {
        assert!(is_nothing(&None::<String>));
        assert!(is_nothing(&None::<&'static str>));
        assert!(is_nothing(&None::<(Option<u8>, bool)>));
        assert!(is_nothing(&None::<std::num::NonZeroU32>));
        assert!(!is_nothing(&Some(String::new())));
        assert!(!is_nothing(&Some(false)));
        assert!(!is_nothing(&Some(None::<u8>)), "it is there, and empty");
        assert!(!is_nothing(&std::num::NonZeroU32::MIN));
        assert!(!is_nothing(&(None::<u8>, 0)));
        assert!(!is_nothing(&Own::First));
        assert!(!is_nothing(&0isize));
    }
}

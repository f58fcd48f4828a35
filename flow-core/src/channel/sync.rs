//! The primitives of this room: those of std, or those of loom under `cfg(loom)`.
//!
//! Everything in the room takes its atomics, cells, `Arc` and parking from here, so that the same
//! code that ships is the code that the model checker runs.

#[cfg(loom)]
pub(super) use self::model::{Arc, AtomicBool, AtomicU64, AtomicUsize, Parker, Unparker, UnsafeCell, fence};
#[cfg(not(loom))]
pub(super) use self::native::{Arc, AtomicBool, AtomicU64, AtomicUsize, Parker, Unparker, UnsafeCell, fence};

#[cfg(not(loom))]
mod native {
    pub use std::sync::Arc;
    pub use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, fence};

    pub use parking::{Parker, Unparker};

    /// `std::cell::UnsafeCell` with the interface of loom's, which sees where an access begins and ends.
    #[repr(transparent)]
    pub struct UnsafeCell<T>(std::cell::UnsafeCell<T>);

    impl<T> UnsafeCell<T> {
        pub const fn new(value: T) -> Self {
            Self(std::cell::UnsafeCell::new(value))
        }

        #[inline(always)]
        pub fn with<R>(&self, read: impl FnOnce(*const T) -> R) -> R {
            read(self.0.get())
        }

        #[inline(always)]
        pub fn with_mut<R>(&self, write: impl FnOnce(*mut T) -> R) -> R {
            write(self.0.get())
        }
    }
}

#[cfg(loom)]
mod model {
    use std::time::Instant;

    pub use loom::cell::UnsafeCell;
    pub use loom::sync::Arc;
    use loom::sync::Notify;
    pub use loom::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, fence};

    /// The parker of the crate `parking` in loom's terms: one token, kept until it is used. (Not from loom's `Condvar`,
    /// which mixes up the tokens of several notifiers and reports deadlocks that are none.)
    pub struct Parker(Unparker);

    /// Hands the token to its [`Parker`].
    #[derive(Clone, Debug)]
    pub struct Unparker(Arc<Notify>);

    impl Parker {
        pub fn new() -> Self {
            Self(Unparker(Arc::new(Notify::new())))
        }

        pub fn unparker(&self) -> &Unparker {
            &self.0
        }

        /// Never times out: a timeout would hide a lost wake-up, which the model must report as a deadlock.
        pub fn park_deadline(&self, _deadline: Instant) {
            self.0.0.wait();
        }
    }

    impl Unparker {
        pub fn unpark(&self) {
            self.0.notify();
        }
    }
}

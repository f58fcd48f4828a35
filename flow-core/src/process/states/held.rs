//! A value with a time to live.

use super::{Declared, Moment, On, Ttl};
use serde_core::de::Deserializer;
use serde_core::ser::Serializer;
use serde_core::{Deserialize, Serialize};
use std::cell::Cell;
use std::ops::{Deref, DerefMut};

/// A value and when it was written, as it is kept.
pub struct Lasting<T> {
    value: T,
    /// Nothing where it never was.
    written: Cell<Option<i64>>,
    watched: i64,
}

impl<T: Serialize> Serialize for Lasting<T> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        (&self.value, self.written.get()).serialize(to)
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Lasting<T> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let (value, written) = <(T, Option<i64>)>::deserialize(from)?;
        Ok(Lasting { value, written: Cell::new(written), watched: i64::MAX })
    }
}

/// A state with a time to live: made by a closure, seen as a [`Held`].
#[derive(Clone)]
pub struct Timed<I> {
    make: I,
    ttl: Ttl,
}

impl<I> Timed<I> {
    /// Where it has expired, it is what `make` gives.
    pub fn new(make: I, ttl: Ttl) -> Self {
        Timed { make, ttl }
    }

    fn expire<T>(&self, stored: &mut Lasting<T>, now: i64, expired: &mut u64)
    where
        I: Fn() -> T,
    {
        if stored.written.get().is_some_and(|written| self.ttl.is_over(written, now)) {
            (stored.value, stored.written) = ((self.make)(), Cell::new(None));
            *expired += 1;
        }
    }
}

impl<T: Send + 'static, I: Fn() -> T + Clone + Send + 'static> Declared for Timed<I> {
    type Stored = Lasting<T>;
    type View<'a> = Held<'a, T>;
    const LIVES: bool = true;
    fn ttl(&self) -> Option<Ttl> {
        Some(self.ttl)
    }
    fn check(&self, timed: bool) -> Result<(), String> {
        self.ttl.check_on(timed)
    }
    fn fresh(&self) -> Lasting<T> {
        Lasting { value: (self.make)(), written: Cell::new(None), watched: i64::MAX }
    }
    fn view<'a>(&self, stored: &'a mut Lasting<T>, now: Moment, expired: &mut u64) -> Held<'a, T> {
        let now = now.on(self.ttl);
        self.expire(stored, now.read, expired);
        let Lasting { value, written, .. } = stored;
        Held { value, written, now: now.write, renews: self.ttl.renews }
    }
    fn settle(
        &self,
        stored: &mut Lasting<T>,
        now: Moment,
        expired: &mut u64,
        watch: &mut dyn FnMut(On, i64),
    ) -> bool {
        self.expire(stored, now.on(self.ttl).read, expired);
        let written = stored.written.get();
        let end = written.and_then(|written| self.ttl.end(written));
        self.ttl.watch(end, now, &mut stored.watched, watch);
        written.is_none()
    }
}

/// A value with a time to live, for one call: `*held` reads it, `*held = x` writes it and lets it live anew. What has expired is
/// what it was in the beginning.
pub struct Held<'a, T> {
    value: &'a mut T,
    written: &'a Cell<Option<i64>>,
    now: i64,
    renews: bool,
}

impl<T> Deref for Held<'_, T> {
    type Target = T;
    fn deref(&self) -> &T {
        if self.renews && self.written.get().is_some_and(|written| written < self.now) {
            self.written.set(Some(self.now));
        }
        self.value
    }
}

impl<T> DerefMut for Held<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        self.written.set(Some(self.now));
        self.value
    }
}

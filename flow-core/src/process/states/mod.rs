//! The states that a process declares: one after the other they are one value, and so one entry of the table.
//!
//! States are pairs in pairs that end in `()`: `(Plain(|| 0), (Timed::new(|| None, ttl), ()))`. Beside each kind stands what a
//! process sees of it: a `&mut T`, or a [`Held`] of one with a time to live.

mod folded;
mod held;
mod list;
mod map;
mod named;
#[cfg(test)]
mod tests;
mod ttl;

pub use folded::{AggregatingState, Functional, ReducingState, WithFunction};
pub use held::{Held, Lasting, Timed};
pub use list::ListState;
pub use map::MapState;
pub use named::Named;
pub use ttl::{Moment, Now, On, Ttl};

/// States that are declared, or one of them.
pub trait Declared: Clone + Send + 'static {
    /// What is kept for a key.
    type Stored: Send + 'static;
    /// What a process sees of it.
    type View<'a>;
    /// Whether something of it has a time to live.
    const LIVES: bool;
    /// How long it lives, if it has a time to live.
    fn ttl(&self) -> Option<Ttl> {
        None
    }
    /// Its names, and how long each lives, for people.
    fn describe(&self, names: &mut Vec<String>) {
        let _ = names;
    }
    /// What the user has said wrongly, on a stream that is `timed`: that has event time.
    ///
    /// # Errors
    /// In words.
    fn check(&self, _timed: bool) -> Result<(), String> {
        Ok(())
    }
    /// What is kept for a key that is new.
    fn fresh(&self) -> Self::Stored;
    /// What a process sees, without what has expired; adds to `expired` how much that was.
    fn view<'a>(&self, stored: &'a mut Self::Stored, now: Moment, expired: &mut u64) -> Self::View<'a>;
    /// Takes out what has expired, and asks to be called again at the first instant at which more will have. Whether all of it is
    /// as if it were new and had never been written.
    fn settle(
        &self,
        stored: &mut Self::Stored,
        now: Moment,
        expired: &mut u64,
        watch: &mut dyn FnMut(On, i64),
    ) -> bool;
}

impl Declared for () {
    type Stored = ();
    type View<'a> = ();
    const LIVES: bool = false;
    fn fresh(&self) {}
    #[inline(always)]
    fn view(&self, (): &mut (), _: Moment, _: &mut u64) {}
    fn settle(&self, (): &mut (), _: Moment, _: &mut u64, _: &mut dyn FnMut(On, i64)) -> bool {
        true
    }
}

impl<A: Declared, B: Declared> Declared for (A, B) {
    type Stored = (A::Stored, B::Stored);
    type View<'a> = (A::View<'a>, B::View<'a>);
    const LIVES: bool = A::LIVES | B::LIVES;
    fn describe(&self, names: &mut Vec<String>) {
        self.0.describe(names);
        self.1.describe(names);
    }
    fn check(&self, timed: bool) -> Result<(), String> {
        self.0.check(timed)?;
        self.1.check(timed)
    }
    #[inline(always)]
    fn fresh(&self) -> Self::Stored {
        (self.0.fresh(), self.1.fresh())
    }
    #[inline(always)]
    fn view<'a>(&self, (a, b): &'a mut Self::Stored, now: Moment, expired: &mut u64) -> Self::View<'a> {
        (self.0.view(a, now, expired), self.1.view(b, now, expired))
    }
    fn settle(
        &self,
        (a, b): &mut Self::Stored,
        now: Moment,
        expired: &mut u64,
        watch: &mut dyn FnMut(On, i64),
    ) -> bool {
        self.0.settle(a, now, expired, watch) & self.1.settle(b, now, expired, watch)
    }
}

/// A state that lives until it is cleared: made by a closure, seen as `&mut T`.
#[derive(Clone)]
pub struct Plain<I>(pub I);

impl<T: Send + 'static, I: Fn() -> T + Clone + Send + 'static> Declared for Plain<I> {
    type Stored = T;
    type View<'a> = &'a mut T;
    const LIVES: bool = false;
    #[inline(always)]
    fn fresh(&self) -> T {
        (self.0)()
    }
    #[inline(always)]
    fn view<'a>(&self, stored: &'a mut T, _: Moment, _: &mut u64) -> &'a mut T {
        stored
    }
    fn settle(&self, _: &mut T, _: Moment, _: &mut u64, _: &mut dyn FnMut(On, i64)) -> bool {
        false
    }
}

/// A state of many entries, each of which has a time to live of its own.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no entries that could expire one by one",
    label = "not a state of entries",
    note = "`MapState`, `ListState`, `ReducingState` and `AggregatingState` have"
)]
pub trait Entries: Send + 'static {
    /// Says that entries expire so long after they are written, and what time it is; what has expired leaves. How much.
    fn at(&mut self, ttl: Ttl, now: Now) -> u64;
    /// When the first entry may expire.
    fn first(&self) -> Option<i64>;
    /// When it has been asked to be called.
    fn watched(&mut self) -> &mut i64;
}

/// [`Entries`] with a time to live, made by a closure.
#[derive(Clone)]
pub struct TimedEntries<I> {
    make: I,
    ttl: Ttl,
}

impl<I> TimedEntries<I> {
    /// Each entry expires so long after it is written.
    pub fn new(make: I, ttl: Ttl) -> Self {
        TimedEntries { make, ttl }
    }
}

impl<T: Entries, I: Fn() -> T + Clone + Send + 'static> Declared for TimedEntries<I> {
    type Stored = T;
    type View<'a> = &'a mut T;
    const LIVES: bool = true;
    fn ttl(&self) -> Option<Ttl> {
        Some(self.ttl)
    }
    fn check(&self, timed: bool) -> Result<(), String> {
        self.ttl.check_on(timed)
    }
    fn fresh(&self) -> T {
        (self.make)()
    }
    fn view<'a>(&self, stored: &'a mut T, now: Moment, expired: &mut u64) -> &'a mut T {
        *expired += stored.at(self.ttl, now.on(self.ttl));
        stored
    }
    fn settle(&self, stored: &mut T, now: Moment, expired: &mut u64, watch: &mut dyn FnMut(On, i64)) -> bool {
        *expired += stored.at(self.ttl, now.on(self.ttl));
        let first = stored.first();
        self.ttl.watch(first, now, stored.watched(), watch);
        first.is_none()
    }
}

//! The name of a state.

use super::{Declared, Moment, On, Ttl};

/// A state and its name, which the graph of a job shows.
#[derive(Clone)]
pub struct Named<D>(pub &'static str, pub D);

impl<D: Declared> Declared for Named<D> {
    type Stored = D::Stored;
    type View<'a> = D::View<'a>;
    const LIVES: bool = D::LIVES;
    fn ttl(&self) -> Option<Ttl> {
        self.1.ttl()
    }
    fn describe(&self, names: &mut Vec<String>) {
        let Named(name, state) = self;
        names.push(state.ttl().map_or_else(|| (*name).to_owned(), |ttl| format!("{name} ({ttl})")));
    }
    fn check(&self, timed: bool) -> Result<(), String> {
        self.1.check(timed).map_err(|what| format!("state `{}`: {what}", self.0))
    }
    #[inline(always)]
    fn fresh(&self) -> D::Stored {
        self.1.fresh()
    }
    #[inline(always)]
    fn view<'a>(&self, stored: &'a mut D::Stored, now: Moment, expired: &mut u64) -> D::View<'a> {
        self.1.view(stored, now, expired)
    }
    fn settle(
        &self,
        stored: &mut D::Stored,
        now: Moment,
        expired: &mut u64,
        watch: &mut dyn FnMut(On, i64),
    ) -> bool {
        self.1.settle(stored, now, expired, watch)
    }
}

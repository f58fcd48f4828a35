//! Into which windows an element goes: those that lie where time says, or the session that it makes.

use crate::error::Result;
use crate::op::operator::OpError;
use crate::op::proved::claim;
use crate::time::{Grid, Millis, Timestamp};
use crate::window::session::{Gap, Session};
use crate::window::spec::{Assign, Everything, Global, Span};

claim! {
    /// Windows that take a trigger: those that have [`Places`] for elements.
    #[diagnostic::on_unimplemented(
        message = "a trigger cannot fire `{Self}`",
        label = "takes no trigger",
        note = "`tumbling`, `sliding`, `session` and `global` of event time take one, before `.evict`; for so many elements at a time write `.window(global()).trigger(|t| t.count(100).purging())`"
    )]
    pub trait TakesTrigger<P, T> for W where Places<T>
}

/// Windows whose places for an element a trigger can fire.
pub trait Places<T>: Clone + Send + 'static {
    /// What of an element crosses with it.
    type Sent: Send + 'static;
    /// Whether windows that an element reaches become one.
    const MERGES: bool;
    /// What crosses.
    ///
    /// # Errors
    /// Where the element has no place.
    fn sent(&self, record: &T) -> std::result::Result<Self::Sent, OpError>;
    /// The windows of an element at `t`, by their ends, and the watermarks at which they end.
    fn windows(
        &self,
        t: Timestamp,
        sent: Self::Sent,
    ) -> impl Iterator<Item = (Span, i128)> + Clone + use<T, Self>;
    /// The watermarks at which windows end.
    fn grid(&self, lateness: Millis) -> Grid;
    /// Whether the description makes sense.
    ///
    /// # Errors
    /// When it does not.
    fn check(&self) -> Result<()>;
    /// Its name in `explain`.
    fn describe(&self) -> String;
}

#[diagnostic::do_not_recommend]
impl<T, W: Assign> Places<T> for W {
    type Sent = ();
    const MERGES: bool = false;
    #[inline]
    fn sent(&self, _: &T) -> std::result::Result<(), OpError> {
        Ok(())
    }
    fn windows(&self, t: Timestamp, (): ()) -> impl Iterator<Item = (Span, i128)> + Clone + use<T, W> {
        Assign::windows(self, t).map(|span| (span, span.end - 1))
    }
    fn grid(&self, lateness: Millis) -> Grid {
        Assign::grid(self, lateness)
    }
    fn check(&self) -> Result<()> {
        Assign::check(self)
    }
    fn describe(&self) -> String {
        Assign::describe(self)
    }
}

#[diagnostic::do_not_recommend]
impl<T> Places<T> for Global {
    type Sent = ();
    const MERGES: bool = false;
    #[inline]
    fn sent(&self, _: &T) -> std::result::Result<(), OpError> {
        Ok(())
    }
    fn windows(&self, t: Timestamp, (): ()) -> impl Iterator<Item = (Span, i128)> + Clone + use<T> {
        Places::<T>::windows(&Everything, t, ())
    }
    fn grid(&self, lateness: Millis) -> Grid {
        Assign::grid(&Everything, lateness)
    }
    fn check(&self) -> Result<()> {
        Ok(())
    }
    fn describe(&self) -> String {
        Assign::describe(&Everything)
    }
}

#[diagnostic::do_not_recommend]
impl<T, G: Gap<T>> Places<T> for Session<G> {
    type Sent = G::Sent;
    const MERGES: bool = true;
    #[inline]
    fn sent(&self, record: &T) -> std::result::Result<G::Sent, OpError> {
        self.gap.of(record)
    }
    fn windows(&self, t: Timestamp, sent: G::Sent) -> impl Iterator<Item = (Span, i128)> + Clone + use<T, G> {
        let start = i128::from(t.0);
        let end = start + i128::from(self.gap.length(sent).0);
        // An element at exactly the gap belongs to it, so it ends a moment later than others of these bounds.
        std::iter::once((Span { start, end }, end))
    }
    fn grid(&self, _: Millis) -> Grid {
        // A session may end at any time.
        Grid::every()
    }
    fn check(&self) -> Result<()> {
        self.gap.check()
    }
    fn describe(&self) -> String {
        self.gap.describe()
    }
}

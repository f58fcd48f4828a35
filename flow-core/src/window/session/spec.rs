//! What a session is: its description.

use crate::error::{Error, ErrorKind, Result};
use crate::op::kind::HasEventTime;
use crate::op::operator::OpError;
use crate::op::{Kind, Proved};
use crate::time::{IntoMillis, Millis};
use crate::window::clocked::{Clocked, Processing};
use crate::window::late::Lates;
use crate::window::spec::{Closing, Over};

/// Windows of elements with no more than a gap between neighbours: [`session`], [`session_by`].
#[derive(Debug, Clone, Copy)]
pub struct Session<G> {
    pub(crate) gap: G,
}

/// Windows of elements with at most `gap` between neighbours: from the first element to `gap` after the last.
///
/// ```
/// # use flow_core::prelude::*;
/// # let out = Collected::new();
/// # let job = Job::build("doc", |job| {
/// let clicks = source(from_vec(vec![("ann", 0), ("bob", 2), ("ann", 5), ("ann", 11)]));
/// let clicks = clicks.event_time(|c| c.1).disorder(Millis(0)).key_by(|c| c.0);
/// let visits = clicks.window(session(Millis(5))).count();
/// job.add(visits.map(|w| (w.key, w.start.0, w.end.0, w.value)).collect(&out));
/// # });
/// # job.run().unwrap();
/// assert_eq!(out.take(), [("bob", 2, 7, 1), ("ann", 0, 10, 2), ("ann", 11, 16, 1)]);
/// ```
pub fn session(gap: impl IntoMillis) -> Session<Fixed> {
    Session { gap: Fixed(gap.into_millis()) }
}

/// Sessions with a gap for each element: it reaches from its time to so much later, and what one reaches belongs to its
/// session. By hand the closure says its type, or stands in [`window_of`](crate::op::Stream::window_of).
///
/// ```
/// # use flow_core::prelude::*;
/// # let out = Collected::new();
/// # let job = Job::build("doc", |job| {
/// // What was watched, when, and for how long.
/// let watched = source(from_vec(vec![("film", 0, 90), ("clip", 60, 3), ("clip", 95, 3)]));
/// let watched = watched.event_time(|v| v.1).disorder(Millis(0));
/// let evenings = watched.window(session_by(|v: &(&str, i64, i64)| Millis(v.2))).count();
/// job.add(evenings.map(|w| (w.start.0, w.end.0, w.value)).collect(&out));
/// # });
/// # job.run().unwrap();
/// assert_eq!(out.take(), [(0, 90, 2), (95, 98, 1)]);
/// ```
pub fn session_by<T, D: IntoMillis, F>(gap: F) -> Proved<D::Length, Session<ByRecord<F>>>
where
    F: Fn(&T) -> D + Clone + Send + 'static,
{
    Session { gap: ByRecord(gap) }
}

impl<K: HasEventTime, G> Over<K> for Session<G> {}
impl<G> Lates for Session<G> {}
#[diagnostic::do_not_recommend]
impl<K: Kind, G> Closing<K> for Session<G> {}

impl<G> Session<G> {
    /// On the clock: an element happens when it arrives.
    pub fn time(self, _: Processing) -> Clocked<Self> {
        Clocked(self)
    }
}

/// How far an element reaches.
pub trait Gap<T>: Clone + Send + 'static {
    /// What of it crosses with the element.
    type Sent: Send + 'static;
    /// The gap of a record.
    ///
    /// # Errors
    /// When it is none.
    fn of(&self, record: &T) -> Result<Self::Sent, OpError>;
    /// The gap, when it has crossed.
    fn length(&self, sent: Self::Sent) -> Millis;
    /// Whether each element of a key, or of what holds the key, is in a session of its own, which no other joins.
    #[inline(always)]
    fn is_apart<Q: 'static>(key: &Q) -> bool {
        let _ = key;
        false
    }
    /// Whether the description makes sense.
    ///
    /// # Errors
    /// When it does not.
    fn check(&self) -> Result<()>;
    /// Its name in `explain`.
    fn describe(&self) -> String;
}

/// One gap for all elements.
#[derive(Debug, Clone, Copy)]
pub struct Fixed(Millis);

impl<T> Gap<T> for Fixed {
    type Sent = ();
    #[inline(always)]
    fn of(&self, _: &T) -> Result<(), OpError> {
        Ok(())
    }
    #[inline(always)]
    fn length(&self, (): ()) -> Millis {
        self.0
    }
    fn check(&self) -> Result<()> {
        if self.0.0 > 0 { Ok(()) } else { Err(Error::new(ErrorKind::Plan, no_gap(self.0))) }
    }
    fn describe(&self) -> String {
        format!("session({})", self.0)
    }
}

/// A gap for each element.
#[derive(Debug, Clone)]
pub struct ByRecord<F>(F);

impl<T, D: IntoMillis, F: Fn(&T) -> D + Clone + Send + 'static> Gap<T> for ByRecord<F> {
    type Sent = Millis;
    #[inline(always)]
    fn of(&self, record: &T) -> Result<Millis, OpError> {
        let gap = (self.0)(record).into_millis();
        if gap.0 > 0 { Ok(gap) } else { Err(no_gap(gap).into()) }
    }
    #[inline(always)]
    fn length(&self, sent: Millis) -> Millis {
        sent
    }
    fn check(&self) -> Result<()> {
        Ok(())
    }
    fn describe(&self) -> String {
        "session_by(…)".to_owned()
    }
}

#[cold]
fn no_gap(gap: Millis) -> String {
    format!("a gap of {gap} between the elements of a session: it has to be positive")
}

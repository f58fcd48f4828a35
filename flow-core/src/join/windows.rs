//! The windows in which two streams can be joined, and the stage that keeps the elements of both sides in them.

use super::grouped::{Gather, Groups};
use super::nothing::is_nothing;
use super::side::Crossing;
use crate::error::Result;
use crate::op::key_fn::ByPair;
use crate::op::operator::OpError;
use crate::op::{Either, Key};
use crate::stage::{Fire, Head, HeadStage, Meta, OpenCx, Push, Stamp, Tail};
use crate::state::Keep;
use crate::time::{Grid, Millis, Timestamp};
use crate::window::base::{Base, Item};
use crate::window::clocked::OnWatermark;
use crate::window::late::{Lateness, Policy};
use crate::window::session::head::SessionHead;
use crate::window::session::{Fixed, Gap};
use crate::window::spec::{Assign, Everything};
use crate::window::{Global, Session, Windowed};
use std::convert::Infallible;
use std::vec::IntoIter;

/// The key function of what crosses.
type Of<Q, L, R> = ByPair<Q, Either<L, R>>;
/// What crosses, as a record with its key.
type Pair<Q, L, R> = (Q, Either<L, R>);
/// A window's elements.
pub(super) type Whole<Q, L, R> = Windowed<Q, Groups<L, R>>;

/// A late policy, for windows that give `T`, with which an element of either side crosses as it is.
pub trait Uncut<T: 'static, L: Send + 'static, R: Send + 'static>:
    Policy<T, Either<L, R>, Load<Either<L, R>, Either<L, R>> = Either<L, R>>
{
}
impl<P, T: 'static, L: Send + 'static, R: Send + 'static> Uncut<T, L, R> for P where
    P: Policy<T, Either<L, R>, Load<Either<L, R>, Either<L, R>> = Either<L, R>>
{
}

/// The method that each kind of window has: its bounds are said once.
macro_rules! keeping {
    ($(#[$doc:meta])* |$self:ident, $lateness:ident, $next:ident, $meta:ident| $body:expr) => {
        keeping!(@ $(#[$doc])* ($self $lateness $next $meta) { $body });
    };
    ($(#[$doc:meta])*) => {
        keeping!(@ $(#[$doc])* (self lateness next meta) ;);
    };
    (@ $(#[$doc:meta])* ($self:ident $lateness:ident $next:ident $meta:ident) $body:tt) => {
        $(#[$doc])*
        fn keeping<Q, L, R, P, S, N, M>($self, $lateness: Lateness<P>, $next: N, $meta: Meta) -> HeadStage
        where
            Q: Key + Keep<M>,
            L: Clone + Send + 'static,
            R: Clone + Send + 'static,
            Groups<L, R>: Keep<M>,
            P: Uncut<Whole<Q, L, R>, L, R>,
            S: Stamp,
            N: Push<P::Emit, S>,
            M: crate::state::Mode
        $body
    };
}

/// Windows in which two streams can be joined.
#[diagnostic::on_unimplemented(
    message = "two streams cannot be joined in windows of `{Self}`",
    label = "not a window of time",
    note = "write `.window(tumbling(1h))`, `.window(sliding(1h, 5min))`, `.window(session(30min))` or, of bounded input, `.window(global())`"
)]
pub trait JoinWindow: Clone + Send + 'static {
    /// The watermarks at which windows are due.
    fn due(&self, lateness: Millis) -> Grid;
    /// Whether the description makes sense.
    ///
    /// # Errors
    /// When it does not.
    fn fits(&self) -> Result<()>;
    /// Its name in `explain`.
    fn text(&self) -> String;
    keeping! {
        /// The stage that keeps the elements of both sides by window.
    }
}

#[diagnostic::do_not_recommend]
impl<W: Assign> JoinWindow for W {
    fn due(&self, lateness: Millis) -> Grid {
        self.grid(lateness)
    }
    fn fits(&self) -> Result<()> {
        self.check()
    }
    fn text(&self) -> String {
        self.describe()
    }
    keeping!(|self, lateness, next, meta| {
        let base = Base::<Pair<Q, L, R>, Of<Q, L, R>, Gather, P, S, N>::new(
            ByPair::new(),
            Gather,
            lateness,
            next,
            meta,
        );
        // What it takes is what the sides send: the load of an `Uncut` policy is the element.
        self.stage::<Pair<Q, L, R>, Of<Q, L, R>, Gather, P, S, N, M, _>(base, OnWatermark)
    });
}

impl JoinWindow for Global {
    fn due(&self, lateness: Millis) -> Grid {
        Everything.due(lateness)
    }
    fn fits(&self) -> Result<()> {
        Ok(())
    }
    fn text(&self) -> String {
        Everything.text()
    }
    keeping!(|self, lateness, next, meta| Everything.keeping(lateness, next, meta));
}

impl JoinWindow for Session<Fixed> {
    fn due(&self, _: Millis) -> Grid {
        Grid::every()
    }
    fn fits(&self) -> Result<()> {
        Gap::<()>::check(&self.gap)
    }
    fn text(&self) -> String {
        Gap::<()>::describe(&self.gap)
    }
    keeping!(|self, lateness, next, meta| {
        let head = SessionHead::<Pair<Q, L, R>, Of<Q, L, R>, Sharing, Gather, P, S, N, M>::new(
            ByPair::new(),
            Sharing(self.gap),
            Gather,
            lateness,
            next,
            meta,
        );
        HeadStage::new::<Crossing<Q, L, R>, _>(OfSides(head))
    });
}

/// The gap of elements of both sides. One whose key is nothing matches none, so it is in no session with others.
#[derive(Clone)]
struct Sharing(Fixed);

impl<T> Gap<T> for Sharing {
    type Sent = ();
    fn of(&self, record: &T) -> Result<(), OpError> {
        self.0.of(record)
    }
    #[inline(always)]
    fn length(&self, (): ()) -> Millis {
        Gap::<T>::length(&self.0, ())
    }
    #[inline(always)]
    fn is_apart<Q: 'static>(key: &Q) -> bool {
        is_nothing(key)
    }
    fn check(&self) -> Result<()> {
        Gap::<T>::check(&self.0)
    }
    fn describe(&self) -> String {
        Gap::<T>::describe(&self.0)
    }
}

/// Gives the head of sessions what it takes: an element and its gap, which is that of all.
struct OfSides<H>(H);

impl<Q, T, H> Head<Item<Q, T>> for OfSides<H>
where
    H: Head<Item<Q, ((), T)>, Part = Infallible>,
{
    type Part = Infallible;
    fn tail(&mut self) -> &mut dyn Tail {
        self.0.tail()
    }
    fn tail_ref(&self) -> &dyn Tail {
        self.0.tail_ref()
    }
    fn open(&mut self, cx: &mut OpenCx) -> Result<()> {
        self.0.open(cx)
    }
    fn items(&mut self, input: usize, items: &mut IntoIter<Item<Q, T>>, n: usize) {
        let with_gap = items.by_ref().take(n).map(|item| {
            let Item { hash, time, route, load } = item;
            Item { hash, time, route, load: ((), load) }
        });
        let mut with_gap = with_gap.collect::<Vec<_>>().into_iter();
        let n = with_gap.len();
        self.0.items(input, &mut with_gap, n);
    }
    fn watermark(&mut self, w: Timestamp) {
        self.0.watermark(w);
    }
    fn end(&mut self) {
        self.0.end();
    }
    fn fire(&mut self) -> Fire {
        self.0.fire()
    }
    fn begin_save(&mut self, out: &crate::checkpoint::Groups) -> Result<()> {
        self.0.begin_save(out)
    }
    fn save_more(&mut self, left: &mut usize) -> bool {
        self.0.save_more(left)
    }
    fn schema(&self) -> Result<String> {
        self.0.schema()
    }

    fn restore(&mut self, group: usize, bytes: &[u8]) -> Result<()> {
        self.0.restore(group, bytes)
    }
}

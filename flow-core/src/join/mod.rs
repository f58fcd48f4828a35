//! Joins: two streams with keys of one type, brought together key by key.
//!
//! `left.key_by(f).join(right.key_by(g))` is not a stream yet: what follows says which elements of a key belong together.
//!
//! * [`joined`]: the two streams together, and the methods of streams that begin a join; [`form`]: what becomes of elements
//!   that match nothing: inner, left, right, full, co-group;
//! * [`side`]: one side of a join, up to the exchange;
//! * [`nothing`]: keys that say that there is none;
//! * [`within`]: elements whose times are within bounds of each other; [`as_of`]: the version that held at an element's time; `timed`: the
//!   head of both, `held`: elements that wait, `due`: keys that are looked at, `tardy`: late elements;
//! * [`lookup`]: all that there is of the other side, which is read whole first;
//! * [`forever`]: all that there is of the other side, before and after;
//! * [`whole`]: all that there is on both sides, which end;
//! * [`in_window`]: elements that are in one window; [`windows`]: which windows these may be; `grouped`: a window's elements of both
//!   sides, [`cross`]: their pairs, `rows`: how these leave.

pub mod as_of;
pub mod cross;
mod due;
pub mod forever;
pub mod form;
mod grouped;
mod held;
pub mod in_window;
pub mod joined;
pub mod lookup;
pub mod nothing;
mod rows;
pub mod side;
mod tardy;
#[cfg(test)]
pub(crate) mod testing;
mod timed;
pub mod whole;
pub mod windows;
pub mod within;

pub use form::{Anti, CoGroup, Form, Full, Inner, LeftOuter, RightOuter, Semi};
pub use joined::Joined;

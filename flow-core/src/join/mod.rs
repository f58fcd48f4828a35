//! Joins: two streams with keys of one type, brought together key by key.
//!
//! `left.key_by(f).join(right.key_by(g))` is not a stream yet: what follows says which elements of a key belong together.
//!
//! * [`joined`]: the two streams together, and the methods of streams that begin a join; [`form`]: what becomes of elements
//!   that match nothing: inner, left, right, full, co-group;
//! * [`side`]: one side of a join, up to the exchange;
//! * [`nothing`]: keys that say that there is none;
//! * [`in_window`]: elements that are in one window; `grouped`: a window's elements of both sides, and their pairs.

pub mod form;
mod grouped;
pub mod in_window;
pub mod joined;
pub mod nothing;
pub mod side;

pub use form::{CoGroup, Form, Full, Inner, LeftOuter, RightOuter};
pub use joined::Joined;

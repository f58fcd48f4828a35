//! Builds joins: each side is an end of what it comes from.

use super::build::{End, Time, Timed};
use super::function::*;
use super::joins::{How, Join, Outer, key, pair};
use flow_core::op::boxed::BoxedEnd;
use flow_core::prelude::*;

/// An element of a row, which may be missing.
trait Half {
    fn half(self) -> Option<Rec>;
}
impl Half for Rec {
    fn half(self) -> Option<Rec> {
        Some(self)
    }
}
impl Half for Option<Rec> {
    fn half(self) -> Option<Rec> {
        self
    }
}

/// The row of a window.
fn windowed<A: Half, B: Half>(w: Windowed<Option<u8>, (A, B)>) -> Rec {
    row(w.key.unwrap_or(0), w.start.0, w.end.0, pair(w.value.0.half(), w.value.1.half()))
}

/// A row without a window.
fn keyed<A: Half, B: Half>((key, (left, right)): (Option<u8>, (A, B))) -> Rec {
    rec(key.unwrap_or(0), pair(left.half(), right.half()))
}

/// The ends of both sides of a join, whose rows go to `out`.
pub fn join(job: &mut Job, join: Join, out: End<Timestamp>) -> [End<Timestamp>; 2] {
    let Join { by, outer, how } = join;
    let (left, right) =
        (Timed::branch().key_by(move |r| key(by, r)), Timed::branch().key_by(move |r| key(by, r)));
    macro_rules! sides {
        ($form:ident, |$both:ident| $rows:expr) => {{
            let (left, right, $both) = left.$form(right).apart();
            job.add($rows.boxed().tee(|_| out));
            [BoxedEnd::new(left), BoxedEnd::new(right)]
        }};
    }
    macro_rules! of_each_form {
        (|$both:ident| $rows:expr) => {
            match outer {
                Outer::Neither => sides!(join, |$both| $rows),
                Outer::Left => sides!(left_join, |$both| $rows),
                Outer::Right => sides!(right_join, |$both| $rows),
                Outer::Both => sides!(full_join, |$both| $rows),
            }
        };
    }
    macro_rules! of_leading {
        (|$both:ident| $rows:expr) => {
            match outer {
                Outer::Left => sides!(left_join, |$both| $rows),
                _ => sides!(join, |$both| $rows),
            }
        };
    }
    match how {
        How::Tumbling(size) => of_each_form!(|both| both.window(tumbling(Millis(size))).map(windowed)),
        How::Sliding(size, slide) => {
            let windows = sliding(Millis(size), Millis(slide)).gaps(slide > size);
            sides!(full_join, |both| both.window(windows).map(windowed))
        }
        How::Session(gap) => sides!(left_join, |both| both.window(session(Millis(gap))).map(windowed)),
        How::Within(lower, upper) => {
            of_each_form!(|both| both.within(Millis(lower), Millis(upper)).map(keyed))
        }
        How::AsOf => of_leading!(|both| both.as_of().map(keyed)),
        How::Lookup => of_leading!(|both| both.lookup().map(keyed)),
        How::Forever => sides!(join, |both| both.forever().map(keyed)),
    }
}

//! What becomes of elements that match nothing.

use super::cross::Cross;
use std::array::IntoIter;
use std::iter::Flatten;

/// A join of single elements: which rows it gives.
#[diagnostic::on_unimplemented(
    message = "a `co_group` brings whole groups together, and this operator single elements",
    label = "takes no groups",
    note = "write `join`, `left_join`, `right_join` or `full_join` before it, or `.window(…)` behind the `co_group`"
)]
pub trait Form<L, R>: Copy + Send + 'static {
    /// A row.
    type Out: 'static;
    /// Whether a left element that matches nothing gives a row.
    const LEFT: bool;
    /// Whether a right element that matches nothing does.
    const RIGHT: bool;
    /// Its name, as the operator that asked for it.
    const NAME: &'static str;
    /// The row of two that match.
    fn pair(left: L, right: R) -> Self::Out;
    /// The row of a left element that matches nothing, where there is one.
    fn left(left: L) -> Option<Self::Out>;
    /// The row of a right element that matches nothing, where there is one.
    fn right(right: R) -> Option<Self::Out>;
}

/// A join in which the left elements lead: each looks for what it is joined with.
#[diagnostic::on_unimplemented(
    message = "this operator gives each left element what belongs to it: there are no rows of right elements alone",
    label = "takes `join` and `left_join` only",
    note = "write `join` or `left_join` before it; to keep the elements of the other side, change sides"
)]
pub trait Leading<L, R>: Form<L, R> {}
impl<L: 'static, R: 'static> Leading<L, R> for Inner {}
impl<L: 'static, R: 'static> Leading<L, R> for LeftOuter {}

/// A join of two streams that end, by key alone: which rows it gives.
#[diagnostic::on_unimplemented(
    message = "a `co_group` brings whole groups together, and this operator single elements",
    label = "takes no groups",
    note = "write `join`, `left_join`, `right_join`, `full_join`, `semi_join` or `anti_join` before it, or `.window(global())` behind the `co_group`"
)]
pub trait Whole<L, R>: Copy + Send + 'static {
    /// A row.
    type Out: 'static;
    /// Whether two that match give a row.
    const PAIRS: bool;
    /// Whether a left element gives one that has a match, or one that has none.
    const LEFT: Option<bool>;
    /// Whether a right element that matches nothing gives a row.
    const RIGHT: bool;
    /// Its name, as the operator that asked for it.
    const NAME: &'static str;
    /// The row of two that match.
    fn pair(left: &L, right: &R) -> Option<Self::Out>;
    /// The row of a left element.
    fn left(left: L) -> Option<Self::Out>;
    /// The row of a right element.
    fn right(right: &R) -> Option<Self::Out>;
}

/// A join of all elements of a window.
pub trait Grouping<L, R>: Copy + Send + 'static {
    /// A row.
    type Out: 'static;
    /// The rows of one key, as far as they have not been asked for.
    type Rows: Iterator<Item = Self::Out> + Send + 'static;
    /// Its name, as the operator that asked for it.
    const NAME: &'static str;
    /// The rows of the elements of one key. Where they do not `meet`, because the key is nothing, none matches another.
    fn rows(lefts: Vec<L>, rights: Vec<R>, meet: bool) -> Self::Rows;
}

/// `join`: only elements that match.
#[derive(Debug, Clone, Copy)]
pub struct Inner;
/// `left_join`: every left element; `None` for the right one where there is none.
#[derive(Debug, Clone, Copy)]
pub struct LeftOuter;
/// `right_join`: every right element; `None` for the left one where there is none.
#[derive(Debug, Clone, Copy)]
pub struct RightOuter;
/// `full_join`: every element; `None` for the other where there is none.
#[derive(Debug, Clone, Copy)]
pub struct Full;
/// `semi_join`: the left elements for which there is a right one, each once.
#[derive(Debug, Clone, Copy)]
pub struct Semi;
/// `anti_join`: the left elements for which there is none.
#[derive(Debug, Clone, Copy)]
pub struct Anti;
/// `co_group`: the elements of both sides, as they are.
#[derive(Debug, Clone, Copy)]
pub struct CoGroup;

macro_rules! forms {
    ($($form:ident $name:literal: ($left:ty, $right:ty), $is_left:literal, $is_right:literal,
        |$l:ident, $r:ident| $pair:expr, $only_left:expr, $only_right:expr;)*) => {$(
        impl<L: 'static, R: 'static> Form<L, R> for $form {
            type Out = ($left, $right);
            const LEFT: bool = $is_left;
            const RIGHT: bool = $is_right;
            const NAME: &'static str = $name;
            #[inline]
            fn pair($l: L, $r: R) -> Self::Out {
                $pair
            }
            fn left($l: L) -> Option<Self::Out> {
                $only_left
            }
            fn right($r: R) -> Option<Self::Out> {
                $only_right
            }
        }
        impl<L: Clone + 'static, R: Clone + 'static> Whole<L, R> for $form {
            type Out = ($left, $right);
            const PAIRS: bool = true;
            const LEFT: Option<bool> = if $is_left { Some(false) } else { None };
            const RIGHT: bool = $is_right;
            const NAME: &'static str = $name;
            #[inline]
            fn pair(left: &L, right: &R) -> Option<Self::Out> {
                Some(<Self as Form<L, R>>::pair(left.clone(), right.clone()))
            }
            fn left(left: L) -> Option<Self::Out> {
                <Self as Form<L, R>>::left(left)
            }
            fn right(right: &R) -> Option<Self::Out> {
                <Self as Form<L, R>>::right(right.clone())
            }
        }
        impl<L: Clone + Send + 'static, R: Clone + Send + 'static> Grouping<L, R> for $form {
            type Out = ($left, $right);
            type Rows = Cross<Self, L, R>;
            const NAME: &'static str = $name;
            fn rows(lefts: Vec<L>, rights: Vec<R>, meet: bool) -> Cross<Self, L, R> {
                Cross::new(lefts, rights, meet)
            }
        }
    )*};
}
forms! {
    Inner "join": (L, R), false, false, |l, r| (l, r), { drop(l); None }, { drop(r); None };
    LeftOuter "left_join": (L, Option<R>), true, false, |l, r| (l, Some(r)), Some((l, None)), { drop(r); None };
    RightOuter "right_join": (Option<L>, R), false, true, |l, r| (Some(l), r), { drop(l); None }, Some((None, r));
    Full "full_join": (Option<L>, Option<R>), true, true, |l, r| (Some(l), Some(r)), Some((Some(l), None)), Some((None, Some(r)));
}

impl<L: Send + 'static, R: Send + 'static> Grouping<L, R> for CoGroup {
    type Out = (Vec<L>, Vec<R>);
    type Rows = Flatten<IntoIter<Option<Self::Out>, 2>>;
    const NAME: &'static str = "co_group";
    fn rows(lefts: Vec<L>, rights: Vec<R>, meet: bool) -> Self::Rows {
        let rows = if meet || lefts.is_empty() || rights.is_empty() {
            [Some((lefts, rights)), None]
        } else {
            [Some((lefts, Vec::new())), Some((Vec::new(), rights))]
        };
        rows.into_iter().flatten()
    }
}

macro_rules! of_the_left {
    ($($form:ident $name:literal $met:literal;)*) => {$(
        impl<L: 'static, R: 'static> Whole<L, R> for $form {
            type Out = L;
            const PAIRS: bool = false;
            const LEFT: Option<bool> = Some($met);
            const RIGHT: bool = false;
            const NAME: &'static str = $name;
            fn pair(_: &L, _: &R) -> Option<L> {
                None
            }
            fn left(left: L) -> Option<L> {
                Some(left)
            }
            fn right(_: &R) -> Option<L> {
                None
            }
        }
    )*};
}
of_the_left! {
    Semi "semi_join" true;
    Anti "anti_join" false;
}

//! The numbers that can be added up.

use crate::aggregate::Overflow;

/// A number that `sum` can add up. Integers report overflow; floats follow IEEE 754.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be added up",
    label = "this closure returns `{Self}`, which is not a number",
    note = "return an integer or a float (or an `Option` of one: `None` is skipped)"
)]
pub trait Number: Copy + Send + 'static {
    /// 0.
    const ZERO: Self;
    /// Whether `plus` and `minus` do not round.
    const EXACT: bool;
    /// `self + other`.
    ///
    /// # Errors
    /// When the sum is outside the type's range.
    fn plus(self, other: Self) -> Result<Self, Overflow>;
    /// `self + other`, around the end of the range.
    #[must_use]
    fn wrapping_plus(self, other: Self) -> Self;
    /// `self − other`.
    ///
    /// # Errors
    /// When the difference is outside the type's range.
    fn minus(self, other: Self) -> Result<Self, Overflow>;
    /// `self − other`, around the end of the range.
    #[must_use]
    fn wrapping_minus(self, other: Self) -> Self;
    /// As a float.
    fn to_f64(self) -> f64;
}

macro_rules! integers {
    ($($t:ty)*) => {$(
        #[diagnostic::do_not_recommend]
        impl Number for $t {
            const ZERO: Self = 0;
            const EXACT: bool = true;
            #[inline(always)]
            fn plus(self, other: Self) -> Result<Self, Overflow> {
                self.checked_add(other).ok_or(Overflow)
            }
            #[inline(always)]
            fn wrapping_plus(self, other: Self) -> Self {
                self.wrapping_add(other)
            }
            #[inline(always)]
            fn minus(self, other: Self) -> Result<Self, Overflow> {
                self.checked_sub(other).ok_or(Overflow)
            }
            #[inline(always)]
            fn wrapping_minus(self, other: Self) -> Self {
                self.wrapping_sub(other)
            }
            #[inline(always)]
            fn to_f64(self) -> f64 {
                self as f64
            }
        }
    )*};
}
integers!(u8 u16 u32 u64 u128 usize i8 i16 i32 i64 i128 isize);

macro_rules! floats {
    ($($t:ty)*) => {$(
        #[diagnostic::do_not_recommend]
        impl Number for $t {
            const ZERO: Self = 0.0;
            const EXACT: bool = false;
            #[inline(always)]
            fn plus(self, other: Self) -> Result<Self, Overflow> {
                Ok(self + other)
            }
            #[inline(always)]
            fn wrapping_plus(self, other: Self) -> Self {
                self + other
            }
            #[inline(always)]
            fn minus(self, other: Self) -> Result<Self, Overflow> {
                Ok(self - other)
            }
            #[inline(always)]
            fn wrapping_minus(self, other: Self) -> Self {
                self - other
            }
            #[inline(always)]
            fn to_f64(self) -> f64 {
                f64::from(self)
            }
        }
    )*};
}
floats!(f32 f64);

/// Whether each record has a value, which says what an aggregate's result looks like: no row is lost because none had.
pub trait Presence: 'static {
    /// A result `X` that needs at least one value.
    type Of<X: 'static>: 'static;
    /// The presence of this value and another together.
    type And<P: Presence>: Presence;
    /// The result, if records without values have one.
    fn of<X: 'static>(result: Option<X>) -> Option<Self::Of<X>>;
}

/// Each record has a value: the result is plain.
pub enum Always {}
impl Presence for Always {
    type Of<X: 'static> = X;
    type And<P: Presence> = P;
    #[inline(always)]
    fn of<X: 'static>(result: Option<X>) -> Option<X> {
        result
    }
}

/// A record may have none: the result is an `Option`, `None` when no record had a value.
pub enum Perhaps {}
impl Presence for Perhaps {
    type Of<X: 'static> = Option<X>;
    type And<P: Presence> = Perhaps;
    #[inline(always)]
    fn of<X: 'static>(result: Option<X>) -> Option<Option<X>> {
        Some(result)
    }
}

/// What the closure of `sum`, `mean` and their like may return: a number, or an `Option` of one; `None` is skipped.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be added up",
    label = "this closure returns `{Self}`, which is not a number",
    note = "return an integer or a float, or an `Option` of one: `None` is skipped"
)]
pub trait Summand: 'static {
    /// The number.
    type Number: Number;
    /// Whether there always is one.
    type Presence: Presence;
    /// The number, if there is one.
    fn number(self) -> Option<Self::Number>;
}

/// What the closure of `min` and `max` may return: something with a total order, or an `Option` of it; `None` is
/// skipped. Floats are ordered as [`f64::total_cmp`] does, but with every NaN above all numbers, whatever its sign.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no smallest or largest value here",
    label = "this closure returns `{Self}`",
    note = "return a number, text, a `Timestamp`, a pair of these, or an `Option` of one; for your own type implement `flow_core::op::rolling::Measure`"
)]
pub trait Measure: 'static {
    /// What is compared.
    type Value: Clone + Send + 'static;
    /// Whether there always is a value: [`Always`], or [`Perhaps`] where some records have none.
    type Presence: Presence;
    /// The value, if there is one.
    fn value(self) -> Option<Self::Value>;
    /// How two values compare.
    fn compare(a: &Self::Value, b: &Self::Value) -> std::cmp::Ordering;
}

// One impl a type, none for all numbers: so it is `Summand` that text does not fulfil, and nothing else is asked of it.
macro_rules! summands {
    ($($t:ty)*) => {$(
        #[diagnostic::do_not_recommend]
        impl Summand for $t {
            type Number = $t;
            type Presence = Always;
            #[inline(always)]
            fn number(self) -> Option<$t> {
                Some(self)
            }
        }
    )*};
}
summands!(u8 u16 u32 u64 u128 usize i8 i16 i32 i64 i128 isize f32 f64);

#[diagnostic::do_not_recommend]
impl<N: Number> Summand for Option<N> {
    type Number = N;
    type Presence = Perhaps;
    #[inline(always)]
    fn number(self) -> Option<N> {
        self
    }
}

/// `total_cmp` with every NaN last: the sign of a NaN depends on the machine.
macro_rules! nan_last {
    () => {
        |a: &Self, b: &Self| match (a.is_nan(), b.is_nan()) {
            (false, false) => a.total_cmp(b),
            (a, b) => a.cmp(&b),
        }
    };
}

macro_rules! measures {
    ($($t:ty => $compare:expr),* $(,)?) => {$(
        #[diagnostic::do_not_recommend]
        impl Measure for $t {
            type Value = $t;
            type Presence = Always;
            #[inline(always)]
            fn value(self) -> Option<Self> {
                Some(self)
            }
            #[inline(always)]
            fn compare(a: &Self, b: &Self) -> std::cmp::Ordering {
                $compare(a, b)
            }
        }
    )*};
}
measures! {
    u8 => Ord::cmp, u16 => Ord::cmp, u32 => Ord::cmp, u64 => Ord::cmp, u128 => Ord::cmp, usize => Ord::cmp,
    i8 => Ord::cmp, i16 => Ord::cmp, i32 => Ord::cmp, i64 => Ord::cmp, i128 => Ord::cmp, isize => Ord::cmp,
    f32 => nan_last!(), f64 => nan_last!(), bool => Ord::cmp, char => Ord::cmp,
    String => Ord::cmp, &'static str => Ord::cmp, crate::short_string::ShortString => Ord::cmp,
    crate::time::Timestamp => Ord::cmp, crate::time::Millis => Ord::cmp, std::time::Duration => Ord::cmp,
}

#[diagnostic::do_not_recommend]
impl<A: Measure, B: Measure> Measure for (A, B) {
    type Value = (A::Value, B::Value);
    type Presence = <A::Presence as Presence>::And<B::Presence>;
    fn value(self) -> Option<Self::Value> {
        Some((self.0.value()?, self.1.value()?))
    }
    fn compare(a: &Self::Value, b: &Self::Value) -> std::cmp::Ordering {
        A::compare(&a.0, &b.0).then_with(|| B::compare(&a.1, &b.1))
    }
}

#[diagnostic::do_not_recommend]
impl<M: Measure> Measure for Option<M> {
    type Value = M::Value;
    type Presence = Perhaps;
    #[inline(always)]
    fn value(self) -> Option<M::Value> {
        self.and_then(M::value)
    }
    #[inline(always)]
    fn compare(a: &M::Value, b: &M::Value) -> std::cmp::Ordering {
        M::compare(a, b)
    }
}
